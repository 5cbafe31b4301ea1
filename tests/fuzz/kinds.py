"""Kinds of cases by name."""

from __future__ import annotations

from collections.abc import Callable

from tests.fuzz import files, intents, options
from tests.fuzz.case import Case

KINDS: dict[str, Callable[[int, int], Case]] = {
    "plan": intents.planned,
    "commands": intents.everywhere,
    "options": options.options,
    "configs": files.configs,
    "edited": files.edited,
    "lldp": files.lldp,
    "prices": files.prices,
    "tables": files.tables,
    "steps": files.steps,
    "locks": files.locks,
}


def choose(kind: str, seed: int, number: int) -> Case:
    """Case `number` of a kind; of "all", the kinds in turn."""
    names = list(KINDS)
    if kind == "all":
        kind, number = names[number % len(names)], number // len(names)
    return KINDS[kind](seed, number)
