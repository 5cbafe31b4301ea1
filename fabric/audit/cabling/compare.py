"""Compares the cabling reported by LLDP with the plan: each link is as planned, not reported, or part of one finding."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from fabric.audit.cabling import files
from fabric.audit.cabling.files import Collected
from fabric.audit.cabling.finding import KINDS, CableFault, CablingState
from fabric.audit.cabling.moves import Describe, Figure, figures
from fabric.audit.cabling.planned import Places, Planned, places, planned
from fabric.audit.cabling.subnet_files import parts
from fabric.audit.cabling.wires import Splits, States, Wires, splits, wires
from fabric.base.diagnostics import Diagnostic
from fabric.base.text import listed, plural
from fabric.configs.infiniband.discovered import Discovered
from fabric.model.plan import SERVER, Plan
from fabric.model.plan.subnets import subnets


class Comparison:
    """One run: the plan, the collected data, the reported links, and the links that are judged already."""

    def __init__(self, plan: Planned, collected: Collected, places: Places) -> None:
        self.plan, self.collected = plan, collected
        self.wires: Wires = wires(plan, collected)
        self.states = States(plan, collected, self.wires)
        self.describe = Describe(plan, self.wires, self.states, places)
        self.listening = {  # devices whose missing report of a port counts: their port names must be known
            device
            for device, data in collected.devices.items()
            if data.listens and (plan.is_switch(device) or device in self.wires.named)
        }
        self.faulty: set[int] = set()  # links that a finding has
        self.unjudged: set[int] = set()
        self.notes: list[str] = []

    def findings(self) -> list[CableFault]:
        """All of them; a stage leaves alone what an earlier one has explained."""
        found: list[CableFault] = []
        for stage in (self._splits, self._contradictions, self._wrong, self._unreported, self._one_way, self._speeds):
            found.extend(stage())
        return found

    def _splits(self) -> Iterator[CableFault]:
        wrong: Splits = splits(self.plan, self.wires, self.states)
        self.faulty |= wrong.links
        for node in wrong.nodes:  # wires of cages that are broken out otherwise are explained by that
            if (mate := self.wires.mate.pop(node, None)) is not None:
                self.wires.mate.pop(mate, None)
        for key, (reported, links) in sorted(wrong.cages.items()):
            yield self.describe.split(key, reported, sorted(links))

    def _contradictions(self) -> Iterator[CableFault]:
        """Ports that report the neighbor port of another; one finding for each pair of reported and planned device."""
        ends, grouped = len(self.plan.device), dict[tuple[int, int], list[int]]()
        for here, there in sorted(self.wires.contradicted.items()):
            if here < ends and here >> 1 in self.faulty:
                continue
            planned = self.plan.device[here ^ 1] if here < ends else -1
            grouped.setdefault((self.wires.device(there), planned), []).append(here)
        for (claimed, planned), nodes in grouped.items():
            links = list(dict.fromkeys(node >> 1 for node in nodes if node < ends))
            self.faulty.update(links)
            cloned = planned not in (-1, claimed) and planned not in self._spoken
            yield self.describe.contradiction(nodes, links, self.wires.contradicted, cloned=cloned)

    def _wrong(self) -> Iterator[CableFault]:
        """Cables that are elsewhere; links in the same plugs are one thing."""
        grouped: dict[object, list[Figure]] = {}
        ends = len(self.plan.device)
        planned = {end: end ^ 1 for end in range(ends) if end >> 1 not in self.faulty}
        for figure in figures(planned, self.wires.mate, self.describe.cost):
            grouped.setdefault(self.describe.plugs(figure), []).append(figure)
        for group in grouped.values():
            lacking = [figure.lacking[0] >> 1 for figure in group if figure.lacking]
            links = {node >> 1 for figure in group for node in figure.nodes if node < ends} - self.faulty
            self.faulty |= links
            yield self.describe.wrong(group, sorted(links - set(lacking)))
            for link in lacking:
                yield self.describe.missing(link, taken=True)

    def _unreported(self) -> Iterator[CableFault]:
        """Links that neither end reports: missing if data of one end was collected, else not reported."""
        dark = [link for link in range(len(self.plan)) if link not in self.faulty and not self._seen(link)]
        judged = [link for link in dark if link not in self.plan.closed and (self._listens(link) or self._down(link))]
        if closed := len(self.plan.closed.intersection(dark)):
            self.notes.append(
                f"{plural(closed, 'link')} of servers without a tenant not compared: the plan shuts their ports"
            )
        self.unjudged.update(set(dark) - set(judged))
        mute = self._mute(judged)
        self.unjudged.update(link for link in judged if link in mute and not self._down(link))
        silent: dict[int, list[int]] = {}
        for link in (link for link in judged if link not in self.unjudged):
            self.faulty.add(link)
            device = self._silent(link)
            if any(self.states.shut(end) for end in (2 * link, 2 * link + 1)):
                yield self.describe.down(link)
            elif device is None or self._down(link):
                yield self.describe.missing(link)
            else:
                silent.setdefault(device, []).append(link)
        for device, links in sorted(silent.items()):
            if len(links) == 1:
                yield self.describe.missing(links[0])
            else:
                yield self.describe.silent(device, links)

    def _seen(self, link: int) -> bool:
        return self.wires.mate.get(2 * link) == 2 * link + 1

    def _listens(self, link: int) -> bool:
        """A management port is judged by its leaf: few collect the neighbors of management ports."""
        ends = (2 * link + 1,) if link in self.plan.managed else (2 * link, 2 * link + 1)
        return any(self.plan.device[end] in self.listening for end in ends)

    def _down(self, link: int) -> bool:
        return any(self.states.up(end) is False for end in (2 * link, 2 * link + 1))

    def _mute(self, links: list[int]) -> set[int]:
        """Links to servers of a fabric in which no server sends LLDP, and to attachments that send none."""
        plan, spoken = self.plan, self._spoken
        fabrics = {
            plan.fabrics[end >> 1] for end in range(len(plan.device)) if self._server(end) and plan.device[end] in spoken
        }
        silent_links = {
            link
            for link in links
            if (plan.fabrics[link] not in fabrics if self._server(2 * link) else plan.device[2 * link] not in spoken)
            and not plan.is_switch(plan.device[2 * link])
        }
        if managed := plan.managed.intersection(links) if not any(map(self._seen, plan.managed)) else set():
            silent_links |= managed
            self.notes.append(f"no management port is reported on {plural(len(managed), 'link')}: links not compared")
        servers = sum(self._server(2 * link) for link in silent_links)
        if servers:
            self.notes.append(
                f"no server is reported on {plural(servers, 'link')}: LLDP is probably off on the servers; links not compared"
            )
        if others := len(silent_links - plan.managed) - servers:
            self.notes.append(f"no attachment is reported on {plural(others, 'link')}: links not compared")
        return silent_links

    def _server(self, end: int) -> bool:
        return self.plan.roles[self.plan.device[end]] == SERVER

    @cached_property
    def _spoken(self) -> set[int]:
        """Devices that reported, or that a neighbor reports."""
        return self.listening | {self.wires.device(there) for found in self.wires.reported.values() for there in found}

    def _silent(self, link: int) -> int | None:
        """The device of a link that no neighbor reports on any port and that sent no report."""
        for end in (2 * link + 1, 2 * link):
            if self.plan.device[end] not in self._spoken:
                return self.plan.device[end]
        return None

    def _one_way(self) -> Iterator[CableFault]:
        """Both ends report neighbors, and one does not report the other."""
        for link in range(len(self.plan)):
            a, b = 2 * link, 2 * link + 1
            if link in self.faulty or link in self.unjudged or link in self.plan.managed:
                continue
            if not {self.plan.device[a], self.plan.device[b]} <= self.listening:
                continue
            if not (self.wires.reports(a, b) and self.wires.reports(b, a)):
                silent, reporting = (a, b) if self.wires.reports(b, a) else (b, a)
                self.faulty.add(link)
                yield self.describe.one_way(silent, reporting)

    def _speeds(self) -> Iterator[CableFault]:
        for link in range(len(self.plan)):
            if link not in self.faulty and (wrong := self.states.wrong_speeds(link)):
                self.faulty.add(link)
                yield self.describe.speed(link, wrong)


def compare(plan: Planned, collected: Collected, places: Places, site: str) -> CablingState:
    """The verdict on a whole site. Raises InputError where a file cannot belong to its stated device."""
    run = Comparison(plan, collected, places)
    findings = sorted(run.findings(), key=_order)
    right = [link for link in range(len(plan)) if link not in run.faulty and link not in run.unjudged]
    vague = sum(2 * link in run.wires.by_device or 2 * link + 1 in run.wires.by_device for link in right)
    return CablingState(
        site=site,
        links=len(plan),
        as_planned=len(right),
        not_reported=len(run.unjudged),
        by_device_only=vague,
        files=collected.files,
        devices=len(collected.devices),
        findings=tuple(findings),
        notes=(*run.notes, *_notes(run, vague)),
        counts=dict(Counter(finding.kind for finding in findings)),
    )


def _order(finding: CableFault) -> tuple[object, ...]:
    """By rack, from the top down: the order of walking."""
    at = finding.at
    return not at.rack, _natural(at.rack), -at.ru, _natural(at.device), _natural(at.port), list(KINDS).index(finding.kind)


def _natural(text: str) -> tuple[tuple[int, str], ...]:
    """`leaf2` before `leaf10`."""
    return tuple((int(part), "") if part.isdigit() else (-1, part) for part in re.split("([0-9]+)", text))


def _notes(run: Comparison, vague: int) -> Iterator[str]:
    if vague:
        yield f"{plural(vague, 'link')} compared by device only: the neighbor sent no port name"
    if run.wires.passed_over:
        places = "on management ports, on subinterfaces, or on interfaces not planned"
        yield f"{plural(run.wires.passed_over, 'neighbor')} ignored: {places}"
    if run.wires.misnamed:
        names = sorted(set(run.wires.misnamed.values()))
        shown = listed(names, 3)
        yield f"{plural(len(run.wires.misnamed), 'port')} reported under a name that matches no port of the plan: {shown}"


# --- verify ---------------------------------------------------------------------------------------------------
# Compares the cabling reported by LLDP with the plan.
#
# files ──outputs──▶ JSON values and text lines ──readers──▶ neighbors and port states of each device plan ──planned──▶ every
# end under each name that a device may report wires: names looked up, reports of both ends joined ──moves──▶ chains and rings
# of wrong cables, the fewest moves compare ──▶ CablingState ──reports──▶ text, JSON, CSV of moves, JUnit


def of_discovery(plan: Plan, found: Discovered) -> CablingState:
    """The findings on what one discovery of a subnet reports."""
    cabling, collected = planned(plan), Collected(files=1)
    for device, part in parts(found, subnets(plan)):
        at = cabling.hosts.exact(device)
        assert at is not None
        files.take(collected, part, at)
    return compare(cabling, collected, places(plan), plan.site)


def verify(
    plan: Plan, paths: Sequence[Path], stated: Mapping[Path, str] | None = None, form: str = ""
) -> tuple[CablingState, tuple[Diagnostic, ...]]:
    """The findings on the cabling, warnings about ignored files, and errors about unread ones. Raises InputError.

    Args:
        paths: files or folders with the output of devices.
        stated: file → device, where neither content nor name of the file identifies it.
        form: read the files as this network OS's, "": determined from the content.
    """
    cabling = planned(plan)
    collected = files.read(paths, stated or {}, cabling.hosts, form, subnets(plan))
    state = compare(cabling, collected, places(plan), plan.site)
    return replace(state, intent=str(plan.settings.home.path)), collected.unknown
