"""The cabling of a site on one screen."""

from __future__ import annotations

from fabric.cabling.rows import Ints
from fabric.cabling.runs import Runs
from fabric.cabling.tables import totals
from fabric.cabling.walking import Walk


def text(runs: Runs, chosen: Ints, walk: Walk) -> str:
    """What to buy, and how far one walks to lay it."""
    rows = totals(runs, chosen)
    cables = len({runs.cable[row] for row in chosen.tolist()})
    length_m = float((runs.length_m[chosen] * (runs.pieces[chosen] > 0)).sum())
    devices = len(runs.floor.spots)
    lines = [
        f"{runs.plan.site}: {cables:,} cables, {_far(length_m)}, in {len(runs.floor.racks):,} racks for {devices:,} devices",
        "",
    ]
    width = max((len(str(row[0])) for row in rows), default=0)
    for name, what, metres, count in rows:
        length = f"{metres:g} m" if isinstance(metres, float) else ""
        lines.append(f"  {count:>8,}  {name:{width}}  {length:>7}  {what}")
    walks = (walk.walked_m, walk.bundles_as_listed_m, walk.cables_as_listed_m)
    patch, bundles, single = map(_far, walks)
    lines += ["", f"  to lay them one walks {patch} in the patch order, {bundles} as listed, {single} cable by cable"]
    return "\n".join(lines) + "\n"


def _far(metres: float) -> str:
    return f"{metres / 1000:,.1f} km" if metres >= 1000 else f"{metres:.0f} m"
