"""`fabric init`."""
from __future__ import annotations

def init() -> None:
    """x"""
