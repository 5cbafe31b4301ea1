"""Two states of one device under two names or one: one error for the pair, and what follows from it is a warning."""

from __future__ import annotations

import pytest

from fabric.audit.checks.run import check_network
from tests.audit.checks.files.helpers import LEAF1, SMALL, Files, but, network

DUPLICATES = ("FAB250", "FAB252", "FAB253", "FAB255", "FAB256", "FAB258")
OLD = LEAF1.replace("hostname leaf1", "hostname oldleaf1").replace("192.0.2.101", "192.0.2.131")


def found(files: Files) -> list[str]:
    findings, _ = check_network(network(files))
    return sorted(f"{one.severity} {one.id} {one.device}" for one in findings if one.id in DUPLICATES)


def test_a_device_with_the_addresses_of_another_one() -> None:
    lines = found({**SMALL, "oldleaf1.eos": OLD})
    assert [line for line in lines if line.startswith("error")] == ["error FAB252 oldleaf1"]
    assert not [line for line in lines if "FAB253" in line or "FAB258" in line]


def test_a_wrong_as_number_of_a_double_is_a_warning() -> None:
    lines = found({**SMALL, "oldleaf1.eos": OLD.replace("remote-as 65100", "remote-as 65199")})
    assert "warning FAB255 oldleaf1" in lines
    alone = found(but(SMALL, {"leaf1.eos": {"remote-as 65100": "remote-as 65199"}}))
    assert "error FAB255 leaf1" in alone


def test_one_common_address_is_an_error() -> None:
    lines = found(but(SMALL, {"leaf2.nxos": {"10.255.0.2/32": "10.255.0.1/32"}}))
    assert "error FAB252 leaf2" in lines


def test_two_states_of_one_host_name() -> None:
    lines = found({**SMALL, "leaf1-bgp.eos": LEAF1})
    assert "warning FAB250 leaf1" in lines
    assert not [line for line in lines if line.startswith("error")]


@pytest.mark.parametrize(("last", "severity"), [(20, "warning"), (12, "error")])
def test_a_range_of_vlans_that_is_reserved(last: int, severity: str) -> None:
    vxlan = f"interface Vxlan1\n   vxlan source-interface Loopback0\n   vxlan vlan 10-{last} vni 1010-10{last}\n"
    findings, _ = check_network(network({"leaf1.eos": f"hostname leaf1\nvlan 10\n{vxlan}"}))
    assert {one.severity for one in findings if one.id == "FAB281" and "VLAN" in one.message} == {severity}
