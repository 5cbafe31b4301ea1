"""`fabric calibrate`: fits the parameters of collective times to one's own measurements."""

from __future__ import annotations

from pathlib import Path

import typer

from fabric.cli.common import say
from fabric.cli.reports import put
from fabric.cli.score import beside_weights, need_scored, read_tables


def calibrate(
    paths: list[Path] = typer.Argument(
        ..., metavar="TABLE...", help="output of nccl-tests, tables in YAML, or folders of them"
    ),
    output: Path = typer.Option(..., "-o", "--output", metavar="PLATFORM", help="file to write", show_default=False),
    base: str = typer.Option(
        "shipped", "--base", metavar="BASE", help="shipped, physics (first values, all parameters free), or a platform file"
    ),
    beside: list[Path] = typer.Option(
        [], "--beside", metavar="TABLE", help="further tables of less weight", show_default=False
    ),
) -> None:
    """Fit the model of collective times to measured tables and write a platform file."""
    from fabric.diagnostics import Diagnostic, InputError, Place
    from fabric.solver.collectives.calibrate import calibrated, document, from_physics, moved
    from fabric.solver.collectives.physics import first, shipped
    from fabric.solver.collectives.score import median, score
    from fabric.solver.estimate.ask import platform

    tables = read_tables(paths)
    others = read_tables(beside) if beside else []
    need_scored(tables, paths)
    if not output.parent.is_dir():
        message = "expected a folder that exists to write into"
        raise InputError([Diagnostic("FAB160", Place(str(output)), message, f"make {output.parent} first")])
    from_first = base == "physics"
    start = first() if from_first else shipped() if base == "shipped" else platform(Path(base))
    if from_first:
        found = from_physics([*tables, *others], beside_weights(others))
        about = (
            "Parameters of collective times, fitted from their first values.\nWritten by `fabric calibrate --base physics`."
        )
    else:
        found = calibrated([*tables, *others], start)
        about = f"Parameters of collective times, calibrated from {base}.\nWritten by `fabric calibrate`."
    put(output, document(found, [*tables, *others], about))
    say(f"wrote {output}")
    print(f"{'table':46}{'rows':>5}{'before':>9}{'after':>9}   median errors")
    for before, after in zip(score(tables, start).tables, score(tables, found).tables, strict=True):
        print(f"{after.id[:45]:46}{len(after.error):5}{median(before.error):8.1f}%{median(after.error):8.1f}%")
    lines = moved(found, start)
    print("\n".join(["", "moved most", *(f"  {line}" for line in lines)] if lines else ["", "nothing moved"]))
