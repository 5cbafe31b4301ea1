"""Converged fabrics: NICs of several purposes and several groups of servers on the same leaves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from fabric.base.diagnostics import InputError
from fabric.configs.hosts.netplan import netplan
from fabric.configs.hosts.view import hosts as hosts_of, sides
from fabric.configs.view_of import Views
from fabric.model.plan import ATTACHMENT, LEAF, SERVER_LEAF, FabricPlan, PortLabels
from fabric.model.plan.lock_file import Lock
from tests.design.planner.helpers import make, summarize

SERVERS = """\
version: 1
site: c
catalog:
  servers:
    gpu: {gpus: 8, nics: {compute: {count: 8, speed_gbps: 400}, frontend: {count: 1, ports: 2, speed_gbps: 200}}}
    store: {gpus: 0, nics: {storage: {count: 1, ports: 2, speed_gbps: 200}}}
    odd: {gpus: 1, nics: {compute: {count: 2, speed_gbps: 200}, management: {count: 1, speed_gbps: 100}}}
"""
PAIR = (
    SERVERS
    + """\
fabrics:
  core:
    overlay: {kind: evpn-vxlan}
    topology: {kind: collapsed, switch: sn5600, unit: {servers: 8}, leaf: {uplinks: {count: 16}}}
    servers:
      - {model: gpu, count: 4, nics: [compute, frontend], homing: {compute: single}}
      - {model: store, count: 6, nics: storage}
    tenants:
      - {name: gpu, nics: compute, networks: [{name: gpu, vlan: 900, gateway: 10.90.0.0/24}]}
      - {name: inband, nics: frontend, networks: [{name: inband, vlan: 400, gateway: 10.40.0.0/24}]}
      - {name: storage, nics: storage, networks: [{name: storage, vlan: 500, gateway: 10.50.0.0/24}]}
"""
)
RACKS = (
    SERVERS
    + """\
fabrics:
  core:
    purpose: frontend
    topology: {kind: rack, switch: sn5600, leaf: {oversubscription: 4}}
    servers:
      - {model: gpu, count: 8, nics: [frontend, compute], per_rack: 4}
      - {model: store, count: 4, nics: storage, leaves: shared, per_rack: 2}
"""
)
RAILS = (
    SERVERS
    + """\
fabrics:
  core:
    topology: {switch: sn5600, unit: {servers: 8}}
    servers: {model: gpu, count: 16, nics: [compute, frontend]}
