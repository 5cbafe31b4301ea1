"""Formats of files, one a module: JSON, CSV, YAML, JUnit, XLSX, SVG, and how a file is written. Knows nothing of networks."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
