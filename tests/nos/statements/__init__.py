"""Configs as statements."""
