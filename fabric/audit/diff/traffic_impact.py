"""Effect of a change on the network in service: links to move, switches to drain, settings and files that change.

It is the first part of a report: new cables interrupt no traffic, these changes do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from fabric.audit.diff.compare import Diff
from fabric.audit.diff.design import TenantMove
from fabric.audit.diff.groups import NETPLAN, HostChange
from fabric.audit.diff.recabling import MOVE, PULL
from fabric.base.formats.blocks import Notes, Table
from fabric.base.text import listed, plural
from fabric.nos.dialect import RELOAD

SAMPLE = 4  # links of a kind, a fabric and an act
MAX_DRAINS = 10
MAX_MOVED_SERVERS = 32  # of a move between tenants


def headlines(diff: Diff) -> Iterator[str]:
    """The lines of a summary; nothing where nothing in service changes."""
    work = diff.design.recabling
    if work.touched:
        acts = [f"{len(jobs):,} links to {act}" for act in (MOVE, PULL) if (jobs := work.of(act))]
        where = Counter((job.fabric, job.kind) for job in work.of(MOVE, PULL))
        places = ", ".join(f"{fabric} {kind} {number:,}" for (fabric, kind), number in sorted(where.items()))
        drains = plural(len(work.drained), "switch", "switches")
        yield f"in service: {', '.join(acts)} ({places}); {drains} to drain"
    elif work.jobs and diff.state == "changed":
        yield "in service: no link is moved or pulled"
    yield from (f"in service: {line}" for line in _settings(diff))


def blocks(diff: Diff) -> Iterator[Table | Notes]:
    """The section: counts, drains in their order, a sample of each kind, then settings and files."""
    work = diff.design.recabling
    if work.touched:
        counts = work.by_fabric
        keys = dict.fromkeys((job.fabric, job.kind) for job in work.of(MOVE, PULL))
        rows = tuple((*key, *(f"{counts.get((*key, act), 0):,}" for act in (MOVE, PULL))) for key in sorted(keys))
        yield Table("Links", ("fabric", "kind", "to move", "to pull"), rows)
        shown = work.drains[:MAX_DRAINS]
        lines = [f"{at}. {listed(drain.switches)}: {plural(drain.links, 'cable')}" for at, drain in enumerate(shown, 1)]
        yield Notes("Drains, in sequence", tuple(lines), len(work.drains) - len(shown))
        yield from samples(diff, MOVE)
        yield from samples(diff, PULL)
    if lines := [*_in_full(diff)]:
        yield Notes("Settings and files", tuple(lines))


def samples(diff: Diff, act: str) -> Iterator[Notes]:
    """The first links of every fabric and kind, so that none is hidden behind another."""
    jobs = diff.design.recabling.of(act)
    for fabric, kind in sorted(dict.fromkeys((job.fabric, job.kind) for job in jobs)):
        cables = [str(job.cable) for job in jobs if (job.fabric, job.kind) == (fabric, kind)]
        yield Notes(f"{fabric} {kind}, {len(cables):,} to {act}", tuple(cables[:SAMPLE]), max(0, len(cables) - SAMPLE))


def _settings(diff: Diff) -> Iterator[str]:
    """In few words: which settings of devices that stay are other than before."""
    fabrics = diff.design.fabrics
    for title, counts in (
        ("lossless class (buffers, ECN thresholds) changes on", {fabric.name: len(fabric.retuned) for fabric in fabrics}),
        ("BGP neighbors change on", {fabric.name: len(fabric.peers) for fabric in fabrics}),
    ):
        if total := sum(counts.values()):
            where = ", ".join(f"{name} {number:,}" for name, number in counts.items() if number)
            yield f"{title} {plural(total, 'switch', 'switches')} ({where})"
    for name, move in _moves(diff):
        yield f"{name}: {_moved(move)}"
    if names := _reloads(diff):
        yield f"every service starts again on {plural(len(names), 'switch', 'switches')}, whose traffic stops"
    if servers := _servers(diff.hosts):
        routes = ": routes only" if all(change.only_routes for change in diff.hosts if change.of_servers) else ""
        yield f"files of {plural(len(servers), 'server')} change{routes}"


def _in_full(diff: Diff) -> Iterator[str]:
    """The same with names."""
    for fabric in diff.design.fabrics:
        if fabric.retuned:
            yield f"{fabric.name}: changed buffers, ECN thresholds or classes: {listed(fabric.retuned)}"
        if fabric.peers:
            yield f"{fabric.name}: changed BGP neighbors: {listed(fabric.peers)}"
    for name, move in _moves(diff):
        yield f"{name}: {_moved(move, MAX_MOVED_SERVERS)}"
    if names := _reloads(diff):
        yield f"every service starts again, traffic stops: {listed(names)}"
    for change in diff.hosts:
        yield f"{_who(change)}: {_what(change)}"


def _moves(diff: Diff) -> Iterator[tuple[str, TenantMove]]:
    return ((fabric.name, move) for fabric in diff.design.fabrics for move in fabric.moved)


def _moved(move: TenantMove, most: int = 3) -> str:
    """`gpu-0001, gpu-0002, gpu-0003 and 5 more: tenant red → blue`."""
    return f"{listed(move.devices, most)}: tenant {move.old or 'none'} → {move.new or 'none'}"


def _reloads(diff: Diff) -> list[str]:
    """Switches that take their change only when all services start."""
    kinds = {change.device: {step.kind for file in change.files for step in file.steps} for change in diff.devices}
    return [device for device, own in kinds.items() if RELOAD in own]


def _servers(hosts: Sequence[HostChange]) -> set[str]:
    return {name for change in hosts if change.of_servers for name in change.hosts}


def _who(change: HostChange) -> str:
    if change.of_servers:
        return f"{plural(len(change.hosts), 'server')} ({listed(change.hosts, 3)})"
    return f"all servers of {listed([name.partition('.')[0] for name in change.hosts], 3)}"


def _what(change: HostChange) -> str:
    """`netplan: +1 route: 10.133.0.0/21`."""
    gone, new = change.routes
    both = set(gone) & set(new)
    parts = []
    for sign, prefixes in (
        ("+", [item for item in new if item not in both]),
        ("-", [item for item in gone if item not in both]),
    ):
        if prefixes:
            parts.append(f"{sign}{plural(len(prefixes), 'route')}: {listed(prefixes, 3)}")
    if both:
        parts.append(f"{plural(len(both), 'route')} with another gateway or metric")
    if change.others:
        parts.append(f"{plural(change.others, 'line')} of other settings")
    return f"{'netplan' if change.path == NETPLAN else change.path}: {'; '.join(parts)}"
