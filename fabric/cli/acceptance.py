"""`fabric acceptance`: the runs that prove a cluster with their gates, and the verdict on their logs."""

from __future__ import annotations

import re
from pathlib import Path

import typer

from fabric import pipeline
from fabric.base.diagnostics import Report
from fabric.cli import options
from fabric.cli.common import FILE, FINDINGS, check_fabric, check_folder, mistake, option, progress, refuse, show_diagnostics
from fabric.cli.output import AS_JSON, asked, formats_option, one_of, put_folder, put_lines, usage, write
from fabric.deliver.acceptance.gates import step_texts
from fabric.deliver.acceptance.report import FORMATS

IMAGE = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9_./:@-]{0,250}")


def write_(
    file: Path = FILE,
    output: Path = option(..., "-o --output", "FOLDER", "folder to write"),
    fabric: str = option("", "--fabric", "NAME", "fabric of the site", shown="compute fabric with the most GPUs"),
    platform: Path | None = options.PLATFORM,
    image: str = option("", "--image", "IMAGE", "container image with nccl-tests or rccl-tests, for Kubernetes"),
) -> None:
    """Write the runs that prove a cluster, with their gates.

    Smallest first: scripts, jobs for Slurm and Kubernetes, and gates from the band of the estimate. README.md of the folder
    has the order.
    """
    from fabric.solver.estimate.request import EstimateRequest  # heavy: not for help and mistakes

    refuse(lambda report: check_folder(report, "-o", output))
    refuse(lambda report: _check_image(report, image))
    parameters = options.platform_of(file, platform)
    with progress("plan"):
        plan = pipeline.plan(pipeline.load(file))
    check_fabric(plan, fabric)
    show_diagnostics(plan.warnings)
    with progress("gates"):
        request = EstimateRequest(routing="", queue_pairs=0, platform=parameters)
        gates = pipeline.acceptance(plan, options.largest(plan, fabric), request)
        files = pipeline.acceptance_files(plan, gates, str(file), image)
    put_folder(output, files)
    steps, runs = len(gates.steps), sum(len(group.runs) for step in gates.steps for group in step.groups)
    put_lines(lambda: [f"{output}: {steps} steps, {runs} runs; {output / 'README.md'} has the order"])


def _check_image(report: Report, image: str) -> None:
    if image and not IMAGE.fullmatch(image):
        hint = "such as registry.example.com/nccl-tests:2.28"
        mistake(report, "--image", f"expected the name of a container image, got {image!r}", hint)


def judge(
    folder: Path = typer.Argument(..., metavar="DIR", help="folder that `fabric acceptance` has written"),
    logs: list[Path] = typer.Argument(
        None, metavar="LOG…", help="logs of nccl-tests and perftest, and folders of them", show_default=False
    ),
    intent: Path | None = option(None, "--intent", "FILE", "intent, to name the likely causes of the first failure"),
    step: list[str] = option([], "--step", "STEP", "judge this step only; repeatable"),
    form: list[str] = formats_option(tuple(FORMATS)),
    as_json: bool = AS_JSON,
) -> None:
    """Compare logs with the gates.

    Every run passes, fails, is partial or not run; servers and leaves that are slower than their equals are named. Exit
    code 1: not every run passes.
    """
    reports = asked(form, tuple(FORMATS), "junit=acceptance.xml", as_json)
    one_of("--step", step, list(step_texts()))
    if not logs:
        usage("acceptance judge: expected logs", f"fabric acceptance judge {folder} {folder / 'results'}")
    gates = pipeline.acceptance_gates(folder)
    fabric = options.chosen(intent, gates.fabric) if intent is not None else None
    with progress("logs"):
        judgment = pipeline.judge(gates, logs, step, fabric)
    show_diagnostics(judgment.warnings)
    write(reports, lambda name: FORMATS[name](judgment))
    if judgment.state != "pass":
        raise typer.Exit(FINDINGS)


acceptance = typer.Typer(
    help="Write the runs that prove a cluster; judge their logs.\n\n"
    "`fabric acceptance FILE -o DIR` is `fabric acceptance write FILE -o DIR`.",
    no_args_is_help=True,
)
acceptance.command("write")(write_)
acceptance.command("judge")(judge)
