"""Names in the statements of a device: used and not defined, defined and not used."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fabric.audit.checks.finding import Subject
from fabric.model.facts import Located
from fabric.nos.statements.names import GIVEN, Name, Names
from fabric.nos.statements.syntax import Place

Named = Sequence[tuple[Name, Place]]


def undefined(names: Names, found: Named) -> Iterator[Located[Subject]]:
    """Every use of a name that nothing defines, as `route-map FABRIC-IN`; once in a statement that several patterns match."""
    defined = {(name.kind, name.scope, name.text) for name, _ in found if not name.used}
    seen: set[tuple[int, str, Place]] = set()
    for name, place in found:
        key, use = (name.kind, name.scope, name.text), (name.kind, name.text, place)
        if name.used and key not in defined and use not in seen and _is_judged(names, name.kind, defined):
            seen.add(use)
            yield Located(Subject(name.text, names.kinds[name.kind].title), place.line, place.file)


def unused(names: Names, found: Named) -> Iterator[Located[str]]:
    """Every definition that nothing refers to, where that is worth a note."""
    used = {(name.kind, name.text) for name, _ in found if name.used}
    for name, place in found if used else ():  # a part of a config may have definitions alone
        kind = names.kinds[name.kind]
        if name.used or name.of or name.text == GIVEN or not kind.unused or (name.kind, name.text) in used:
            continue
        if kind.built_in is None or not kind.built_in.fullmatch(name.text):
            yield Located(f"{kind.title} {name.text}", place.line, place.file)


def shared(names: Names, found: Named) -> Iterator[Located[str]]:
    """Every value that two objects have and only one may have, at the later one, or that one statement has twice."""
    first: dict[tuple[int, str, str], tuple[str, Place]] = {}
    for name, place in found:
        if not name.of:
            continue
        key = name.kind, name.scope, name.text
        if key not in first:
            first[key] = name.of, place
            continue
        (of, known), title = first[key], names.kinds[name.kind].title
        if of != name.of:
            text = f"{name.of}: {title} {name.text} is that of {of} (line {known.line}) too"
            yield Located(text, place.line, place.file)
        elif known is place:
            yield Located(f"{of}: {title} {name.text} is stated twice", place.line, place.file)


def _is_judged(names: Names, kind: int, defined: set[tuple[int, str, str]]) -> bool:
    return names.kinds[kind].given is None or (kind, "", GIVEN) in defined
