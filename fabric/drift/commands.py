"""The commands that bring a drifted switch back to its plan, in the form that its network OS takes.

Only the statements that differ are part of the change: what the network OS adds by itself stays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from fabric.checks import syntax_of
from fabric.diff import documents, files, remedy
from fabric.diff.files import FileChange
from fabric.nos.dialect import COMMANDS, JSON_PATCH, SET, Patch
from fabric.nos.statements.compare import CHANGED, EXTRA, MISSING, REORDERED, Difference
from fabric.nos.statements.forms import Path
from fabric.nos.statements.syntax import Statements, Syntax

MARGIN = " " * 3


def commands_back(
    nos: str, planned: Mapping[str, str], running: Mapping[str, str], differences: Sequence[Difference]
) -> tuple[FileChange, ...]:
    """The change of each file from the running statements to the planned ones.

    Args:
        nos: network OS.
        planned: path → text that the plan renders.
        running: path → text of the device.
        differences: of `statement_differences` for the same files.
    """
    syntax, forms = syntax_of(nos), remedy.dialect(nos).forms
    changes = []
    for part in sorted({one.path[0] for one in differences}):
        of_part = [one for one in differences if one.path[0] == part]
        texts = [_text(syntax, part, side) for side in (planned, running)]
        form = forms.get(part)
        if form is COMMANDS:
            before = _before(syntax, syntax.read({part: texts[0]}), syntax.read({part: texts[1]}), of_part)
            changes.append(files.change(nos, part, before, _as_text(_raw(syntax.read({part: texts[0]}).values()))))
        elif form is SET:
            changes.append(
                FileChange(part, SET, tuple(_set_lines(nos, of_part, *(syntax.read({part: text}) for text in texts))))
            )
        elif form is JSON_PATCH or isinstance(form, Patch):
            changes.append(_document(nos, part, form, texts, of_part))
        else:
            changes.append(files.change(nos, part, texts[1], texts[0]))
    return tuple(change for change in changes if change.lines)


def _text(syntax: Syntax, part: str, texts: Mapping[str, str]) -> str:
    return next((text for file, text in texts.items() if syntax.part(file, text) == part), "")


# --- commands -----------------------------------------------------------------------------------------------


def _before(syntax: Syntax, planned: Statements, running: Statements, differences: Iterable[Difference]) -> str:
    """The planned text with the differences in it: without what is missing, with what is extra."""
    lost = {one.path for one in differences if one.kind in (MISSING, CHANGED)}
    found = {one.got if one.kind == CHANGED else one.path for one in differences if one.kind in (EXTRA, CHANGED)}
    kept = {path: place for path, place in planned.items() if not _within(path, lost)}
    more = {path: place for path, place in running.items() if _within(path, found)}
    return _as_text(dict.fromkeys([*_lines(kept, planned), *_lines(more, running)]))


def _lines(part: Statements, whole: Statements) -> Iterator[Path]:
    """The lines of a part of a config; of a line with several statements, `vlan 100-102`, only those of the part."""
    of_part, of_whole = (Counter(place.raw for place in side.values()) for side in (part, whole))
    for path, place in part.items():
        yield place.raw if of_part[place.raw] == of_whole[place.raw] else path[1:]


def _within(path: Path, roots: set[Path]) -> bool:
    return any(path[:end] in roots for end in range(2, len(path) + 1))


def _raw(places: Iterable[Any]) -> dict[Path, None]:
    return dict.fromkeys(place.raw for place in places)


def _as_text(raws: Iterable[Path]) -> str:
    """Statements as indented text. A repeated section is read as one section."""
    lines: list[str] = []
    open_section: Path = ()
    for raw in raws:
        shared = next((at for at, pair in enumerate(zip(open_section, raw, strict=False)) if pair[0] != pair[1]), None)
        start = min(len(open_section), len(raw) - 1) if shared is None else shared
        lines += [MARGIN * depth + words for depth, words in enumerate(raw) if depth >= start]
        open_section = raw
    return "".join(f"{line}\n" for line in lines)


# --- set lines ----------------------------------------------------------------------------------------------


def _set_lines(nos: str, differences: Sequence[Difference], planned: Statements, running: Statements) -> list[str]:
    """`delete`, `set` and `insert` lines of Junos; a missing section is set statement by statement."""
    lost = {one.path for one in differences if one.kind in (MISSING, CHANGED)}
    moved = dict.fromkeys(one.path[:-1] for one in differences if one.kind == REORDERED)
    moved |= dict.fromkeys(section for path in lost for section in _new_in(syntax_of(nos), path, running))
    sections = {path[:end] for path in planned for end in range(2, len(path) + 1)}
    extra = [one.got or one.path for one in differences if one.kind in (EXTRA, CHANGED)]
    deleted = dict.fromkeys(_deleted(nos, path, sections, running) for path in extra)
    return [
        *(f"delete {' '.join(path[1:])}" for path in deleted),
        *(f"set {' '.join(place.raw)}" for path, place in planned.items() if _within(path, lost | deleted.keys())),
        *(line for section in moved for line in _in_order(section, planned)),
    ]


def _new_in(syntax: Syntax, path: Path, running: Statements) -> Iterator[Path]:
    """The ordered sections to which a missing statement adds an element, which `set` puts last."""
    for end in range(2, len(path)):
        if syntax.is_ordered(path[:end]) and not any(other[: end + 1] == path[: end + 1] for other in running):
            yield path[:end]


def _deleted(nos: str, path: Path, sections: set[Path], running: Statements) -> Path:
    """What is written behind `delete`: the section that the plan lacks, a statement of one value without its value."""
    words = remedy.dialect(nos).statements
    path = next((path[:end] for end in range(2, len(path)) if path[:end] not in sections), path)
    if words is None or path not in running:
        return path
    if name := words.single_of(" ".join(path[-1].split())):  # an inactive statement is one part
        return (*path[:-1], name)
    return path[:-1] if words.single_of(" ".join(path[-2:])) else path


def _in_order(section: Path, planned: Statements) -> Iterator[str]:
    """The statements of an ordered section one after the other: a list of values is set again, named sections are moved."""
    paths = [path for path in planned if path[: len(section)] == section]
    words = " ".join(section[1:])
    if len(paths) < 2:
        return
    if all(len(path) == len(section) + 1 for path in paths):
        yield f"delete {words}"
        yield from (f"set {words} {path[-1]}" for path in paths)
        return
    names = dict.fromkeys(path[len(section)] for path in paths)
    yield from (f"insert {words} {second} after {section[-1]} {first}" for first, second in pairwise(names))


# --- documents ----------------------------------------------------------------------------------------------


def _document(nos: str, part: str, form: Any, texts: Sequence[str], differences: Iterable[Difference]) -> FileChange:
    """A JSON Patch, or the patch of a document in a form of its own."""
    tree: Callable[[str], Mapping[str, Any]] = form.tree if isinstance(form, Patch) else documents.json_tree
    try:
        planned, running = tree(texts[0]), tree(texts[1])
    except ValueError:  # the running file is damaged: it is replaced whole
        return files.change(nos, part, texts[1], texts[0])
    paths = [path for one in differences for path in (one.path, one.got) if path]
    sides = [syntax_of(nos).read({part: text}) for text in texts]
    raws = [side[path].raw for side in sides for path in paths if path in side]  # with the value of a secret
    touched = {_keys(path) for path in [*raws, *(path[1:] for path in paths)]}
    before = _touched(planned, running, (), touched)
    if isinstance(form, Patch):
        return FileChange(part, form, tuple(form.changes(before, planned)), tuple(documents.json_patch(before, planned)))
    patch = documents.json_patch(before, planned)
    return FileChange(part, JSON_PATCH, tuple(documents.json_lines(patch)), tuple(patch))


def _keys(path: Path) -> Path:
    """Keys of a statement: `mtu = 9100` is at `mtu`."""
    return (*path[:-1], path[-1].partition(" = ")[0])


def _touched(planned: Any, running: Any, at: Path, touched: set[Path]) -> Any:
    """The planned document with the running values of what differs."""
    if not (isinstance(planned, Mapping) and isinstance(running, Mapping)):
        return running
    document: dict[str, Any] = {}
    for key in (*planned, *(key for key in running if key not in planned)):
        path = (*at, str(key))
        inside = any(other[: len(path)] == path or path[: len(other)] == other for other in touched)
        if not inside:
            document |= {key: planned[key]} if key in planned else {}
        elif key in planned and key in running:
            document[key] = _touched(planned[key], running[key], path, touched)
        elif key in running:
            document[key] = running[key]
    return document
