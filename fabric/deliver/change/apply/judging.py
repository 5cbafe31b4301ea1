"""What the network is judged by: `fabric verify` and `fabric drift` against a moment of the change."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from fabric.audit.cabling.planned import canonical
from fabric.audit.checks import ERROR
from fabric.audit.diff.configs import FileChange
from fabric.audit.drift.devices import DRIFTED, IN_SYNC, device_drift
from fabric.audit.verify import overlay_faults, route_faults
from fabric.audit.verify.files import Collected, of_switch
from fabric.audit.verify.reported_state import beyond
from fabric.audit.verify.sessions import originated
from fabric.audit.verify.site import Site
from fabric.audit.verify.verify import judge
from fabric.base.diagnostics import InputError
from fabric.base.reading import UnreadableError, guarded
from fabric.base.text import listed
from fabric.deliver.change.apply.moments import Moment
from fabric.nos.change import procedure
from fabric.nos.reading.folder import scan
from fabric.nos.state.records import BGP, INTERFACES, ROUTES

NEEDED = (BGP, INTERFACES)  # kinds of state that every switch must have
MAX_SHOWN = 3
BY_ROUTES = frozenset(
    (route_faults.ROUTE, route_faults.PATHS, route_faults.ACCEPTED, overlay_faults.TENANT_ROUTE)
)  # faults that a drain makes


@dataclass(frozen=True, slots=True)
class Finding:
    """What is not as it should be; `device` is "" where no single switch is meant."""

    device: str
    text: str


# --- state ----------------------------------------------------------------------------------------------------


Counters = Mapping[str, Any]  # switch → its counters, as they were read


@dataclass(frozen=True)
class Reported:
    """The state of the switches of a fabric, read once.

    Attributes:
        counters: before anything was taken off them.
    """

    collected: Collected
    counters: Counters


def reported(moment: Moment, texts: Mapping[str, str]) -> Reported | Finding:
    """Reads what switches show: a folder for each, by its name."""
    by_switch: dict[str, dict[str, str]] = {}
    for path, text in texts.items():
        by_switch.setdefault(path.partition("/")[0], {})[path] = text
    known = {device.name for device in moment.plan.fabrics[moment.fabric].devices}
    collected = Collected("", files=len(texts))
    for name, own in by_switch.items():
        if name not in known:
            collected.unplanned |= dict.fromkeys(own, "not in the plan")
            continue
        try:
            with guarded(name):
                collected.seen[name] = of_switch(own)
        except (UnreadableError, InputError) as error:
            return Finding(name, f"its state cannot be read: {error}")
    return Reported(collected, {name: state.counters for name, state in collected.seen.items()})


def verified(moment: Moment, now: Reported, earlier: Counters | None = None, absent: Collection[str] = ()) -> list[Finding]:
    """What the state of the switches has against the plan.

    Args:
        earlier: counters count from there.
        absent: switches that need not be there, nor what leads to them.
    """
    plan, every = moment.expected
    views = [view for view in every if view.device.name not in absent]
    for name, seen in now.collected.seen.items():
        seen.counters = beyond(now.counters[name], (earlier or {}).get(name, {}))
        for key in moment.one_sided.get(name, frozenset()) & seen.peers.keys():
            del seen.peers[key]  # it waits for the other end: neither planned nor wrong
    state = judge(plan, now.collected, views)
    passed = _by_routes() if moment.drained else frozenset()
    found = [
        Finding(one.device, f"{one.id}: {one.message}")
        for one in state.findings
        if one.severity == ERROR and one.id not in passed
    ]
    found += [Finding(name, "no state of it was collected") for name in state.silent]
    due = {view.device.name for view in views if view.sessions}  # others may have nothing to show
    lacking = [(one.kind, name) for one in state.lacks(NEEDED) for name in one.switches if name in due]
    return found + [Finding(name, f"no {kind} state of it") for kind, name in lacking]


@cache
def _by_routes() -> frozenset[str]:
    """Checks whose findings a drain makes by itself."""
    from fabric.audit.checks.base import of_subject

    return frozenset(check.id for check in of_subject("state") if BY_ROUTES & {*getattr(check, "kinds", ())})


def carrying(moment: Moment, now: Reported, drained: Collection[str]) -> list[Finding]:
    """Drained switches that neighbors still use beside others: with equal paths, traffic goes over all of them."""
    plan, views = moment.expected
    site = Site(plan, now.collected.seen, views)
    theirs = {prefix for view in views if view.device.name in drained for prefix in originated(view)}
    used: dict[str, dict[str, None]] = {}
    for switch in site.known(ROUTES):
        if switch.name not in drained:
            for node in _mixed(site, switch.name, drained, theirs):
                used.setdefault(node, {})[switch.name] = None
    return [Finding(node, f"still a next hop of {listed(list(by), MAX_SHOWN)}") for node, by in sorted(used.items())]


def _mixed(site: Site, name: str, drained: Collection[str], theirs: Collection[str]) -> Iterator[str]:
    """Drained switches in a set of equal next hops that has others too; to a drained switch every path is a drained one."""
    switch = site.switches[name]
    nodes = {(end.vrf, end.peer): end.peer_node for end in switch.sessions}
    nodes |= {(end.vrf, canonical(end.interface)): end.peer_node for end in switch.sessions if end.interface}
    for vrf, table in switch.seen.routes.items():
        for prefix, hops in table.items():
            if prefix in theirs:
                continue
            far = {nodes.get((vrf, hop.gateway)) or nodes.get((vrf, canonical(hop.interface)), "") for hop in hops}
            gone = far.intersection(drained)
            if gone and far - gone - {""}:
                yield from gone


# --- configs --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Compared:
    """The running config of a switch against the files of a moment.

    Attributes:
        findings: none where it has them.
        known: whether it could be compared as a whole.
        commands: changes of its files that lead to the moment.
        labels: number of texts for people that differ, such as descriptions.
    """

    findings: tuple[Finding, ...] = ()
    known: bool = True
    commands: tuple[FileChange, ...] = ()
    labels: int = 0

    @property
    def is_same(self) -> bool:
        return self.known and not self.findings


def _lay(folder: Path, texts: Mapping[str, str]) -> None:
    for path, text in texts.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", errors="replace")


def compared(moment: Moment, device: str, running: Mapping[str, str]) -> Compared:
    """Drift of one switch; what a drain adds to its config is no difference while it is drained."""
    job = moment.job(device)
    how = procedure(job.device.nos) if device in moment.drained else None
    if how is not None and how.drain.shows:
        running = {path: re.sub(how.drain.shows, "", text, flags=re.M) for path, text in running.items()}
    with tempfile.TemporaryDirectory() as scratch:
        _lay(Path(scratch, device), running)
        drift = device_drift(moment.configs[device], job, scan(Path(scratch)))
    findings = tuple(Finding(device, one.message) for one in drift.findings if one.severity == ERROR)
    if drift.state not in (DRIFTED, IN_SYNC):
        return Compared((Finding(device, drift.reason), *findings), False, drift.commands)
    return Compared(findings, True, drift.commands, len(drift.findings) - len(findings))
