"""What a plan carries: capacity, paths, shared links, and the time of collectives. Knows nothing of configs."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
