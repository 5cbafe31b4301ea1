"""What changes between two intents of a site: boxes, cables, and the order in which hands move them."""

from __future__ import annotations

import subprocess
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fabric import pipeline
from fabric.diagnostics import Diagnostic, InputError, Place, plural
from fabric.pipeline import Intent
from fabric.plan.devices import SERVER, SWITCH_ROLES
from fabric.plan.plan import FabricPlan, Plan
from fabric.planner import lock as locks
from fabric.planner.coordinates import nic_name
from fabric.planner.lock import Lock

End = tuple[str, str]  # device, port


@dataclass(frozen=True)
class Cable:
    """A link that is pulled, laid, or has one end moved."""

    lower: End
    old: End | None  # upper end before, None for a new link
    new: End | None  # upper end after, None for a link that goes

    def __str__(self) -> str:
        lower = f"{self.lower[0]} {self.lower[1]}"
        if self.old is None and self.new is not None:
            return f"lay   {lower} to {self.new[0]} {self.new[1]}"
        if self.new is None and self.old is not None:
            return f"pull  {lower} from {self.old[0]} {self.old[1]}"
        assert self.old is not None
        assert self.new is not None
        return f"move  {lower} from {self.old[0]} {self.old[1]} to {self.new[0]} {self.new[1]}"


@dataclass(frozen=True)
class Step:
    """One act: what is drained, the cables that are touched, then verified and undrained."""

    title: str
    drain: str  # switch, "" when nothing in service is touched
    cables: tuple[Cable, ...]


@dataclass
class Changes:
    """The difference of two plans."""

    added: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    renumbered: list[str] = field(default_factory=list)  # in words
    kept_links: int = 0
    new_links: int = 0
    steps: list[Step] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        return {
            "added": self.added,
            "removed": self.removed,
            "renumbered": self.renumbered,
            "links": {"kept": self.kept_links, "new": self.new_links, "moved": self.moved},
            "steps": [
                {"title": s.title, "drain": s.drain, "cables": [_cable(cable) for cable in s.cables]} for s in self.steps
            ],
        }

    @property
    def moved(self) -> int:
        """Links in service that are touched."""
        return sum(cable.old is not None for step in self.steps for cable in step.cables)


def _cable(cable: Cable) -> dict[str, Any]:
    return {"lower": list(cable.lower), "old": list(cable.old or ()), "new": list(cable.new or ())}


def compare(intent: Intent, against: str) -> Changes:
    """Plans the old intent and the new one on the numbers in use, and compares. Raises InputError.

    `against` is an intent file, or `git:REV` for the same file in a commit.
    """
    before, known = _old(intent, against)
    old = pipeline.plan(before, known)
    new = pipeline.plan(intent, old.lock)  # the old fabric's numbers, whether they were ever written or not
    return difference(old, new)


def _old(intent: Intent, against: str) -> tuple[Intent, Lock | None]:
    """The old intent, and the numbers in use at its time; None: those of the lock file that is there."""
    from fabric.intent.load import load, validate
    from fabric.intent.source import parse

    if not against.startswith("git:"):
        site, source = load(Path(against), against)
        return Intent(Path(against), site, source, intent.folder), None
    revision = against.removeprefix("git:") or "HEAD"
    path = intent.path.absolute()
    if revision.startswith("-"):
        raise InputError([Diagnostic("FAB104", Place(against), "expected a revision such as git:main")])
    found = _show(path, revision)
    if found.returncode:
        reason = found.stderr.strip().splitlines()[-1:] or ["git failed"]
        raise InputError([Diagnostic("FAB001", Place(against), f"cannot be read: {reason[0].removeprefix('fatal: ')}")])
    source = parse(found.stdout, f"{against}:{path.name}")
    kept = _show(intent.folder / locks.FILE, revision)
    known = None if kept.returncode else locks.of(parse(kept.stdout, f"{against}:{locks.FILE}"))
    return Intent(intent.path, validate(source), source, intent.folder), known


