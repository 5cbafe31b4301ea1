"""Is the design sound, and do the files say what the plan says?

    Plan ───────────────┐
    files ──readback──▶ Facts ──checks──▶ findings ──reports──▶ text · JSON · SARIF · JUnit · GitHub

One property is one check, with one id, whatever it is judged from: the plan alone, the facts of all files together, or
the facts against what the plan says they must be.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
