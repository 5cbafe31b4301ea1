"""Random changes, and whether a switch takes what is printed for them."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import cycle, islice
from typing import Any

from fabric.audit.checks import statement_differences
from fabric.audit.diff import configs
from fabric.audit.drift.devices import commands_back
from tests.nos.sonic.updater import designs
from tests.nos.sonic.updater.edits import edited
from tests.nos.sonic.updater.process import RealUpdater
from tests.nos.sonic.updater.switch import Switch, Tables

FILE = "config_db.json"
SWITCHES = 2  # of two designs
MAX_EDITS = 4


@dataclass(frozen=True)
class Case:
    """A change: from a running database to a planned one, by `fabric diff` or by `fabric drift`."""

    title: str
    running: Tables
    planned: Tables
    drift: bool = False


def cases(boards: Sequence[str], count: int, seed: int) -> Iterator[Case]:
    """`count` cases over the boards in turn; every second one of a board is a drift."""
    each = cycle([_of_board(board, random.Random(f"{seed} {board}")) for board in boards])
    return (next(board) for board in islice(each, count))


def _of_board(board: str, chance: random.Random) -> Iterator[Case]:
    for at, (title, old, new) in enumerate(designs.pairs(board, chance, SWITCHES)):
        if at % 2:
            what, running = edited(new, chance, chance.randint(1, MAX_EDITS))
            yield Case(f"{title} {what}", running, new, drift=True)
        else:
            yield Case(title, old, new)


def steps(case: Case) -> list[dict[str, Any]]:
    """What is printed, as JSON has it."""
    planned, running = ({FILE: json.dumps(side)} for side in (case.planned, case.running))
    if case.drift:
        differences = statement_differences("sonic", planned, running)
        found = commands_back("sonic", planned, running, differences)
    else:
        found = configs.changes_of_files("sonic", running, planned)
    return [json.loads(json.dumps(asdict(step))) for change in found for step in change.steps]


def judged(case: Case, counts: Counter[str], real: RealUpdater | None = None) -> str:
    """What went wrong, "" if nothing did; counts steps and operations."""
    all_steps = steps(case)
    for step in all_steps:
        counts[f"steps of kind {step['kind']}"] += 1
        counts["operations"] += len(step["json_patch"])
    switch = Switch(case.running)
    try:
        if real is None:
            switch.run(all_steps)
        else:
            real.run(switch, all_steps, counts)
    except AssertionError as refused:
        return f"{type(refused).__name__}: {refused}"
    return _outcome(case, switch)


def _outcome(case: Case, switch: Switch) -> str:
    if case.drift:
        planned, running = {FILE: json.dumps(case.planned)}, {FILE: json.dumps(switch.config)}
        if left := statement_differences("sonic", planned, running):
            return f"not as planned: {left[0]}"
    elif switch.config != case.planned:
        return f"not as planned: {_first(case.planned, switch.config)}"
    if switch.state != switch.config:
        return f"in the database only: {_first(switch.config, switch.state)}"
    return ""


def _first(wanted: Tables, found: Tables) -> str:
    for table in sorted(wanted.keys() | found.keys()):
        rows, others = wanted.get(table, {}), found.get(table, {})
        for row in sorted(rows.keys() | others.keys()):
            if rows.get(row) != others.get(row):
                return f"{table} {row}: {rows.get(row)} and {others.get(row)}"
    return "order"
