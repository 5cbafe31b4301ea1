"""Names of ports as each network OS states them: `fabric diff` and the comparison of role peers take them out."""

from __future__ import annotations

import pytest

from fabric.audit.checks.role_peers.outline import Cache, outline
from fabric.audit.checks.role_peers.shapes import AT_PORT
from fabric.audit.diff.groups import masked
from fabric.nos.target import cage, port_pattern

NAMES = [  # network OS, name of a port, of its cage
    ("eos", "Ethernet4/1", "Ethernet4"),
    ("eos", "Ethernet4", "Ethernet4"),
    ("eos", "Ethernet3/4/1", "Ethernet3/4"),
    ("nxos", "Ethernet1/4", "Ethernet1/4"),
    ("nxos", "Ethernet1/4/1", "Ethernet1/4"),
    ("junos", "et-0/0/4:1", "et-0/0/4"),
    ("junos", "xe-0/0/4", "xe-0/0/4"),
    ("cumulus", "swp1s0", "swp1"),
    ("frr", "swp1", "swp1"),
    ("sonic", "Ethernet8", "Ethernet8"),
]
OTHERS = [
    ("eos", "Port-Channel5"),
    ("eos", "Vlan10"),
    ("junos", "ae0"),
    ("junos", "irb.10"),
    ("sonic", "PortChannel1"),
    ("frr", "bond1"),
]
NO_PORTS = [("eos", "leaf-1"), ("eos", "Loopback0"), ("junos", "lo0"), ("", "leaf001"), ("", "mtu")]
UNKNOWN = ["ethernet-1/4", "port-1/4", "Eth1/2/3", "xgigabitethernet0/0/1"]  # of a network OS that states no pattern


@pytest.mark.parametrize(("nos", "name", "of"), NAMES)
def test_a_port_and_its_cage(nos: str, name: str, of: str) -> None:
    assert port_pattern(nos).fullmatch(name)
    assert port_pattern(nos).fullmatch(f"{name}.11")
    assert cage(nos, name) == of


@pytest.mark.parametrize(("nos", "name"), OTHERS)
def test_bonds_and_vlan_interfaces(nos: str, name: str) -> None:
    assert port_pattern(nos).fullmatch(name)


@pytest.mark.parametrize(("nos", "name"), NO_PORTS)
def test_what_is_no_port(nos: str, name: str) -> None:
    assert port_pattern(nos).fullmatch(name) is None


@pytest.mark.parametrize("nos", ["other", ""])
@pytest.mark.parametrize("name", UNKNOWN)
def test_ports_of_a_third_party_network_os_are_folded(nos: str, name: str) -> None:
    text = "interface {}\n mtu 9214\n"
    texts = {masked(text.format(port), nos=nos) for port in (name, f"{name[:-1]}9")}
    assert texts == {text.format("<port>")}


@pytest.mark.parametrize("name", UNKNOWN)
def test_ports_of_a_third_party_network_os_are_ports_for_role_peers(name: str) -> None:
    read = outline("leaf1", "other", {"device.conf": f"interface {name}\n"}, Cache(nos="other"))
    assert [AT_PORT in row.form.text for row in read.rows] == [True]
    assert [row.form.values for row in read.rows] == [(name,)]
