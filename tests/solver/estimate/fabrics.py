"""Small fabrics of every kind for the tests of estimates, and how a test asks them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import assume, settings, strategies as st

from fabric.base.diagnostics import InputError
from fabric.model.plan import FabricPlan
from fabric.solver import Network
from fabric.solver.estimate.estimate import Estimate
from fabric.solver.estimate.nic_bandwidth import AvailableBandwidth, supply
from fabric.solver.estimate.placement import place
from fabric.solver.estimate.request import EstimateRequest, estimate
from fabric.solver.network import network
from tests.solver import small_fabric

STABLE = settings(derandomize=True, deadline=None, database=None)
SERVERS = {
    "four": {"gpus": 4, "gpu": "h100", "nics": {"compute": {"count": 4, "speed_gbps": 400}}},
    "slow": {"gpus": 2, "gpu": "a100", "nics": {"compute": {"count": 2, "speed_gbps": 200}}},
    "twin": {"gpus": 4, "gpu": "h100", "nics": {"compute": {"count": 4, "ports": 2, "speed_gbps": 200}}},
    "few": {"gpus": 8, "gpu": "mi300x", "nics": {"compute": {"count": 2, "speed_gbps": 400}}},
    "tray": {"gpus": 2, "gpu": "gb200", "nvlink_domain_gpus": 6, "nics": {"compute": {"count": 2, "speed_gbps": 400}}},
}
FABRICS: dict[str, dict[str, Any]] = {
    "rails": {"servers": [("four", 8)], "unit": {"servers": 2}},
    "rack": {"servers": [("four", 8)], "kind": "rack", "unit": {"servers": 2}},
    "uneven": {"servers": [("four", 7)], "unit": {"servers": 4, "full": False}},
    "mixed": {"servers": [("four", 4), ("slow", 5)], "unit": {"servers": 2}},
    "few": {"servers": [("few", 4)], "unit": {"servers": 2}},
    "trays": {"servers": [("tray", 12)], "unit": {"servers": 3}},
    "rail-only": {"servers": [("four", 6)], "kind": "rail-only", "unit": {"servers": 2}},
    "collapsed": {"servers": [("twin", 4)], "kind": "collapsed", "unit": {"servers": 4}, "dual_tor": True},
    "planes": {"servers": [("twin", 6)], "planes": 2, "unit": {"servers": 2}},
    "dual": {"servers": [("twin", 6)], "dual_tor": True, "unit": {"servers": 2}},
    "pods": {
        "servers": [("four", 8)], "kind": "rack", "unit": {"servers": 1}, "tiers": 3, "pods": {"units": 2},
        "spine": {"oversubscription": 16, "uplinks": {"count": 2}},
    },
}  # fmt: skip


def planned(name: str = "rails", switch: str = "32x400g", **changes: Any) -> FabricPlan:
    """One of FABRICS, some of its words changed."""
    return small_fabric.planned({**FABRICS[name], **changes}, SERVERS, switch)


def wired(name: str = "rails", switch: str = "32x400g", **changes: Any) -> Network:
    return network(planned(name, switch, **changes))


@st.composite
def plans(draw: st.DrawFn, ratios: Sequence[int] = (1, 2, 3)) -> FabricPlan:
    """Small fabrics of every kind and size."""
    name = draw(st.sampled_from(sorted(FABRICS)))
    changes: dict[str, Any] = {"servers": [(model, draw(st.integers(1, 12))) for model, _ in FABRICS[name]["servers"]]}
    if name == "collapsed":
        changes["unit"] = {"servers": changes["servers"][0][1]}
    else:
        changes["leaf"] = {"oversubscription": draw(st.sampled_from(ratios))}
    try:
        return planned(name, **changes)
    except InputError:  # that many servers do not fit this kind
        assume(False)
        raise


placements = st.sampled_from(("packed", "spread", "random:1", "random:7"))
routings = st.sampled_from(("ecmp", "adaptive", "spray"))


def ask(fabric: FabricPlan, *, placement: str = "packed", sizes: Sequence[int] = (1 << 30,), **words: Any) -> Estimate:
    """The estimate with the failures, if there are any."""
    return estimate(
        fabric, EstimateRequest(collective=words.pop("collective", "all_reduce"), sizes=tuple(sizes), **words), placement
    )[0]


def supplied(
    net: Network, request: str = "packed", routing: str = "spray", qps: int = 1, seed: int = 0
) -> AvailableBandwidth:
    return supply(net, place(net, None, request), routing, qps, seed)
