"""Variants of a job's goodput: every combination of other values of its keys, the most useful tokens first."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from fabric.base.diagnostics import Diagnostic, InputError
from fabric.base.schemas.models import Amount, Document, Share, document, json_key
from fabric.base.source import Node
from fabric.base.text import aligned, counted, duration, percent
from fabric.solver.goodput.goodput import Goodput
from fabric.solver.goodput.sections import Checkpoint, Failures
from fabric.solver.reach import Goal, Measure, Reached, reach
from fabric.solver.training.file import JobText
from fabric.solver.training.sweep import OPTION, SHOWN

MEASURES = {
    "useful": Measure("", is_more_better=True, shown="{:.2%}"),
    "tokens-per-day": Measure("", is_more_better=True),
}


def keys() -> tuple[str, ...]:
    """Dotted keys of the two sections."""
    sections = {"checkpoint": Checkpoint, "failures": Failures}
    return tuple(f"{name}.{key.name}" for name, kind in sections.items() for key in fields(kind))


def measured(result: Goodput, name: str) -> float:
    """The answer that a goal is stated of."""
    return result.useful.value if name == "useful" else result.tokens_per_day.value


@dataclass(frozen=True)
class GoodputVariant:
    """One combination of values."""

    values: tuple[Any, ...]  # in the order of the sweep's keys
    result: Goodput | None  # None: not possible
    why_not: str = ""


class GoodputVariantDocument(Document):
    values: list[Any] = json_key("in the order of the keys")
    useful: Share = json_key(of="result.useful.value", default=None)
    tokens_per_day: Amount = json_key(of="result.tokens_per_day.value", default=None)
    interval_s: Amount = json_key("between two checkpoints", "result.saving.interval_s", default=None)
    step_ms: Amount = json_key(of="result.step.step_ms", default=None)
    reason: str = json_key("of a variant that is not possible", "why_not", default="")


class GoodputSweepDocument(Document):
    keys: list[str] = json_key("varied keys of the JOB file")
    variants: list[GoodputVariantDocument] = json_key("the most useful tokens first, those that are not possible last")


@dataclass(frozen=True)
class GoodputSweep:
    """Every variant, the one with the most useful tokens first, those that are not possible last."""

    keys: tuple[str, ...]
    variants: tuple[GoodputVariant, ...]

    def as_dict(self) -> dict[str, Any]:
        """The JSON document."""
        return document(self, GoodputSweepDocument)

    def lines(self) -> list[str]:
        """One row per variant, the values last."""
        done = [(item.values, item.result) for item in self.variants if item.result]
        head = ("useful", "tokens a day", "interval", "step", *self.keys)
        rows = [(*_cells(result), *map(str, values)) for values, result in done[:SHOWN]]
        out = aligned(rows, ">" * len(head), head=head)
        if len(done) > SHOWN:
            out += ["", f"{SHOWN} of {counted(len(done), 'variant')}; --json prints all"]
        failed = [item for item in self.variants if not item.result]
        if failed:
            out += ["", f"{counted(len(failed), 'variant')} not possible:", f"  {failed[0].why_not}"]
        return out


def _cells(result: Goodput) -> tuple[str, str, str, str]:
    return (
        percent(result.useful.value),
        f"{result.tokens_per_day.value:,.4g}",
        duration(result.saving.interval_s * 1e3),
        duration(result.step.step_ms),
    )


def least(
    source: Path | JobText, varied: Mapping[str, Sequence[Node]], goal: Goal, answer: Callable[[JobText], Goodput]
) -> Reached:
    """The value of the one varied key with which a job reaches a goal. Raises InputError."""
    ((key, nodes),) = varied.items()
    job = JobText.of(source)

    def got(node: Node) -> float | None:
        try:
            return measured(answer(job.with_values({key: node})), goal.name)
        except InputError:
            return None

    return reach(key, nodes, goal, got)


def sweep(source: Path | JobText, varied: Mapping[str, Sequence[Node]], answer: Callable[[JobText], Goodput]) -> GoodputSweep:
    """The goodput of every combination of values. Raises InputError where none is possible."""
    job, done = JobText.of(source), []
    for combination in itertools.product(*varied.values()):
        values = dict(zip(varied, combination, strict=True))
        plain = tuple(node.plain() for node in combination)
        try:
            done.append(GoodputVariant(plain, answer(job.with_values(values))))
        except InputError as error:
            done.append(GoodputVariant(plain, None, error.diagnostics[0].message))
    if not any(item.result for item in done):
        message = f"no variant is possible: {done[0].why_not}"
        raise InputError([Diagnostic("FAB173", OPTION, message, "vary other values")])
    return GoodputSweep(tuple(varied), tuple(sorted(done, key=lambda item: -measured(item.result, "") if item.result else 0)))
