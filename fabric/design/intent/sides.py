"""Two states of a site, read: each an intent by its name, with the numbers that it stands on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fabric.base.diagnostics import InputError, tried
from fabric.design.intent import revision
from fabric.design.intent.intent import Intent
from fabric.model.plan import Plan, lock_file as locks
from fabric.model.plan.lock_file import Lock

Planning = Callable[[Intent, Lock | None], Plan]


@dataclass(frozen=True)
class IntentVersion:
    """An intent, and the numbers of its commit where it comes from one."""

    intent: Intent
    numbers: Lock | None

    def templates(self, name: str, target: Path) -> Path:
        """The folder of its own templates, laid in `target` where it comes from a commit; `name` is what it was called."""
        return revision.templates(self.intent, name, target)


@dataclass(frozen=True)
class IntentVersions:
    """Both intents; None for the side that a site which comes or goes does not have."""

    old: str  # as the person called it
    new: str
    before: IntentVersion | None
    after: IntentVersion | None

    @property
    def both(self) -> tuple[IntentVersion | None, IntentVersion | None]:
        return self.before, self.after

    @property
    def keys(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """What both intents say, defaults put in; a side that is not there says nothing else."""
        before, after = (side.intent.keys() if side else None for side in self.both)
        return before or after or {}, after or before or {}


def planned(sides: IntentVersions, plan: Planning) -> tuple[Plan, Plan]:
    """Both plans; the one of a side that is not there has no fabrics."""
    before, after = sides.both
    if before is None or after is None:
        there = before or after
        assert there is not None
        plan_ = plan(there.intent, there.numbers)
        empty = replace(plan_, fabrics={})
        return (plan_, empty) if after is None else (empty, plan_)
    old = plan(before.intent, before.numbers)
    # The new plan stands on the numbers of the old one, as `generate` would make it; a commit brings its own.
    return old, plan(after.intent, after.numbers or (old.lock if _same_site(before, after) else None))


def read(old: str, new: str) -> IntentVersions:
    """The two intents by their names, files or `git:REV[:FILE]`, each with the numbers of its commit.

    A file that one side does not have, where `git:REV` stands for the other's, is a site that comes or goes. Raises
    InputError with the mistakes of both.
    """
    names, paths = (old, new), [_path(name) for name in (new, old)]
    absent = [revision.missing(name, other) for name, other in zip(names, paths, strict=True)]
    if sum(absent) != 1 or not any(map(revision.is_short, names)):
        absent = [False, False]
    given = zip(names, paths, absent, strict=True)
    sides, mistakes = tried(given, lambda one: None if one[2] else IntentVersion(*revision.read(*one[:2])))
    if mistakes:
        raise InputError(mistakes)
    before, after = sides
    if before and after and _same_site(before, after) and before.numbers is None:
        intent = before.intent
        if not (intent.folder / locks.FILE).exists():
            # A file of another folder: the numbers in use lie beside the new one.
            before = IntentVersion(Intent(intent.path, intent.site, intent.source, after.intent.folder), None)
    return IntentVersions(old, new, before, after)


def _same_site(one: IntentVersion, other: IntentVersion) -> bool:
    return one.intent.site.site == other.intent.site.site


def _path(name: str) -> Path | None:
    """The file that a name speaks of, for the other side to take."""
    if not name.startswith(revision.GIT):
        return Path(name)
    file = name.removeprefix(revision.GIT).partition(":")[2]
    return Path(file) if file else None
