"""Pages under `docs/` that are made from the program: `make docs`, `make accuracy`."""
