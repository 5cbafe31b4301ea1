"""Names of devices by pattern, and what of them growth may change: nothing."""

from __future__ import annotations

import pytest

from fabric.base.diagnostics import InputError
from tests.design.planner.helpers import make

PLANES = """\
version: 1
site: dc1
catalog: {{servers: {{node: {{gpus: 4, nics: {{compute: {{count: 4, ports: 2, speed_gbps: 200}}}}}}}}}}
fabrics:
  f:
    servers: {{model: node, count: {count}, per_rack: 4}}
    topology: {{switch: 32x400g, planes: 2, unit: {{servers: 8}}, tiers: {tiers}}}
    names: {{{names}}}
"""
CASES = {
    # pattern of a role, two tiers or three: the first names of the role, in order of number
    "leaf by number": (2, 'leaf: "leaf{n}"', "leaf", ["leaf1", "leaf2", "leaf3", "leaf4"]),
    "leaf by plane": (2, 'leaf: "p{plane}-{n}"', "leaf", ["p1-1", "p2-1", "p1-2", "p2-2", "p1-3", "p2-3"]),
    "leaf by unit": (2, 'leaf: "u{unit}-{n}"', "leaf", [*(f"u1-{n}" for n in range(1, 9)), "u2-1"]),
    "leaf by unit, rail and plane": (2, 'leaf: "u{unit}r{rail}p{plane}"', "leaf", ["u1r1p1", "u1r1p2", "u1r2p1"]),
    "leaf by rail": (2, 'leaf: "r{rail}-{n}"', "leaf", ["r1-1", "r1-2", "r2-1", "r2-2"]),
    "leaf by pod": (3, 'leaf: "pod{pod}-{n:02}"', "leaf", ["pod1-01", "pod1-02", "pod1-03"]),
    "spine by plane": (2, 'spine: "p{plane}-{n}"', "spine", ["p1-1", "p1-2", "p1-3", "p1-4", "p2-1"]),
    "spine by pod and plane": (3, 'spine: "pod{pod}p{plane}-{n}"', "spine", ["pod1p1-1", "pod1p1-2"]),
    "core by plane": (3, 'core: "p{plane}-{n}"', "core", ["p1-1"]),
    "server by rack": (2, 'server: "r{rack:02}s{n}"', "server", ["r01s1", "r01s2", "r01s3", "r01s4", "r02s1"]),
    "server by unit": (2, 'server: "u{unit}s{n:02}"', "server", ["u1s01", "u1s02"]),
}


@pytest.mark.parametrize("case", CASES)
def test_patterns(case: str) -> None:
    tiers, names, role, requested = CASES[case]
    plan = make(PLANES.format(count=64, tiers=tiers, names=names)).fabrics["f"]
    found = [device.name for device in plan.devices if device.role == role]
    assert found[: len(requested)] == requested
    assert len(set(found)) == len(found)


@pytest.mark.parametrize("case", CASES)
def test_growth_renames_nothing(case: str) -> None:
    tiers, names, role, _ = CASES[case]
    old = make(PLANES.format(count=64, tiers=tiers, names=names))
    new = make(PLANES.format(count=96, tiers=tiers, names=names), old.lock)
    before = {(d.role, d.number, d.group): d.name for d in old.fabrics["f"].devices if d.role == role}
    after = {(d.role, d.number, d.group): d.name for d in new.fabrics["f"].devices if d.role == role}
    assert before.items() <= after.items()


@pytest.mark.parametrize("role", ["leaf", "server"])
def test_a_fabric_without_pods_has_no_pod_in_its_names(role: str) -> None:
    with pytest.raises(InputError, match=rf"names\.{role}: a {role} of this fabric has no {{pod}}"):
        make(PLANES.format(count=64, tiers=2, names=f'{role}: "pod{{pod}}-{{n:02}}"'))


TWO_GROUPS = """\
version: 1
site: dc1
fabrics:
  f:
    servers:
    - {model: dgx-a100, count: 8, name: old}
    - {model: dgx-h100, count: 8, name: new}
    topology: {switch: sn5600, unit: {servers: 8}}
"""


def test_a_retired_generation_moves_no_port_of_the_other() -> None:
    both = make(TWO_GROUPS)
    one = make(TWO_GROUPS.replace("    - {model: dgx-a100, count: 8, name: old}\n", ""), both.lock)
    kept = [d.name for d in both.fabrics["f"].devices if d.group == "new"]
    assert [d.name for d in one.fabrics["f"].devices if d.group == "new"] == kept
    links = [_links(plan.fabrics["f"], set(kept)) for plan in (both, one)]
    same = links[0] & links[1]
    assert len(same) >= len(links[1]) // 2
    assert {link for link in links[1] if link[0].startswith("new-")} <= links[0]


def _links(plan: object, names: set[str]) -> set[tuple[str, int, int, str, int, int]]:
    columns, devices = plan.links.lists(), plan.devices  # type: ignore[attr-defined]
    rows = zip(*(columns[key] for key in ("a", "a_cage", "a_sub", "b", "b_cage", "b_sub")), strict=True)
    return {(devices[a].name, p, q, devices[b].name, r, s) for a, p, q, b, r, s in rows if devices[a].name in names}
