"""NICs of several purposes in isolated networks: planes, rail-only fabrics, and a pair of leaves for each plane."""

from __future__ import annotations

from collections import Counter

import pytest
import yaml

from fabric.base.diagnostics import InputError
from fabric.model.plan import LEAF_LEAF, SERVER_LEAF, FabricPlan, PortLabels
from tests.design.planner.helpers import make, summarize

SERVERS = """\
version: 1
site: i
catalog:
  servers:
    twin: {gpus: 8, nics: {compute: {count: 8, ports: 2, speed_gbps: 400, cages: 8}, storage: {count: 2, speed_gbps: 400}}}
    one: {gpus: 8, nics: {compute: {count: 8, speed_gbps: 400}, storage: {count: 4, ports: 2, speed_gbps: 200}}}
    filer: {gpus: 0, nics: {storage: {count: 1, ports: 2, speed_gbps: 400}}}
    wide: {gpus: 0, nics: {storage: {count: 8, speed_gbps: 200}}}
"""
PLANES = """\
fabrics:
  gpu:
    topology: {planes: 2, switch: sn5600, unit: {servers: 16}}
    servers:
      - {model: twin, count: 32, nics: [compute, storage]}
      - {model: filer, count: 4, nics: storage, leaves: shared}
"""
RAIL_ONLY = """\
fabrics:
  gpu:
    topology: {kind: rail-only, switch: sn5600, unit: {servers: 16}}
    servers:
      - {model: one, count: 32, nics: [compute, storage]}
      - {model: wide, count: 4, nics: storage, leaves: shared}
"""
PAIRS = """\
fabrics:
  gpu:
    topology: {kind: collapsed, planes: 2, switch: sn5600, unit: {servers: 8}}
    servers:
      - {model: twin, count: 8, nics: [compute, storage]}
      - {model: filer, count: 4, nics: storage}
    overlay: {kind: evpn-vxlan}
    tenants:
      - {name: gpu, nics: compute, networks: [{name: gpu, vlan: 900, gateway: 10.90.0.0/20}]}
      - {name: storage, nics: storage, networks: [{name: storage, vlan: 500, gateway: 10.50.0.0/24}]}
"""
SHAPES = {"planes": PLANES, "rail-only": RAIL_ONLY, "pairs": PAIRS}


def ends(plan: FabricPlan) -> list[tuple[str, str, int, str, str]]:
    """(server, NIC port, isolated network, leaf, leaf port) of every server link."""
    labels, columns = PortLabels(plan), plan.links.lists()
    found = []
    for link, kind in enumerate(columns["kind"]):
        if kind == SERVER_LEAF:
            server, leaf = (plan.devices[columns[end][link]] for end in "ab")
            network = leaf.rail if plan.spec.kind == "rail-only" else leaf.plane
            found.append((server.name, labels.at(link, "a"), network, leaf.name, labels.at(link, "b")))
    return found


@pytest.mark.parametrize("shape", SHAPES)
def test_a_server_has_as_many_ports_of_a_purpose_in_every_network(shape: str) -> None:
    plan = make(SERVERS + SHAPES[shape]).fabrics["gpu"]
    found = ends(plan)
    counts = Counter((server, nic[:5], network) for server, nic, network, *_ in found)
    by_purpose: dict[tuple[str, str], list[int]] = {}
    for (server, nic, _), count in counts.items():
        by_purpose.setdefault((server, nic), []).append(count)
    assert {len(its) for its in by_purpose.values()} == {plan.spec.networks}
    assert all(len(set(its)) == 1 for its in by_purpose.values())
    assert len({(leaf, port) for *_, leaf, port in found}) == len(found)


def test_the_ports_of_a_nic_are_on_the_planes_in_order() -> None:
    plane = {(server, nic): network for server, nic, network, *_ in ends(make(SERVERS + PAIRS).fabrics["gpu"])}
    assert {plane["twin-0001", f"compute{nic}p{port}"] - port for nic in range(1, 9) for port in (1, 2)} == {-1}
    assert (plane["twin-0001", "storage1"], plane["twin-0001", "storage2"]) == (0, 1)


