"""A platform file, as `fabric calibrate` writes it: parameters of collectives over the shipped ones.

Every name and value is looked at before it is used: a table in another format, a mistyped parameter or a bandwidth of 0
would otherwise give figures that look like any others.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

from fabric.base.diagnostics import Report, show
from fabric.base.grouping import grouped
from fabric.solver import Fields, parse, read_text
from fabric.solver.collective import FAMILIES
from fabric.solver.collectives import physics
from fabric.solver.collectives.physics import SCOPES, Physics

CODE = "FAB172"
WHAT = "a platform file"
SHAPE = "a platform file has `generation`, `transport` and `shared`; `fabric calibrate TABLE -o FILE` writes one"
KNOWN = ("about", "measured", "coverage", "own", *SCOPES)
RETIRED = ("tuner_weight", "one_process_us")  # parameters of earlier models: without effect
MIN_PARAMETER, MAX_PARAMETER = 1e-9, 1e12  # of any parameter: each is a time, a bandwidth, a size or a factor above 0


def platform(path: Path | None) -> Physics:
    """The shipped parameters, or those of a file that `fabric calibrate` wrote. Raises InputError."""
    return physics.shipped() if path is None else read(path, str(path))


def read(path: Path, shown: str | None = None) -> Physics:
    """The shipped parameters with those of a file in their place. Raises InputError with every mistake of the file."""
    name, report = shown or str(path), Report()
    root = parse(read_text(path, WHAT, name), name, WHAT, SHAPE)
    top = Fields(root, name, report, CODE)
    if not any(key in top for key in (*SCOPES, "about")):
        keys = ", ".join(show(key) for key in list(top)[:4]) or "none"
        report.fail(CODE, top.place(), f"expected {WHAT}, got a mapping with the keys {keys}", SHAPE)
    top.refuse_unknown([*KNOWN, *(key for key in top if not get_close_matches(key, KNOWN))])  # a note may stand beside them
    for scope in SCOPES:
        _scope(top, scope)
    _measured(top)
    _entries(top, "coverage", ("generation", "transport", "family"), ("sources", "ranks"), ("domains",))
    _entries(top, "own", ("generation", "transport"), ("ranks",))
    report.raise_errors()
    return physics.from_document(root.plain(), physics.shipped())


def _scope(top: Fields, scope: str) -> None:
    """Looks at the parameters of one scope: numbers by name, by name and kind where each kind has its own."""
    section = top.section(scope)
    if section is None:
        return
    kinds = grouped((item.name, item.kind) for item in physics.parameters() if item.scope == scope)
    section.refuse_unknown([*kinds, *RETIRED])
    if scope == "shared":
        _numbers(section, kinds)
        return
    for name in (name for name in section if name in kinds):
        entry = section.section(name)
        if entry is not None:
            entry.refuse_unknown(kinds[name])
            _numbers(entry, kinds[name])


def _numbers(section: Fields, known: Iterable[str]) -> None:
    for key in known:
        section.number(key, 1, MIN_PARAMETER, MAX_PARAMETER)


def _measured(top: Fields) -> None:
    counts = top.section("measured")
    for key in counts or ():
        if counts is not None:
            counts.whole(key, 0, 0, 1_000_000)


def _entries(top: Fields, key: str, words: Iterable[str], counts: Iterable[str], sizes: Iterable[str] = ()) -> None:
    """Looks at a list of mappings, each with all of its words and counts; lists of sizes may be left out. A kind of platform
    that no parameter has is a mistake."""
    kinds = {"generation": physics.generations(), "transport": physics.transports(), "family": FAMILIES}
    for entry in top.sections(key):
        entry.refuse_unknown([*words, *counts, *sizes])
        for name in sizes:
            stated = entry.value(name) or []
            if not isinstance(stated, list) or not all(isinstance(size, int) and 0 < size <= 1_000_000 for size in stated):
                entry.error(name, f"expected a list of sizes in ranks, got {show(stated)}", "such as [8, 72]")
        for name in words:
            if name in entry:
                entry.choice(name, kinds[name], kinds[name][0])
            else:
                entry.missing(name, "calibrate again: fabric calibrate TABLE -o FILE")
        for name in counts:
            entry.whole(name, 0, 0, 1_000_000_000)
