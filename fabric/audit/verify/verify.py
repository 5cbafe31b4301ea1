"""The state of a site against its plan.

STATE/ ──files, readers of every network OS──▶ Seen of each switch
plan ──views──▶ Site ──ports, sessions, routes, overlay──▶ faults, each cause once ──checks──▶ findings
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from fabric.audit.checks import Finding, Verdict
from fabric.audit.checks.base import ids, run
from fabric.audit.checks.finding import Read
from fabric.audit.verify.all_faults import all_faults
from fabric.audit.verify.files import Collected, read
from fabric.audit.verify.missing_output import MissingOutput, gaps
from fabric.audit.verify.multihoming_faults import kind_of
from fabric.audit.verify.reported_state import ReportedState, beyond
from fabric.audit.verify.site import Site, Switch
from fabric.base.grouping import grouped
from fabric.base.text import listed, plural
from fabric.model.plan import Plan, SwitchView
from fabric.nos.state.records import ERRORS, EVPN, KINDS, MULTIHOMING, OPTICS, QUEUES

SHOWN = 3  # names of switches in a line about what was not judged


@dataclass(frozen=True)
class Missing:
    """A kind of state that was not collected of some switches."""

    kind: str
    switches: tuple[str, ...]
    of: int  # switches that should have it

    @property
    def words(self) -> str:
        """`no routes of 3 switches: leaf001, leaf002 and 1 more`."""
        if len(self.switches) == self.of:
            return f"{KINDS[self.kind]}: none collected"
        count = plural(len(self.switches), "switch", "switches")
        return f"{KINDS[self.kind]}: none of {count}: {listed(self.switches, SHOWN)}"


@dataclass(frozen=True, kw_only=True)
class SiteState:
    """The state of a site, judged.

    Attributes:
        collected: what the folder has.
        findings: worst first in each file.
        missing: what could not be judged, by kind of state.
        gaps: what outputs that were collected leave out.
        silent: planned switches without any state.
    """

    site: Site
    collected: Collected
    findings: tuple[Finding, ...]
    missing: tuple[Missing, ...]
    silent: tuple[str, ...]
    gaps: tuple[MissingOutput, ...] = ()

    def verdict(self) -> Verdict:
        """As the reports of checks take it."""
        devices = len(self.site.switches)
        what = f"state of site {self.site.plan.site}"
        folder = Read(what=what, path=self.collected.folder, devices=devices, files=self.collected.files)
        skipped = [(one.kind, one.words) for one in self.missing] + [(one.kind, one.words) for one in self.gaps]
        return Verdict.of(self.findings, [folder], ids("state"), skipped)

    def lacks(self, kinds: Collection[str]) -> tuple[Missing, ...]:
        """Of some kinds, those that were not collected everywhere."""
        return tuple(one for one in self.missing if one.kind in kinds)


def verify(plan: Plan, folder: Path, before: Path | None = None) -> SiteState:
    """Compares the state in a folder with a plan.

    Args:
        plan: the plan.
        folder: state of the switches, as collected.
        before: an earlier collection; counters count from there.

    Raises:
        InputError: the folder is missing or empty.
    """
    names = [device.name for fabric in plan.fabrics.values() for device in fabric.devices]
    collected = read(folder, names)
    if before is not None:
        since(collected.seen, read(before, names).seen)
    return judge(plan, collected)


def judge(plan: Plan, collected: Collected, views: Collection[SwitchView] | None = None) -> SiteState:
    """Compares collected state with a plan, or with some of its switches."""
    site = Site(plan, collected.seen, views)
    found = run_checks(site, collected.folder)
    silent = tuple(name for name, switch in site.switches.items() if not switch.seen.files)
    return SiteState(
        site=site, collected=collected, findings=found, missing=tuple(_missing(site, silent)), silent=silent, gaps=gaps(site)
    )


def run_checks(site: Site, folder: str) -> tuple[Finding, ...]:
    """The findings of every check of state."""
    from fabric.audit.verify.all_faults import StateCheck

    return tuple(sorted(set(run(StateCheck, all_faults(site, folder))), key=lambda one: one.order))


def since(seen: Mapping[str, ReportedState], before: Mapping[str, ReportedState]) -> None:
    """Leaves of each counter what it has counted since an earlier collection."""
    for name, now in seen.items():
        if name in before:
            now.counters = beyond(now.counters, before[name].counters)


def _missing(site: Site, silent: Collection[str]) -> list[Missing]:
    """Kinds of state that were not collected of all switches that answered and have something to judge."""
    answering = [switch for name, switch in site.switches.items() if name not in silent and name not in site.foreign]
    lacking = grouped(
        (kind, switch.name) for kind in KINDS for switch in answering if _due(switch, kind) and not switch.has(kind)
    )
    due = {kind: sum(_due(switch, kind) for switch in answering) for kind in KINDS}
    return [Missing(kind, tuple(names), due[kind]) for kind, names in lacking.items()]


def _due(switch: Switch, kind: str) -> bool:
    """Whether the plan has something that a kind of state shows."""
    if switch.seen.failures and kind not in (ERRORS, QUEUES, OPTICS):
        return False
    if kind == EVPN:
        return bool(switch.view.overlay and switch.view.overlay.vtep)
    if kind == MULTIHOMING:
        return bool(kind_of(switch.view))
    if kind == QUEUES:
        return switch.view.qos is not None
    return True
