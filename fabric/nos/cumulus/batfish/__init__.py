"""Cumulus Linux as Batfish reads it."""
