"""`fabric estimate`: bandwidth of a fabric and the time of collectives on it, whole or with failures."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from fabric.cli.common import check_fabric, say
from fabric.cli.reports import put
from fabric.cli.sizes import size_bytes
from fabric.json_text import json_text

if TYPE_CHECKING:
    from fabric.diagnostics import Report
    from fabric.plan.plan import FabricPlan, Plan
    from fabric.solver.estimate.ask import Asked
    from fabric.solver.estimate.estimate import Estimate

SWEEP = (8, 8 << 30)


def estimate(
    file: Path = typer.Argument(..., metavar="FILE", help="intent", show_default=False),
    fabric: str = typer.Option("", "--fabric", metavar="NAME", help="fabric of the site; its compute fabric unless given"),
    collective: str = typer.Option(
        "all_reduce",
        "--collective",
        metavar="C",
        help="all_reduce, all_gather, reduce_scatter, alltoall, broadcast, reduce, sendrecv",
    ),
    size: list[str] = typer.Option(
        [], "--size", metavar="S", help="64M, 1G, bytes, as nccl-tests counts them", show_default=False
    ),
    sweep: str = typer.Option("", "--sweep", metavar="MIN:MAX[:FACTOR]", help="8:8G unless given", show_default=False),
    gpus: int | None = typer.Option(
        None, "--gpus", metavar="N", help="GPUs of the job; all unless given", show_default=False
    ),
    placement: list[str] = typer.Option(
        ["packed"],
        "--placement",
        metavar="P",
        help="packed, spread, random:SEED, or servers with commas between; several are compared",
    ),
    algorithm: str = typer.Option(
        "auto",
        "--algorithm",
        metavar="A",
        help="as NCCL would choose, or ring, tree, nvls, nvls_tree, hierarchical, halving_doubling, in_network",
    ),
    protocol: str = typer.Option("auto", "--protocol", metavar="P", help="auto, ll, ll128, simple"),
    routing: str = typer.Option(
        "", "--routing", metavar="R", help="ecmp, adaptive, spray; as the plan configures it unless given"
    ),
    queue_pairs: int = typer.Option(
        0, "--qps", metavar="N", help="queue pairs of a connection; as the plan sets it unless given", show_default=False
    ),
    ctas: int = typer.Option(16, "--min-ctas", metavar="N", help="CTAs of a ring, as NCCL_MIN_CTAS sets them"),
    jobs: int = typer.Option(1, "--jobs", metavar="N", help="so many jobs of --gpus each at the same time"),
    fail: list[str] = typer.Option(
        [], "--fail", metavar="NAME", help="SWITCH, A:B or SWITCH:PORT that is down", show_default=False
    ),
    capacity: bool = typer.Option(
        False, "--capacity", help="cuts, bisection, throughput, and what every single failure leaves"
    ),
    pairs: int = typer.Option(0, "--pairs", metavar="N", help="with --capacity: sampled pairs of failures"),
    step: Path | None = typer.Option(
        None, "--step", metavar="MODEL", help="time of a training step, from a file", show_default=False
    ),
    platform: Path | None = typer.Option(
        None, "--platform", metavar="FILE", help="parameters of `fabric calibrate`", show_default=False
    ),
    measured: list[Path] = typer.Option(
        [], "--measured", metavar="TABLE", help="with --plot: dots of a measured table", show_default=False
    ),
    plot: Path | None = typer.Option(
        None, "--plot", metavar="FILE.svg", help="busbw by size as a picture", show_default=False
    ),
    seed: int = typer.Option(0, "--seed", metavar="N", help="of queue pair numbers and samples"),
    as_json: bool = typer.Option(False, "--json", help="print one JSON document"),
) -> None:
    """Estimate the bandwidth of a fabric, or the time of a collective on it."""
    from fabric import pipeline
    from fabric.diagnostics import Report
    from fabric.hosts.spreading import spreading
    from fabric.solver.estimate.ask import Asked

    report = Report()
    sizes = _sizes(size, sweep, report)
    _check(report, routing, queue_pairs, pairs, seed)
    _counts(report, jobs, ctas, step)
    _together(report, capacity, step, {"--size": size, "--sweep": sweep, "--plot": plot, "--gpus": gpus}, pairs)
    _picture(report, plot, measured)
    report.raise_errors()
    made = pipeline.plan(pipeline.load(file))
    chosen = _fabric(made, fabric)
    routing, queue_pairs = spreading(chosen, routing, queue_pairs)
    asked = Asked(
        collective, tuple(sizes), gpus, algorithm, protocol, routing, queue_pairs, tuple(fail), seed, platform, jobs, ctas
    )
    if capacity:
        _capacity(chosen, asked, pairs, as_json)
        return
    if step is not None:
        _step(chosen, asked, step, placement[0], as_json)
        return
    found = [pipeline.estimate(chosen, asked, wish) for wish in placement]
    if plot is not None:
        _plot(plot, found, measured)
    _print(found, asked, as_json)


def _print(found: list[tuple[Estimate, Estimate | None]], asked: Asked, as_json: bool) -> None:
    from fabric.solver.estimate import lines

    now, before = found[0]
    if as_json:
        document: dict[str, Any] = {**lines.as_dict(now), "failed": list(asked.fail)}
        if before is not None:
            document["healthy_time_us"] = [row.time_us for row in before.rows]
        if len(found) > 1:
            document["placements"] = [lines.as_dict(item) for item, _ in found]
        print(json_text(document))
        return
    print("\n".join(lines.lines(now)))
    if before is not None:
        print("\n".join(lines.against_healthy(now, before, asked.fail)))
    if len(found) > 1:
        print("\n".join(lines.compared([item for item, _ in found])))


def _capacity(chosen: FabricPlan, asked: Asked, pairs: int, as_json: bool) -> None:
    from fabric.solver.capacity import measure as capacity
    from fabric.solver.estimate import ask

    found = ask.capacity(chosen, asked.fail, pairs, asked.seed)
    print(json_text(found.as_dict()) if as_json else "\n".join(capacity.lines(found)))


def _step(chosen: FabricPlan, asked: Asked, path: Path, wish: str, as_json: bool) -> None:
    from fabric.solver.estimate import ask

    found = ask.training_step(chosen, asked, path, wish)
    print(json_text(found.as_dict()) if as_json else "\n".join(found.lines()))


def _plot(path: Path, found: list[tuple[Estimate, Estimate | None]], measured: list[Path]) -> None:
    from fabric.solver.estimate.picture import picture
    from fabric.solver.measured.tables import of_collective

    tables = of_collective(measured, found[0][0].job.collective)
    put(path, picture(found, tables))
    say(f"wrote {path}")


def _fabric(made: Plan, name: str) -> FabricPlan:
    """The fabric that is meant: the one named, else the compute fabric with the most GPUs."""

    check_fabric(made, name)
    if name:
        return made.fabrics[name]
    return max(made.fabrics.values(), key=lambda item: (item.spec.intent.purpose == "compute", item.sizing.gpus))


def _sizes(size: list[str], sweep: str, report: Report) -> list[int]:
    """Bytes to look at, ascending."""
    if size and sweep:
        _say(report, "--sweep", "expected one of --size and --sweep, got both", "--size may be given several times")
    found = [value for text in size if (value := size_bytes("--size", text, report)) is not None]
    if size:
        return sorted(set(found))
    parts = sweep.split(":") if sweep else []
    if sweep and len(parts) not in (2, 3):
        _say(
            report,
            "--sweep",
            f"expected MIN:MAX or MIN:MAX:FACTOR, got {sweep!r}",
            "`--sweep 1M:1G:4` looks at 1, 4, 16 MiB, …",
        )
        return []
    ends = [size_bytes("--sweep", text, report) for text in parts[:2]] or list(SWEEP)
    factor = 2
    if len(parts) == 3:
        factor = int(parts[2]) if re.fullmatch("[0-9]{1,4}", parts[2]) else 0
        if factor < 2:
            _say(report, "--sweep", f"expected a whole factor of 2 or more, got {parts[2]!r}", "`1M:1G:4` multiplies by 4")
    if None in ends or factor < 2:
        return []
    low, high = (int(value or 0) for value in ends)
    if low > high:
        _say(report, "--sweep", f"expected MIN up to MAX, got {sweep!r}", "the smaller size comes first")
    while low <= high:
        found.append(low)
        low *= factor
    return found


def _check(report: Report, routing: str, queue_pairs: int, pairs: int, seed: int) -> None:
    from fabric.diagnostics import nearest

    modes = ["ecmp", "adaptive", "spray"]
    if routing and routing not in modes:
        _say(report, "--routing", f"expected a way of routing, got {routing!r}", nearest(routing, modes))
    if not 0 <= queue_pairs <= 128:
        _say(report, "--qps", f"expected 1 to 128 queue pairs, got {queue_pairs}", "NCCL_IB_QPS_PER_CONNECTION takes as many")
    if not 0 <= pairs <= 10_000:
        _say(report, "--pairs", f"expected 0 to 10000 pairs of failures, got {pairs}", "each takes a throughput of its own")
    if not 0 <= seed < 1 << 31:
        _say(report, "--seed", f"expected a seed from 0 to 2147483647, got {seed}", "0 is as good as any")


def _together(report: Report, capacity: bool, step: Path | None, given: dict[str, Any], pairs: int) -> None:
    """What has no meaning beside another option."""
    if pairs and not capacity:
        _say(report, "--pairs", "expected --capacity beside it, got none", "pairs of failures are sampled for the capacity")
    if capacity and step is not None:
        _say(report, "--step", "expected one of --capacity and --step, got both", "ask twice")
    for option, value in given.items():
        if value and (capacity or (step is not None and option != "--gpus")):
            other = "--capacity" if capacity else "--step"
            hint = "the capacity is that of the whole fabric" if capacity else "a step has sizes of its own"
            _say(report, option, f"expected no {option} beside {other}", hint)


def _counts(report: Report, jobs: int, ctas: int, step: Path | None) -> None:
    if not 1 <= jobs <= 100_000:
        _say(report, "--jobs", f"expected 1 to 100000 jobs, got {jobs}", "each takes --gpus of its own")
    if jobs > 1 and step is not None:
        _say(report, "--jobs", f"expected one job with --step, got {jobs}", "a training step is one job")
    if not 1 <= ctas <= 64:
        _say(report, "--min-ctas", f"expected 1 to 64 CTAs, got {ctas}", "NCCL runs 16 unless told otherwise")


def _picture(report: Report, plot: Path | None, measured: list[Path]) -> None:
    """Looks where the picture would go before anything is computed for it."""
    if plot is None and measured:
        _say(report, "--measured", "expected --plot with it, got none", "its rows are dots of the picture")
    elif plot is not None and plot.is_dir():
        _say(report, "--plot", f"expected a file, got the folder {plot}", f"`--plot {plot / 'estimate.svg'}` writes into it")
    elif plot is not None and not plot.parent.is_dir():
        _say(report, "--plot", f"expected a folder that is there, got {plot.parent}", f"`--plot {plot.name}` writes here")


def _say(report: Report, option: str, message: str, hint: str) -> None:
    from fabric.diagnostics import Place

    report.error("FAB102", Place(option), message, hint)
