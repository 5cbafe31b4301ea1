"""Cumulus Linux: NVUE as YAML and as commands, read back."""
