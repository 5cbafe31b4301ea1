"""The warnings that say nothing about a configuration, as `allow.yaml` lists them with their reasons."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, TypeAlias

from fabric.formats import yaml
from fabric.nos.batfish.context import JOIN, Context

KINDS = ("lines", "details", "references")
Paths: TypeAlias = Callable[[], Iterable[str]]  # every line of a switch, "router bgp 65001 / vrf red / rd 10.0.0.1:1"


@dataclass(frozen=True, slots=True)
class Allowed:
    """One pattern, and why what it matches is no finding."""

    targets: tuple[str, ...]
    kind: str  # "lines" | "details" | "references"
    pattern: re.Pattern[str]
    reason: str
    within: re.Pattern[str] | None = None  # the blocks of the line, "router bgp 65001 / vrf red"; None: any
    defined: str = ""  # pattern of the line that defines `{name}`, behind the blocks that it stands in; "": none is needed

    def matches(self, nos: str, kind: str, text: str, context: Context, paths: Paths) -> bool:
        """Whether a warning is this one: about a line in the named blocks, about a name that the switch does define."""
        if kind != self.kind or nos not in self.targets:
            return False
        found = self.pattern.fullmatch(text)
        if not found or (self.within is not None and not self.within.fullmatch(JOIN.join(context))):
            return False
        if not self.defined:
            return True
        definition = re.compile(self.defined.replace("{name}", re.escape(found["name"])))
        return any(definition.fullmatch(path) for path in paths())


def nothing() -> Iterable[str]:
    """The paths of a switch without lines."""
    return ()


@cache
def allowed() -> tuple[Allowed, ...]:
    """Every pattern of the list."""
    entries: list[dict[str, Any]] = yaml.read(files(__package__).joinpath("allow.yaml"))
    return tuple(
        Allowed(
            tuple(entry["targets"]),
            kind,
            re.compile(text, re.DOTALL),
            entry["reason"].strip(),
            re.compile(entry["within"]) if "within" in entry else None,
            entry.get("defined", ""),
        )
        for entry in entries
        for kind in KINDS
        for text in entry.get(kind, ())
    )


def reason(nos: str, kind: str, text: str, context: Context = (), paths: Paths = nothing) -> str:
    """Why a warning about a line, message or reference is none, "" when it is one.

    `context` has the blocks of the line, `paths` gives every line of the switch behind the blocks that it stands in.
    """
    return next((entry.reason for entry in allowed() if entry.matches(nos, kind, text, context, paths)), "")
