"""Frozen values that an intent states and a plan carries, each with its default: routing, services, floor, attachments."""
