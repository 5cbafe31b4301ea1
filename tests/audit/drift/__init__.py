"""Tests of `fabric drift`."""
