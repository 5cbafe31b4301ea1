"""From a plan to the files of its switches: targets, overrides, rendering. Templates are loaded when something renders."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