def _show(path: Path, revision: str) -> subprocess.CompletedProcess[str]:
    """A file of a revision, as git has it."""
    folder = next((parent for parent in path.parents if parent.is_dir()), Path("/"))
    command = ["git", "-C", str(folder), "show", f"{revision}:./{path.relative_to(folder)}"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def difference(old: Plan, new: Plan) -> Changes:
    """What it takes to make the new plan of the old."""
    changes = Changes()
    for name in sorted({*old.fabrics, *new.fabrics}):
        before, after = old.fabrics.get(name), new.fabrics.get(name)
        _devices(before, after, changes)
        _links(before, after, changes)
    return changes


def _devices(before: FabricPlan | None, after: FabricPlan | None, changes: Changes) -> None:
    old, new = (plan.by_name if plan else {} for plan in (before, after))
    changes.added += [name for name in new if name not in old]
    changes.removed += [name for name in old if name not in new]
    if before is None or after is None:
        return
    for name, device in new.items():
        was = old.get(name)
        if was is None or device.role not in SWITCH_ROLES:
            continue
        for what, one, two in (
            ("model", was.model, device.model),
            ("AS number", was.asn, device.asn),
            ("loopback", before.loopback[was.index], after.loopback[device.index]),
            ("management address", before.management[was.index], after.management[device.index]),
        ):
            if one != two:
                changes.renumbered.append(f"{name}: another {what}")


def _links(before: FabricPlan | None, after: FabricPlan | None, changes: Changes) -> None:
    """Steps: first what needs no drain, then one upper switch after the other."""
    old, new = _by_lower(before), _by_lower(after)
    changes.kept_links += sum(new.get(lower) == upper for lower, upper in old.items())
    moved = [Cable(lower, upper, new.get(lower)) for lower, upper in old.items() if new.get(lower) != upper]
    fresh = [Cable(lower, None, upper) for lower, upper in new.items() if lower not in old]
    changes.new_links += len(fresh)
    if before is not None and after is not None:
        one, two = _subnets(before), _subnets(after)
        other = sum(lower in two and two[lower] != subnet for lower, subnet in one.items())
        if other:
            changes.renumbered.append(f"{after.name}: {plural(other, 'link')} with another subnet")
    busy = _cages(moved)
    free = [cable for cable in fresh if not _ends(cable) & busy]
    if free:
        changes.steps.append(Step("lay new cables; nothing in service is touched", "", tuple(free)))
    later: dict[str, list[Cable]] = defaultdict(list)
    for cable in moved:
        assert cable.old is not None
        later[cable.old[0]].append(cable)
    for cable in fresh:
        if _ends(cable) & busy:
            assert cable.new is not None
            later[cable.new[0]].append(cable)
    for switch in sorted(later):
        cables = sorted(later[switch], key=lambda c: (c.old is None, c.lower))
        changes.steps.append(Step(f"drain {switch}, re-cable, verify with LLDP, undrain", switch, tuple(cables)))


def _cages(moved: Iterable[Cable]) -> set[End]:
    """Every cage in service that a moved cable leaves or a pulled one frees, at both ends."""
    return {end for cable in moved for end in (_cage(cable.lower), _cage(cable.old)) if end is not None}


def _ends(cable: Cable) -> set[End]:
    """The cages that a new cable takes."""
    return {end for end in (_cage(cable.lower), _cage(cable.new)) if end is not None}


def _cage(end: End | None) -> End | None:
    """A port without its part of the cage."""
    return (end[0], end[1].split("/")[0]) if end is not None else None


def _by_lower(plan: FabricPlan | None) -> dict[End, End]:
    """Lower end → upper end of every link."""
    if plan is None:
        return {}
    return {_end(plan, "a", at): _end(plan, "b", at) for at in range(len(plan.links))}


def _subnets(plan: FabricPlan) -> dict[End, int]:
    """Lower end → first address of every link."""
    return {_end(plan, "a", at): int(first) for at, first in enumerate(plan.subnet.tolist())}


def _end(plan: FabricPlan, side: str, at: int) -> End:
    columns = plan.links.lists()
    device = plan.devices[columns[side][at]]
    cage, sub, split = (columns[f"{side}_{part}"][at] for part in ("cage", "sub", "split"))
    if device.role == SERVER:
        group = next(group for group in plan.spec.groups if group.name == device.group)
        return device.name, nic_name(group, cage, sub)
    return device.name, f"port {cage}/{sub + 1}" if split > 1 else f"port {cage}"


def text(changes: Changes, most: int = 8) -> str:
    """The changes as a person reads them; long lists are cut, `--json` has them whole."""
    out = [*_named("added", changes.added), *_named("removed", changes.removed), *_named("changed", changes.renumbered)]
    out.append(f"links: {changes.kept_links:,} stay, {changes.new_links:,} are new, {changes.moved:,} are touched")
    if not changes.moved:
        out.append("nothing that is in service moves")
    for number, step in enumerate(changes.steps, 1):
        out.append(f"{number}. {step.title} ({plural(len(step.cables), 'cable')})")
        out += [f"     {cable}" for cable in step.cables[:most]]
        if len(step.cables) > most:
            out.append(f"     … {len(step.cables) - most:,} more")
    return "\n".join(out)


def _named(word: str, names: Iterable[str]) -> list[str]:
    listed = list(names)
    if not listed:
        return []
    shown = ", ".join(listed[:6]) + (f", … {len(listed) - 6:,} more" if len(listed) > 6 else "")
    return [f"{word}: {len(listed):,}: {shown}"]
