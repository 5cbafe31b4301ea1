"""What the language or the planner refuses of an intent that was found, and the intent without it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from copy import deepcopy
from typing import Any

from fabric.base.diagnostics import InputError
from fabric.base.formats import json_line
from fabric.base.source import Path_, parse
from fabric.deliver.brownfield.draft.judge import merged, planned
from fabric.model.plan.lock_file import Lock

NO_NUMBERS = Lock()
PATH = re.compile(r"([\w.-]+(?:\[\d+\][\w.-]*)*): ")
MAX_ROUNDS = 20  # of looking for what an intent does not take
ESSENTIAL = re.compile(  # what no fabric is without
    r"version|site|fabrics(\.[^.]+(\.servers(\.\d+(\.\w+)?)?|\.topology(\.(kind|switch|tiers|unit.*|((leaf|spine|core)(\.switch)?)))?)?)?"
)
SECTIONS = ("tenants", "overlay", "qos", "links", "pins", "pools", "underlay", "names", "management")  # of a fabric
OPTIONAL = frozenset({"bond", "external", "network", "tenant", "lossless"})  # keys without which an attachment is one


def taken(
    topology: Mapping[str, Any], services: Mapping[str, Any], lock: Lock = NO_NUMBERS
) -> tuple[dict[str, Any], dict[str, str]]:
    """Sections without the entries that the language or the planner refuses, and those: path → why."""
    kept, refused = deepcopy(dict(services)), dict[str, str]()
    for _ in range(MAX_ROUNDS):
        whole = merged(topology, kept)
        try:
            planned(whole, lock)
            break
        except InputError as error:
            paths = refusals(json_line(whole), error)
            gone = [path for path in sorted(paths, key=str, reverse=True) if drop(kept, whole, path)]
            refused |= {".".join(map(str, path)): paths[path] for path in gone}
            if not gone:
                break
    return kept, refused


def refusals(text: str, error: InputError) -> dict[Path_, str]:
    """What a refused intent has in the places of its mistakes: path → message."""
    source = parse(text, "")
    found: dict[Path_, str] = {}
    for one in error.diagnostics:
        if match := PATH.match(one.message):
            found.setdefault(_parts(match[1]), one.message)
        if path := source.path_of(one.place):
            found.setdefault(path, one.message)
    return found


def _parts(path: str) -> Path_:
    """`tenants[0].name` as ("tenants", 0, "name")."""
    return tuple(int(part) if part.isdecimal() else part for part in re.findall(r"[^.\[\]]+", path))


def drop(document: Any, whole: Any, path: Path_) -> bool:
    """Takes away an optional key, else the innermost entry of a list that a path leads through, else its last key.

    False where there is none.

    Args:
        whole: what the path leads through; its lists may have more entries.
    """
    at: Any = document
    last: tuple[Any, str | int] | None = None
    for depth, part in enumerate(path):
        try:
            whole = whole[part]
        except (LookupError, TypeError):
            return False
        if isinstance(part, int) and isinstance(at, list):
            name = whole.get("name") if isinstance(whole, Mapping) else None
            part = next((n for n, its in enumerate(at) if its["name"] == name), len(at)) if name else part
            if part >= len(at):
                return False
            last = (at, part)
        elif isinstance(at, dict) and part in at:
            in_list = last is not None and isinstance(last[1], int)
            last = last if in_list and part not in OPTIONAL else (at, part)
        else:
            return False
        at = at[part]
        if depth and part in OPTIONAL:
            break
    if last is None:
        return False
    del last[0][last[1]]
    return True


def without_entries(document: dict[str, Any], paths: Mapping[Path_, str]) -> dict[str, str]:
    """Takes entries with a mistake away, but what no intent is without; those: path → why."""
    named = {".".join(map(str, path)): path for path in sorted(paths, key=str, reverse=True)}
    return {
        text: paths[path] for text, path in named.items() if not ESSENTIAL.fullmatch(text) and drop(document, document, path)
    }


def without_section(document: dict[str, Any], paths: Iterable[Path_], why: str) -> dict[str, str]:
    """Takes an optional section of a fabric with a mistake away, else that fabric if it is not the only one."""
    named = [str(path[1]) for path in paths if path[0] == "fabrics" and len(path) > 1]
    for name in named or list(document["fabrics"]):
        fabric = document["fabrics"].get(name, {})
        for key in SECTIONS:
            if fabric.pop(key, None) is not None:
                return {f"fabrics.{name}.{key}": why}
        if len(document["fabrics"]) > 1 and document["fabrics"].pop(name, None) is not None:
            return {f"fabrics.{name}": why}
    return {}
