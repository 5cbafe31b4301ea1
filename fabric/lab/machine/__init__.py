"""Namespaces, links, daemons and limits of the machine that a lab runs on: all that needs root."""