"""
)


def fabric(text: str, lock: Lock | None = None) -> FabricPlan:
    return make(text, lock).fabrics["core"]


def ports(plan: FabricPlan) -> Iterator[tuple[str, str, str, str, int, str, int]]:
    """(server, NIC port, leaf, leaf port, Gb/s, tenant, bond) of every server link."""
    labels, owner = PortLabels(plan), plan.tenancy.owner.tolist()
    columns = plan.links.lists()
    for link, kind in enumerate(columns["kind"]):
        if kind == SERVER_LEAF:
            names = [plan.devices[columns[end][link]].name for end in "ab"]
            tenant = plan.tenancy.tenants[owner[link]].name if owner[link] >= 0 else ""
            speed, lag = columns["speed_gbps"][link], int(plan.tenancy.lag[link])
            yield names[0], labels.at(link, "a"), names[1], labels.at(link, "b"), speed, tenant, lag


def test_a_pair_carries_all_of_them() -> None:
    found = list(ports(fabric(PAIR)))
    by_leaf = Counter((leaf, nic[:5], speed) for _, nic, leaf, _, speed, _, _ in found)
    assert by_leaf == {
        (f"core-leaf00{leaf}", nics, speed): count
        for leaf in (1, 2)
        for nics, speed, count in (("compu", 400, 16), ("front", 200, 4), ("stora", 200, 6))
    }
    assert {tenant for *_, tenant, _ in found} == {"gpu", "inband", "storage"}
    assert len({(leaf, port) for _, _, leaf, port, *_ in found}) == len(found)


def test_bonds_are_on_equal_ports_of_both_leaves_and_single_ports_in_none() -> None:
    bonds: dict[tuple[str, int], set[tuple[str, str]]] = {}
    for server, nic, leaf, port, _, _, lag in ports(fabric(PAIR)):
        assert (lag == 0) == nic.startswith("compute")
        if lag:
            bonds.setdefault((server, lag), set()).add((leaf, port))
    assert len(bonds) == 4 + 6
    for members in bonds.values():
        assert {leaf for leaf, _ in members} == {"core-leaf001", "core-leaf002"}
        assert len({port for _, port in members}) == 1


def test_pfc_runs_where_roce_does() -> None:
    plan = make(PAIR)
    views = Views(plan, plan.fabrics["core"])
    for leaf in (device for device in plan.fabrics["core"].devices if device.role == LEAF):
        lossless = {
            port.peer.port_name[:5] for port in views.of(leaf).ports if port.peer and port.kind == "server" and port.lossless
        }
        assert lossless == {"compu", "stora"}


def test_a_network_gives_one_address_to_a_bond_and_one_to_every_single_port() -> None:
    plan = fabric(PAIR)
    counts = {plan.tenancy.tenants[tenant].name: hosts for (tenant, _), hosts in plan.tenancy.hosts.items()}
    assert {name: (len(hosts), len(set(hosts.values()))) for name, hosts in counts.items()} == {
        "gpu": (32, 32),
        "inband": (8, 4),
        "storage": (12, 6),
    }


def test_further_nics_are_on_the_leaf_of_the_rack() -> None:
    found = list(ports(fabric(RACKS)))
    racks = {(server, leaf) for server, _, leaf, *_ in found if server.startswith("gpu")}
    assert racks == {(f"gpu-000{n}", f"core-leaf00{1 + (n - 1) // 4}") for n in range(1, 9)}
    shared = {(server, leaf) for server, _, leaf, *_ in found if server.startswith("store")}
    assert shared == {(f"store-000{n}", f"core-leaf00{1 + (n - 1) // 2}") for n in range(1, 5)}


TURNS = RACKS.replace("count: 4, nics: storage, leaves: shared, per_rack: 2}", "count: 5, nics: storage, leaves: shared}")


def stores(plan: FabricPlan) -> dict[str, str]:
    return {server: leaf for server, _, leaf, *_ in ports(plan) if server.startswith("store")}


def test_servers_without_leaves_take_turns_over_the_leaves_of_others() -> None:
    """Five on two leaves; a third leaf has the fewest, and gets what comes next; what is cabled stays."""
    assert TURNS != RACKS
    before = make(TURNS)
    first = stores(before.fabrics["core"])
    assert Counter(first.values()) == {"core-leaf001": 3, "core-leaf002": 2}
    assert summarize(TURNS)["core"]["ports"]["leaf"]["further"] == {"400": 32, "200": 6}
    wider = make(grown(TURNS, gpu=12), before.lock)
    assert stores(wider.fabrics["core"]) == first
    later = stores(make(grown(TURNS, gpu=12, store=8), wider.lock).fabrics["core"])
    assert first.items() <= later.items()
    assert Counter(later.values()) == {"core-leaf001": 3, "core-leaf002": 3, "core-leaf003": 2}


def test_further_nics_of_a_unit_take_turns_over_its_rails() -> None:
    count = Counter(leaf for _, nic, leaf, *_ in ports(fabric(RAILS)) if nic.startswith("frontend"))
    assert sorted(count.values()) == [2] * 16


def test_uplinks_carry_what_the_leaf_has() -> None:
    row = summarize(RACKS)["core"]
    leaf = row["ports"]["leaf"]
    assert leaf["further"] == {"400": 32, "200": 4}
    down = leaf["down"] * 200 + 32 * 400 + 4 * 200
    assert row["oversubscription"]["leaf"] == pytest.approx(down / (leaf["up"] * leaf["up_speed_gbps"]), abs=1e-4)
    assert row["oversubscription"]["leaf"] <= 4


def grown(text: str, **counts: int) -> str:
    data: dict[str, Any] = yaml.safe_load(text)
    servers = data["fabrics"]["core"]["servers"]
    for group in servers if isinstance(servers, list) else [servers]:
        group["count"] = counts.get(group["model"], group["count"])
    return yaml.safe_dump(data, sort_keys=False)


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        (PAIR, {"gpu": 8}),
        (PAIR, {"store": 12}),
        (PAIR, {"gpu": 7, "store": 9}),
        (RACKS, {"gpu": 16, "store": 8}),
        (RAILS, {"gpu": 32}),
    ],
)
def test_growth_moves_nothing(text: str, counts: dict[str, int]) -> None:
    before = make(text)
    after = make(grown(text, **counts), before.lock)
    old, new = (set(ports(plan.fabrics["core"])) for plan in (before, after))
    assert len(old) < len(new)
    assert old - new == set()
    assert make(grown(text, **counts), after.lock).lock == after.lock


def test_an_odd_port_is_on_each_leaf_in_turn() -> None:
    text = SERVERS + (
        "fabrics:\n  core:\n    topology: {kind: collapsed, switch: sn5600}\n"
        "    servers: {model: odd, count: 4, nics: [compute, management]}\n"
    )
    leaves = [leaf for _, nic, leaf, *_ in ports(fabric(text)) if nic.startswith("management")]
    assert leaves == ["core-leaf001", "core-leaf002"] * 2


MISTAKES = {
    "nics: storage}": ("nics: [storage, storage]}", "nics: 'storage' is stated twice"),
    "homing: {compute: single}": ("homing: {storage: single}", "homing: expected NICs of the group (compute, frontend)"),
    "count: 6, ": ("count: 600, ", "600"),
    "- {model: gpu, ": ("- {leaves: shared, model: gpu, ", "the first group of servers has the leaves that others share"),
    "- {model: store, ": ("- {leaves: own, model: store, ", "leaves: expected `shared`: a collapsed-spine pair has one pair"),
    "nics: compute, networks": ("nics: cmpute, networks", "expected NICs that this fabric connects (compute, frontend"),
    "kind: collapsed": ("kind: rail-only", "expected ports in each of the 8 isolated networks of `kind`, got 2 ports"),
}


@pytest.mark.parametrize("part", MISTAKES)
def test_a_mistake_is_named(part: str) -> None:
    other, message = MISTAKES[part]
    assert part in PAIR
    with pytest.raises(InputError) as error:
        make(PAIR.replace(part, other))
    assert message in str(error.value)


ONE = """\
fabrics:
  core:
    topology: {{switch: sn5600}}
    servers:
      - {{model: gpu, count: {gpu}, nics: [compute, frontend]}}
      - {{model: odd, count: 2{own}}}
