"""Chooses between values of keys by what a plan renders: that whose statements differ least from the running ones."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from typing import Any

from fabric.base.diagnostics import InputError
from fabric.base.formats import json_line
from fabric.deliver.brownfield.sections.probes import Document, lines_of, plan_of, rendered
from fabric.deliver.brownfield.sections.running import Running, merged
from fabric.model.plan.lock import Lock

MAX_SWITCHES = 400  # of a site that is planned again for every alternative
DIGITS = re.compile(r"(?<![\w.:/-])\d{3,4}(?![\w.:/-])")
REFUSED = 10**9
MISSING_SWITCH = 10_000  # statements that a switch counts as which is not there, or not planned


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


class Comparison:
    """Intents of one site against the statements of a few of its switches."""

    def __init__(self, runs: Sequence[Running], lock: Lock) -> None:
        self.lock = lock
        self.nos = {its.name: its.nos for run in runs for its in run.samples}
        self.running = {name: frozenset(lines) for run in runs for name, lines in run.lines.items() if lines}
        self.switches = {its.name for run in runs for its in run.switches}
        self.size = sum(len(run.switches) for run in runs)

    def differences(self, document: Document) -> dict[str, int]:
        """Statements that differ on each switch, and switches that only one side has as those of ""; {} if it is refused."""
        try:
            plan = plan_of(document, self.lock)
            files = rendered(plan, self.running)
        except InputError:
            return {}
        planned = {device.name for fabric in plan.fabrics.values() for device in fabric.switches}
        return {"": MISSING_SWITCH * len(planned ^ self.switches)} | {
            name: len(lines ^ frozenset(lines_of(self.nos[name], files[name]))) if name in files else len(lines)
            for name, lines in self.running.items()
        }

    def numbers(self, document: Document, names: Iterable[str]) -> list[int]:
        """Numbers in statements of some switches that an intent does not render, in order."""
        try:
            files = rendered(plan_of(document, self.lock), self.running)
        except InputError:
            return []
        known = [name for name in names if name in self.running]
        own = (self.running[name] - frozenset(lines_of(self.nos[name], files.get(name, {}))) for name in known)
        return sorted({int(digits) for lines in own for line in lines for digits in DIGITS.findall(line)})

    def refined(
        self, document: Document, run: Running, names: Iterable[str], trials: Iterable[Sequence[Document]]
    ) -> Document:
        """The intent with the alternatives of one fabric that fit best, none where what it has fits as well."""
        own = list(names)
        best = self._score(document, own)
        for alternatives in trials if self.size <= MAX_SWITCHES else ():
            if best == 0:
                break
            for alternative in alternatives:
                tried = merged(document, {"fabrics": {run.name: alternative}})
                score = self._score(tried, own)
                if score < best:
                    source = (
                        f"of {len(alternatives)} alternatives, the plan's statements differ least: {score} instead of {best}"
                    )
                    run.note(".".join(_path(alternative)), json_line(_inner(alternative)), source)
                    document, best = tried, score
        return document

    def shortened(self, document: Document, fabric: str, names: Iterable[str], section: str) -> Document:
        """The intent without keys of a section whose statements are the same without them."""
        own = list(names)
        best = self._score(document, own)
        for key in list(document["fabrics"][fabric].get(section, {})) if self.size <= MAX_SWITCHES else ():
            tried = deepcopy(document)
            del tried["fabrics"][fabric][section][key]
            score = self._score(tried, own)
            if score <= best < REFUSED:
                document, best = tried, score
        return document

    def _score(self, document: Document, names: Sequence[str]) -> int:
        counted: Mapping[str, Any] = self.differences(document)
        return sum(counted.get(name, 0) for name in ("", *names)) if counted else REFUSED
