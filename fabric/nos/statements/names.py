"""Names in statements: what defines an object of a config and what refers to it, as data of each network OS.

`names.yaml` beside `statements.yaml` has one entry per kind of object. Patterns are matched against the whole path of a
statement. In them `<name>` is the name, `<names>` several with blanks or commas between them, and `<scope>` what a name is
known in, such as a VRF. `(?P<of>…)` is the object that a value belongs to, where `unique` says that no other may have it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from fabric.base.formats import yaml

KEYS = {"kind", "defined", "used", "built_in", "unused", "unique", "given", "why", "source"}
BETWEEN = re.compile(r"[\s,|]+")
REFERENCE = re.compile(r"\[\w+\|([^\]|]+)\]")  # [TABLE|name] of older databases
UNFILLED = re.compile(r"[$*]")  # an unfilled placeholder of a template, or a pattern of names
SHORT = {"<name>": r"(?P<name>[^\s,]+)", "<names>": "(?P<name>.+)", "<scope>": r"(?P<scope>\S+)"}
SHORTENED = re.compile(rf"(?<!P)(?:{'|'.join(SHORT)})")


class Name(NamedTuple):
    """A name in a statement.

    Attributes:
        kind: position of its entry.
        used: the statement refers to it; else it defines it.
        scope: what it is known in, "" for the device.
        text: the name itself.
        of: the object that it belongs to, where only one may have it.
    """

    kind: int
    used: bool
    scope: str
    text: str
    of: str = ""


@dataclass(frozen=True, kw_only=True)
class Kind:
    """An entry of `names.yaml`.

    Attributes:
        title: what such an object is called, in findings.
        built_in: names that every switch has, and words that are none.
        unused: a definition that nothing refers to is worth a note.
        given: pattern of a statement without which the kind is not judged: a part of a config has none.
        why: what a reference to nothing does.
        source: title of the vendor's page.
        unique: no two objects of a device may have one such value, as a lane or a VNI.
    """

    title: str
    built_in: re.Pattern[str] | None
    unused: bool
    given: re.Pattern[str] | None
    why: str
    source: str
    unique: bool = False


@dataclass(frozen=True, kw_only=True)
class NamePattern:
    """A statement with a name."""

    kind: int
    used: bool
    line: re.Pattern[str]
    built_in: re.Pattern[str] | None = None
    before: str = ""  # completes the name: `Port-Channel` for `channel-group 5`
    given: bool = False

    def say(self, groups: Mapping[str, str | None]) -> Iterator[Name]:
        """The names in a statement, by the groups of its line, without those that every switch has."""
        if self.given:
            yield Name(self.kind, False, "", GIVEN)
            return
        scope, of = groups.get("scope") or "", groups.get("of") or ""
        for name in BETWEEN.split(REFERENCE.sub(r"\1", groups["name"] or "").strip(" ,|[]\"'")):
            name = self.before + name.strip("\"'!{}")
            if not name or (self.used and UNFILLED.search(name)):
                continue
            if not ((self.used or of) and self.built_in and self.built_in.fullmatch(name)):
                yield Name(self.kind, self.used, scope, name, of)


GIVEN = "\0"  # in place of a name, by a statement without which a kind is not judged


@dataclass(frozen=True)
class Names:
    """The kinds of objects of a network OS, and the statements with their names."""

    kinds: tuple[Kind, ...] = ()
    patterns: tuple[NamePattern, ...] = ()

    def __add__(self, other: Names) -> Names:
        """Both, for a network OS with files of another one; entries of one title are one kind."""
        kinds, patterns = list(self.kinds), list(self.patterns)
        titles = {kind.title: at for at, kind in enumerate(kinds)}
        at = {}
        for number, kind in enumerate(other.kinds):
            if kind.title not in titles:
                titles[kind.title] = len(kinds)
                kinds.append(kind)
            at[number] = titles[kind.title]
        patterns += [
            NamePattern(
                kind=at[pattern.kind],
                used=pattern.used,
                line=pattern.line,
                built_in=pattern.built_in,
                before=pattern.before,
                given=pattern.given,
            )
            for pattern in other.patterns
        ]
        return Names(tuple(kinds), tuple(patterns))


def load_names(path: Path) -> Names:
    """The entries of a `names.yaml`, none where there is no file. Raises ValueError for an unknown key."""
    if not path.exists():
        return Names()
    kinds, patterns = [], list[NamePattern]()
    for at, row in enumerate(yaml.read(path)):
        if unknown := set(row) - KEYS:
            raise ValueError(f"{path}: unknown keys {sorted(unknown)}")
        kind = _kind(row)
        kinds.append(kind)
        patterns += [_pattern(at, False, entry, kind) for entry in row["defined"]]
        patterns += [_pattern(at, True, entry, kind) for entry in row.get("used", ())]
        if kind.given is not None:
            patterns.append(NamePattern(kind=at, used=False, line=kind.given, given=True))
    return Names(tuple(kinds), tuple(patterns))


def _kind(row: Mapping[str, Any]) -> Kind:
    built_in, given = (re.compile(row[key]) if row.get(key) else None for key in ("built_in", "given"))
    return Kind(
        title=row["kind"],
        built_in=built_in,
        unused=row.get("unused", not row.get("unique")),
        given=given,
        why=row.get("why", ""),
        source=row["source"],
        unique=row.get("unique", False),
    )


def _pattern(at: int, used: bool, entry: str | Mapping[str, str], kind: Kind) -> NamePattern:
    if isinstance(entry, str):
        entry = {"line": entry}
    line = SHORTENED.sub(lambda match: SHORT[match[0]], entry["line"])
    return NamePattern(kind=at, used=used, line=re.compile(line), built_in=kind.built_in, before=entry.get("before", ""))
