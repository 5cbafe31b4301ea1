"""Attached switches: where they go, and that they stay there while servers go round them."""

from __future__ import annotations

import pytest

from fabric.base.diagnostics import InputError
from tests.design.planner.helpers import make, summarize

SUPERPOD = """\
version: 1
site: dc1
fabrics:
  f:
    servers: {{model: dgx-h100, count: {count}, per_rack: 4}}
    topology: {{switch: qm9700, unit: {{servers: 32}}, attachments: [{{name: ufm, links: 4}}]}}
"""


def ends(plan: object) -> dict[tuple[str, int], tuple[str, int]]:
    """(switch or server, port) → (leaf, cage)."""
    fabric = plan.fabrics["f"]  # type: ignore[attr-defined]
    columns = fabric.links.lists()
    return {
        (fabric.devices[a].name, port): (fabric.devices[b].name, cage)
        for a, port, b, cage, kind in zip(*(columns[key] for key in ("a", "a_cage", "b", "b_cage", "kind")), strict=True)
        if kind in (0, 4)
    }


def test_they_stay_while_the_published_design_grows() -> None:
    """NVIDIA's RA-11333: 31, 63, 95 and 127 servers with four links of the fabric manager, from one unit to four."""
    lock, before = None, {}
    for count, leaves, spines in ((31, 8, 4), (63, 16, 8), (95, 24, 16), (127, 32, 16)):
        text = SUPERPOD.format(count=count)
        plan = make(text, lock)
        lock, now = plan.lock, ends(plan)
        assert before.items() <= now.items()
        assert len(set(now.values())) == len(now)
        row = summarize(text, lock)["f"]
        assert (row["switches"]["leaf"], row["switches"]["spine"]) == (leaves, spines)
        before = now


def test_the_error_of_a_full_pair_counts_without_the_held_places() -> None:
    text = SUPERPOD.replace("switch: qm9700, unit: {{servers: 32}}", "kind: collapsed, switch: 64x800g").replace(
        ", per_rack: 4", ""
    )
    text = text.replace("links: 4", "links: 2")
    with pytest.raises(InputError, match="a pair carries 15 servers beside its attachments, 16 are asked for"):
        make(text.format(count=16), make(text.format(count=15)).lock)


def test_a_fresh_plan_gives_them_the_place_of_the_missing_server() -> None:
    found = ends(make(SUPERPOD.format(count=127)))
    assert [found["ufm", port] for port in range(1, 5)] == [(f"f-leaf0{n}", 32) for n in range(25, 29)]


def test_servers_on_both_sides_of_a_held_place_keep_their_racks_and_units() -> None:
    first = make(SUPERPOD.format(count=30))
    grown = make(SUPERPOD.format(count=40), first.lock).fabrics["f"]
    servers = {d.number: d for d in grown.devices if d.role == "server"}
    assert (servers[31].unit, servers[32].unit) == (0, 1)  # place 32 of unit 1 is the switch's
    assert servers[32].rack == 8


@pytest.mark.parametrize("count", [127, 63, 33])
def test_the_lock_of_a_plan_changes_nothing_of_it(count: int) -> None:
    plan = make(SUPERPOD.format(count=count))
    again = make(SUPERPOD.format(count=count), plan.lock)
    assert ends(again) == ends(plan)
    assert again.lock == plan.lock


def test_a_switch_that_leaves_moves_no_server_behind_its_place() -> None:
    with_switch = make(SUPERPOD.format(count=40), make(SUPERPOD.format(count=30)).lock)
    bare = SUPERPOD.replace(", attachments: [{{name: ufm, links: 4}}]", "").format(count=40)
    without = make(bare, with_switch.lock)
    servers = {end: far for end, far in ends(with_switch).items() if end[0] != "ufm"}
    assert ends(without) == servers
    assert without.lock.fabrics["f"].attachments == with_switch.lock.fabrics["f"].attachments
    assert ends(make(bare, without.lock)) == servers


def test_a_switch_that_leaves_behind_all_servers_gives_its_place_back() -> None:
    bare = SUPERPOD.replace(", attachments: [{{name: ufm, links: 4}}]", "")
    with_switch = make(SUPERPOD.format(count=31))
    without = make(bare.format(count=31), with_switch.lock)
    assert not without.lock.fabrics["f"].attachments
    full = make(bare.format(count=32), without.lock).fabrics["f"]
    assert {d.unit for d in full.devices if d.role == "server"} == {0}


