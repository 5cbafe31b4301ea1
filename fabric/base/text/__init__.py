"""How the tool writes for people: words that count, numbers with units, tables. Knows nothing of networks."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
