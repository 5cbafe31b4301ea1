"""Carrying out a change on switches: wave by wave, verified, and taken back where it fails."""
