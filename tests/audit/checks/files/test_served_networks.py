"""A VLAN that has its VNI on the other leaves only (FAB2575), a gateway in another VRF (FAB2576), on each network OS."""

from __future__ import annotations

from collections.abc import Mapping

from tests.audit.checks.files.helpers import Case, Files, but, without
from tests.audit.checks.files.test_chains import FABRIC, FRR_PAIR, JUNOS_PAIR, NVUE_PAIR, PAIR, both

BLUE = "vrf instance blue\nvlan 10\nvrf instance red\n"
TWO_TENANTS = both(PAIR, "vlan 10\nvrf instance red\n", BLUE)
UNMAPPED = "   vxlan vlan 10 vni 10010\n"
ACCESS = "interface Ethernet5\n   channel-group 1 mode active\n"
PORT = "interface Ethernet6\n   switchport access vlan 10\n"
LINK = "interface Ethernet6.10\n   encapsulation dot1q vlan 10\n   ip address 10.7.0.0/31\n"
SVI = "interface Vlan10\n   vrf red\n   ip address virtual 10.20.0.1/24\n"
IRB = """\
set interfaces irb unit 10 family inet address 10.20.0.{n}/24 virtual-gateway-address 10.20.0.254
set routing-instances M vlans v10 l3-interface irb.10
set routing-instances red instance-type vrf
set routing-instances red protocols evpn ip-prefix-routes vni 50001
set routing-instances blue instance-type vrf
set routing-instances blue protocols evpn ip-prefix-routes vni 50002
"""
ROUTED = {name: text + IRB.format(n=at) for at, (name, text) in enumerate(JUNOS_PAIR.items(), 1)}
VLAN = "\n      vlan10: {{type: svi, vlan: 10, ip: {{vrf: {vrf}, vrr: {{enable: on, address: {{10.20.0.254/24: {{}}}}}}}}}}"


def with_svi(first: str, second: str) -> Files:
    """NVUE leaves with a VLAN interface, each in a VRF."""
    vrfs = {"leaf1.cumulus": first, "leaf2.cumulus": second}
    return {
        name: text.replace("\n    interface:", "\n    interface:" + VLAN.format(vrf=vrfs[name]))
        for name, text in NVUE_PAIR.items()
    }


def ports_only(leaves: int) -> Files:
    """Leaves of layer 2: the first has a port in the VLAN and no VNI for it."""
    text = PAIR["leaf2.eos"].replace(SVI, "").replace(ACCESS, ACCESS + PORT)
    rest = {f"leaf{n}.eos": text.replace("hostname leaf2", f"hostname leaf{n}") for n in range(2, leaves + 1)}
    return {"leaf1.eos": PAIR["leaf1.eos"].replace(UNMAPPED, "").replace(SVI, "").replace(ACCESS, ACCESS + PORT), **rest}


def tagged_link(more: str) -> Files:
    """Layer-2 leaves but for the first: a routed subinterface whose tag is the number of their VLAN."""
    first = (
        PAIR["leaf1.eos"]
        .replace(UNMAPPED, "")
        .replace(SVI, "")
        .replace("vlan 10\n", "")
        .replace(ACCESS, ACCESS + LINK + more)
    )
    return {**ports_only(3), "leaf1.eos": first}


