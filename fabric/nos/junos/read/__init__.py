"""Juniper Junos, in braces and as set commands, read back."""
