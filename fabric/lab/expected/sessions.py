"""The BGP sessions that a plan has between the nodes of a lab."""

from __future__ import annotations

from fabric.audit.verify.sessions import OUTSIDE, OVERLAY, TENANT, UNDERLAY, Planned, router, sessions_of
from fabric.lab.blueprint import Blueprint
from fabric.lab.outside import node_name
from fabric.model.plan import External

__all__ = ["OUTSIDE", "OVERLAY", "TENANT", "UNDERLAY", "Planned", "sessions"]


def sessions(lab: Blueprint) -> list[Planned]:
    """Every end whose other end is in the lab, in the order of the plan."""
    return [
        planned for view in lab.views.values() for planned in sessions_of(view, _stand_in) if planned.peer_node in lab.nodes
    ]


def _stand_in(external: External) -> str:
    return node_name(router(external), external.vrf if external.tag else "")
