"""Faults of the daemons themselves, by release: what a lab on this machine cannot show because of them.

A fault of a daemon must not pass for one of the design, nor be hidden.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Known:
    """A fault that some releases have."""

    since: tuple[int, ...]
    fixed: tuple[tuple[int, ...], ...]  # the first release of each branch without it
    what: str
    source: str

    def in_(self, version: str) -> bool:
        """Whether a release has it."""
        own = tuple(int(part) for part in re.findall(r"\d+", version)[:3])
        own += (0,) * (3 - len(own)) if own else ()
        if not own or own < self.since:
            return False
        same = [release for release in self.fixed if release[:2] == own[:2]]
        return own < same[0] if same else own < max(self.fixed)


# bgpd withdraws and announces again when the best path of a type-5 route moves; zebra runs the announcement first.
FORGETS_ROUTER_MACS = Known(
    (8, 4, 0),
    ((8, 4, 5), (8, 5, 3), (9, 0, 1)),
    "forgets router MACs when the best path of a type-5 route moves to another spine; routed traffic of tenants then stops",
    "https://github.com/FRRouting/frr/issues/12391",
)
