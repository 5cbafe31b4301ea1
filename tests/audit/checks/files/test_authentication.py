"""Authentication of sessions, in the words of several network OSes."""

from __future__ import annotations

from collections.abc import Mapping

from tests.audit.checks.files.helpers import SMALL, Case, Files, but
from tests.audit.checks.files.test_evpn_sessions import EBGP

EOS, NXOS, JUNOS = "leaf1.eos", "leaf2.nxos", "spine1.junos"
LEAVES = "set protocols bgp group LEAVES type external\n"


def guarded(eos: str = "", nxos: str = "", junos: str = "") -> Files:
    """The small network with authentication on its sessions."""
    edits = {
        EOS: {"   neighbor 10.0.0.0 timers 3 9\n": f"   neighbor 10.0.0.0 timers 3 9\n   neighbor 10.0.0.0 {eos}\n"},
        NXOS: {"    timers 3 9\n": f"    timers 3 9\n    {nxos}\n"},
        JUNOS: {LEAVES: f"{LEAVES}set protocols bgp group LEAVES {junos}\n"},
    }
    texts = {EOS: eos, NXOS: nxos, JUNOS: junos}
    return but(SMALL, {name: edit for name, edit in edits.items() if texts[name]})


FRR = "frr version 8.4.4\n"
NEIGHBOR = " neighbor 10.9.1.{far} remote-as {asn}\n neighbor 10.9.1.{far} password secret\n"
KEPT = {
    f"leaf{n}.frr": f"{FRR}hostname leaf{n}\ninterface swp1\n ip address 10.9.1.{2 * n + 1}/31\ninterface lo\n ip address "
    f"10.8.0.{n}/32\nrouter bgp 6500{n}\n bgp router-id 10.8.0.{n}\n{NEIGHBOR.format(far=2 * n, asn=65100)}"
    for n in (1, 2)
} | {
    "spine1.frr": f"{FRR}hostname spine1\ninterface swp1\n ip address 10.9.1.2/31\ninterface swp2\n ip address 10.9.1.4/31\n"
    "interface lo\n ip address 10.8.0.100/32\nrouter bgp 65100\n bgp router-id 10.8.0.100\n"
    + "".join(NEIGHBOR.format(far=2 * n + 1, asn=f"6500{n}") for n in (1, 2))
}
DROPPED = but(
    KEPT,
    {
        "leaf1.frr": {
            NEIGHBOR.format(far=2, asn=65100): " neighbor 10.9.1.2 password secret\n neighbor 10.9.1.2 remote-as 65100\n"
        }
    },
)

CASES: Mapping[tuple[str, str], Case] = {
    ("FAB2513", "none"): (SMALL, []),
    ("FAB2513", "at both ends, encrypted in three ways"): (
        guarded("password 7 q+VNViP5i4rVjW1cxFv2wA==", "password 3 9125d59c18a9b015", 'authentication-key "$9$abc"'),
        [],
    ),
    ("FAB2513", "one password in clear text, and a placeholder"): (
        guarded("password 0 one", "password ${BGP}", "authentication-key one"),
        [],
    ),
    ("FAB2513", "of a group, at one end only"): (
        guarded(junos="authentication-key one"),
        [
            "spine1.junos:19: error[FAB2513]: spine1: neighbor 10.0.0.1, neighbor 10.0.0.3: password, but none at the other "
            "ends: leaf1, leaf2 (leaf1.eos:20)"
        ],
    ),
    ("FAB2513", "missing on one of two"): (
        guarded(eos="password 7 abc", junos="authentication-key one"),
        [
            "leaf2.nxos:21: error[FAB2513]: leaf2: neighbor 10.0.0.2: no password, but one at the other end: spine1 "
            "(spine1.junos:19)"
        ],
    ),
    ("FAB2513", "dropped by the leaf, as it stands above the AS number of its neighbor"): (
        DROPPED,
        [
            "leaf1.frr:10: error[FAB2513]: leaf1: neighbor 10.9.1.2: no password, but one at the other end: spine1 "
            "(spine1.frr:12)"
        ],
    ),
    ("FAB2513", "two passwords"): (
        guarded("password 0 one", "password 0 two", "authentication-key two"),
        [
            "leaf1.eos:23: error[FAB2513]: leaf1: neighbor 10.0.0.0: another password than on spine1 (spine1.junos:19)",
        ],
    ),
    ("FAB2513", "two methods"): (
        guarded("password shared-secret profile P algorithm aes-128-cmac-96", "ao CHAIN", "authentication-key two"),
        [
            "leaf1.eos:23: error[FAB2513]: leaf1: neighbor 10.0.0.0: another method (TCP-AO) than on spine1 "
            "(spine1.junos:19)",
            "leaf2.nxos:25: error[FAB2513]: leaf2: neighbor 10.0.0.2: another method (TCP-AO) than on spine1 "
            "(spine1.junos:19)",
        ],
    ),
    ("FAB2513", "a key chain, whose algorithm may be that of a password"): (
        guarded("password 7 abc", "password 7 abc", "authentication-key-chain BGP"),
        [],
    ),
    ("FAB2513", "of a peer group"): (
        but(EBGP, {"spine1.eos": {"neighbor EVPN ebgp-multihop 3": "neighbor EVPN password 7 abc"}}),
        [
            "spine1.eos:8: error[FAB2513]: spine1: neighbor 10.255.0.1, neighbor 10.255.0.2: password, but none at the other "
            "ends: leaf1, leaf2 (leaf1.eos:10)"
        ],
    ),
    ("FAB2513", "of a session that is shut down"): (
        but(
            guarded(junos="authentication-key one"),
            {
                EOS: {"neighbor 10.0.0.0 timers 3 9": "neighbor 10.0.0.0 shutdown"},
                NXOS: {"    timers 3 9": "    shutdown"},
            },
        ),
        [],
    ),
}
