"""`fabric change`: the waves of a change, by a floor of capacity; `fabric change apply` carries them out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import typer

from fabric import pipeline
from fabric.base.diagnostics import Report
from fabric.base.text import either, listed
from fabric.cli import options
from fabric.cli.common import (
    FINDINGS,
    MISSING,
    check_fabric,
    check_folder,
    check_range,
    mistake,
    option,
    progress,
    refuse,
    say,
    show_diagnostics,
)
from fabric.cli.output import AS_JSON, JOBS, asked, formats_option, put_folder, usage, write
from fabric.deliver.change.apply.folder import Work
from fabric.deliver.change.apply.records import Options, Outcome
from fabric.deliver.change.apply.report import FORMATS as RUN_FORMATS
from fabric.deliver.change.files import MINUTES, unsupported
from fabric.deliver.change.records import ACTIONS, Asked, ChangeRequest
from fabric.deliver.change.report import FORMATS

FLOOR = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,6})?)\s*%|(0?\.[0-9]{1,8}|0|1|1\.0)")
OLD_OR_FILE = typer.Argument(..., metavar="OLD|FILE", help="intent, git:REV or git:REV:FILE", show_default=False)
LAB = "lab"  # in place of an inventory
WAIT_HINT = "a change that is not confirmed until then is taken back by the switch"
NEW_OR_ACTION = typer.Argument(
    ..., metavar="NEW|ACTION", help="the new intent; or drain, undrain, replace, upgrade, reboot", show_default=False
)
NAMES = typer.Argument(
    None, metavar="NAME…", help="with ACTION: switches, globs, roles such as leaf, planes such as plane:2", show_default=False
)


def plan_(
    old: str = OLD_OR_FILE,
    new: str = NEW_OR_ACTION,
    names: list[str] = NAMES,
    floor: str = option("90%", "--floor", "SHARE", "share of the capacity that every wave leaves"),
    model: Path | None = option(None, "--job", "JOB", "training job, for the time of its step in every wave"),
    fabric: str = option("", "--fabric", "NAME", "only this fabric"),
    size: str = option("1G", "--size", "SIZE", "message size of the all-reduce"),
    files: str | None = option(None, "--files", "FOLDER", "write what is typed, confirmed and undone, per wave and switch"),
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
    _refuse_inputs(reports, (old, new, *([str(model)] if model else []), *([str(platform)] if platform else [])))
    is_operation = new in ACTIONS
    report = Report()
    share = _share(floor, report)
    size_or_none = options.size_bytes("--size", size, report)
    if planes_active and new != "drain":
        mistake(report, "--planes-active", f"expected drain, got {new}", "fabric change FILE drain --planes-active 4")
    folder = Path(files) if files else None
    if files == "":
        mistake(report, "--files", "expected a folder, got no name", "such as `--files work`")
    elif folder is not None:
        check_folder(report, "--files", folder)
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
            if folder:
                asked_of = Asked(old=old, action=new, names=tuple(names or ()), request=request)
                written = pipeline.change_files(result, (), pipeline.render(plan, intent), asked_of)
    else:
        with progress("plans, states between them and waves"):
            result, written = pipeline.redesign(
                old, new, request, call, model, files=folder is not None, jobs=jobs, progress=progress
            )
    if folder:
        _check_leftovers(folder, written)
        show_diagnostics(unsupported(result))
        put_folder(folder, written)
    write(reports, lambda name: FORMATS[name](result))
    if result.refused:
        raise typer.Exit(FINDINGS)


def apply_(
    folder: Path = typer.Argument(
        ..., metavar="FOLDER", help="what `fabric change --files FOLDER` wrote", show_default=False
    ),
    inventory: Path = option(
        ...,
        "--inventory",
        "HOSTS",
        "switches: hosts of Nornir, what `fabric export ansible` writes, or `lab`: the lab that is up",
    ),
    wave: int = option(0, "--wave", "N", "stop after this wave", shown="after the last one", min=0),
    dry_run: bool = typer.Option(False, "--dry-run", help="show what the next wave types, and what its switches would take"),
    resume: bool = typer.Option(False, "--resume", help="go on after a run that was stopped, or after work by hand"),
    wait: float = option(
        480, "--wait", "SECONDS", "until the network is as planned after a step, else it is taken back", min=0
    ),
    forks: int = option(16, "--forks", "N", "switches at once", min=1),
    jobs: int = JOBS,
    form: list[str] = formats_option(tuple(RUN_FORMATS)),
    as_json: bool = AS_JSON,
) -> None:
    """Carry out a change, wave after wave; what fails is taken back.

    The network is verified before and after each wave. Credentials: FABRIC_USERNAME, and FABRIC_PASSWORD or an SSH key. Exit
    code 1: a wave was not carried out; 3: work by hand comes first.
    """
    reports = asked(form, tuple(RUN_FORMATS), "json=run.json", as_json)
    longest = MINUTES * 60
    refuse(lambda report: check_range(report, "--wait", wait, 0, longest, f"at most {longest} seconds", hint=WAIT_HINT))
    with progress("plan"):
        work = pipeline.change_work(folder, jobs=jobs)
    settings = Options(only=wave, dry_run=dry_run, resume=resume, limit_s=wait, workers=forks)
    with work as planned:
        outcome = _in_lab(planned, settings) if str(inventory) == LAB else _on_hosts(inventory, planned, settings)
    write(reports, lambda name: RUN_FORMATS[name](outcome))
    if outcome.failed:
        raise typer.Exit(FINDINGS)
    if outcome.waits:
        raise typer.Exit(MISSING)


def _on_hosts(inventory: Path, work: Work, settings: Options) -> Outcome:
    with pipeline.change_hosts(inventory, work) as network:
        return pipeline.change_apply(work, network, settings, tell=say)


def _in_lab(work: Work, settings: Options) -> Outcome:
    """The lab goes on as it is when the command is stopped: `--resume` goes on with it."""
    from fabric.lab.machine.namespaces import LabError

    try:
        return pipeline.change_in_lab(work, settings, tell=say)
    except LabError as error:
        say(f"fabric: {error}")
        raise typer.Exit(FINDINGS) from None


def _refuse_inputs(reports: Sequence[tuple[str, Path | None]], inputs: Iterable[str]) -> None:
    """Refuses a report in the place of a file that is read."""
    names = [name for name in inputs if Path(name).exists()]
    for _, file in reports:
        if file is not None and file.exists() and any(file.samefile(name) for name in names):
            usage(f"--format: {file} is an input of the command", "choose another file")


def _check_leftovers(folder: Path, written: Mapping[str, str]) -> None:
    """Refuses a folder with files of another change, which would be typed with those of this one."""
    found = sorted(path.relative_to(folder).as_posix() for path in folder.glob("wave-*/*/**/*") if path.is_file())
    if other := [name for name in found if name not in written]:
        usage(f"--files: {folder} has files of another change: {listed(other, 2)}", "choose another folder, or empty it")


def _share(text: str, report: Report) -> float:
    """`90%` or `0.9`."""
    match = FLOOR.fullmatch(text.strip())
    value = (float(match[1]) / 100 if match[1] else float(match[2])) if match else 2.0
    if value > 1:
        mistake(report, "--floor", f"expected a share from 0% to 100%, got {text!r}", "such as `--floor 90%`")
    return value


change = typer.Typer(
    help="Plan a change in waves, and carry it out.\n\n`fabric change OLD NEW` goes from one intent to another, "
    f"`fabric change INTENT ACTION NAME…` does something to switches: ACTION is {either(ACTIONS)}. "
    "Both are short for `fabric change plan`.",
    no_args_is_help=True,
)
change.command("plan")(plan_)
change.command("apply")(apply_)
