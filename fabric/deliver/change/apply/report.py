"""What came of a change that was carried out, as text and as JSON."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Mapping

from fabric.base.formats import json_text
from fabric.base.schemas.models import document
from fabric.base.text import plural
from fabric.deliver.change.apply.records import (
    BY_HAND,
    CARRIED_OUT,
    EARLIER,
    OPEN,
    STOPPED,
    TAKEN_BACK,
    TRIED,
    Outcome,
    WaveResult,
)

COLUMNS = 80
MAX_LINES = 40  # of what a switch says to a dry run
STATE = 20  # columns of the state of a wave
NEXT = {
    TAKEN_BACK: "the network is as before this wave; `--resume` begins it again",
    STOPPED: "nothing is taken back; `--resume` goes on",
    BY_HAND: "`--resume` goes on when it is done",
    OPEN: "",
}


def _text(outcome: Outcome) -> str:
    return "\n".join(lines(outcome)) + "\n"


def _json(outcome: Outcome) -> str:
    return json_text(document(outcome)) + "\n"


def lines(outcome: Outcome) -> Iterator[str]:
    """The waves with their state, then what a person has to know of those that are not carried out."""
    yield from _wrapped(f"site {outcome.site}: {outcome.title}")
    for wave in outcome.waves:
        yield f"  wave {wave.number:<4} {wave.state:{STATE}} {wave.title}"[:COLUMNS]
    for wave in outcome.waves:
        yield from _details(wave)
    done = sum(wave.state in (CARRIED_OUT, EARLIER) for wave in outcome.waves)
    yield from ("", f"{done} of {plural(len(outcome.waves), 'wave')} carried out; journal: {outcome.folder}/journal.jsonl")


def _details(wave: WaveResult) -> Iterator[str]:
    if wave.state == TRIED:
        for shown in wave.shown:
            yield from ("", f"{shown.device}: {plural(len(shown.typed), 'line')} to type")
            yield from _cut("  > ", shown.typed)
            yield from _cut("  | ", shown.answer.splitlines() or ["its network OS does not say what it would take"])
    if wave.remarks:
        yield ""
    for remark in wave.remarks:
        yield from _wrapped(str(remark))
    if wave.by_hand:
        yield from ("", f"wave {wave.number}: by hand, then `--resume`:")
        yield from (f"  {line}" for line in wave.by_hand.splitlines())
    elif NEXT.get(wave.state):
        yield from ("", f"wave {wave.number}: {NEXT[wave.state]}")


def _cut(margin: str, rows: tuple[str, ...] | list[str]) -> Iterator[str]:
    yield from (f"{margin}{row}"[:COLUMNS] for row in rows[:MAX_LINES])
    if len(rows) > MAX_LINES:
        yield f"{margin}and {plural(len(rows) - MAX_LINES, 'more line')}; --format json shows them"


def _wrapped(text: str) -> Iterator[str]:
    for line in text.splitlines():
        margin = " " * (len(line) - len(line.lstrip()) + 4)
        yield from textwrap.wrap(line, COLUMNS, subsequent_indent=margin, break_long_words=False, break_on_hyphens=False)


FORMATS: Mapping[str, Callable[[Outcome], str]] = {"text": _text, "json": _json}
