"""What the networks of a site are like unless the intent says otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Purpose:
    """Defaults of one purpose. A tenant, an overlay or bonds are never a default: the intent states them."""

    kind: str  # of `topology.kind`
    oversubscription: Fraction  # of the leaves; spines are 1:1
    lossless: bool  # RoCE runs here


PURPOSES = {
    # A GPU waits for the slowest link: every bit in has a bit out, and rails keep collectives one hop apart.
    "compute": Purpose("rail-optimized", Fraction(1), lossless=True),
    # Checkpoints come from all racks at once, over NVMe-oF or NFS on RDMA.
    "storage": Purpose("rack", Fraction(1), lossless=True),
    # TCP: it slows down by itself where a link is full.
    "frontend": Purpose("rack", Fraction(1), lossless=False),
    # Consoles and BMCs of 1G: an uplink carries a rack many times over.
    "oob": Purpose("rack", Fraction(4), lossless=False),
}
