"""A neighbor that a filter does not list, where it lists the others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tests.audit.checks.files.helpers import SMALL, Case, Files

SPINE = "hostname spine1\nrouter bgp 65100\n"
ENTRY = "   {seq} permit tcp host {address} any eq bgp\n"


def spine(listed: Iterable[int], *, neighbors: Iterable[int] = range(1, 6), extra: str = "") -> Files:
    """A spine with a neighbor on every port and an access list with the given ones."""
    ports = "".join(f"interface Ethernet{n}\n   no switchport\n   ip address 10.0.{n}.0/31\n" for n in neighbors)
    sessions = "".join(f"   neighbor 10.0.{n}.1 remote-as 65001\n" for n in neighbors)
    entries = "".join(ENTRY.format(seq=10 * n, address=f"10.0.{n}.1") for n in listed)
    return {"spine1.eos": f"{SPINE}{sessions}{ports}ip access-list CONTROL\n{entries}{extra}"}


CASES: Mapping[tuple[str, str], Case] = {
    ("FAB2518", "small"): (SMALL, []),
    ("FAB2518", "all of them"): (spine(range(1, 6)), []),
    ("FAB2518", "one is missing"): (
        spine((1, 2, 3, 5)),
        [
            "spine1.eos:27: warning[FAB2518]: spine1: BGP neighbor 10.0.4.1 is not listed, but 4 others of its kind are "
            "(as in `50 permit tcp host 10.0.5.1 any eq bgp`)"
        ],
    ),
    ("FAB2518", "another address in its place"): (
        spine((1, 2, 3, 5), extra=ENTRY.format(seq=40, address="10.0.9.1")),
        [
            "spine1.eos:27: warning[FAB2518]: spine1: BGP neighbor 10.0.4.1 is not listed, but 4 others of its kind are "
            "(as in `50 permit tcp host 10.0.5.1 any eq bgp`)"
        ],
    ),
    ("FAB2518", "a list of some neighbors"): (spine((1, 2, 3)), []),
    ("FAB2518", "too few neighbors for a rule"): (spine((1, 2), neighbors=(1, 2, 3)), []),
}
