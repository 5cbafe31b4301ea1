"""Faults of the daemons themselves, by release: what a lab on this machine cannot show because of them.

A fault of a daemon must not pass for one of the design, nor be hidden.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from fabric.lab.blueprint import Blueprint
from fabric.lab.machine import daemons


@dataclass(frozen=True, slots=True)
class FrrDefect:
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
FORGETS_ROUTER_MACS = FrrDefect(
    (8, 4, 0),
    ((8, 4, 5), (8, 5, 3), (9, 0, 1)),
    "forgets router MACs when the best path of a type-5 route moves to another spine; routed traffic of tenants then stops",
    "https://github.com/FRRouting/frr/issues/12391",
)

# The kernel takes a port that goes down out of its next-hop groups, and zebra takes a group that it kept for whole.
LOSES_NEXT_HOPS = FrrDefect(
    (7, 3, 0),
    ((9, 0, 0),),
    "leaves a path out of the kernel's table after its link came back",
    "https://github.com/FRRouting/frr/pull/13413",
)
OWN_HOPS = "no zebra nexthop kernel enable"  # each route with its own next hops, which zebra then installs again


def needs_own_hops(frr_conf: str) -> bool:
    """Whether zebra needs the command, which the file lacks: the real switch forwards by an ASIC, not by kernel tables."""
    return OWN_HOPS not in frr_conf.splitlines() and LOSES_NEXT_HOPS.in_(daemons.version())


def forgets(lab: Blueprint, fabric: str = "") -> bool:
    """Whether the daemons here lose routed tenant traffic of a lab, or of one fabric of it, of their own doing."""
    views = (view for view in lab.views.values() if fabric in ("", view.fabric))
    return any(view.vrfs and view.overlay for view in views) and FORGETS_ROUTER_MACS.in_(daemons.version())
