"""Every regular expression of the readers, against texts made from itself: its time must not grow faster than the text.

    python -m tests.fuzz.patterns

For each repetition without a bound: the begin of the pattern and then that repetition many times, with an end that does not
match; and the begin itself many times. Patterns are found in the modules and in the data of the readers.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import cache
from math import inf
from pathlib import Path
from re import _constants as sre, _parser as parser  # type: ignore[attr-defined]
from typing import Any, NamedTuple

from fabric.base.reading import MAX_LINE
from tests.fuzz.guard import OverTimeError

ROOMS = (
    "fabric.nos",
    "fabric.audit.cabling",
    "fabric.audit.verify",
    "fabric.audit.checks",
    "fabric.audit.drift",
    "fabric.solver.doctor",
)
ROOMS += (
    "fabric.solver.measured",
    "fabric.solver.utilisation",
    "fabric.solver.training",
    "fabric.deliver.bom",
    "fabric.model.plan",
    "fabric.configs.hosts",
)
ROOMS += (
    "fabric.base.reading",
    "fabric.base.source",
    "fabric.base.output",
    "fabric.deliver.inventory",
    "fabric.deliver.explore",
    "fabric.audit.diff",
    "fabric.design.intent",
)
CHARACTERS = " 0a\n\t-,./:\"'x{[(#_"
OF_LINES = ("fabric.solver.doctor", "fabric.solver.measured")  # logs, whose lines are cut
ENDS = ("\0\1", "z.9 ")  # neither goes on in the usual way
BOUNDED = {  # pattern, or its place → what bounds its texts
    r"(?:.* )?interfaces \S+ (?:.* )?family ethernet-switching": "64 words of a statement of Junos",
    "fabric.nos.reading.readers.CONFIG_NAME": "names of files",
    "fabric.nos.reading.readers.OUTPUT_NAME": "names of files",
    "fabric.nos.sonic.read.dump.STRING": "texts that are JSON, whose quotes are closed",
}
SEARCHES = ("search", "finditer", "findall", "sub", "subn", "split", "scanner")
LARGE = 8_000  # characters
MOST = 9.0  # times the time for four times the text; 16 is the square
LEAST_S, LEAST_OF_LINE_S = 0.003, 0.006  # what is faster is not judged


class Place(NamedTuple):
    """A pattern, where it is, and whether it is looked for anywhere in a text."""

    name: str
    pattern: re.Pattern[str]
    searches: bool
    lines: bool = False  # its texts are lines, or statements, of at most MAX_LINE characters


@cache
def places() -> tuple[Place, ...]:
    """The patterns of all rooms, each once."""
    found: dict[tuple[str, int], Place] = {}
    for module in _modules():
        source = Path(module.__file__).read_text("utf-8") if module.__file__ else ""
        for name, value in vars(module).items():
            for pattern in _patterns(value, set()):
                uses = re.findall(rf"\b{re.escape(name)}(?:\[[^\]]*\])?(?:\.\w+)*\.(\w+)\b", source)
                uses = uses or re.findall(r"\b(?:pattern|sign|mark|form|one|row)\.(\w+)\(", source)  # of a row of several
                searches = any(use in SEARCHES for use in uses)
                place = Place(f"{module.__name__}.{name}", pattern, searches, module.__name__.startswith(OF_LINES))
                found.setdefault((pattern.pattern, pattern.flags), place)
        for place in _in_calls(module.__name__, source):
            found.setdefault((place.pattern.pattern, place.pattern.flags), place)
    for place in _data():
        found.setdefault((place.pattern.pattern, place.pattern.flags), place)
    return tuple(found.values())


def _modules() -> Iterator[Any]:
    for room in ROOMS:
        module = importlib.import_module(room)
        yield module
        for info in pkgutil.walk_packages(getattr(module, "__path__", ()), f"{room}."):
            if not info.name.endswith("__main__"):
                yield importlib.import_module(info.name)


def _in_calls(module: str, source: str) -> Iterator[Place]:
    """Patterns that are written where they are used: `re.search(r"…", text)`."""
    for node in ast.walk(ast.parse(source)):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
            continue
        home, text = node.func.value, node.args[0]
        if isinstance(home, ast.Name) and home.id == "re" and isinstance(text, ast.Constant) and isinstance(text.value, str):
            with suppress(re.error):
                if node.func.attr == "compile":
                    continue  # found by its name
                yield Place(f"{module}:{node.lineno}", re.compile(text.value), node.func.attr in SEARCHES)


def _patterns(value: object, seen: set[int]) -> Iterator[re.Pattern[str]]:
    """Patterns in a value and in what it holds."""
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, re.Pattern):
        if isinstance(value.pattern, str):
            yield value
    elif isinstance(value, list | tuple | set | frozenset):
        for item in value:
            yield from _patterns(item, seen)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _patterns(item, seen)
    elif is_dataclass(value) and not isinstance(value, type):
        for one in fields(value):
            yield from _patterns(getattr(value, one.name, None), seen)


def _data() -> Iterator[Place]:
    """Patterns in the data of the readers: signs of files, statements, names, causes."""
    from fabric.audit.checks.statements import syntax_of
    from fabric.nos.reading.readers import PART, _signs, host_name, readers
    from fabric.nos.target import targets
    from fabric.solver.doctor.causes import causes, checks

    yield Place("host names", host_name(), searches=True)
    for kind, signs in _signs().items():
        yield from (Place(f"sign of {kind}", sign.pattern, searches=True) for sign in signs)
    yield from (Place("sign of a part", re.compile(sign, re.M), searches=True) for _, sign in PART)
    for nos in targets():
        syntax = syntax_of(nos)
        for held in (syntax.rules, syntax.names, syntax.rules.silent, syntax.tolerated):
            yield from (
                Place(f"statements of {nos}", pattern, searches=False, lines=True) for pattern in _patterns(held, set())
            )
        for held in (syntax.varies, syntax.numbered):
            yield from (
                Place(f"statements of {nos}", pattern, searches=True, lines=True) for pattern in _patterns(held, set())
            )
    for cause in causes():
        for sign in (*cause.log, *cause.excludes):
            yield Place("cause", sign.pattern, searches=True, lines=True)
        yield from (Place("cause", sign.pattern, searches=False) for sign in cause.env)
    yield from (Place("test", check.given, searches=True, lines=True) for check in checks() if check.given)
    assert readers()


def attacks(pattern: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    """(begin, what is repeated): for every repetition without a bound, and the begin of the pattern itself."""
    tree = parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE)
    seen = set()
    for at, item in enumerate(_repeats(tree)):
        for character, body in ((one, body) for one in CHARACTERS for body in _bodies(item, one)):
            begin = _before(tree, item, character)
            for attack in ((begin, body), ("", begin + body), (begin + body[:1], body)):
                if attack[1] and attack not in seen and at < 40:
                    seen.add(attack)
                    yield attack


def _repeats(tree: Any) -> Iterator[Any]:
    for op, av in tree:
        for below in _below(op, av):
            yield from _repeats(below)
        if op in (sre.MAX_REPEAT, sre.MIN_REPEAT) and av[1] > 200:
            yield av


def _below(op: Any, av: Any) -> list[Any]:
    if op in (sre.MAX_REPEAT, sre.MIN_REPEAT) or op is getattr(sre, "POSSESSIVE_REPEAT", None):
        return [av[2]]
    if op is sre.SUBPATTERN:
        return [av[3]]
    if op is sre.BRANCH:
        return list(av[1])
    if op in (sre.ASSERT, sre.ASSERT_NOT):
        return [av[1]]
    return [av] if op is getattr(sre, "ATOMIC_GROUP", None) else []


class _Found(Exception):
    """The repetition was reached."""


def _before(tree: Any, item: Any, character: str) -> str:
    """A short text that the pattern matches up to a repetition."""
    made: list[str] = []
    with suppress(_Found):
        _walk(tree, item, character, made)
    return "".join(made)


def _bodies(item: Any, character: str) -> set[str]:
    """One round of a repetition, by each of its branches."""
    found = set()
    for branch in _branches(item[2]):
        made: list[str] = []
        _walk(branch, None, character, made)
        found.add("".join(made))
    return found - {""}


def _branches(tree: Any) -> list[Any]:
    if len(tree) == 1 and tree[0][0] is sre.BRANCH:
        return list(tree[0][1][1])
    return [tree]


def _walk(tree: Any, item: Any, character: str, made: list[str]) -> None:
    for op, av in tree:
        if op in (sre.MAX_REPEAT, sre.MIN_REPEAT):
            if av is item:
                raise _Found
            for _ in range(1 if _has(av[2], item) else av[0]):
                _walk(av[2], item, character, made)
        elif op is sre.BRANCH:
            _walk(next((one for one in av[1] if _has(one, item)), av[1][0]), item, character, made)
        elif op is sre.SUBPATTERN:
            _walk(av[3], item, character, made)
        elif op in (sre.ASSERT, sre.ASSERT_NOT):
            if _has(av[1], item):
                _walk(av[1], item, character, made)
        elif op is sre.LITERAL:
            made.append(chr(av))
        elif op is sre.NOT_LITERAL:
            made.append(character if ord(character) != av else "b")
        elif op is sre.ANY:
            made.append(character if character != "\n" else "a")
        elif op is sre.IN:
            made.append(_of_set(av, character))


def _has(tree: Any, item: Any) -> bool:
    return item is not None and any(av is item or any(_has(below, item) for below in _below(op, av)) for op, av in tree)


def _of_set(members: Any, character: str) -> str:
    """The character if the set has it, else another one that it has."""
    compiled = _compiled(repr(members), members)
    return next((one for one in (character, *CHARACTERS, *map(chr, range(33, 127))) if compiled(one)), "")


_SETS: dict[str, Any] = {}


def _compiled(key: str, members: Any) -> Any:
    if key not in _SETS:
        _SETS[key] = lambda one: _in(members, one)
    return _SETS[key]


def _in(members: Any, one: str) -> bool:
    negated = bool(members) and members[0][0] is sre.NEGATE
    found = False
    for op, av in members:
        if op is sre.LITERAL:
            found |= ord(one) == av
        elif op is sre.RANGE:
            found |= av[0] <= ord(one) <= av[1]
        elif op is sre.CATEGORY:
            kind = {"DIGIT": r"\d", "SPACE": r"\s", "WORD": r"\w"}[str(av).rpartition("_")[2]]
            matches = re.match(kind, one) is not None
            found |= not matches if "NOT" in str(av) else matches
    return found is not negated


def growth(place: Place, begin: str, body: str, end: str) -> float:
    """Time for four times the text, in units of the time for the text; 0 where it is too short to judge."""
    act = place.pattern.search if place.searches else place.pattern.fullmatch
    if place.searches:

        def act(text: str) -> object:  # type: ignore[misc]
            return sum(1 for _ in place.pattern.finditer(text))

    times = []
    large, least = (MAX_LINE, LEAST_OF_LINE_S) if place.lines else (LARGE, LEAST_S)
    for size in (large, large // 4):
        text = begin + body * (size // len(body)) + end
        if times and not least < times[0] < 100 * least:
            return inf if times[0] > least else 0.0
        start = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, 1.0)
        try:
            act(text)
        except OverTimeError:
            return inf
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        times.append(time.process_time() - start)
    return times[0] / max(times[1], least / 50)


def _late(number: int, frame: object) -> None:
    raise OverTimeError


def slow(place: Place) -> list[str]:
    """The attacks under which the time of a pattern grows faster than the text."""
    if any(place.name == known or place.pattern.pattern.startswith(known) for known in BOUNDED):
        return []
    for begin, body in attacks(place.pattern):
        for end in ENDS:
            if growth(place, begin, body, end) > MOST and min(growth(place, begin, body, end) for _ in range(2)) > MOST:
                return [f"{begin[-40:]!r} + {body[:40]!r} * n + {end!r}"]
    return []


if __name__ == "__main__":
    signal.signal(signal.SIGPROF, _late)
    failed = 0
    for place in places():
        if len(sys.argv) > 1 and sys.argv[1] not in place.name:
            continue
        if found := slow(place):
            failed += 1
            print(
                f"{place.name} {'search' if place.searches else 'match'}: {place.pattern.pattern[:160]!r}\n      {found[0]}",
                flush=True,
            )
    print(f"{len(places())} patterns in {time.process_time():.0f} s CPU: {failed} slow")
    sys.exit(failed > 0)
