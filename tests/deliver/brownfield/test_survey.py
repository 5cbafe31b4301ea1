"""Configs of a network, generated or made up, as a survey."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from fabric.deliver.brownfield.survey.hosts import parsed
from fabric.deliver.brownfield.survey.ports import panel, port_of
from fabric.deliver.brownfield.survey.site import survey
from fabric.hardware import catalog
from fabric.model.facts import Facts
from fabric.model.plan import PortRef
from fabric.nos.reading import scan
from fabric.nos.target import target, target_names
from tests.deliver.brownfield.surveyed import case_of, differences
from tests.system.random_designs.drawing import CONVERGED, draw
from tests.system.random_designs.everyday import draw_everyday

# --- Generated configs ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", range(12))
def test_a_survey_of_generated_configs_is_that_of_the_plan(number: int, tmp_path: Path) -> None:
    """A sample of the long run; planes, rails, pods, pairs, racks below others and every network OS are in it."""
    case = case_of(draw(7, number, CONVERGED) if number < 6 else draw_everyday(7, number * 3), tmp_path)
    if case is None:
        pytest.skip("the design is refused")
    assert list(differences(case, case.survey)) == []


@pytest.mark.parametrize("name", ["sn5600", "qfx5240-64od", "7060x6-32pe", "n9332d-gx2b", "sn2201"])
def test_the_place_of_every_port_follows_from_its_name_and_speed(name: str) -> None:
    model = catalog.switch(name)
    assert model is not None
    for nos in (nos for nos in target_names() if nos in model.nos):
        for cage in (1, 2, model.cages):
            for speed, split in model.group_of(cage).splits.items():
                refs = {target(nos).port_name(model, ref, name): ref for ref in _ports(cage, split, speed)}
                gbps = dict.fromkeys(refs, speed)
                assert all(port_of(nos, port) == port for port in refs)
                assert panel(Facts(name="leaf1", nos=nos), name, refs, gbps) == refs


def _ports(cage: int, split: int, speed: int) -> list[PortRef]:
    return [PortRef(cage, sub, split, speed) for sub in range(split)]


# --- Configs that were written by hand ------------------------------------------------------------------------

LEAF = """\
! device: {name} (DCS-7060X6-32PE-F, EOS-4.33.1F)
hostname {name}
interface Loopback0
   ip address {loopback}/32
{ports}
router bgp {asn}
   router-id {loopback}
{peers}
"""


def _switch(folder: Path, name: str, asn: int, loopback: str, ports: dict[str, str], peers: dict[str, int]) -> None:
    lines = [f"interface {port}\n{text}" for port, text in ports.items()]
    sessions = [f"   neighbor {peer} remote-as {number}" for peer, number in peers.items()]
    text = LEAF.format(name=name, asn=asn, loopback=loopback, ports="\n".join(lines), peers="\n".join(sessions))
    (folder / f"{name}.cfg").write_text(text, encoding="utf-8")


def _routed(address: str, text: str = "") -> str:
    return (f"   description {text}\n" if text else "") + f"   no switchport\n   ip address {address}"


def _clos(folder: Path, spine: str = "zed", leaf: str = "alpha") -> None:
    """Two spines and two leaves without a word in their names that tells which is which."""
    for at in (1, 2):
        ports = {f"Ethernet{other}/1": _routed(f"10.64.{at}.{2 * other}/31") for other in (1, 2)}
        _switch(folder, f"{spine}{at}", 65000, f"10.0.0.{at}", ports, {f"10.64.{at}.{2 * n + 1}": 65000 + n for n in (1, 2)})
    for at in (1, 2):
        ports = {f"Ethernet{other}/1": _routed(f"10.64.{other}.{2 * at + 1}/31") for other in (1, 2)}
        ports |= {"Ethernet9/1": "   description SERVER_gpu01_eth1\n   switchport access vlan 100"} if at == 1 else {}
        ports |= {"Ethernet10/1": "   switchport access vlan 100"}
        ports |= {"Ethernet30/1": _routed("192.0.2.1/31", "to isp-router xe-0/0/1")} if at == 2 else {}
        peers = {f"10.64.{n}.{2 * at}": 65000 for n in (1, 2)} | ({"192.0.2.0": 64999} if at == 2 else {})
        _switch(folder, f"{leaf}{at}", 65000 + at, f"10.0.0.{10 + at}", ports, peers)


def test_roles_follow_from_cables_and_hosts_whatever_the_names(tmp_path: Path) -> None:
    _clos(tmp_path, spine="leaf", leaf="spine")
    found = survey(scan(tmp_path), "site")
    assert {its.name: its.role for its in found.switches.values()} == {
        "leaf1": "spine",
        "leaf2": "spine",
        "spine1": "leaf",
        "spine2": "leaf",
    }
    why = {(one.subject, one.what): one.source for one in found.inferences}
    assert (why["leaf1", "role"], why["spine1", "role"]) == ("next to leaves", "2 ports with servers")


def test_links_hosts_and_hardware_of_a_small_fabric(tmp_path: Path) -> None:
    _clos(tmp_path)
    found = survey(scan(tmp_path), "site")
    assert {its.model for its in found.switches.values()} == {"7060x6-32pe"}
    assert {its.release for its in found.switches.values()} == {"4.33.1F"}
    assert [its.name for its in found.switches.values() if its.border] == ["alpha2"]
    assert Counter(cable.source for cable in found.cables) == {"addresses": 4, "description": 2, "VLAN": 2}
    cable = next(cable for cable in found.cables if cable.a == "alpha1")
    assert (cable.a_port, cable.b, cable.b_port, cable.a_address) == ("Ethernet1/1", "zed1", "Ethernet1/1", "10.64.1.3/31")
    assert cable.b_ref == PortRef(1, 0, 1, 800)
    hosts = {host.name: (host.group, host.attached) for host in found.hosts.values()}
    assert hosts == {
        "gpu01": ("gpu", False),
        "isp-router": ("", True),
        "alpha1-Ethernet10-1": ("host", False),
        "alpha2-Ethernet10-1": ("host", False),
    }


def test_hardware_may_be_stated_by_name_or_pattern(tmp_path: Path) -> None:
    _clos(tmp_path)
    found = survey(scan(tmp_path), "site", models={"zed*": "7060x6-64pe", "zed2": "7280r3"})
    assert [its.model for its in found.switches.values() if its.role == "spine"] == ["7060x6-64pe", "7280r3"]


def test_cables_without_addresses_follow_from_other_sources(tmp_path: Path) -> None:
    for name in ("leaf1", "leaf2"):
        _switch(tmp_path, name, 65001, "10.0.0.1", {"Ethernet1/1": "   no switchport", "Ethernet2/1": "   no switchport"}, {})
    assert not survey(scan(tmp_path), "site").cables
    wires = [("leaf1", "Et1/1", "LEAF2", "Ethernet2/1"), ("leaf2", "Ethernet1/1", "srv7", "eth0")]
    found = survey(scan(tmp_path), "site", wires=wires)
    ends = {(cable.a, cable.a_port, cable.b, cable.b_port) for cable in found.cables}
    assert ends == {("leaf1", "Ethernet1/1", "leaf2", "Ethernet2/1"), ("srv7", "eth0", "leaf2", "Ethernet1/1")}


# --- What makes a network ambiguous ---------------------------------------------------------------------------


def test_contradictions_are_findings_and_what_is_left_out_has_a_reason(tmp_path: Path) -> None:
    _clos(tmp_path)
    copy = (tmp_path / "alpha1.cfg").read_text(encoding="utf-8").replace("10.0.0.11", "10.0.0.99")
    (tmp_path / "copy.cfg").write_text(copy, encoding="utf-8")
    (tmp_path / "ios.cfg").write_text("version 15.2\nline vty 0 4\nhostname sw1\n", encoding="utf-8")
    found = survey(scan(tmp_path), "site")
    assert ("error", "FAB250") in {(one.severity, one.id) for one in found.findings}
    assert {Path(path).name for path in found.left_out} >= {"copy.cfg", "ios.cfg"}
    assert all(found.left_out.values())


def test_an_address_that_two_links_have_is_a_finding(tmp_path: Path) -> None:
    _clos(tmp_path)
    path = tmp_path / "alpha2.cfg"
    path.write_text(path.read_text(encoding="utf-8").replace("10.64.1.5/31", "10.64.1.3/31"), encoding="utf-8")
    found = survey(scan(tmp_path), "site")
    assert {one.id for one in found.findings if one.severity == "error"} >= {"FAB252"}


def test_a_cable_that_two_sources_have_at_two_places_is_a_finding(tmp_path: Path) -> None:
    _clos(tmp_path)
    wires = [("alpha1", "Ethernet1/1", "zed2", "Ethernet1/1")]
    found = survey(scan(tmp_path), "site", lldp=wires)
    (finding,) = (one for one in found.findings if one.id == "FAB279" and one.device == "alpha1")
    assert finding.severity == "error"
    assert finding.message == "Ethernet1/1: zed1 Ethernet1/1 by addresses, zed2 Ethernet1/1 by LLDP"
    assert sum(cable.source == "addresses" for cable in found.cables) == 4


# --- Descriptions ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "host", "label"),
    [
        ("gpu-0001 compute1p2", "gpu-0001", "compute1p2"),
        ("gpu-0001 compute1, unassigned", "gpu-0001", "compute1"),
        ("SERVER_dc1-leaf1-server1_PCI1", "dc1-leaf1-server1", "PCI1"),
        ("SERVER_dc1-leaf1-server1_iLO", "dc1-leaf1-server1", "iLO"),
        ("to.dc1-esi-001-sys001", "dc1-esi-001-sys001", ""),
        ("To host srv07 Eth2", "srv07", "Eth2"),
        ("TO-R01", "R01", ""),
        ("wan port1", "wan", "port1"),
        ("", "", ""),
    ],
)
def test_a_description_names_a_host_and_its_port(text: str, host: str, label: str) -> None:
    assert parsed(text) == (host, label)
