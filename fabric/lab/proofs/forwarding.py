"""Every loopback, tunnel address and server prefix is in every switch's kernel table, over exactly the planned links."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import pairwise

from fabric.lab.expected.forwarding import NOTHING, Down, Expected, forwarding, originated, version
from fabric.lab.live import Live, Table
from fabric.lab.outcome import Fault
from fabric.lab.proofs.base import Proof, Shown

PATIENCE_S = 20.0


def wait(live: Live, down: Down = NOTHING, patience_s: float = PATIENCE_S) -> tuple[list[Fault], dict[str, Table], float]:
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


def _faults(live: Live, node: str, expected: Expected, table: Table) -> Iterator[Fault]:
    owner = {prefix: name for name, view in live.lab.views.items() for prefix in originated(view)}
    for prefix, planned, actual in _differences(expected[node], table):
        home = owner[prefix]
        if actual and not planned:
            yield Fault(node, f"{prefix} of {home} is in the table over {', '.join(sorted(actual))}, planned no route")
            continue
        if not actual:
            device, reason = why_missing(live, node, prefix, home)
            yield Fault(device, f"{prefix} of {home} is not in the table of {node}: {reason}")
            continue
        words = f"{prefix} of {home}: {len(actual)} paths, planned {len(planned)}"
        lost, extra = sorted(planned - actual), sorted(actual - planned)
        words += f"; not over {', '.join(lost)}" if lost else ""
        words += f"; also over {', '.join(extra)}" if extra else ""
        yield Fault(node, words)


def why_missing(live: Live, node: str, prefix: str, home: str) -> tuple[str, str]:
    """(device to look at, reason) of a route that does not arrive: follows it from its origin."""
    family = "ipv6" if ":" in prefix else "ipv4"
    if not _has(live, home, family, prefix):
        return (
            home,
            f"{home} does not announce it (check that it is on an interface and permitted by the route map)",
        )
    for step in _way(live, home, node):
        if not _has(live, step[1], family, prefix):
            return step[1], f"{step[0]} has it in BGP and {step[1]} does not (check the session between them and its filters)"
    if not _has(live, node, family, prefix):
        return node, "no neighbor advertised it"
    return node, "it is in BGP and not in the kernel table"


def _way(live: Live, home: str, node: str) -> Iterator[tuple[str, str]]:
    """The switches between two, over one planned path."""
    expected = forwarding(live.lab)
    prefix = originated(live.lab.views[home])[0]
    path = [node]
    while path[-1] != home and len(path) < 6:
        interfaces = expected.get(path[-1], {}).get(prefix)
        far = live.far(path[-1], min(interfaces)) if interfaces else None
        if far is None:
            return
        path.append(far.node)
    path.reverse()
    yield from pairwise(path)


def _has(live: Live, node: str, family: str, prefix: str) -> bool:
    answer = live.ask_all([node], "bgpd", f"show bgp {family} unicast {prefix} json")[node]
    return bool(answer and answer.get("paths"))


def show(live: Live) -> Shown:
    """Waits for all of them."""
    faults, tables, seconds = wait(live)
    expected = forwarding(live.lab)
    widths = [len(interfaces) for wanted in expected.values() for interfaces in wanted.values() if interfaces]
    count = len(widths)
    words = (
        f"{count} routes in {len(tables)} tables, {min(widths)} to {max(widths)} paths wide"
        if widths
        else "no routes planned"
    )
    if faults:
        words = f"{len(faults)} of {count} routes are not as planned"
    return Shown(words, tuple(faults), {"waited_s": round(seconds, 1)})


PROOF = Proof("forwarding", "Forwarding tables", show)
