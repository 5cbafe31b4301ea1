"""Ports of servers: names, addresses, and what each reaches."""

from __future__ import annotations

import pytest

from fabric.configs.hosts import view
from fabric.configs.hosts.view import Host, HostNic, hosts, interface_name, sides, vlan_name
from fabric.hardware.catalog.models import NicSet
from tests.configs.hosts.helpers import plan, site


def all_hosts(**changes: object) -> list[Host]:
    return list(hosts(sides(plan(**changes))))


def routes(nic: HostNic) -> tuple[str | None, str | None, tuple[str, ...], tuple[tuple[str, int], ...]]:
    return nic.address, nic.gateway, nic.reach, nic.local


POOL = ("10.128.0.0/9",)


def test_each_rail_has_its_leaf_its_prefix_and_its_table() -> None:
    first, second = all_hosts()
    assert (first.name, first.group, first.model) == ("gpu-0001", "gpu", "node")
    assert [(n.name, n.leaf, n.rail, n.table, n.mtu) for n in first.nics] == [
        ("compute1", "backend-leaf001", 0, 1001, 9000),
        ("compute2", "backend-leaf002", 1, 1002, 9000),
    ]
    assert [routes(n) for n in second.nics] == [
        ("10.128.0.3/31", "10.128.0.2", POOL, (("10.128.0.0/27", 0), ("10.128.0.0/9", 100))),
        ("10.128.0.35/31", "10.128.0.34", POOL, (("10.128.0.32/27", 0), ("10.128.0.0/9", 101))),
    ]


def test_ports_of_one_leaf_share_a_prefix_in_order() -> None:
    topology = {"kind": "rack", "switch": "16x400g"}
    first, _ = all_hosts(servers={"model": "node", "count": 2, "name": "gpu", "per_rack": 1}, topology=topology)
    assert [n.local for n in first.nics] == [
        (("10.128.0.0/26", 100), ("10.128.0.0/9", 100)),
        (("10.128.0.0/26", 101), ("10.128.0.0/9", 101)),
    ]


def test_rails_that_never_meet_do_not_reach_each_other() -> None:
    first, _ = all_hosts(topology={"kind": "rail-only", "switch": "16x400g", "unit": {"servers": 2}})
    assert [n.reach for n in first.nics] == [("10.128.0.0/27",), ("10.128.0.32/27",)]
    assert [n.local for n in first.nics] == [(("10.128.0.0/27", 0),), (("10.128.0.32/27", 0),)]


def test_planes_do_not_reach_each_other() -> None:
    intent = site(topology={"switch": "16x400g", "unit": {"servers": 2}, "planes": 2})
    intent["catalog"]["servers"]["node"]["nics"]["compute"] = {"count": 1, "ports": 2, "speed_gbps": 400}
    first, _ = hosts(sides(plan(intent)))
    assert [(n.name, n.reach) for n in first.nics] == [
        ("compute1p1", ("10.128.0.0/27",)),
        ("compute1p2", ("10.128.0.32/27",)),
    ]


@pytest.mark.parametrize(
    ("pools", "rest"), [({}, ("10.128.0.64/27", 100)), ({"servers": "10.16.0.0/16"}, ("10.128.0.0/9", 100))]
)
def test_what_no_own_port_is_in_goes_over_every_port(pools: dict[str, str], rest: tuple[str, int]) -> None:
    """The whole pool, unless another fabric has addresses of it."""
    intent = site()
    front = {"purpose": "frontend", "nos": "frr", "pools": pools, "topology": {"kind": "collapsed", "switch": "16x400g"}}
    intent["fabrics"]["front"] = {**front, "servers": {"model": "dgx-h100", "count": 1, "name": "head"}}
    intent["catalog"]["servers"]["small"] = {"gpus": 1, "nics": {"compute": {"count": 1, "speed_gbps": 400}}}
    intent["fabrics"]["backend"]["servers"] = [
        {"model": "node", "count": 2, "name": "gpu"},
        {"model": "small", "count": 2, "name": "one"},
    ]
    found = {host.name: host for host in hosts(sides(plan(intent)))}
    (nic,) = found["one-0001"].nics
    assert nic.local == (("10.128.0.0/26", 0), rest)


