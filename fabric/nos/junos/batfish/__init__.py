"""Junos as Batfish reads it."""
