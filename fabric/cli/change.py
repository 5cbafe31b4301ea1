"""`fabric change`: the waves of a change, by a floor of capacity."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import typer

from fabric import pipeline
from fabric.base.diagnostics import Report
from fabric.cli import options
from fabric.cli.common import FINDINGS, check_fabric, check_folder, mistake, option, progress, show_diagnostics
from fabric.cli.output import AS_JSON, JOBS, asked, formats_option, put_folder, usage, write
from fabric.deliver.change.files import unsupported
from fabric.deliver.change.records import ACTIONS, ChangeRequest
from fabric.deliver.change.report import FORMATS

FLOOR = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,6})?)\s*%|(0?\.[0-9]{1,8}|0|1|1\.0)")
OLD_OR_FILE = typer.Argument(..., metavar="OLD|FILE", help="intent, git:REV or git:REV:FILE", show_default=False)
NEW_OR_ACTION = typer.Argument(
    ..., metavar="NEW|ACTION", help="the new intent; or drain, undrain, replace, upgrade, reboot", show_default=False
)
NAMES = typer.Argument(
    None, metavar="NAME…", help="with ACTION: switches, globs, roles such as leaf, planes such as plane:2", show_default=False
)


def change(
    old: str = OLD_OR_FILE,
    new: str = NEW_OR_ACTION,
    names: list[str] = NAMES,
    floor: str = option("90%", "--floor", "SHARE", "share of the capacity that every wave leaves"),
    model: Path | None = option(None, "--job", "JOB", "training job, for the time of its step in every wave"),
    fabric: str = option("", "--fabric", "NAME", "only this fabric"),
    size: str = option("1G", "--size", "SIZE", "message size of the all-reduce"),
    files: Path | None = option(None, "--files", "FOLDER", "write what is typed, confirmed and undone, per wave and switch"),
    planes_active: int = option(0, "--planes-active", "N", "with drain: planes that stay in service", shown=False),
    platform: Path | None = options.PLATFORM,
    jobs: int = JOBS,
    form: list[str] = formats_option(tuple(FORMATS)),
    as_json: bool = AS_JSON,
) -> None:
    """Plan a change in waves that keep a floor of capacity.

    From one intent to another, or an operation on switches of one: drain, undrain, replace, upgrade, reboot. Each wave with
    its switches, cables, the capacity and times that are left, and what must hold. Exit code 1: the floor does not allow all.
    """
    from fabric.solver.estimate.request import EstimateRequest  # heavy: not for help and mistakes

    reports = asked(form, tuple(FORMATS), "markdown=change.md", as_json)
    is_operation = new in ACTIONS
    report = Report()
    share = _share(floor, report)
    size_or_none = options.size_bytes("--size", size, report)
    if planes_active and new != "drain":
        mistake(report, "--planes-active", f"expected drain, got {new}", "fabric change FILE drain --planes-active 4")
    if files:
        check_folder(report, "--files", files)
    report.raise_errors()
    if is_operation and not names and not planes_active:
        usage(f"change: expected names or a role after {new}", f"fabric change {old} {new} leaf")
    if not is_operation and names:
        usage(f"change: expected one of {', '.join(ACTIONS)} before names, got '{new}'", f"fabric change {old} reboot leaf")
    request = ChangeRequest(floor=share, fabric=fabric, planes_active=planes_active)
    parameters = options.platform_of(Path(old if is_operation else new), platform)
    call = EstimateRequest(sizes=(size_or_none or 0,), routing="", queue_pairs=0, platform=parameters)
    written: Mapping[str, str] = {}
    if is_operation:
        with progress("plan"):
            intent = pipeline.load(Path(old))
            plan = pipeline.plan(intent)
        check_fabric(plan, fabric)
        show_diagnostics(plan.warnings)
        with progress("waves"):
            result = pipeline.change(plan, new, names or [], request, call, model)
            written = pipeline.change_files(result, (), pipeline.render(plan, intent)) if files else {}
    else:
        with progress("plans, states between them and waves"):
            result, written = pipeline.redesign(
                old, new, request, call, model, files=files is not None, jobs=jobs, progress=progress
            )
    if files:
        show_diagnostics(unsupported(result))
        put_folder(files, written)
    write(reports, lambda name: FORMATS[name](result))
    if result.refused:
        raise typer.Exit(FINDINGS)


def _share(text: str, report: Report) -> float:
    """`90%` or `0.9`."""
    match = FLOOR.fullmatch(text.strip())
    value = (float(match[1]) / 100 if match[1] else float(match[2])) if match else 2.0
    if value > 1:
        mistake(report, "--floor", f"expected a share from 0% to 100%, got {text!r}", "such as `--floor 90%`")
    return value
