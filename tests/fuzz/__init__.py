"""Broken and odd input, made from a seed, for every command that reads input: `python -m tests.fuzz --help`."""