"""


@pytest.mark.parametrize(("gpu", "own", "one"), [(4, "", True), (14, "", True), (15, "", False), (4, ", leaves: own", False)])
def test_one_switch_is_taken_where_all_groups_fit(gpu: int, own: str, one: bool) -> None:
    """64 cages: four of each server for its GPUs, a quarter of one for two ports of 200G."""
    count = summarize(SERVERS + ONE.format(gpu=gpu, own=own))["core"]["switches"]
    assert (count == {"leaf": 1, "spine": 0, "core": 0}) == one


BELOW = PAIR.replace(
    "leaf: {uplinks: {count: 16}}",
    "leaf: {uplinks: {count: 16}}, attachments: [{name: oob, links: 4, speed_gbps: 200, tenant: oob, bond: true}]",
).replace("    tenants:\n", "    tenants:\n      - {name: oob, networks: [{name: oob, vlan: 200, gateway: 10.20.0.0/24}]}\n")


def bond(plan: FabricPlan) -> list[tuple[str, str, int]]:
    """(leaf, port, bond) of every link of the attachment."""
    labels, links = PortLabels(plan), plan.links
    rows = [at for at, kind in enumerate(links.kind.tolist()) if kind == ATTACHMENT]
    return [(plan.devices[links.b[at]].name, labels.at(at, "b"), int(plan.tenancy.lag[at])) for at in rows]


def test_a_switch_below_is_one_bond_on_equal_ports_of_both_leaves() -> None:
    before = make(BELOW)
    links = bond(before.fabrics["core"])
    assert [leaf for leaf, *_ in links] == ["core-leaf001", "core-leaf002"] * 2
    assert links[0][1:] == links[1][1:]
    assert links[2][1:] == links[3][1:]
    assert len({lag for *_, lag in links}) == 1
    ((_, hosts),) = ((key, its) for key, its in before.fabrics["core"].tenancy.hosts.items() if key[0] == 0)
    assert len(set(hosts.values())) == 1
    after = make(grown(BELOW, gpu=8, store=20), before.lock).fabrics["core"]
    assert bond(after) == links
    assert {lag for *_, lag in ports(after)}.isdisjoint({links[0][2]})


ROUTER = BELOW.replace("tenant: oob, bond: true", "leaves: 2, external: {asn: 65010, tenants: inband}")


def test_an_attachment_is_on_the_leaves_that_it_states() -> None:
    before = make(ROUTER)
    assert {leaf for leaf, *_ in bond(before.fabrics["core"])} == {"core-leaf002"}
    assert bond(make(grown(ROUTER, gpu=8, store=20), before.lock).fabrics["core"]) == bond(before.fabrics["core"])
    moved = bond(make(ROUTER.replace("leaves: 2", "leaves: [1, 2]"), before.lock).fabrics["core"])
    assert moved == bond(before.fabrics["core"])  # what may stay, stays
    assert {leaf for leaf, *_ in bond(make(ROUTER.replace("leaves: 2", "leaves: 1"), before.lock).fabrics["core"])} == {
        "core-leaf001"
    }
    with pytest.raises(InputError, match="attachment 'oob': expected a leaf from 1 to 2, got 3"):
        make(ROUTER.replace("leaves: 2", "leaves: 3"))


@pytest.mark.parametrize(
    ("part", "other", "message"),
    [
        ("links: 4", "links: 3", "its bond needs an even number of links, got 3"),
        ("tenant: oob, bond", "bond", "its bond needs a tenant with layer-2 networks"),
    ],
)
def test_a_bond_that_cannot_be(part: str, other: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        make(BELOW.replace(part, other))
    assert message in str(error.value)


BY_RAIL = PAIR.replace(
    "networks: [{name: gpu, vlan: 900, gateway: 10.90.0.0/24}]",
    "networks: [{name: a, vlan: 901, rails: [1, 2, 3, 4, 5, 6, 7], gateway: 10.91.0.0/24}, "
    "{name: b, vlan: 908, rails: 8, gateway: 10.98.0.0/24}]",
)


def test_a_network_has_the_ports_of_its_rails() -> None:
    plan = make(BY_RAIL)
    views = Views(plan, plan.fabrics["core"])
    vlans = {
        (port.peer.device.name, port.peer.port_name): port.untagged
        for device in plan.fabrics["core"].devices
        if device.role == LEAF
        for port in views.of(device).ports
        if port.kind == "server" and port.peer and port.peer.port_name.startswith("compute")
    }
    assert vlans == {(f"gpu-000{n}", f"compute{nic}"): 908 if nic == 8 else 901 for n in range(1, 5) for nic in range(1, 9)}
    hosts = {key: its for key, its in plan.fabrics["core"].tenancy.hosts.items() if key[0] == 0}
    assert {place: len(its) for (_, place), its in hosts.items()} == {0: 28, 1: 4}


@pytest.mark.parametrize(
    ("part", "other", "message"),
    [
        ("rails: 8, ", "rails: 7, ", "rail 7 is in network 'a' too"),
        ("rails: 8, ", "", "expected `rails`, as other networks of the tenant have"),
        (", 7]", "]", "expected a network for each of its rails, got none for 7"),
        ("homing: {compute: single}", "homing: {compute: bond}", "are on different rails, in two networks"),
    ],
)
def test_networks_by_rail_that_cannot_be(part: str, other: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        make(BY_RAIL.replace(part, other))
    assert message in str(error.value)


TRUNKS = PAIR.replace(
    "nics: frontend, networks: [{name: inband, vlan: 400, gateway: 10.40.0.0/24}]",
    "nics: [frontend, storage], networks: [{name: inband, vlan: 400, gateway: 10.40.0.0/24, untagged: true}, "
    "{name: storage, vlan: 500, gateway: 10.50.0.0/24, nics: storage}]",
).replace("      - {name: storage, nics: storage, networks: [{name: storage, vlan: 500, gateway: 10.50.0.0/24}]}\n", "")


@pytest.mark.parametrize("nos", ["cumulus", "eos", "sonic"])
def test_a_network_has_the_ports_of_its_nics(nos: str) -> None:
    """What a port has untagged and tagged, in the plan and in the config as it is read back."""
    plan = make(TRUNKS.replace("  core:\n", f"  core:\n    nos: {nos}\n"))
    (core,) = plan.fabrics.values()
    views = Views(plan, core)
    vlans = {
        (port.peer.port_name[:7], port.untagged, port.tagged)
        for device in core.switches
        for port in views.of(device).ports
        if port.kind == "server" and port.peer
    }
    assert vlans == {("compute", 900, ()), ("fronten", 400, ()), ("storage", 400, (500,))}
    hosts = {core.tenancy.tenants[tenant].networks[place].name: its for (tenant, place), its in core.tenancy.hosts.items()}
    assert {name: len(its) for name, its in hosts.items()} == {"gpu": 32, "inband": 8 + 12, "storage": 12}
    (store,) = (host for host in hosts_of(sides(plan)) if host.name == "store-0001")
    settings = netplan(store)["network"]
    addresses = (settings["bonds"]["bond0"]["addresses"], settings["vlans"]["bond0.500"]["addresses"])
    assert [text.partition(".2/")[0].rpartition(".")[0][:5] for (text,) in addresses] == ["10.40", "10.50"]


@pytest.mark.parametrize(
    ("part", "other", "message"),
    [
        (
            "gateway: 10.50.0.0/24, nics: storage",
            "gateway: 10.50.0.0/24, untagged: true",
            "untagged in network 'inband' already",
        ),
        (
            "gateway: 10.50.0.0/24, nics: storage",
            "nics: compute",
            "expected NICs of the tenant (frontend, storage), got 'compute'",
        ),
        ("untagged: true}", "nics: storage}", "expected a network for each of its NICs, got none for frontend"),
        ("gateway: 10.50.0.0/24, nics: storage", "nics: storage, rails: 1", "expected `rails` or `nics`, got both"),
    ],
)
def test_networks_by_nics_that_cannot_be(part: str, other: str, message: str) -> None:
    assert part in TRUNKS
    with pytest.raises(InputError) as error:
        make(TRUNKS.replace(part, other))
    assert message in str(error.value)


def test_bonds_that_carry_traffic_without_lacp() -> None:
    """Those of the NICs that say so, on both leaves; other network OSes refuse it."""
    text = PAIR.replace("homing: {compute: single}", "homing: {compute: single, frontend: fallback}")
    plan = make(text.replace("  core:\n", "  core:\n    nos: cumulus\n"))
    views = Views(plan, plan.fabrics["core"])
    found = {
        (lag.description[:12], lag.fallback) for device in plan.fabrics["core"].switches for lag in views.of(device).lags
    }
    assert {(name[:3], fallback) for name, fallback in found} == {("gpu", True), ("sto", False)}
    with pytest.raises(InputError, match="bonds that carry traffic before the server speaks LACP"):
        make(text.replace("  core:\n", "  core:\n    nos: sonic\n"))


def test_a_wide_breakout_takes_the_next_cage_too() -> None:
    """64 cages: 8 for 16 GPU ports, 16 uplinks, and two for every eight ports of 100G that split a cage in eight."""
    text = SERVERS.replace("servers:\n", "breakouts: {sn5600: [8x100]}\n  servers:\n", 1).replace(
        "catalog:\n  b", "catalog:\n  b"
    )
    made = text + (
        "fabrics:\n  core:\n"
        "    topology: {kind: collapsed, switch: sn5600, unit: {servers: 4}, leaf: {uplinks: {count: 16}}}\n"
        "    servers:\n      - {model: gpu, count: 4}\n      - {model: odd, count: COUNT, nics: management}\n"
    )
    leaf = summarize(made.replace("COUNT", "320"))["core"]["ports"]["leaf"]  # 160 on each leaf: 20 pairs of cages
    assert (leaf["further"], leaf["spare"]) == ({"100": 160}, 0)


LARGER = PAIR.replace("nics: [compute, frontend], homing: {compute: single}", "nics: compute, homing: {compute: single}")
LARGER = "".join(line for line in LARGER.splitlines(keepends=True) if "inband" not in line)


@pytest.mark.parametrize(("unit", "count"), [(10, 9), (16, 9), (16, 14)])
def test_a_larger_unit_settles_at_once(unit: int, count: int) -> None:
    """Ports of another speed move once when the unit grows over them; the lock of that run gives the same links again."""
    before = make(LARGER)
    text = LARGER.replace("unit: {servers: 8}", f"unit: {{servers: {unit}}}").replace("gpu, count: 4", f"gpu, count: {count}")
    first = make(text, before.lock)
    second = make(text, first.lock)
    assert sorted(ports(second.fabrics["core"])) == sorted(ports(first.fabrics["core"]))
    assert second.lock == first.lock
    assert second.lock != before.lock


@pytest.mark.parametrize(("own", "shared"), [("", True), (", leaves: own", False)])
def test_a_group_that_shares_a_switch_in_service_goes_on_to_share(own: str, shared: bool) -> None:
    """Servers that one switch does not carry any more are on the leaves of the first group, unless they shall not be."""
    text = SERVERS + (
        "fabrics:\n  core:\n    topology: {switch: sn5600}\n    servers:\n"
        "      - {model: gpu, count: 4, nics: compute}\n      - {model: store, count: COUNT, nics: storage}\n"
    )
    plan = make(text.replace("COUNT", "4"))
    assert len(plan.fabrics["core"].switches) == 1
    grown = make(text.replace("COUNT, nics: storage", f"400, nics: storage{own}"), plan.lock).fabrics["core"]
    leaves = {leaf for _, _, leaf, *_ in ports(grown)}
    gpu = {port[2] for port in ports(grown) if port[0].startswith("gpu")}
    assert (leaves == gpu) == shared
