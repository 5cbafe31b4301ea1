"""Configs as statements: every line of a file as one path, so that two files can be compared whole."""
