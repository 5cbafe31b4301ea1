"""A change as text, as a checklist in Markdown, as JSON."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from fabric.base.formats import json_text
from fabric.base.formats.blocks import plain
from fabric.base.schemas.models import document
from fabric.base.text import aligned, and_more, duration, listed, percent, plural
from fabric.deliver.change.records import Change, Jumper, Left, Move, Wave

MAX_WAVES = 40  # of a table on the screen
MAX_DETAILS = 2  # waves whose conditions are shown
MAX_MOVES = 8
SPACED = re.compile(r"\S(?:.*\S)?")


def _text(change: Change) -> str:
    return "\n".join(lines(change)) + "\n"


def _json(change: Change) -> str:
    return json_text(document(change)) + "\n"


# --- text -----------------------------------------------------------------------------------------------------


def lines(change: Change) -> Iterator[str]:
    """Waves in a table, what must hold, and what the floor does not allow."""
    yield f"site {change.site}: {change.title}, floor {percent(change.floor)}"
    if change.is_empty:
        yield "nothing changes"
        return
    yield from _fabrics(change)
    if change.waves:
        yield from ("", *_table(change))
    for wave in change.waves[:MAX_DETAILS]:
        yield from ("", f"wave {wave.number}: {wave.title}", *_details(wave))
    if len(change.waves) > MAX_DETAILS:
        yield from ("", and_more(len(change.waves) - MAX_DETAILS, "wave", see="--format markdown"))
    if change.refused:
        yield from ("", "not planned, for the floor:")
        for entry in change.refused:
            count = plural(len(entry.devices), "switch", "switches")
            yield f"  {entry.fabric}: {count} ({listed(entry.devices, 4)}): {entry.reason}"
    if change.notes:
        yield from ("", *change.notes)


def _fabrics(change: Change) -> Iterator[str]:
    for name, before in change.before.items():
        waves = [wave for wave in change.waves if wave.fabric == name]
        after = change.after[name]
        parts = [plural(len(waves), "wave")]
        if waves:
            parts.append(f"at least {percent(min(wave.left.capacity for wave in waves))} of the capacity")
        if after.capacity != before.capacity:
            parts.append(f"{percent(before.capacity)} before, {percent(after.capacity)} after")
        if times := _span("all-reduce", change.all_reduce, [before, *(wave.left for wave in waves), after], "all_reduce_ms"):
            parts.append(times)
        if times := _span("training step", "", [before, *(wave.left for wave in waves), after], "step_ms"):
            parts.append(times)
        yield f"  {name}: {', '.join(parts)}"


def _span(word: str, of: str, states: Sequence[Left], key: str) -> str:
    """`all-reduce of 1G 8.4 to 9.1 ms`."""
    times = [value for state in states if (value := getattr(state, key)) is not None]
    if not times:
        return ""
    name = f"{word} of {of}" if of else word
    low, high = duration(min(times)), duration(max(times))
    return f"{name} {low}" + (f" to {high}" if low != high else "")


def _table(change: Change) -> Iterator[str]:
    with_steps = any(wave.left.step_ms is not None for wave in change.waves)
    moves = any(wave.moves for wave in change.waves)
    head = ["wave", "fabric", "switches", "", *(["cables", "touched"] if moves else []), "capacity", "all-reduce"]
    head += ["step"] if with_steps else []
    risk = any(wave.worst != wave.left.capacity for wave in change.waves)
    head += ["if all fail"] if risk else []
    head += ["ports down", "servers cut off"]
    rows = [_row(wave, moves, with_steps, risk) for wave in change.waves[:MAX_WAVES]]
    yield from aligned(rows, "><><" + (">>" if moves else "") + ">>" + ">" * (with_steps + risk) + ">>", head=head)
    if len(change.waves) > MAX_WAVES:
        yield f"  {and_more(len(change.waves) - MAX_WAVES, 'wave', see='--json')}"


def _row(wave: Wave, moves: bool, with_steps: bool, risk: bool) -> tuple[str, ...]:
    left = wave.left
    return (
        str(wave.number),
        wave.fabric,
        f"{len(wave.tasks):,}",
        listed([task.device for task in wave.tasks], 2),
        *((f"{len(wave.moves):,}", percent(wave.touched)) if moves else ()),
        percent(left.capacity),
        _ms(left.all_reduce_ms),
        *((_ms(left.step_ms),) if with_steps else ()),
        *((percent(wave.worst),) if risk else ()),
        f"{left.ports_down:,}",
        f"{len(left.cut_off):,}",
    )


def _ms(value: float | None) -> str:
    return "-" if value is None else duration(value)


def _details(wave: Wave) -> Iterator[str]:
    yield from (f"  before   {text}" for text in wave.before)
    yield f"  switches {listed([_task(task.device, task.action, task.reason) for task in wave.tasks], 6)}"
    yield from (f"  cable    {_move(move)}" for move in wave.moves[:MAX_MOVES])
    if len(wave.moves) > MAX_MOVES:
        yield f"           {and_more(len(wave.moves) - MAX_MOVES)}"
    yield from (f"  after    {text}" for text in wave.after)
    yield f"  stop     {wave.stop}"


def _task(device: str, action: str, reason: str) -> str:
    return f"{device} ({action}: {reason})" if reason else device


def _move(move: Move) -> str:
    old, new = (" ".join(end) for end in (move.old, move.new))
    ends = {"lay": f"to {new}", "pull": f"from {old}", "move": f"from {old} to {new}"}
    return f"{move.action} {' '.join(move.lower)} {ends[move.action]}" + (f", {_jumper(move.jumper)}" if move.jumper else "")


def _jumper(its: Jumper) -> str:
    """`jumper at backend-panel001: 12 from 13 to 97`."""
    ports = [f"from {its.old}"] if its.old else []
    ports += [f"to {its.new}"] if its.new else []
    return f"jumper at {its.panel}: {its.lower} {' '.join(ports)}"


# --- Markdown: a checklist ------------------------------------------------------------------------------------


def _markdown(change: Change) -> str:
    return "\n".join(_checklist(change)) + "\n"


def _checklist(change: Change) -> Iterator[str]:
    yield from (f"# {plain(change.site)}: {plain(change.title)}", "")
    if change.is_empty:
        yield "Nothing changes."
        return
    yield f"Every wave leaves at least {percent(change.floor)} of the capacity."
    yield from ("", *(f"* {plain(line.strip())}" for line in _fabrics(change)))
    for wave in change.waves:
        yield from ("", f"## Wave {wave.number}: {plain(wave.title)}", "", f"{_kept(wave.left)}", "")
        yield from (f"- [ ] before: {_words(text)}" for text in wave.before)
        for task in wave.tasks:
            words = ["drain", task.action, "check", "undrain"] if task.drained and task.action != "drain" else [task.action]
            reason = f" ({plain(task.reason)})" if task.reason else ""
            yield f"- [ ] {plain(task.device)}: {', '.join(words)}{reason}"
        yield from (f"- [ ] cable: {plain(_move(move))}" for move in wave.moves)
        yield from (f"- [ ] after: {_words(text)}" for text in wave.after)
        yield from ("", f"Safe to stop: {plain(wave.stop)}.")
    if change.refused:
        yield from ("", "## Not planned", "")
        for entry in change.refused:
            yield f"* {plain(entry.fabric)}: {plain(', '.join(entry.devices))}: {plain(entry.reason)}"
    yield from (text for note in change.notes for text in ("", plain(note)))


def _words(text: str) -> str:
    """A condition, with its commands as code."""
    return "`".join(
        part if at % 2 else SPACED.sub(lambda its: plain(its[0]), part) for at, part in enumerate(text.split("`"))
    )


def _kept(left: Left) -> str:
    parts = [f"{percent(left.capacity)} of the capacity is left"]
    parts += [f"all-reduce {duration(left.all_reduce_ms)}"] if left.all_reduce_ms is not None else []
    parts += [f"training step {duration(left.step_ms)}"] if left.step_ms is not None else []
    parts += [f"{plural(left.ports_down, 'server port')} down"] if left.ports_down else []
    parts += [f"{plural(len(left.cut_off), 'server')} without a port"] if left.cut_off else []
    return f"{'; '.join(parts)}."


FORMATS: Mapping[str, Callable[[Change], str]] = {"text": _text, "markdown": _markdown, "json": _json}
