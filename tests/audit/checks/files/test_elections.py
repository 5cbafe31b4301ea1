"""The designated forwarder of an Ethernet segment: algorithm and preference, FAB2553."""

from __future__ import annotations

from collections.abc import Mapping

from tests.audit.checks.files.helpers import Case, Files, but
from tests.audit.checks.files.test_chains import FRR_PAIR, JUNOS_PAIR, PAIR

IDENTIFIER = "      identifier 0000:0000:0001:0001:0001\n"
ELECTION = "      designated-forwarder election algorithm preference {}\n"
SEGMENT = "interface bond1\n evpn mh es-sys-mac 02:00:00:00:00:0a\n evpn mh es-id 5\n{}router bgp"


def eos(first: int, second: int) -> Files:
    return but(
        PAIR, {f"leaf{n}.eos": {IDENTIFIER: IDENTIFIER + ELECTION.format(value)} for n, value in ((1, first), (2, second))}
    )


def junos(first: int, second: int) -> Files:
    line = "set interfaces ae1 esi df-election-type preference value {}\n"
    return {name: JUNOS_PAIR[name] + line.format(value) for name, value in (("leaf1.junos", first), ("leaf2.junos", second))}


def frr(first: str, second: str) -> Files:
    return but(FRR_PAIR, {f"leaf{n}.frr": {"router bgp": SEGMENT.format(text)} for n, text in ((1, first), (2, second))})


HINT = "\n    hint: state a higher preference on the leaf that is to forward; else the lowest address decides"
MIXED = "03:02:00:00:00:00:0a:00:00:05"
CASES: Mapping[tuple[str, str], Case] = {
    ("FAB2553", "EOS: preferences"): (eos(100, 200), []),
    ("FAB2553", "EOS: one preference"): (
        eos(100, 100),
        [
            "leaf1.eos:10: note[FAB2553]: leaf1: Port-Channel1: preference 100 as on leaf2, in Ethernet segment "
            f"00:00:00:00:00:01:00:01:00:01{HINT}"
        ],
    ),
    ("FAB2553", "Junos: preferences"): (junos(100, 200), []),
    ("FAB2553", "Junos: one preference"): (
        junos(100, 100),
        [
            "leaf1.junos:26: note[FAB2553]: leaf1: ae1: preference 100 as on leaf2, in Ethernet segment "
            f"00:11:11:11:11:11:11:11:11:01{HINT}"
        ],
    ),
    ("FAB2553", "FRR: the default and a preference"): (frr("", " evpn mh es-df-pref 50000\n"), []),
    ("FAB2553", "FRR: one preference"): (
        frr(" evpn mh es-df-pref 50000\n", " evpn mh es-df-pref 50000\n"),
        [f"leaf1.frr:8: note[FAB2553]: leaf1: bond1: preference 50000 as on leaf2, in Ethernet segment {MIXED}{HINT}"],
    ),
    ("FAB2553", "FRR elects by preference, EOS by modulus"): (
        {
            "leaf1.eos": PAIR["leaf1.eos"].replace("0000:0000:0001:0001:0001", "0302:0000:0000:0a00:0005"),
            "leaf2.frr": frr("", "")["leaf2.frr"],
        },
        [
            "leaf1.eos:9: warning[FAB2553]: leaf1: Port-Channel1: election modulus, but preference on leaf2, in Ethernet "
            f"segment {MIXED}",
            f"leaf2.frr:7: warning[FAB2553]: leaf2: bond1: election preference, but modulus on leaf1, in Ethernet segment "
            f"{MIXED}",
        ],
    ),
}
