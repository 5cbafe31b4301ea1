"""Cisco NX-OS, read back."""
