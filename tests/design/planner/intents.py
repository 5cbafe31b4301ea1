"""Random intents for the planner's properties: mostly small, mostly valid, and of every kind the language knows."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import HealthCheck, settings, strategies as st

Data = dict[str, Any]

# The same examples everywhere, so that a pull request fails for its own reasons only.
STABLE = settings(
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)

SERVERS = {
    "one": {"gpus": 0, "nics": {"compute": {"count": 1, "speed_gbps": 100}}},
    "four": {"gpus": 4, "nics": {"compute": {"count": 4, "speed_gbps": 400}}},
    "eight": {"gpus": 8, "nics": {"compute": {"count": 8, "speed_gbps": 400}}},
    "twin": {"gpus": 4, "nics": {"compute": {"count": 4, "ports": 2, "speed_gbps": 200}}},
    "quad": {"gpus": 2, "nics": {"compute": {"count": 2, "ports": 4, "speed_gbps": 100}}},
}
SMALL = ("8x400g", "16x400g", "32x400g", "16x800g", "32x800g")
REAL = ("sn5600", "7060x6-64pe", "qfx5240-64od", "n9364e-sg2", "sn4700", "qfx5230-64cd", "z9664f-on")


def maybe(strategy: st.SearchStrategy[Any], odds: int = 3) -> st.SearchStrategy[Any]:
    """A value, or None `odds` times as often."""
    return st.one_of(*([st.none()] * odds), strategy)


@st.composite
def groups(draw: st.DrawFn, kind: str, planes: int, dual_tor: bool) -> list[Data]:
    """One group of servers, or two of different models."""
    usable = [name for name in SERVERS if (planes == 1 and not dual_tor) or name in ("twin", "quad")]
    many = kind not in ("collapsed", "rail-only") and draw(st.integers(0, 3)) == 0
    models = draw(st.permutations(usable))[: 2 if many else 1]
    found = []
    for model in models:
        group: Data = {"model": model, "count": draw(st.integers(1, 6 if kind == "collapsed" else 24))}
        if kind == "rack" and draw(st.booleans()):
            group["per_rack"] = draw(st.integers(1, 4))
        found.append(group)
    return found


@st.composite
def fabrics(draw: st.DrawFn) -> Data:
    """One fabric."""
    kind = draw(st.sampled_from(("rail-optimized", "rail-optimized", "rack", "rail-only", "collapsed")))
    planes = draw(st.sampled_from((1, 1, 2))) if kind != "collapsed" else 1
    dual_tor = draw(st.sampled_from((False, False, True)))
    servers = draw(groups(kind, planes, dual_tor))
    switch = draw(st.sampled_from(SMALL + SMALL + REAL))
    leaf: Data = {}
    if draw(st.booleans()):
        leaf["oversubscription"] = draw(st.sampled_from((1, 1.5, 2, 3, 0.5)))
    if draw(st.integers(0, 5)) == 0:
        leaf["spare_server_ports"] = draw(st.integers(1, 3))
    if draw(st.integers(0, 3)) == 0:
        leaf["uplinks"] = draw(st.sampled_from(({"speed_gbps": 400}, {"speed_gbps": 200}, {"count": 4}, {"count": 6})))
    if draw(st.integers(0, 4)) == 0:
        leaf["uplinks"] = {**leaf.get("uplinks", {}), "ports": "first"}
    spine: Data = {}
    if draw(st.integers(0, 3)) == 0:
        spine["oversubscription"] = draw(st.sampled_from((1, 2, 3)))
    if draw(st.integers(0, 4)) == 0:
        spine["switch"] = draw(st.sampled_from(SMALL + REAL))
    topology: Data = {
        "kind": kind,
        "switch": switch,
        "planes": planes,
        "dual_tor": dual_tor,
        "leaf": leaf,
        "spine": spine,
    }
    if planes > 1 and draw(st.integers(0, 3)) == 0:
        topology["planes_active"] = draw(st.sampled_from((1, 2)))
    unit: Data = {}
    if draw(st.integers(0, 4)):
        least = servers[0].get("per_rack", 1)
        unit["servers"] = draw(st.sampled_from((1, 2, 3, 4))) * least if kind != "collapsed" else servers[0]["count"]
    if draw(st.integers(0, 3)) == 0:
        unit["full"] = False
    if unit:
        topology["unit"] = unit
    if kind in ("rail-optimized", "rail-only"):
        rails = draw(maybe(st.sampled_from((1, 2))))
        if rails and all(SERVERS[group["model"]]["nics"]["compute"]["count"] % rails == 0 for group in servers):
            topology["rails"] = rails
    if kind != "collapsed":
        topology["tiers"] = draw(st.sampled_from(("auto", "auto", 2, 3, 3)))
        if topology["tiers"] == 3:
            pods = draw(maybe(st.sampled_from(({"units": 1}, {"units": 2}, {"count": 2}))))
            if pods:
                topology["pods"] = pods
                if kind == "rail-optimized" and draw(st.booleans()):
                    topology["pods"] = {**pods, "rails": 1}
            if draw(st.integers(0, 3)) == 0:
                topology["core"] = {"groups": 1}
    if draw(st.integers(0, 3)) == 0:
        topology["attachments"] = [{"name": "ufm", "links": draw(st.integers(1, 5))}]
    if kind in ("rack", "rail-optimized") and draw(st.integers(0, 4)) == 0:
        count = draw(st.integers(1, 2)) * planes * (2 if dual_tor else 1)
        topology["leaves_without_servers"] = [{"name": "border", "count": count}]
    fabric: Data = {"purpose": "compute", "servers": servers, "topology": topology}
    if draw(st.integers(0, 2)) == 0:
        uplinks = draw(st.sampled_from(("reserve", "recable")))
        if len(servers) == 1:
            count = servers[0]["count"]
            fabric["planned"] = {"servers": count * draw(st.integers(1, 3)), "uplinks": uplinks}
    fabric["underlay"] = {
        "addressing": draw(st.sampled_from(("ipv4", "ipv4", "unnumbered", "ipv6"))),
        "asn": {
            "scheme": draw(st.sampled_from(("rfc7938", "per-device", *(["per-pair"] if kind != "collapsed" else [])))),
            "width": draw(st.sampled_from((4, 4, 2))),
        },
    }
    return fabric


@st.composite
def sites(draw: st.DrawFn, most: int = 2) -> Data:
    """A site of one fabric or more. Groups of one name in two fabrics are the same servers, so each gets its own."""
    found = {}
    for at in range(draw(st.integers(1, most))):
        name = ("backend", "alpha", "zulu")[at]
        fabric = draw(fabrics())
        for group in fabric["servers"]:
            group["name"] = f"{name}-{group['model']}"
        for attachment in fabric["topology"].get("attachments", ()):
            attachment["name"] = f"{name}-{attachment['name']}"
        found[name] = fabric
    return {"version": 1, "site": "dc1", "catalog": {"servers": SERVERS}, "fabrics": found}


def more_servers(data: Data, fabric: str, count: int, group: int = 0) -> Data:
    """The same site with more servers."""
    grown = copy.deepcopy(data)
    grown["fabrics"][fabric]["servers"][group]["count"] += count
    return grown