def test_every_plane_has_a_pair_of_leaves() -> None:
    plan = make(SERVERS + PAIRS).fabrics["gpu"]
    links = plan.links
    leaves = {device.index: device.plane for device in plan.devices if device.role == "leaf"}
    between = [(int(links.a[at]), int(links.b[at])) for at in (links.kind == LEAF_LEAF).nonzero()[0]]
    assert Counter(leaves.values()) == {0: 2, 1: 2}
    assert {leaves[a] for a, _ in between} == {0, 1}
    assert all(leaves[a] == leaves[b] for a, b in between)
    assert len({(a, int(links.a_cage[at])) for at, (a, _) in enumerate(between)}) <= len(between)
    row = summarize(SERVERS + PAIRS)["gpu"]
    assert (row["links"]["leaf-leaf"], row["bgp"]["sessions"]) == (len(between), len(between))
    assert {device: plan.devices[other].plane for device, other in plan.tenancy.pair.items()} == leaves
    assert not plan.tenancy.lag.any()


BY_PLANE = "networks: [{name: a, vlan: 901, planes: 1, gateway: 10.91.0.0/24}, {name: b, vlan: 902, planes: 2}]"
BY_BOTH = (
    "networks: [{name: a, vlan: 901, planes: 1, rails: [1, 2, 3, 4], gateway: 10.91.0.0/24}, "
    "{name: b, vlan: 902, planes: 1, rails: [5, 6, 7, 8]}, {name: c, vlan: 903, planes: 2}]"
)
ONE = "networks: [{name: gpu, vlan: 900, gateway: 10.90.0.0/20}]"


@pytest.mark.parametrize(("networks", "expected"), [(BY_PLANE, (901, 901, 902)), (BY_BOTH, (901, 902, 903))])
def test_a_network_has_the_ports_of_its_planes_and_rails(networks: str, expected: tuple[int, int, int]) -> None:
    plan = make(SERVERS + PAIRS.replace(ONE, networks)).fabrics["gpu"]
    labels, links = PortLabels(plan), plan.links
    vlans: dict[str, set[int]] = {}
    for link in (links.kind == SERVER_LEAF).nonzero()[0].tolist():
        vlans.setdefault(labels.at(link, "a"), set()).update(network.vlan for network in plan.tenancy.networks(link))
    first, later, other = expected
    for nic in range(1, 9):
        assert vlans[f"compute{nic}p1"] == {first if nic <= 4 else later}
        assert vlans[f"compute{nic}p2"] == {other}


@pytest.mark.parametrize(
    ("part", "other", "message"),
    [
        ("planes: 2}", "planes: 1}", "plane 1 is in network 'a' too"),
        ("planes: 2}", "planes: 3}", "expected a plane from 1 to 2, got 3"),
        (", planes: 2}", "}", "expected `planes`, as other networks of the tenant have"),
        (", {name: b, vlan: 902, planes: 2}", "", "expected a network for each of its planes, got none for 2"),
        ("planes: 2}", "planes: 2, nics: compute}", "expected `planes` or `nics`, got both"),
    ],
)
def test_networks_by_plane_that_cannot_be(part: str, other: str, message: str) -> None:
    assert part in BY_PLANE
    with pytest.raises(InputError) as error:
        make(SERVERS + PAIRS.replace(ONE, BY_PLANE.replace(part, other)))
    assert message in str(error.value)


@pytest.mark.parametrize("shape", SHAPES)
def test_growth_moves_nothing(shape: str) -> None:
    text = SERVERS + SHAPES[shape]
    before = make(text)
    data = yaml.safe_load(text)
    for group in data["fabrics"]["gpu"]["servers"]:
        group["count"] = group["count"] * 2 if shape != "pairs" or group["model"] == "filer" else group["count"]
    after = make(yaml.safe_dump(data, sort_keys=False), before.lock)
    assert set(ends(before.fabrics["gpu"])) < set(ends(after.fabrics["gpu"]))


@pytest.mark.parametrize(
    ("shape", "part", "other", "message"),
    [
        ("planes", "model: filer", "model: odd", "expected ports in each of the 2 isolated networks of `planes`, got 1 port"),
        (
            "rail-only",
            "model: wide",
            "model: filer",
            "expected ports in each of the 8 isolated networks of `kind`, got 2 ports",
        ),
        ("pairs", "model: twin, count: 8,", "model: twin, count: 8, homing: {storage: bond},", "planes are isolated"),
        ("pairs", "planes: 2", "planes: 4", "planes: expected a divisor of the 2 ports of a NIC of twin, got 4"),
    ],
)
def test_a_shape_that_cannot_be(shape: str, part: str, other: str, message: str) -> None:
    text = SERVERS + "    odd: {gpus: 0, nics: {storage: {count: 1, speed_gbps: 400}}}\n" + SHAPES[shape]
    assert part in text
    with pytest.raises(InputError) as error:
        make(text.replace(part, other))
    assert message in str(error.value)