# --- the default unit leaves cages where full leaves have no port at the speed ---------------------------------

ROOM = """\
version: 1
site: dc1
catalog:
  servers:
    gpu:
      gpus: 8
      nics: {compute: {count: 8, speed_gbps: 400}, frontend: {count: 1, ports: 2, speed_gbps: 200}}
fabrics:
  f:
    servers: {SERVERS}
    topology: {TOPOLOGYswitch: sn5600, attachments: [ATTACHED]}
"""
BOTH = "nics: [compute, frontend], homing: {compute: single}"
ROUTER = "{name: fw, links: 2, speed_gbps: 100}"


def room(servers: str, topology: str = "", attached: str = ROUTER) -> str:
    return ROOM.replace("SERVERS", servers).replace("TOPOLOGY", topology).replace("ATTACHED", attached)


@pytest.mark.parametrize(
    ("servers", "topology", "unit", "leaves"),
    [
        (f"model: gpu, count: 4, {BOTH}", "kind: collapsed, ", 13, 2),
        ("model: gpu, count: 4, nics: [compute]", "kind: collapsed, ", 15, 2),
        ("model: dgx-b200, count: 4, nics: [frontend, storage]", "", 31, 1),
        ("model: dgx-b200, count: 4, nics: [frontend, storage]", "tiers: 1, ", 31, 1),
        (f"model: gpu, count: 4, {BOTH}", "kind: collapsed, unit: {servers: 12}, ", 12, 2),
    ],
)
def test_the_default_unit_leaves_cages_for_them(servers: str, topology: str, unit: int, leaves: int) -> None:
    text = room(servers, topology)
    plan = make(text)
    group = plan.fabrics["f"].sizing.groups[0]
    assert (group.unit_servers, group.leaves) == (unit, leaves)
    again = make(text, plan.lock)
    assert ends(again) == ends(plan)


def test_growth_keeps_that_unit() -> None:
    servers = f"model: gpu, count: COUNT, {BOTH}"
    first = make(room(servers.replace("COUNT", "4"), "kind: collapsed, "))
    grown = make(room(servers.replace("COUNT", "13"), "kind: collapsed, "), first.lock)
    assert [its.fabrics["f"].sizing.groups[0].unit_servers for its in (first, grown)] == [13, 13]
    assert ends(first).items() <= ends(grown).items()


def test_a_site_in_service_keeps_its_unit_and_says_what_makes_room() -> None:
    servers = f"model: gpu, count: 4, {BOTH}"
    built = make(room(servers, "kind: collapsed, ", ""))
    with pytest.raises(InputError) as error:
        make(room(servers, "kind: collapsed, "), built.lock)
    (found,) = error.value.diagnostics
    assert (found.code, found.hint.split(", ")[0]) == ("FAB140", "use `leaf: {spare_server_ports: 1}`")
    make(room(servers, "kind: collapsed, leaf: {spare_server_ports: 1}, "), built.lock)


def test_a_pair_says_what_has_the_ports_of_the_servers_that_it_cannot_carry() -> None:
    text = """\
version: 1
site: dc1
catalog:
  servers:
    gpu: {gpus: 8, nics: {compute: {count: 8, speed_gbps: 400}}}
    nvme: {gpus: 0, nics: {storage: {count: 1, ports: 2, speed_gbps: 400}}}
fabrics:
  f:
    topology: {kind: collapsed, switch: sn5600, unit: {servers: 8}, leaf: {uplinks: {count: 10}}}
    servers: [{model: gpu, count: 7}, {model: nvme, count: 4, nics: storage}]
"""
    built = make(text)
    larger = text.replace("count: 7", "count: 9")
    with pytest.raises(InputError) as error:
        make(larger.replace("unit: {servers: 8}", "unit: {servers: 9}"), built.lock)
    (found,) = error.value.diagnostics
    assert (
        "carries 8 servers beside its attachments, 9 are asked for; ports of 1 more place are in use by storage NICs of nvme"
        in found.message
    )
    assert found.hint.startswith("`unit: {servers: 10}`")
    make(larger.replace("unit: {servers: 8}", "unit: {servers: 10}"), built.lock)
