"""Devices of one role as witnesses: what all of them say and one does not."""
