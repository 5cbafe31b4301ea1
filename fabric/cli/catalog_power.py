"""`fabric catalog --power` and `--power-check`: power by model, and how well the bounds by class hold."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from fabric.base.text import aligned
from fabric.hardware.catalog.power import PowerRange
from fabric.hardware.catalog.power_class import DatasheetCheck

TITLES = {"switches": "switch", "servers": "server", "nics": "NIC", "modules": "optic or cable end"}


def lines(kinds: Mapping[str, Mapping[str, PowerRange]]) -> Iterator[str]:
    """A table a kind: typical power and worst case of one, in W without the optics in its cages."""
    for number, (kind, ranges) in enumerate(kinds.items()):
        if number:
            yield ""
        rows = [(name, ends(its), f"{its.max_w:,g}", _holds(its), its.basis) for name, its in _rounded(ranges)]
        heads = (TITLES[kind], "typical W", "worst case W", "with optics", "basis")
        yield from aligned(rows, "<>><<", head=heads)
    yield ""
    yield "`--power --json` has the source of each; `--power-check` tests the bounds"


def ends(its: PowerRange) -> str:
    """`512-1,244`, or one number."""
    low, high = f"{its.typical_low_w:,g}", f"{its.typical_high_w:,g}"
    return low if low == high else f"{low}-{high}"


def document(kinds: Mapping[str, Mapping[str, PowerRange]]) -> dict[str, Any]:
    """The JSON document."""
    return {kind: {name: asdict(its) for name, its in _rounded(ranges)} for kind, ranges in kinds.items()}


def check_lines(checks: Sequence[DatasheetCheck]) -> list[str]:
    """One row per figure, and how many are inside."""
    rows = [
        (
            *(
                check.switch,
                check.figure,
                f"{check.watts:,.0f}",
                f"{check.low:,.0f}",
                f"{check.high:,.0f}",
                f"{check.ratio:.2f}",
            ),
            "" if check.inside else "outside",
            "second-hand" if check.second_hand else "data sheet",
        )
        for check in checks
    ]
    heads = ("switch", "figure", "W", "from", "to", "ratio", "", "basis")
    return [*aligned(rows, "<<>>>><<", head=heads), "", *_summary(checks)]


def _summary(found: Sequence[DatasheetCheck]) -> Iterator[str]:
    inside = [its for its in found if its.inside]
    whole = {its.switch for its in found} - {its.switch for its in found if not its.inside}
    switches = len({its.switch for its in found})
    share = f"{len(inside)} of {len(found)} figures ({len(inside) / len(found):.1%})"
    yield f"inside: {share}; every figure of {len(whole)} of {switches} switches"
    yield f"bounds: upper over lower end {statistics.median(its.ratio for its in found):.2f} in the median"
    yield "each switch's bounds are those of its class without its own data sheet"


def check_document(checks: Sequence[DatasheetCheck]) -> dict[str, Any]:
    """The JSON document of the check."""
    return {
        "figures": [
            {
                **asdict(check),
                "low": round(check.low, 1),
                "high": round(check.high, 1),
                "inside": check.inside,
            }
            for check in checks
        ],
        "inside": sum(check.inside for check in checks),
        "median_ratio": round(statistics.median(check.ratio for check in checks), 3),
    }


def _holds(its: PowerRange) -> str:
    """Which figures hold a full set of optics."""
    words = {"typical": "typical", "max": "worst case"}
    return " and ".join(words[name] for name in its.holds) or "-"


def _rounded(ranges: Mapping[str, PowerRange]) -> Iterator[tuple[str, PowerRange]]:
    """To whole watts, small ones to a tenth."""
    for name, its in ranges.items():
        digits = 0 if its.max_w >= 100 else 2
        yield (
            name,
            replace(
                its,
                typical_low_w=round(its.typical_low_w, digits),
                typical_w=round(its.typical_w, digits),
                typical_high_w=round(its.typical_high_w, digits),
                max_w=round(its.max_w, digits),
            ),
        )