CASES: Mapping[tuple[str, str], Case] = {
    ("FAB2575", "EOS: mapped on both"): (PAIR, []),
    ("FAB2575", "EOS: the VLAN of a gateway"): (
        without(PAIR, "leaf1.eos", UNMAPPED.strip("\n")),
        ["leaf1.eos:17: error[FAB2575]: leaf1: VLAN 10: no VNI, but VNI 10010 on 1 other device"],
    ),
    ("FAB2575", "EOS: the VLAN of a port"): (
        ports_only(3),
        ["leaf1.eos:14: warning[FAB2575]: leaf1: VLAN 10: no VNI, but VNI 10010 on 2 other devices"],
    ),
    ("FAB2575", "EOS: of two leaves with ports alone, either may be meant"): (ports_only(2), []),
    ("FAB2575", "EOS: the tag of a routed link"): (tagged_link(""), []),
    ("FAB2575", "EOS: the tag of a routed link, and the VLAN"): (
        tagged_link("vlan 10\n"),
        ["leaf1.eos:14: warning[FAB2575]: leaf1: VLAN 10: no VNI, but VNI 10010 on 2 other devices"],
    ),
    ("FAB2575", "NX-OS"): (
        but(
            FABRIC,
            {
                "leaf1.nxos": {
                    "  vn-segment 10010\n": "",
                    "  member vni 10010\n    ingress-replication protocol bgp\n": "",
                    "  vni 10010 l2\n    rd 10.8.0.1:10\n    route-target import 65000:10010\n"
                    "    route-target export 65000:10010\n": "",
                }
            },
        ),
        ["leaf1.nxos:19: error[FAB2575]: leaf1: VLAN 10: no VNI, but VNI 10010 on 1 other device"],
    ),
    ("FAB2575", "NX-OS: what is missing in the chain is FAB2550's"): (
        but(FABRIC, {"leaf1.nxos": {"  vn-segment 10010\n": ""}}),
        [],
    ),
    ("FAB2575", "Junos"): (
        but(ROUTED, {"leaf1.junos": {"set routing-instances M vlans v10 vxlan vni 10010\n": ""}}),
        ["leaf1.junos:25: error[FAB2575]: leaf1: VLAN 10: no VNI, but VNI 10010 on 1 other device"],
    ),
    ("FAB2575", "NVUE"): (
        but(with_svi("red", "red"), {"leaf1.cumulus": {"vlan: {10: {vni: {10010: {}}}}": "vlan: {10: {}}"}}),
        ["leaf1.cumulus:5: error[FAB2575]: leaf1: VLAN 10: no VNI, but VNI 10010 on 1 other device"],
    ),
    ("FAB2575", "FRR: no VLANs"): (FRR_PAIR, []),
    ("FAB2576", "EOS"): (TWO_TENANTS, []),
    ("FAB2576", "EOS: another tenant"): (
        but(TWO_TENANTS, {"leaf2.eos": {"   vrf red\n   ip address virtual": "   vrf blue\n   ip address virtual"}}),
        [
            "leaf1.eos:17: error[FAB2576]: leaf1: Vlan10: gateway of VNI 10010 in VRF red, but in VRF blue on leaf2 "
            "(leaf2.eos:17)",
            "leaf2.eos:17: error[FAB2576]: leaf2: Vlan10: gateway of VNI 10010 in VRF blue, but in VRF red on leaf1 "
            "(leaf1.eos:17)",
        ],
    ),
    ("FAB2576", "NX-OS: another name, and one VNI"): (
        {
            **FABRIC,
            "leaf2.nxos": FABRIC["leaf2.nxos"].replace("context red", "context r2").replace("member red", "member r2"),
        },
        [],
    ),
    ("FAB2576", "NX-OS: no VRF"): (
        but(FABRIC, {"leaf2.nxos": {"  vrf member red\n  ip address": "  ip address"}}),
        [
            "leaf1.nxos:19: error[FAB2576]: leaf1: Vlan10: gateway of VNI 10010 in VRF red, but in no VRF on leaf2 "
            "(leaf2.nxos:19)",
            "leaf2.nxos:19: error[FAB2576]: leaf2: Vlan10: gateway of VNI 10010 in no VRF, but in VRF red on leaf1 "
            "(leaf1.nxos:19)",
        ],
    ),
    ("FAB2576", "Junos"): (
        {
            "leaf1.junos": ROUTED["leaf1.junos"] + "set routing-instances red interface irb.10\n",
            "leaf2.junos": ROUTED["leaf2.junos"] + "set routing-instances blue interface irb.10\n",
        },
        [
            "leaf1.junos:32: error[FAB2576]: leaf1: irb.10: gateway of VNI 10010 in VRF red, but in VRF blue on leaf2 "
            "(leaf2.junos:32)",
            "leaf2.junos:32: error[FAB2576]: leaf2: irb.10: gateway of VNI 10010 in VRF blue, but in VRF red on leaf1 "
            "(leaf1.junos:32)",
        ],
    ),
    ("FAB2576", "NVUE"): (
        with_svi("red", "blue"),
        [
            "leaf1.cumulus:5: error[FAB2576]: leaf1: vlan10: gateway of VNI 10010 in VRF red, but in VRF blue on leaf2 "
            "(leaf2.cumulus:5)",
            "leaf2.cumulus:5: error[FAB2576]: leaf2: vlan10: gateway of VNI 10010 in VRF blue, but in VRF red on leaf1 "
            "(leaf1.cumulus:5)",
        ],
    ),
}
