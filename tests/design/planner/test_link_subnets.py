"""Subnets of links between switches: their length, and which switch has the first address."""

from __future__ import annotations

from ipaddress import ip_interface
from pathlib import Path

import pytest

from fabric import pipeline
from fabric.base.diagnostics import InputError
from fabric.configs.site_files import addresses
from fabric.configs.view_of import Views
from fabric.model.plan import LEAF_SPINE, SERVER_LEAF, Plan, Port

INTENT = """
version: 1
site: dc1
fabrics:
  backend:
    nos: eos
    servers: {{model: dgx-h100, count: 32}}
    topology: {{switch: 7060x6-64pe, unit: {{servers: 32}}, leaf: {{uplinks: {{count: 4}}}}, spine: {{count: 4}}}}
    underlay: {{addressing: {addressing}, link_subnets: {subnets}}}
    pools: {{p2p: {pool}}}
    {more}
"""


def plan(subnets: str, addressing: str = "ipv4", pool: str = "10.9.0.0/20", more: str = "") -> Plan:
    path = Path("dc1.yaml")
    path.write_text(INTENT.format(subnets=subnets, addressing=addressing, pool=pool, more=more), encoding="utf-8")
    return pipeline.plan(pipeline.load(path))


def port(site: Plan, switch: str, cage: int) -> Port:
    """A port of a switch as its template gets it."""
    fabric = site.fabrics["backend"]
    view = Views(site, fabric).of(fabric.by_name[switch])
    return next(port for port in view.ports if port.ref.cage == cage)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("subnets", "addressing", "pool", "lower", "upper"),
    [
        ("{}", "ipv4", "10.9.0.0/20", "10.9.0.2/31", "10.9.0.3/31"),
        ("{first: upper}", "ipv4", "10.9.0.0/20", "10.9.0.3/31", "10.9.0.2/31"),
        ("{length: 30}", "ipv4", "10.9.0.0/20", "10.9.0.5/30", "10.9.0.6/30"),
        ("{length: 30, first: upper}", "ipv4", "10.9.0.0/20", "10.9.0.6/30", "10.9.0.5/30"),
        ("{first: upper}", "ipv6", "2001:db8::/64", "2001:db8::3/127", "2001:db8::2/127"),
    ],
)
def test_both_ends(subnets: str, addressing: str, pool: str, lower: str, upper: str) -> None:
    """The second uplink of the first leaf, as its config and that of the spine have it."""
    site = plan(subnets, addressing, pool)
    near, far = port(site, "backend-leaf001", 62), port(site, "backend-spine002", 1)
    assert near.address is not None
    assert far.address is not None
    assert (near.address, far.address) == (lower, upper)
    assert (near.peer_address, far.peer_address) == (far.address.partition("/")[0], near.address.partition("/")[0])
    fabric = site.fabrics["backend"]
    for low, high in zip(*addresses(fabric), strict=True):
        assert abs(int(ip_interface(low)) - int(ip_interface(high))) == 1
    servers = fabric.links.kind == SERVER_LEAF
    assert {int(low) % 2 for low in fabric.subnet[servers]} == {0}
    assert fabric.link_length(int(servers.nonzero()[0][0])) == (127 if addressing == "ipv6" else 31)


def test_subnets_of_tenants_as_well() -> None:
    more = "overlay: {isolation: vrf-lite}\n    tenants: [{name: red, servers: dgx-h100-0001..0016}, {name: blue}]"
    site = plan("{length: 30, first: upper}", more=more)
    near, far = port(site, "backend-leaf001", 61).subinterfaces, port(site, "backend-spine001", 1).subinterfaces
    assert [ip_interface(one.address).network for one in near] == [ip_interface(one.address).network for one in far]
    assert all(ip_interface(one.address) > ip_interface(other.address) for one, other in zip(near, far, strict=True))


def test_every_subnet_once() -> None:
    fabric = plan("{length: 30}").fabrics["backend"]
    between = [int(low) for low in fabric.subnet[fabric.links.kind == LEAF_SPINE]]
    assert len(set(between)) == len(between)
    assert {low % 4 for low in between} == {1}


@pytest.mark.parametrize(
    ("length", "addressing", "message"),
    [("127", "ipv4", "of 30 or 31 with addressing ipv4"), ("31", "ipv6", "of 127 with addressing ipv6")],
)
def test_a_length_of_another_family(length: str, addressing: str, message: str) -> None:
    with pytest.raises(InputError, match=f"expected a link_subnets.length {message}"):
        plan(f"{{length: {length}}}", addressing, "10.9.0.0/20" if addressing == "ipv4" else "2001:db8::/64")
