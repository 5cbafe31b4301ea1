"""Networks that follow no rule: every one of them has a plan, and what it gives up is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabric.cli.import_ import site_of
from fabric.deliver.brownfield.draft.judge import UNSTATED, planned, splits
from fabric.deliver.brownfield.draft.simpler import rungs
from fabric.deliver.brownfield.drafted import Drafted, drafted
from fabric.deliver.brownfield.refused import taken
from fabric.deliver.brownfield.survey.assumptions import assumed
from fabric.deliver.brownfield.survey.hosts import HostPort, nics
from fabric.deliver.brownfield.survey.records import Host, Survey
from fabric.deliver.brownfield.survey.site import survey
from fabric.hardware.catalog.models import generic_switch
from fabric.model.plan import Plan, PortRef
from fabric.model.plan.cages import lay_out
from fabric.model.settings.base import NAME
from fabric.nos.reading import scan

SPINE = "hostname {name}\ninterface Loopback0\n   ip address 10.0.0.{n}/32\n"
BGP = "router bgp {asn}\n   router-id 10.0.0.{n}\n"
LINK = "interface Ethernet{port}\n   description {text}\n   no switchport\n   ip address {address}\n"
BOND = "interface Ethernet{port}\n   description {text}\n   channel-group {bond} mode active\n"
TRUNK = "interface Port-Channel{bond}\n   switchport trunk allowed vlan 11\n   switchport mode trunk\n   switchport\n"
ACCESS = "interface Ethernet{port}\n   description {text}\n   switchport access vlan 11\n   switchport\n"


def _pair(folder: Path, site: str = "a", *, more: str = "") -> None:
    """A spine and a pair of leaves with a server on both, one on the first leaf alone, and a switch below both."""
    at = ord(site) - ord("a")
    spine = SPINE.format(name=f"{site}-spine1", n=10 * at + 1) + BGP.format(asn=65000 + 100 * at, n=10 * at + 1)
    for n in (1, 2):
        spine += LINK.format(port=n, text=f"{site}-leaf{n}_Ethernet1", address=f"10.{at}.{n}.0/31")
        own = SPINE.format(name=f"{site}-leaf{n}", n=10 * at + 1 + n) + BGP.format(
            asn=65000 + 100 * at + n, n=10 * at + 1 + n
        )
        own += LINK.format(port=1, text=f"{site}-spine1_Ethernet{n}", address=f"10.{at}.{n}.1/31")
        own += BOND.format(port=5, text=f"SERVER_{site}-db1_eth{n}", bond=5) + TRUNK.format(bond=5)
        own += BOND.format(port=8, text=f"L2_{site}-access1_Ethernet{n}", bond=8) + TRUNK.format(bond=8)
        own += ACCESS.format(port=6, text=f"SERVER_{site}-log1_eth1") + more if n == 1 else ""
        (folder / f"{site}-leaf{n}.cfg").write_text(own, encoding="utf-8")
    (folder / f"{site}-spine1.cfg").write_text(spine, encoding="utf-8")
    below = (
        f"hostname {site}-access1\nvlan 11\n" + TRUNK.format(bond=1) + ACCESS.format(port=9, text=f"SERVER_{site}-bmc1_e1")
    )
    below += "".join(BOND.format(port=n, text=f"{site}-leaf{n}_Ethernet8", bond=1) for n in (1, 2))
    (folder / f"{site}-access1.cfg").write_text(below, encoding="utf-8")


def _drafted(folder: Path) -> tuple[Drafted, Plan]:
    found = drafted(survey(scan(folder), "site"))
    return found, planned(found.document, found.lock)


def test_leaves_with_pairs_and_single_servers_and_switches_below_have_a_plan(tmp_path: Path) -> None:
    _pair(tmp_path)
    found, plan = _drafted(tmp_path)
    switches = {device.name for fabric in plan.fabrics.values() for device in fabric.switches}
    assert {"a-leaf1", "a-leaf2", "a-spine1"} <= switches
    assert "a-access1" in switches | found.given_up.keys()


def test_a_link_that_joins_two_fabrics_is_another_device_of_both(tmp_path: Path) -> None:
    _pair(tmp_path, "a", more=LINK.format(port=7, text="b-leaf1_Ethernet7", address="10.9.9.0/31"))
    _pair(tmp_path, "b", more=LINK.format(port=7, text="a-leaf1_Ethernet7", address="10.9.9.1/31"))
    found = survey(scan(tmp_path), "site")
    assert {name for name, host in found.hosts.items() if host.attached} == {"a-leaf1-of-a", "b-leaf1-of-b"}
    fabric_of = {name: switch.fabric for name, switch in found.switches.items()}
    assert {(fabric_of[its.a], fabric_of[its.b]) for its in found.cables if its.a in fabric_of} == {
        ("a", "a"),
        ("b", "b"),
        ("a-access", "a"),
        ("b-access", "b"),
    }


def test_the_last_way_states_every_switch_by_itself(tmp_path: Path) -> None:
    _pair(tmp_path)
    last = list(rungs(survey(scan(tmp_path), "site")))[-1]
    assert sorted(last.survey.fabrics) == ["a-leaf1", "a-leaf2", "a-spine1"]
    assert last.given_up["links"].startswith("no rule of wiring fits them")
    assert set(last.given_up) == {"a-access1", "servers", "links"}


TOPOLOGY = {
    "version": 1,
    "site": "site",
    "fabrics": {
        "a": {
            "nos": "eos",
            "servers": {"model": "dgx-h100", "count": 2},
            "topology": {"switch": "64x400g", "rails": 2},
            "overlay": {"kind": "evpn-vxlan"},
        }
    },
}
NETWORKS = [{"name": "one", "vlan": 11, "gateway": "10.1.0.0/24"}, {"name": "two", "vlan": 3401, "gateway": "10.2.0.0/24"}]


def test_entries_that_the_planner_refuses_are_left_out_one_by_one() -> None:
    tenants = [
        {"name": "vlan10", "networks": [{"name": "zero", "vlan": 10, "gateway": "10.3.0.0/24"}]},
        {"name": "red", "networks": NETWORKS},
    ]
    kept, refused = taken(TOPOLOGY, {"fabrics": {"a": {"tenants": tenants}}})
    assert [(one["name"], [net["name"] for net in one["networks"]]) for one in kept["fabrics"]["a"]["tenants"]] == [
        ("red", ["one"])
    ]
    assert sorted(text.partition(",")[0] for text in refused.values()) == [
        "network 'red/two': expected a VLAN of 2 to 3000",
        "tenants: expected a name that no network OS reserves",
    ]


def ports(host: str) -> list[HostPort]:
    """A host with a port on each of two leaves."""
    return [
        HostPort(
            port=(f"leaf{n}", f"swp{host[-1]}"),
            host=host,
            label=f"eth{n}",
            attached=False,
            address="",
            far_address="",
            source="description",
        )
        for n in (1, 2)
    ]


def test_hosts_that_are_alike_have_as_many_nics() -> None:
    rows = [*ports("db1"), *ports("db2")]
    found = nics(rows, {}, {("leaf1", "swp1"): "po5", ("leaf2", "swp1"): "po5"})
    assert [(found[row.port].cage, found[row.port].sub) for row in rows] == [(1, 0), (2, 0)] * 2


@pytest.mark.parametrize(
    ("bonds", "expected"),
    [
        ({("leaf1", "swp1"): "po5", ("leaf2", "swp1"): "po5"}, [(1, 0), (1, 1)]),
        ({("leaf1", "swp1"): "po5", ("leaf2", "swp1"): "po6"}, [(1, 0), (2, 0)]),
        ({}, [(1, 0), (2, 0)]),
    ],
)
def test_a_bond_to_two_leaves_is_one_nic(bonds: dict[tuple[str, str], str], expected: list[tuple[int, int]]) -> None:
    rows = ports("db1")
    found = nics(rows, {}, bonds)
    assert [(found[row.port].cage, found[row.port].sub) for row in rows] == expected
    assert all(isinstance(ref, PortRef) for ref in found.values())


@pytest.mark.parametrize("name", ["Set-using-structured_config-at-port", "a_b", "x" * 27 + "_y"])
def test_a_name_that_an_intent_refuses_becomes_one_that_it_takes(name: str) -> None:
    host = Host(name=name, group="", number=1, attached=True)
    (new,) = assumed(Survey(site="a", fabrics={}, hosts={name: host})).hosts
    assert NAME.fullmatch(new)


def test_unused_cages_beyond_those_of_the_first_leaf_of_a_group_are_whole() -> None:
    model = generic_switch("4x100g")
    assert model is not None
    assert splits(model, lay_out(model, 2, 100), {4: (1, 0), 6: (1, 0), 7: (1, UNSTATED)}) == [(1, 0), (1, 0), (1, UNSTATED)]


@pytest.mark.parametrize(
    ("file", "site"),
    [
        ("dc1.yaml", "dc1"),
        ("evpn-lab.new.yaml", "evpn-lab-new"),
        ("my site_1.yaml", "my-site-1"),
        ("-.yaml", "site"),
        ("x" * 40, "x" * 32),
    ],
)
def test_the_site_has_the_name_of_the_file_as_far_as_a_name_takes_it(file: str, site: str) -> None:
    assert site_of(Path(file)) == site
