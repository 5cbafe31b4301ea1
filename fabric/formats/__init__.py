"""Formats of files, one a module: JSON, CSV, YAML, JUnit, XLSX, SVG, and how a file is written. Knows nothing of networks."""
