"""The tests: a package, so that they import from each other by name, and folders that mirror `fabric/`."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
