"""Formats that a plan is exported in, a file each, and the tables and names that several of them share."""
