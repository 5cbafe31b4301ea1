"""What the tests of the host side share: small sites, and classes to put on them."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from fabric.configs.hosts.facts import Facts, facts_of
from fabric.configs.hosts.leaf_side import end_of
from fabric.configs.hosts.mismatches import SwitchEnd
from fabric.model import facts as model
from fabric.model.plan import Buffer, FabricPlan, Plan, Qos
from fabric.nos.target import target
from tests.design.planner.helpers import make

PORT = re.compile(r"(?:Ethernet|swp|(?:et|ge|xe)-)\d[\d/:s]*")  # a port or a part of one; no unit of it, no bond
QOS = Qos(
    priority=3,
    dscp=26,
    cnp_priority=6,
    cnp_dscp=48,
    lossless_percent=60,
    lossy_percent=40,
    watchdog=None,
    traffic="static",
    buffer_model="auto",
    buffer=Buffer(
        total_bytes=None, reserved_bytes=0, headroom_pool_bytes=0, shared_bytes=None, alpha_exponent=0, trigger_bytes=None
    ),
)
OTHER = replace(QOS, priority=4, dscp=24, cnp_priority=7, cnp_dscp=46, lossless_percent=70, lossy_percent=30)

RAILS = {"switch": "16x400g", "unit": {"servers": 2}}


def site(**changes: Any) -> dict[str, Any]:
    """Two servers with two NICs on two rails, and what `changes` makes of their fabric."""
    servers = {"gpus": 2, "nics": {"compute": {"count": 2, "speed_gbps": 400}}}
    fabric = {"nos": "frr", "servers": {"model": "node", "count": 2, "name": "gpu"}, "topology": RAILS, **changes}
    return {"version": 1, "site": "s", "catalog": {"servers": {"node": servers}}, "fabrics": {"backend": fabric}}


def plan(intent: dict[str, Any] | None = None, **changes: Any) -> Plan:
    return make(intent or site(**changes))


def lossless_facts(fabric: FabricPlan) -> Facts:
    """The class of RoCE on every fabric but front ends."""
    return replace(facts_of(fabric), qos=None if fabric.spec.purpose == "frontend" else QOS)


def ends_of(facts: model.Facts) -> dict[tuple[str, str], SwitchEnd]:
    """(server, its port) → the switch's end, for every port whose description names them. No plan is asked."""
    found: dict[tuple[str, str], SwitchEnd] = {}
    if target(facts.nos).idiom is None:
        return found
    for name, interface in facts.interfaces.items():
        neighbor = server_port(interface.description.value if interface.description else None)
        if neighbor and PORT.fullmatch(name):
            found[neighbor] = end_of(facts, interface)
    return found


def server_port(description: str | None) -> tuple[str, str] | None:
    """`gpu-0001 compute1` → the server and its port; None for every other description."""
    words = (description or "").strip('"').split()
    return (words[0], words[1]) if len(words) == 2 else None
