"""The arithmetic behind a number of a plan."""
