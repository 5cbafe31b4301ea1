"""Route targets that devices derive from their AS numbers: FAB2551 by the rule of each network OS."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tests.audit.checks.files.helpers import Case, Files, but
from tests.audit.checks.files.test_chains import FABRIC, FRR_PAIR, JUNOS_PAIR, NVUE_PAIR, NXOS, both

STATED = "    route-target import 65000:10010\n    route-target export 65000:10010\n"
AUTO = "    route-target import auto\n    route-target export auto\n"
NXOS_AUTO = both(FABRIC, STATED, AUTO)
LEAF3 = NXOS.format(n=3).replace(STATED, AUTO).replace("router bgp 65003", "router bgp 65001")
REWRITES = r"\1\2\1  rewrite-evpn-rt-asn\n"
FRR_AUTO = both(FRR_PAIR, "   route-target import 10:10010\n   route-target export 10:10010\n", "")
COMPATIBLE = "  autort rfc8365-compatible\n  advertise-all-vni"
JUNOS_AUTO = both(JUNOS_PAIR, "vrf-target target:10:10010\n", "vrf-target auto\n")
NVUE_ANY = both(
    NVUE_PAIR,
    "    evpn: {enable: on}\n",
    "    evpn: {enable: on, vni: {10010: {route-target: {import: {ANY:10010: {}}, export: {65000:10010: {}}}}}}\n",
)


def four_bytes(files: Files) -> Files:
    """The leaves with AS numbers of four bytes, for which NX-OS takes AS_TRANS."""
    return {
        name: text.replace("router bgp 6500", "router bgp 420000000").replace("remote-as 6500", "remote-as 420000000")
        for name, text in files.items()
    }


def imports_others(files: Files) -> Files:
    """Each leaf imports the derived targets of the other."""
    line = "set routing-instances M vrf-target auto import-as {} vni-list all\n"
    return {name: text + line.format(65002 if "leaf1" in name else 65001) for name, text in files.items()}


CASES: Mapping[tuple[str, str], Case] = {
    ("FAB2551", "NX-OS: AS numbers of four bytes"): (four_bytes(NXOS_AUTO), []),
    ("FAB2551", "NX-OS: two leaves of one AS, and another one"): (
        {**NXOS_AUTO, "leaf3.nxos": LEAF3},
        [
            "leaf1.nxos:61: error[FAB2551]: leaf1: VNI 10010: imports route target 65001:10010, but leaf2 derives "
            "65002:10010",
            "leaf2.nxos:61: error[FAB2551]: leaf2: VNI 10010: imports route target 65002:10010, but leaf1 and 1 more derive "
            "65001:10010",
            "leaf3.nxos:61: error[FAB2551]: leaf3: VNI 10010: imports route target 65001:10010, but leaf2 derives "
            "65002:10010",
        ],
    ),
    ("FAB2551", "NX-OS: a border gateway rewrites those of its site's leaves"): (
        {**NXOS_AUTO, "leaf3.nxos": re.sub(r"( +)(address-family l2vpn evpn\n)(?= +send)", REWRITES, LEAF3)},
        [
            "leaf2.nxos:61: error[FAB2551]: leaf2: VNI 10010: imports route target 65002:10010, but leaf1 and 1 more derive "
            "65001:10010",
        ],
    ),
    ("FAB2551", "FRR takes those of any AS number, NX-OS does not"): (
        {
            "leaf1.nxos": NXOS_AUTO["leaf1.nxos"],
            "leaf2.frr": FRR_AUTO["leaf2.frr"].replace("10.9.0.0 ", "10.9.1.0 ").replace("10.9.0.1/31", "10.9.1.1/31"),
        },
        ["leaf1.nxos:61: error[FAB2551]: leaf1: VNI 10010: imports route target 65001:10010, but leaf2 derives 65002:10010"],
    ),
    ("FAB2551", "FRR: derived"): (FRR_AUTO, []),
    ("FAB2551", "FRR: in the form of RFC 8365"): (both(FRR_AUTO, "  advertise-all-vni", COMPATIBLE), []),
    ("FAB2551", "FRR: in that form on one leaf"): (
        but(FRR_AUTO, {"leaf1.frr": {"  advertise-all-vni": COMPATIBLE}}),
        [
            "leaf1.frr:11: error[FAB2551]: leaf1: VNI 10010: no other device imports route target 65001:268445466",
            "leaf2.frr:10: error[FAB2551]: leaf2: VNI 10010: no other device imports route target 65002:10010",
        ],
    ),
    ("FAB2551", "Junos: derived from AS numbers"): (
        JUNOS_AUTO,
        [
            "leaf1.junos:16: error[FAB2551]: leaf1: VNI 10010: no other device imports route target 65001:268445466",
            "leaf2.junos:16: error[FAB2551]: leaf2: VNI 10010: no other device imports route target 65002:268445466",
        ],
    ),
    ("FAB2551", "Junos: those of the other AS are imported"): (imports_others(JUNOS_AUTO), []),
    ("FAB2551", "NVUE: of any AS number"): (NVUE_ANY, []),
}
