"""FRR on Linux: `target.py` is what is registered, each sibling spells one part of a switch."""
