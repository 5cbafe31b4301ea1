"""The cabling of a site on one screen."""

from __future__ import annotations

from fabric.base.text import aligned
from fabric.deliver.cabling.laying_order import Walk
from fabric.deliver.cabling.rows import Ints
from fabric.deliver.cabling.runs import Runs
from fabric.deliver.cabling.tables import totals


def text(runs: Runs, chosen: Ints, walk: Walk) -> str:
    """Cables to buy, and the walking distance to lay them."""
    rows = totals(runs, chosen)
    cables = len({runs.cable[row] for row in chosen.tolist()})
    length_m = float((runs.length_m[chosen] * (runs.pieces[chosen] > 0)).sum())
    devices = len(runs.floor.spots)
    lines = [
        f"{runs.plan.site}: {cables:,} cables, {_far(length_m)}, in {len(runs.floor.racks):,} racks for {devices:,} devices",
        "",
    ]
    cells = [
        (f"{count:,}", str(name), f"{metres:g} m" if isinstance(metres, float) else "", str(label))
        for name, label, metres, count in rows
    ]
    lines += aligned(cells, ">8<>7<", indent="  ") if cells else []
    walks = (walk.walked_m, walk.bundles_as_listed_m, walk.cables_as_listed_m)
    patch, bundles, single = map(_far, walks)
    lines += ["", f"  walking distance: {patch} in patch order, {bundles} in list order, {single} one cable at a time"]
    return "\n".join(lines) + "\n"


def _far(metres: float) -> str:
    return f"{metres / 1000:,.1f} km" if metres >= 1000 else f"{metres:.0f} m"
