"""Compares the statements of a running config with those that the plan renders: missing, changed, extra, reordered.

Statements that the list without effect names are silent. What remains matters, or is text for people (`label`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from fabric.nos.reading.sections import StatementPath
from fabric.nos.statements.forms import in_one_form
from fabric.nos.statements.rules import ADDED, DEFAULT, HIDDEN, LABEL
from fabric.nos.statements.syntax import Place, Statements, Syntax

Kind = Literal["missing", "changed", "extra", "reordered"]
MISSING: Kind = "missing"
CHANGED: Kind = "changed"
EXTRA: Kind = "extra"
REORDERED: Kind = "reordered"
NO_FILES: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One statement, or section with all that is in it, that differs.

    Attributes:
        kind: missing from the running config, changed, extra in it, or in another order.
        path: of the plan's statement; of the running one where it is extra or reordered.
        place: in the running config. For a missing statement: of the section that lacks it.
        got: path of the running statement that is changed, or of the one that should come first.
        label: text for people, without effect on traffic.
        below: further statements in a missing or extra section.
    """

    kind: Kind
    path: StatementPath
    place: Place
    got: StatementPath = ()
    label: bool = False
    below: int = 0


def compare(
    syntax: Syntax,
    planned: Statements,
    running: Statements,
    files: Mapping[str, str] = NO_FILES,
    whole: Callable[[], Statements] | None = None,
) -> list[Difference]:
    """Every difference with effect, in the order of the running config.

    Args:
        syntax: of the network OS.
        planned: statements that the plan renders.
        running: statements of the device.
        files: part → running file, for parts without a statement in `running`.
        whole: gives all statements of the device, where `running` is without what both have.
    """
    if list(planned) == list(running):
        return []
    running = _in_planned_forms(syntax, planned, running)
    changed, running = _renamed(syntax, planned, running)
    joined = cache(lambda: {syntax.joined(path) for path in (running if whole is None else whole())})
    missing = [
        path
        for path in planned
        if path not in running and not syntax.is_silent(path, planned, DEFAULT, HIDDEN, running=joined)
    ]
    extra = [
        path
        for path in running
        if path not in planned and not syntax.is_silent(path, planned, DEFAULT, ADDED, running=joined)
    ]
    missing, extra = _without_sections(missing, running), _without_sections(extra, planned)
    # A default that the plan states can be changed by a line that is extra.
    hidden = [path for path in planned if path not in running] if extra else []
    changed += _changed(syntax, running, [*hidden, *missing], extra)
    paired = {difference.path for difference in changed} | {difference.got for difference in changed}
    differences = [
        *changed,
        *_folded(MISSING, (path for path in missing if path not in paired), running, files=files),
        *_folded(EXTRA, (path for path in extra if path not in paired), running, planned),
        *_reordered(syntax, planned, running),
    ]
    labeled = (replace(difference, label=_is_label(syntax, difference)) for difference in differences)
    return sorted(labeled, key=lambda difference: (difference.place.file, difference.place.line, difference.path))


def _in_planned_forms(syntax: Syntax, planned: Statements, running: Statements) -> Statements:
    """The running statements, of which those that say the same in another form are filed under the planned path."""
    absent = [path for path in planned if path not in running]
    forms = {(path[0], in_one_form(syntax.joined(path))): path for path in absent}
    extra = {path: (path[0], in_one_form(syntax.joined(path))) for path in running if path not in planned} if forms else {}
    same = {path: forms[form] for path, form in extra.items() if form in forms}
    return {same.get(path, path): place for path, place in running.items()} if same else running


def _is_label(syntax: Syntax, difference: Difference) -> bool:
    paths = [difference.path] if difference.kind == REORDERED else [difference.path, difference.got]
    return all(syntax.is_silent(path, (), LABEL) for path in paths if path)


def _without_sections(paths: list[StatementPath], other: Statements) -> list[StatementPath]:
    """Without an empty section that has statements in the other file."""
    if not paths:
        return paths
    sections = {path[:end] for path in other for end in range(2, len(path))}
    return [path for path in paths if path not in sections]


