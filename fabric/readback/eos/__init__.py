"""Arista EOS, read back."""
