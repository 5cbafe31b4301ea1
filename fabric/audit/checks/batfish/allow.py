"""The warnings that say nothing about a configuration, as the lists of each network OS have them with their reasons.

They are about valid lines that Batfish does not know, or knows and does not model; every other warning is a finding. `lines`
are regular expressions over the whole line, `details` over the whole message of a warning that names no line, `references`
over "kind name" of something that is used and not defined. `within` is one over the heads of all blocks that the line stands
in, joined by " / ": the same line elsewhere is a finding. `defined` is one over such a path to a line of the same switch: a
reference to a name that no line defines is a finding.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

from fabric.audit.checks.batfish.visibility import view_of
from fabric.base.formats import yaml
from fabric.nos.batfish import JOIN, Context

KINDS = ("lines", "details", "references")
Paths: TypeAlias = Callable[[], Iterable[str]]  # every line of a switch, "router bgp 65001 / vrf red / rd 10.0.0.1:1"


@dataclass(frozen=True, slots=True)
class Allowed:
    """One pattern, and why what it matches is no finding."""

    kind: str  # "lines" | "details" | "references"
    pattern: re.Pattern[str]
    reason: str
    within: re.Pattern[str] | None = None  # the blocks of the line, "router bgp 65001 / vrf red"; None: any
    defined: str = ""  # pattern of the line that defines `{name}`, behind the blocks that it stands in; "": none is needed

    def matches(self, kind: str, text: str, context: Context, paths: Paths) -> bool:
        """Whether a warning is this one: about a line in the named blocks, about a name that the switch does define."""
        if kind != self.kind:
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
def allowed(nos: str) -> tuple[Allowed, ...]:
    """Every pattern of the lists of a network OS."""
    view = view_of(nos)
    lists: list[list[dict[str, Any]]] = [yaml.read(path) for path in (view.allow if view is not None else ())]
    return tuple(
        Allowed(
            kind,
            re.compile(text, re.DOTALL),
            entry["reason"].strip(),
            re.compile(entry["within"]) if "within" in entry else None,
            entry.get("defined", ""),
        )
        for entries in lists
        for entry in entries
        for kind in KINDS
        for text in entry.get(kind, ())
    )


def reason(nos: str, kind: str, text: str, context: Context = (), paths: Paths = nothing) -> str:
    """Why a warning about a line, message or reference is none, "" when it is one.

    `context` has the blocks of the line, `paths` gives every line of the switch behind the blocks that it stands in.
    """
    return next((entry.reason for entry in allowed(nos) if entry.matches(kind, text, context, paths)), "")