def test_ipv6() -> None:
    first, _ = all_hosts(underlay={"addressing": "ipv6"})
    assert routes(first.nics[0]) == (
        "fd00:0:0:8000::1/127",
        "fd00:0:0:8000::",
        ("fd00:0:0:8000::/49",),
        (("fd00:0:0:8000::/123", 0), ("fd00:0:0:8000::/49", 100)),
    )


def test_one_name_in_two_fabrics_is_one_machine() -> None:
    intent = site()
    intent["catalog"]["servers"]["node"]["nics"] |= {
        "frontend": {"count": 1, "speed_gbps": 100},
        "oob": {"count": 1, "speed_gbps": 1},
    }
    own = {"nos": "frr", "servers": {"model": "node", "count": 1, "name": "gpu", "per_rack": 1}}
    intent["fabrics"]["front"] = {**own, "purpose": "frontend", "topology": {"switch": "16x100g"}}
    intent["fabrics"]["oob"] = {**own, "purpose": "oob", "topology": {"switch": "48x1g"}}
    first, second = hosts(sides(plan(intent)))
    assert [(n.name, n.kind, n.table) for n in first.nics] == [
        ("compute1", "ethernet", 1001),
        ("compute2", "ethernet", 1002),
        ("frontend1", "ethernet", 1003),
        ("oob1", "bmc", 1004),
    ]
    assert first.parts == (("backend", "gpu"), ("front", "gpu"), ("oob", "gpu"))
    assert [n.name for n in second.nics] == ["compute1", "compute2"]


def test_infiniband_has_no_addresses() -> None:
    intent = site(topology={"switch": "qm9700", "unit": {"servers": 2}})
    del intent["fabrics"]["backend"]["nos"]
    first, _ = hosts(sides(plan(intent)))
    assert [(n.kind, n.address, n.local) for n in first.nics] == [("infiniband", None, ()), ("infiniband", None, ())]


@pytest.mark.parametrize(
    ("label", "interfaces", "expected"),
    [
        ("compute1", (), "compute1"),
        ("compute1", ("enp24s0np0",), "enp24s0np0"),
        ("frontend-internal1", (), "n7568b6-1"),
        ("front end1", (), "nd82bd9-1"),
        ("$(reboot)1", (), "n948af2-1"),
    ],
)
def test_interface_names_are_names_that_linux_takes(label: str, interfaces: tuple[str, ...], expected: str) -> None:
    assert interface_name(label, NicSet(count=1, speed_gbps=100, interfaces=interfaces), 1, 0) == expected


def test_names_of_tagged_networks_fit() -> None:
    assert vlan_name("bond0", 101, 3) == "bond0.101"
    assert vlan_name("enp170s0f0np0", 4094, 3) == "vlan4094n3"


def test_catalog_names_are_one_for_each_port() -> None:
    with pytest.raises(ValueError, match="each of the 4 ports, got 1"):
        NicSet(count=2, ports=2, speed_gbps=100, interfaces=("eth1",))
    with pytest.raises(ValueError, match="every name in rdma_devices once"):
        NicSet(count=2, speed_gbps=100, rdma_devices=("mlx5_0", "mlx5_0"))


def test_dgx_h100_ports_are_in_the_order_of_its_gpus() -> None:
    topology = {"switch": "16x400g", "unit": {"servers": 2}}
    first, _ = all_hosts(servers={"model": "dgx-h100", "count": 2, "name": "gpu"}, topology=topology)
    assert [n.interface for n in first.nics][::7] == ["enp24s0np0", "enp220s0np0"]
    assert view.FIRST_TABLE > 255  # 253 to 255 are the kernel's
