"""Lossless Ethernet in numbers: how much buffer a priority needs behind its PAUSE threshold, and why."""
