"""Chooses between values of keys by what a plan renders: that whose statements differ least from the running ones."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, TypeAlias

from fabric.base.diagnostics import InputError
from fabric.base.formats import json_line
from fabric.deliver.brownfield.sections.probes import Document, plan_of, rendered
from fabric.deliver.brownfield.sections.running import Running, merged
from fabric.deliver.brownfield.survey.devices import lines_of
from fabric.model.plan.lock import Lock

MAX_SWITCHES = 400  # of a site that is planned again for every alternative
MAX_STATEMENTS = 400_000  # that are rendered for alternatives, which take about 15 seconds
DIGITS = re.compile(r"(?<![\w.:/-])\d{3,4}(?![\w.:/-])")
ENOUGH = 3  # alternatives that change nothing but statements that fit: the key has its value
MISSING_SWITCH = 10_000  # statements that a switch counts as which is not there, or not planned

Statement: TypeAlias = tuple[str, str]  # switch and statement
Trials: TypeAlias = Iterable[Sequence[Document]]


def _path(alternative: Document) -> list[str]:
    """The keys that lead to what an alternative states."""
    path, inner = [], alternative
    while isinstance(inner, Mapping) and len(inner) == 1:
        key, inner = next(iter(inner.items()))
        path.append(key)
    return path


def _inner(alternative: Document) -> Any:
    inner: Any = alternative
    for key in _path(alternative):
        inner = inner[key]
    return inner


@dataclass(frozen=True)
class Compared:
    """Statements of an intent beside the running ones, each with its switch.

    Attributes:
        planned: what the intent renders.
        wrong: what only one side has.
        switches: that only one side has.
    """

    planned: frozenset[Statement]
    wrong: frozenset[Statement]
    switches: int

    @property
    def score(self) -> int:
        """What is otherwise."""
        return MISSING_SWITCH * self.switches + len(self.wrong)


class Comparison:
    """Intents of one site against the statements of a few of its switches."""

    def __init__(self, runs: Sequence[Running], lock: Lock) -> None:
        self.lock = lock
        self.nos = {its.name: its.nos for run in runs for its in run.samples}
        self.running = {name: frozenset(lines) for run in runs for name, lines in run.lines.items() if lines}
        self.switches = {its.name for run in runs for its in run.switches}
        self.room = MAX_STATEMENTS if len(self.switches) <= MAX_SWITCHES else 0

    def compared(self, document: Document, names: Iterable[str]) -> Compared | None:
        """An intent against some switches; None where it is refused."""
        own = [name for name in names if name in self.running]
        try:
            plan = plan_of(document, self.lock)
            files = rendered(plan, own)
        except InputError:
            return None
        planned = frozenset((name, line) for name in files for line in lines_of(self.nos[name], files[name]))
        self.room -= len(planned)
        running = frozenset((name, line) for name in own for line in self.running[name])
        switches = {device.name for fabric in plan.fabrics.values() for device in fabric.switches}
        return Compared(planned, planned ^ running, len(switches ^ self.switches))

    def refined(self, document: Document, run: Running, trials: Callable[[Sequence[int]], Trials]) -> Document:
        """The intent with the alternatives of one fabric that fit best, none where what it has fits as well.

        Args:
            trials: alternatives by key, from the numbers in statements that the intent does not render.
        """
        names = [its.name for its in run.samples]
        best = self.compared(document, names)
        if self.room <= 0 or (best is not None and not best.wrong):
            return document
        missing = best.wrong - best.planned if best else ()
        numbers = sorted({int(digits) for _, line in missing for digits in DIGITS.findall(line)})
        for alternatives in trials(numbers):
            useless = 0
            for alternative in alternatives:
                tried = merged(document, {"fabrics": {run.name: alternative}})
                found = self.compared(tried, names)
                if found is not None and (best is None or found.score < best.score):
                    _note(run, alternative, len(alternatives), found, best)
                    document, best = tried, found
                elif found is not None and best is not None and (changed := found.planned ^ best.planned):
                    useless += not changed & best.wrong
                if useless == ENOUGH or self._enough(best):
                    break
            if self._enough(best):
                break
        return document

    def _enough(self, best: Compared | None) -> bool:
        """Whether nothing is left to find, or to spend."""
        return self.room <= 0 or (best is not None and not best.score)

    def shortened(self, document: Document, run: Running, section: str) -> Document:
        """The intent without keys of a section whose statements are the same without them."""
        names = [its.name for its in run.samples]
        keys = list(document["fabrics"][run.name].get(section, {})) if self.room > 0 else []
        best = self.compared(document, names) if keys else None
        for key in keys if best is not None else ():
            tried = deepcopy(document)
            del tried["fabrics"][run.name][section][key]
            found = self.compared(tried, names)
            if found is not None and best is not None and found.score <= best.score:
                document, best = tried, found
        return document


def _note(run: Running, alternative: Document, count: int, found: Compared, before: Compared | None) -> None:
    instead = before.score if before else "a refused intent"
    source = f"of {count} alternatives, the plan's statements differ least: {found.score} instead of {instead}"
    run.note(".".join(_path(alternative)), json_line(_inner(alternative)), source)
