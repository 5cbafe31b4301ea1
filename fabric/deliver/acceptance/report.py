"""The verdict on an acceptance test as text, as JSON and as JUnit XML."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Annotated

from fabric.base.formats import Case, Failure, Suite, json_text
from fabric.base.formats.junit import junit
from fabric.base.grouping import grouped
from fabric.base.schemas.models import Document, Text, document, enum_of
from fabric.base.text import aligned, and_more, percent, plural, printable, size, style, wrapped
from fabric.deliver.acceptance.judge import FAIL, NOT_RUN, PARTIAL, PASS, STATES, Judgment, Outcome, Outlier, StepState

MAX_SHOWN = 20  # failures that the text lists
WIDTH = 100


class AcceptanceDocument(Document):
    """A verdict as `fabric acceptance judge --json` prints it."""

    site: Text
    fabric: Text
    state: Annotated[str, enum_of(STATES)]
    steps: list[StepState]
    outcomes: list[Outcome]
    outliers: list[Outlier]
    causes: list[str]
    next: list[str]


def _text(judgment: Judgment) -> str:
    return "\n".join(lines(judgment)) + "\n"


def _json(judgment: Judgment) -> str:
    return json_text(document(judgment, AcceptanceDocument)) + "\n"


def _junit(judgment: Judgment) -> str:
    suites = []
    for step in judgment.steps:
        cases = [_case(item) for item in judgment.outcomes if item.step == step.step]
        suites.append(Suite(f"acceptance: {step.step}", cases))
    return junit(f"acceptance of {judgment.site}, fabric {judgment.fabric}", suites)


def _case(item: Outcome) -> Case:
    failure = Failure(item.step, f"{_name(item)}: {printable(item.message)}", _figures(item)) if item.state == FAIL else None
    skipped = {NOT_RUN: "not run", PARTIAL: item.message}.get(item.state)
    return Case(name=_name(item), classname=f"acceptance.{item.step}", failure=failure, skipped=skipped)


FORMATS: Mapping[str, Callable[[Judgment], str]] = {"text": _text, "json": _json, "junit": _junit}


# --- text -----------------------------------------------------------------------------------------------------


def lines(judgment: Judgment) -> Iterator[str]:
    """Steps, what is no pass, outliers, and what to do next."""
    head = ("step", "tests", "passed", "failed", "partial", "not run")
    rows = [
        (state.step, f"{state.runs}", f"{state.passed}", f"{state.failed}", f"{state.partial}", f"{state.not_run}")
        for state in judgment.steps
    ]
    yield from aligned(rows, "<>>>>>", head=head)
    for state, title in ((FAIL, "failed"), (PARTIAL, "partial")):
        found = [item for item in judgment.outcomes if item.state == state]
        if found:
            yield from ("", f"{title}:")
            yield from (f"  {line}" for item in found[:MAX_SHOWN] for line in wrapped(_line(item), WIDTH))
            if len(found) > MAX_SHOWN:
                yield f"  {and_more(len(found) - MAX_SHOWN, see='--format json')}"
    if judgment.outliers:
        yield from ("", "outliers:")
        yield from (f"  {line}" for text in outlier_texts(judgment.outliers) for line in wrapped(text, WIDTH))
    if judgment.causes:
        yield from ("", "likely causes of the first failure:")
        yield from (f"  {line}" for text in judgment.causes for line in wrapped(text, WIDTH))
    if judgment.next:
        yield from ("", "next:")
        yield from (f"  {line}" for text in judgment.next for line in wrapped(text, WIDTH))
    kind = {PASS: "pass", FAIL: "fail"}.get(judgment.state, "warning")
    yield from ("", f"{judgment.site}, fabric {judgment.fabric}: {style(kind, judgment.state)}")


MAX_NAMES = 4


def outlier_texts(outliers: Iterable[Outlier]) -> Iterator[str]:
    """A line for each server or leaf with what shows it."""
    for (kind, names), found in grouped(((item.kind, item.names), item) for item in outliers).items():
        shown = f"{kind} {' or '.join(names)}" if len(names) <= MAX_NAMES else f"{names[0]} to {names[-1]}"
        slow = (f"{item.step} {item.collective} {percent(item.below)} of {plural(item.of, 'run')}" for item in found)
        yield printable(f"{shown}, below the median: {', '.join(slow)}")


def _name(item: Outcome) -> str:
    return " ".join(filter(None, (item.run, item.collective, item.device)))


def _line(item: Outcome) -> str:
    return f"{_name(item)}: {printable(item.message)}{_where(item)}"


def _where(item: Outcome) -> str:
    return f" ({_figures(item)})" if item.bytes else ""


def _figures(item: Outcome) -> str:
    place = f", {printable(item.file)}:{item.line}" if item.file else ""
    gates = f"gate {item.pass_GBps:.4g}, expected {item.expected_GBps:.4g}"
    return f"{size(item.bytes)}: {item.measured_GBps:.4g} GB/s, {gates}{place}"
