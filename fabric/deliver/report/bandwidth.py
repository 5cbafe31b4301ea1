"""Bus bandwidth by size, and the single failures, ranked by the traffic that no longer fits."""

from __future__ import annotations

from fabric.base.text import percent, size
from fabric.deliver.acceptance.files import gate_rows
from fabric.deliver.acceptance.gates import step_texts
from fabric.deliver.report.assets import Grid, grid
from fabric.deliver.report.charts import WIDE, Panel, panels, without_sheet
from fabric.deliver.report.study import SIZES, Study, mean_loss, slowest_loss
from fabric.solver.capacity.failures import Loss
from fabric.solver.collective import COLLECTIVES
from fabric.solver.estimate.plot import picture

# --- what to expect, what to accept ---------------------------------------------------------------------------


def gates_grid(study: Study, site: str) -> Grid:
    """Each step of the acceptance test with its gates at the largest size, and what it proves."""
    proves = {name: text.proves for name, text in step_texts().items()}
    rows = [(*row, proves[row[0]]) for row in gate_rows(study.gates(site))]
    titles = ("step", "#runs", "program", "#expected", "#pass from", "what it proves")
    return grid("Acceptance test", titles, rows, "Bus bandwidth of nccl-tests at the largest size; a port for ib_write_bw.")


# --- bus bandwidth by size ------------------------------------------------------------------------------------

_SUCH = ", such as "


def curve_svg(study: Study) -> str:
    """The chart of `fabric estimate --plot`; its colours come from the page."""
    return without_sheet(picture([study.curve], study.request.measured, WIDE)).strip()


def curve_grid(study: Study) -> Grid:
    """Every second size of the chart and the one asked for, as `fabric estimate` prints them."""
    now, before = study.curve
    healthy = {row.bytes: row for row in before.rows} if before else {}
    factor = COLLECTIVES[study.request.collective].busbw(now.placement.gpus)
    shown = {*SIZES[::2], study.request.size_bytes}
    rows = [
        (
            size(row.bytes),
            f"{row.algorithm}/{row.protocol}",
            f"{row.time_us:,.1f}",
            f"{row.p10_us:,.1f} to {row.p90_us:,.1f}",
            f"{row.busbw_GBps:,.2f}",
            f"{healthy[row.bytes].busbw_GBps:,.2f}" if healthy else "",
            f"{row.bytes / row.ideal_time_us / 1e3 * factor:,.2f}",
            limit(row.bottleneck),
        )
        for row in now.rows
        if row.bytes in shown
    ]
    titles = (
        "#size",
        "algorithm",
        "#time, µs",
        "#p10 to p90, µs",
        "#busbw, GB/s",
        "#healthy, GB/s",
        "#ideal, GB/s",
        "limited by",
    )
    example = next((row.bottleneck for row in now.rows if row.bytes in shown and _SUCH in row.bottleneck), "")
    notes = [*now.notes, *([example] if example else [])]
    caption = f"{study.request.collective} on {now.placement.gpus:,} GPUs, by size"
    return grid(caption, titles, rows, "; ".join(notes))


def limit(bottleneck: str) -> str:
    """What limits a size, without its example: one stands below the table."""
    return bottleneck.partition(_SUCH)[0]


# --- single failures ------------------------------------------------------------------------------------------

MAX_BARS = 12
CAPTION = (
    "All servers send to all others at the highest rate that the healthy fabric carries, and one element fails. Mean loss: "
    "share of all traffic that no longer fits. Slowest pair: loss of rate of the most affected pair of servers. A job whose "
    "servers wait for each other runs at the rate of its slowest pair; independent traffic loses the mean. The loss of the "
    "slowest pair is much higher, as ECMP does not weight a path by its remaining capacity."
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
                *(loss_words(mean_loss(loss)), loss_words(slowest_loss(study, loss))),
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
    note = f"{more} more kinds are omitted." if more else ""
    return grid("Single failures, largest loss first", titles, rows, note)


def failures_svg(study: Study) -> str:
    """The costliest failures as bars: what all traffic loses, and beside it what the worst pair loses."""
    shown = study.ranked[:MAX_BARS]
    names = [_name(study, loss) for loss in shown]
    mean, slowest = [mean_loss(loss) for loss in shown], [slowest_loss(study, loss) for loss in shown]
    texts = [loss_words(share) for share in mean], [loss_words(share) for share in slowest]
    label = "Single failures: " + ", ".join(
        f"{name}: mean loss {usual}, slowest pair {worst}" for name, usual, worst in zip(names, *texts, strict=True)
    )
    return panels(
        names,
        (
            Panel("Mean loss", "share of all traffic that no longer fits", "fill-1", mean, texts[0]),
            Panel("Slowest pair", "rate that the worst pair of servers loses", "fill-2", slowest, texts[1]),
        ),
        label,
    )


def _name(study: Study, loss: Loss) -> str:
    """`spine backend-spine001 (1 of 16)`; where there are several kinds of one element, with the unit of this one."""
    unit = ""
    if sum(other.what == loss.what for other in study.ranked) > 1:
        device = study.fabric.by_name.get(loss.names[0].partition(":")[0])
        unit = f", unit {device.unit + 1}" if device is not None and device.unit >= 0 else ""
    alike = f" (1 of {loss.alike:,})" if loss.alike > 1 else ""
    return f"{loss.what} {' '.join(loss.names)}{unit}{alike}"


def loss_words(share: float) -> str:
    """`0.006 %`: enough digits to see a small loss; `none` where there is none."""
    if share <= 0:
        return "none"
    return f"{100 * share:.3f} %" if share < 0.001 else percent(share)
