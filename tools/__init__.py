"""Development tools; not installed with the package."""
