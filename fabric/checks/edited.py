"""The last net under the checks of generated files: where one differs from what the plan makes, and no finding says so.

Nothing is judged here. A reader passed over the line, or found nothing wrong with it; a person should look at it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from difflib import SequenceMatcher

from fabric.text import and_more, plural

SHOWN = 5  # places a file
QUOTED = 80  # characters of a line


def edits(fresh: str, there: str, reported: Collection[int]) -> Iterator[tuple[int, str]]:
    """Line and description of every edited place without another finding.

    Only lines of the plan are quoted: a line written by hand may contain a password.
    """
    places = [
        (line, message)
        for line, near, message in _places(fresh.splitlines(), there.splitlines())
        if not set(reported) & set(near)
    ]
    for line, message in places[:SHOWN]:
        yield line, f"{message}; no other check covers it"
    if len(places) > SHOWN:
        rest = plural(len(places) - SHOWN, "more place differs", "more places differ")
        yield places[SHOWN][0], f"{rest} from the plan; no other check covers them"


def _places(old: list[str], new: list[str]) -> Iterator[tuple[int, Collection[int], str]]:
    """(line, lines at which a finding would name it, message)."""
    for kind, first, last, start, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        planned, own = old[first:last], range(start + 1, end + 1)
        if kind == "replace" and len(planned) == len(own):
            for text, line in zip(planned, own, strict=True):
                yield line, (line,), f"edited: the plan has {_quoted([text])} here"
        elif kind == "replace":
            yield start + 1, own, f"edited: the plan has {_quoted(planned)} here"
        elif kind == "delete":
            near = _around(new, start, _depth(planned[0]))
            yield min(start + 1, len(new)), near, f"gone: the plan has {_quoted(planned)} here"
        elif kind == "insert":
            yield start + 1, own, f"{plural(end - start, 'line')} that the plan does not have"


def _quoted(planned: Sequence[str]) -> str:
    reported = [line.strip() for line in planned if line.strip()]
    if not reported:
        return "an empty line"
    return f"`{reported[0][:QUOTED]}`" + (f" {and_more(len(reported) - 1, 'line')}" if reported[1:] else "")


def _around(new: Sequence[str], at: int, depth: int) -> set[int]:
    """Lines at which a finding names what is gone: beside it, the heads of its sections, the file as a whole."""
    found = {0, at, at + 1}
    for above in range(at - 1, -1, -1):
        if new[above].strip() and _depth(new[above]) < depth:
            found.add(above + 1)
            depth = _depth(new[above])
    return found


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())
