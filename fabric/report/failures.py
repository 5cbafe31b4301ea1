"""Single failures, ranked by the traffic that no longer fits."""

from __future__ import annotations

from fabric.report.charts import bars
from fabric.report.grid import Grid, grid
from fabric.report.study import Study, mean_loss, slowest_loss
from fabric.text import percent

MOST_BARS = 12
NOTE = (
    "All servers send to all others at the rate that the healthy fabric just carries, over equal-cost paths in equal parts. "
    "Mean loss: the share of all traffic that no longer fits, at most. Slowest pair: the rate that the worst pair loses, and "
    "every pair where none may run ahead of the slowest, as in a synchronous collective: ECMP does not weigh a path by what "
    "is left behind it. Other columns are shares of NIC speed."
)


def failures_grid(study: Study) -> Grid:
    """A row for one of each kind of element that can fail, the costliest first."""
    rows = []
    for loss in study.ranked:
        left = loss.left
        notes = [f"{left.servers_cut_off} cut off"] if left.servers_cut_off else []
        notes += ["partitioned"] if left.partitioned else []
        rows.append(
            (
                *(f"{loss.what}", f"{loss.alike:,}", " ".join(loss.names)),
                *(_loss(mean_loss(loss)), _loss(slowest_loss(study, loss))),
                "" if left.bisection is None else percent(left.bisection),
                ("" if left.optimal_exact else "≤ ") + percent(left.optimal),
                *(percent(left.ecmp), percent(left.asked)),
                f"{left.paths_before:,} → {left.paths_after:,}" if left.pair else "",
                ", ".join(notes),
            )
        )
    titles = (
        *("failure", "#equal", "example", "#mean loss", "#slowest pair loses", "#bisection", "#optimal"),
        *("#equal split", "#demand left", "#paths", "servers"),
    )
    more = study.capacity.singles_left_out
    note = NOTE + (f" {more} more kinds are omitted." if more else "")
    return grid("Single failures, largest loss first", titles, rows, note)


def failures_svg(study: Study) -> str:
    """The mean loss of the costliest as bars, with the slowest pair's loss in words."""
    rows = [
        (
            f"{loss.what} {' '.join(loss.names)} ({loss.alike:,} alike)",
            mean_loss(loss),
            f"{_loss(mean_loss(loss))}; slowest pair {_loss(slowest_loss(study, loss))}",
        )
        for loss in study.ranked[:MOST_BARS]
    ]
    label = "Mean loss of single failures: " + ", ".join(f"{name} {text}" for name, _, text in rows)
    return bars(rows, label)


def _loss(share: float) -> str:
    """`0.006 %`: enough digits to see a small loss."""
    return f"{100 * share:.3f} %" if 0 < share < 0.001 else percent(share)
