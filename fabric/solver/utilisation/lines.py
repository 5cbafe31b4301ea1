"""Utilisation for a person."""

from __future__ import annotations

from fabric.base.text import aligned, counted, listed, percent, plural
from fabric.solver.utilisation.utilisation import HOURS_PER_YEAR, Fit, Use, Utilisation


def lines(result: Utilisation, gpu_hour: float | None = None, currency: str = "") -> list[str]:
    """The sizes, then one column per placement. No line ends.

    Args:
        gpu_hour: cost of one GPU-hour; None without money.
    """
    out = [_head(result), "", *_fits(result)]
    out += [f"{counted(count, 'job')} {reason} {_are(count)} left out" for reason, count in result.left_out]
    if result.too_large:
        out.append(f"{plural(result.too_large, 'job')} of more GPUs than the fabric has {_are(result.too_large)} left out")
    return [*out, "", *_uses(result, gpu_hour, currency)] if result.uses else out


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _head(result: Utilisation) -> str:
    levels = ", ".join(
        f"{plural(groups, name)} of {held:,}" for name, groups, held in result.levels if groups > 1 and held > 1
    )
    inside = f" in {levels}" if levels else ""
    others = f"; without {listed(result.other_models, 4)}" if result.other_models else ""
    return f"{result.gpus:,} GPUs, {plural(result.servers, 'server')}{inside}{others}"


def _fits(result: Utilisation) -> list[str]:
    head = ("GPUs of a job", "jobs", "of GPU-hours", "servers", "fits in", "left over")
    return aligned([_fit(fit) for fit in result.fits], ">>>><<", head=head)


def _fit(fit: Fit) -> tuple[str, ...]:
    left = f"{fit.left_gpus:,} GPUs of a full {fit.level}" if fit.left_gpus else ""
    unused = f"{fit.unused_gpus} GPUs of its servers" if fit.unused_gpus else ""
    return (
        *(f"{fit.gpus:,}", f"{fit.jobs:,}", percent(fit.gpu_hours) if fit.level else "-"),
        *(
            f"{fit.servers:,}" if fit.servers else "part",
            fit.level or "nothing",
            ", ".join(filter(None, (unused, left))) or "-",
        ),
    )


def _uses(result: Utilisation, gpu_hour: float | None, currency: str) -> list[str]:
    rows = [
        ("GPUs in use", *(percent(use.used) for use in result.uses)),
        ("idle in servers of jobs", *(percent(use.in_part) for use in result.uses)),
        ("idle while jobs wait", *(percent(use.waiting) for use in result.uses)),
    ]
    if not result.saturated:
        rows.append(("idle, no job waits", *(percent(use.no_demand) for use in result.uses)))
        rows.append(("mean wait of a job", *(f"{use.wait_hours:,.1f} h" for use in result.uses)))
    rows += [
        ("NIC bandwidth in use", *(percent(use.bandwidth.used) for use in result.uses)),
        ("  lost to shared links", *(percent(use.bandwidth.contention) for use in result.uses)),
        ("  of jobs in one domain", *(percent(use.bandwidth.inside) for use in result.uses)),
        ("jobs in several units", *(percent(use.bandwidth.crossing) for use in result.uses)),
        ("idle GPU-hours per year", *(f"{_idle(result, use):,.0f}" for use in result.uses)),
    ]
    if gpu_hour is not None:
        rows.append((f"  cost, {currency}", *(f"{_idle(result, use) * gpu_hour:,.0f}" for use in result.uses)))
    return aligned(rows, "<" + ">" * len(result.uses), head=("placement", *(use.placement for use in result.uses)))


def _idle(result: Utilisation, use: Use) -> float:
    """GPU-hours of a year that are idle although jobs wait."""
    return use.idle_gpu_share * result.gpus * HOURS_PER_YEAR
