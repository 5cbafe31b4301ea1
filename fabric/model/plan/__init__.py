"""The plan: frozen records of everything that a design settles, and nothing of how it was settled.

`__init__.pyi` names what the other packages use of it; each module is imported when one of its names is first asked for.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
