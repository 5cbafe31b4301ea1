"""Bridges below routed leaves: a VLAN that one trunk leaves out, of switches of two vendors."""

from __future__ import annotations

from collections.abc import Mapping

from tests.audit.checks.files.helpers import Case, but

PAIR = {
    "core1.eos": """\
hostname core1
vlan 200
interface Port-Channel7
   switchport trunk allowed vlan 200-201
   switchport mode trunk
interface Ethernet1
   description oob1 Ethernet1/49
   channel-group 7 mode active
interface Vlan200
   vrf oob
   ip address virtual 172.16.0.1/24
interface Vlan201
   vrf oob
   ip address virtual 10.20.0.1/24
""",
    "oob1.nxos": """\
hostname oob1
feature lacp
vlan 200-201
interface port-channel7
  switchport
  switchport mode trunk
  switchport trunk allowed vlan 200,201
interface Ethernet1/1
  description core1 Management1
  switchport
  switchport access vlan 200
  no shutdown
interface Ethernet1/2
  description gpu-0001 BMC
  switchport
  switchport access vlan 201
  no shutdown
interface Ethernet1/49
  description core1 Ethernet1
  channel-group 7 mode active
  no shutdown
""",
}
CASES: Mapping[tuple[str, str], Case] = {
    ("FAB2531", "a pair"): (PAIR, []),
    ("FAB2531", "not on the bond above"): (
        but(PAIR, {"core1.eos": {"allowed vlan 200-201": "allowed vlan 201"}}),
        [
            "oob1.nxos:7: error[FAB2531]: oob1: VLAN 200 reaches no gateway: core1 Ethernet1 does not carry it; behind it "
            "Ethernet1/1 (core1 Management1)"
        ],
    ),
    ("FAB2531", "on no bond"): (
        but(
            PAIR,
            {
                "core1.eos": {"allowed vlan 200-201": "allowed vlan 200"},
                "oob1.nxos": {"allowed vlan 200,201": "allowed vlan 200"},
            },
        ),
        [
            "oob1.nxos:16: error[FAB2531]: oob1: VLAN 201 reaches no gateway: no cable of this switch carries it on; behind "
            "it Ethernet1/2 (gpu-0001 BMC)"
        ],
    ),
    ("FAB2531", "a gateway in no file"): (
        but(PAIR, {"core1.eos": {"interface Vlan200\n   vrf oob\n   ip address virtual 172.16.0.1/24\n": ""}}),
        [],
    ),
}
