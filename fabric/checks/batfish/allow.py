"""The warnings that say nothing about a configuration, as `allow.yaml` lists them with their reasons."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

KINDS = ("lines", "details", "references")


@dataclass(frozen=True, slots=True)
class Allowed:
    """One pattern, and why what it matches is no finding."""

    targets: tuple[str, ...]
    kind: str  # "lines" | "details" | "references"
    pattern: re.Pattern[str]
    reason: str


@cache
def allowed() -> tuple[Allowed, ...]:
    """Every pattern of the list."""
    entries: list[dict[str, Any]] = yaml.safe_load(files(__package__).joinpath("allow.yaml").read_text(encoding="utf-8"))
    return tuple(
        Allowed(tuple(entry["targets"]), kind, re.compile(text, re.DOTALL), entry["reason"])
        for entry in entries
        for kind in KINDS
        for text in entry.get(kind, ())
    )


def reason(nos: str, kind: str, text: str) -> str:
    """Why a warning about a line, message or reference is none, "" when it is one."""
    for entry in allowed():
        if entry.kind == kind and nos in entry.targets and entry.pattern.fullmatch(text):
            return entry.reason
    return ""
