"""Single failures, ranked by the bandwidth that they take."""

from __future__ import annotations

from fabric.report.charts import bars
from fabric.report.grid import Grid, grid, percent
from fabric.report.study import Study, lost

MOST_BARS = 12


def failures_grid(study: Study) -> Grid:
    """A row for one of each kind of element that can fail, the costliest first."""
    rows = []
    for loss in study.ranked:
        left = loss.left
        notes = [f"{left.servers_cut_off} cut off"] if left.servers_cut_off else []
        notes += ["partitioned"] if left.partitioned else []
        rows.append(
            (
                *(f"{loss.what}", f"{loss.alike:,}", " ".join(loss.names), percent(lost(study, loss))),
                "" if left.bisection is None else percent(left.bisection),
                ("" if left.optimal_exact else "≤ ") + percent(left.optimal),
                *(percent(left.ecmp), percent(left.asked)),
                f"{left.paths_before:,} → {left.paths_after:,}" if left.pair else "",
                ", ".join(notes),
            )
        )
    titles = (
        *("what fails", "#of such", "for instance", "#bandwidth lost", "#bisection", "#optimal", "#equal split"),
        *("#demand left", "#paths", "servers"),
    )
    more = study.capacity.singles_left_out
    note = "Shares of NIC speed while all servers send to all others. Bandwidth lost: demand left times equal split."
    note += f" {more} more kinds are left out." if more else ""
    return grid("One failure, the costliest first", titles, rows, note)


def failures_svg(study: Study) -> str:
    """The costliest as bars."""
    rows = [(f"{loss.what} (1 of {loss.alike:,})", lost(study, loss), percent(lost(study, loss))) for loss in study.ranked]
    said = "Bandwidth lost by single failures: " + ", ".join(f"{name} {text}" for name, _, text in rows[:MOST_BARS])
    return bars(rows[:MOST_BARS], said)
