"""Generators of pages under `docs/`: `make docs`, `make accuracy`."""
