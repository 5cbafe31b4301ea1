"""What a file holds and how it comes to be, one format a file: JSON, CSV, YAML, JUnit, XLSX, SVG. Knows nothing of networks."""