def _renamed(syntax: Syntax, planned: Statements, running: Statements) -> tuple[list[Difference], Statements]:
    """Sections with another head, `router bgp 65002` for 65001: the running ones, filed under the planned head."""
    heads = {path[:-1] for path in planned if len(path) > 2}
    wanted = {key: path for path in planned if path in heads and path not in running and (key := syntax.key(path))}
    if not wanted:
        return [], running
    pairs = {path: wanted[key] for path in running if path not in planned and (key := syntax.key(path)) in wanted}
    differences = [Difference(kind=CHANGED, path=new, place=running[old], got=old) for old, new in pairs.items()]
    return differences, {_moved(path, pairs): place for path, place in running.items()}


def _moved(path: StatementPath, pairs: Mapping[StatementPath, StatementPath]) -> StatementPath:
    for end in range(2, len(path) + 1):
        if new := pairs.get(path[:end]):
            return (*new, *path[end:])
    return path


def _changed(
    syntax: Syntax, running: Statements, missing: Iterable[StatementPath], extra: Iterable[StatementPath]
) -> list[Difference]:
    """Statements that set the same thing to another value."""
    wanted = {key: path for path in missing if (key := syntax.key(path))}
    found: dict[StatementPath, StatementPath] = {}
    for path in extra:
        key = syntax.key(path)
        if key in wanted:
            found[wanted[key]] = path  # the last one takes effect
    return [Difference(kind=CHANGED, path=path, place=running[got], got=got) for path, got in found.items()]


def _folded(
    kind: Kind,
    paths: Iterable[StatementPath],
    running: Statements,
    other: Statements | None = None,
    files: Mapping[str, str] = NO_FILES,
) -> Iterator[Difference]:
    """One difference for a section that is missing or extra as a whole."""
    paths = list(paths)
    if not paths:
        return
    places = {(part,): Place(file, 0, ()) for part, file in files.items()} | _places(running)
    other_places = places if other is None else _places(other)
    groups: dict[StatementPath, list[StatementPath]] = {}
    for path in paths:
        root = next((path[:end] for end in range(2, len(path)) if path[:end] not in other_places), path)
        groups.setdefault(root, []).append(path)
    for root, members in groups.items():
        whole = root if len(members) > 1 or root in members else members[0]
        if kind == EXTRA:
            place = running.get(root) or running[members[0]]
        else:
            place = next(places[root[:end]] for end in range(len(root) - 1, -1, -1) if root[:end] in places)
        yield Difference(kind=kind, path=whole, place=place, below=len(members) - 1)


def _places(statements: Statements) -> dict[StatementPath, Place]:
    """Every path and every section, with the place of its first statement; () is the top of the first file."""
    places: dict[StatementPath, Place] = {}
    for path, place in statements.items():
        if path[:1] not in places:
            places[path[:1]] = Place(place.file, 0, ())
        for end in range(2, len(path) + 1):
            places.setdefault(path[:end], place)
    top = next(iter(statements.values()), Place("", 0, ()))
    places[()] = Place(top.file, 0, ())
    return places


def _reordered(syntax: Syntax, planned: Statements, running: Statements) -> Iterator[Difference]:
    """The first statement of each ordered section that comes too early."""
    sequences = [_sequences(syntax, statements) for statements in (planned, running)]
    places = None
    for section, wanted in sequences[0].items():
        got = sequences[1].get(section, {})
        first, second = [entry for entry in wanted if entry in got], [entry for entry in got if entry in wanted]
        if first != second:
            places = places or _places(running)
            before, early = next(pair for pair in zip(first, second, strict=True) if pair[0] != pair[1])
            yield Difference(kind=REORDERED, path=(*section, early), place=places[*section, early], got=(*section, before))


def _sequences(syntax: Syntax, statements: Statements) -> dict[StatementPath, dict[str, None]]:
    """Ordered section → its statements in their order."""
    sequences: dict[StatementPath, dict[str, None]] = {}
    for path in statements:
        for end in syntax.ordered_ends(path[:-1]):
            sequences.setdefault(path[:end], {})[path[end]] = None
    return sequences
