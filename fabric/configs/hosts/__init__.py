"""The other end of the cable: what every server needs so that it agrees with its leaves.

    Plan ──facts──▶ links of servers ──view──▶ Host ──netplan, scripts──▶ hosts/…

`agree` reads the files back and compares them with what the switches say.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
