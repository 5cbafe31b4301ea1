"""Switches whose configs change alike."""

from __future__ import annotations

import pytest

from fabric.audit.diff.configs import DeviceChange, FileChange
from fabric.audit.diff.groups import groups
from fabric.nos.dialect import COMMANDS

NAMES = frozenset({"leaf001", "leaf002", "spine001", "spine002", "65001", "65002"})

ALIKE = {
    "addresses": ("ip address 10.0.0.0/31", "ip address 10.0.0.2/31", True),
    "IPv6 addresses": ("ipv6 address fd00::1/127", "ipv6 address fd00:0:1::3/127", True),
    "AS numbers of the plan": ("remote-as 65001", "remote-as 65002", True),
    "names of switches": ("description spine001 Ethernet1/1", "description spine002 Ethernet7/1", True),
    "Ethernet segments": ("identifier 0302:0000:0000:0300:0001", "identifier 0302:0000:0000:0300:0002", True),
    "an MTU": ("mtu 9000", "mtu 9216", False),
    "a threshold": ("minimum-threshold 1411072 bytes", "minimum-threshold 1411073 bytes", False),
    "a VNI": ("vni 50001", "vni 50002", False),
    "a word": ("shutdown", "no shutdown", False),
}


def change(device: str, line: str) -> DeviceChange:
    file = FileChange("startup-config", COMMANDS, (line,))
    return DeviceChange(device=device, was=device, fabric="backend", role="leaf", nos="eos", state="changed", files=(file,))


@pytest.mark.parametrize("name", ALIKE)
def test_alike_but_for_what_every_switch_has_of_its_own(name: str) -> None:
    one, two, alike = ALIKE[name]
    found = groups([change("leaf001", one), change("leaf002", two)], NAMES)
    assert [group.names for group in found] == ([("leaf001", "leaf002")] if alike else [("leaf001",), ("leaf002",)])
    assert not alike or not found[0].same


def test_the_same_to_the_letter() -> None:
    (found,) = groups([change("leaf001", "mtu 9000"), change("leaf002", "mtu 9000")], NAMES)
    assert (found.names, found.same, found.first.device) == (("leaf001", "leaf002"), True, "leaf001")
