"""`fabric doctor`: why a measured collective is slower than estimated."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from fabric import pipeline
from fabric.base.diagnostics import Report
from fabric.base.schemas.models import document
from fabric.cli import options
from fabric.cli.common import FILE, USAGE, mistake, option, progress, show_diagnostics
from fabric.cli.options import size_bytes
from fabric.cli.output import put_result

if TYPE_CHECKING:
    from fabric.solver.measured.tables import Measured

OPTION = "--busbw"


def doctor(
    file: Path = FILE,
    logs: list[Path] = typer.Argument(
        None,
        metavar="LOG…",
        help="output of nccl-tests, logs of NCCL_DEBUG=INFO, output of ibstat, nvidia-smi topo -m, lspci -vvv or perftest",
        show_default=False,
    ),
    busbw: list[str] = option(
        [],
        "--busbw",
        "NAME:GPUS:SIZE:BUSBW",
        "one measured bus bandwidth in GB/s, as all_reduce:16:1G:27; 32x1 GPUs are one of each of 32 servers; repeatable",
        panel=options.JOB,
    ),
    slow: bool = option(
        False,
        "--slow",
        help="the run is known to be slow, as another one was faster: name causes also where its times lie in the band",
        panel=options.JOB,
    ),
    fabric: str = options.FABRIC,
    routing: str = options.ROUTING,
    queue_pairs: int = options.QUEUE_PAIRS,
    fail: list[str] = options.FAIL,
    platform: Path | None = options.PLATFORM,
    as_json: bool = options.JSON,
) -> None:
    """Explain why a measured collective is slower than estimated.

    Sizes outside the band of the estimate, and the likely causes in order with a command that confirms each. Exit code 2:
    a file could not be read; the others were compared.
    """
    from fabric.solver.doctor.diagnosis import DiagnosisDocument  # heavy: not for help and mistakes
    from fabric.solver.doctor.examine import lines
    from fabric.solver.estimate.request import EstimateRequest

    report = Report()
    options.check_spread(report, routing, queue_pairs)
    report.raise_errors()
    given = [run for text in busbw if (run := _measured(text, report))]
    report.raise_errors()
    parameters = options.platform_of(file, platform)
    request = EstimateRequest(routing=routing, queue_pairs=queue_pairs, fail=tuple(fail), platform=parameters)
    chosen = options.chosen(file, fabric)
    with progress("causes"):
        result = pipeline.doctor(chosen, logs or [], request, given, slow)
    show_diagnostics(result.warnings)
    put_result(as_json, lambda: document(result, DiagnosisDocument), lambda: lines(result))
    if any(item.severity == "error" for item in result.warnings):
        raise typer.Exit(USAGE)


def _measured(text: str, report: Report) -> Measured | None:
    """The number of `--busbw`, None with a diagnostic where it is none."""
    from fabric.solver.collective import collective_names
    from fabric.solver.measured.tables import Measured, collective_named

    name, *values = text.split(":")
    collective = collective_named(name)
    if len(values) != 3 or collective not in collective_names():
        hint = f"collectives: {', '.join(collective_names())}"
        mistake(report, OPTION, f"expected NAME:GPUS:SIZE:BUSBW such as all_reduce:16:1G:27, got {text!r}", hint)
        return None
    gpus, size, speed = values
    bytes_ = size_bytes(OPTION, size, report)
    servers, _, each = gpus.partition("x")
    count = re.fullmatch(r"[0-9]{1,7}(?:x[1-9][0-9]{0,3})?", gpus)
    ranks = int(servers) * int(each or 1) if count else 0
    if ranks < 2:
        mistake(report, OPTION, f"expected a number of GPUs from 2, got {gpus!r}", "the second part of NAME:GPUS:SIZE:BUSBW")
        return None
    if not re.fullmatch(r"[0-9]{1,6}(?:\.[0-9]{1,6})?", speed) or not float(speed):
        mistake(report, OPTION, f"expected a bus bandwidth in GB/s, got {speed!r}", "the last part of NAME:GPUS:SIZE:BUSBW")
        return None
    return Measured(collective, ranks, bytes_, float(speed), int(each or 0)) if bytes_ else None
