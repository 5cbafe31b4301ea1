"""Cisco NX-OS: `target.py` is what is registered, each sibling spells one part of a switch."""
