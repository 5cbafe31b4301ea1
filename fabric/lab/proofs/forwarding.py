"""Every loopback, tunnel address and server prefix is in every switch's kernel table, over exactly the planned links."""

from __future__ import annotations

import time
from collections.abc import Iterator

from fabric.audit.checks import Finding
from fabric.audit.verify.route_faults import HOME, PATHS, ROUTE
from fabric.lab.expected import NOTHING, Down, Expected, forwarding, originated, version
from fabric.lab.live import Live, Table
from fabric.lab.outcome import finding
from fabric.lab.proofs import base
from fabric.lab.proofs.base import Proof, ProofResult

PATIENCE_S = 20.0


def wait(live: Live, down: Down = NOTHING, patience_s: float = PATIENCE_S) -> tuple[list[Finding], dict[str, Table], float]:
    """Waits until the tables are as the plan has them: (what is not, the tables, seconds it took)."""
    expected = forwarding(live.lab, down)
    began = time.monotonic()
    pending, tables = list(expected), dict[str, Table]()
    while True:
        tables |= read(live, pending)
        pending = [node for node in pending if any(_differences(expected[node], tables[node]))]
        if not pending or time.monotonic() - began > patience_s:
            break
        time.sleep(0.2)
    faults = [fault for node in pending for fault in _faults(live, node, expected, tables[node])]
    return faults, tables, time.monotonic() - began


def read(live: Live, nodes: list[str]) -> dict[str, Table]:
    """The default tables of switches, of the family that BGP carries."""
    families = {node: version(live.lab.views[node]) for node in nodes}
    found: dict[str, Table] = {}
    for family in sorted(set(families.values())):
        found |= live.tables([node for node in nodes if families[node] == family], family)
    return found


def _differences(wanted: dict[str, frozenset[str]], table: Table) -> Iterator[tuple[str, frozenset[str], frozenset[str]]]:
    """(prefix, interfaces planned, interfaces there)."""
    for prefix, interfaces in wanted.items():
        there = frozenset(hop.interface for hop in table.get(prefix, ()))
        if there != interfaces:
            yield prefix, interfaces, there


def _faults(live: Live, node: str, expected: Expected, table: Table) -> Iterator[Finding]:
    owner = {prefix: name for name, view in live.lab.views.items() for prefix in originated(view)}
    for prefix, planned, actual in _differences(expected[node], table):
        words = f"{prefix} of {owner[prefix]}: {len(actual)} paths, planned {len(planned)}"
        lost, extra = sorted(planned - actual), sorted(actual - planned)
        words += f"; not over {', '.join(lost)}" if lost else ""
        words += f"; also over {', '.join(extra)}" if extra else ""
        yield finding(node, words)


def show(live: Live) -> ProofResult:
    """Waits for all of them; which switch loses a route is the judgment of `fabric verify`."""
    differing, tables, seconds = wait(live)
    expected = forwarding(live.lab)
    widths = [len(interfaces) for by_prefix in expected.values() for interfaces in by_prefix.values() if interfaces]
    count = len(widths)
    words = (
        f"{count} routes in {len(tables)} tables, {min(widths)} to {max(widths)} paths wide"
        if widths
        else "no routes planned"
    )
    faults: tuple[Finding, ...] = ()
    if differing:
        words = f"{len(differing)} of {count} routes are not as planned"
        faults = base.faults(base.site(live), (HOME, ROUTE, PATHS)) or tuple(differing)
    return ProofResult(words, faults, {"waited_s": round(seconds, 1)})


PROOF = Proof("forwarding", "Forwarding tables", show)
