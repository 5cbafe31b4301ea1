"""`fabric verify`: the state of the switches of a site against its plan."""

from __future__ import annotations

from pathlib import Path

import typer

from fabric import pipeline
from fabric.audit.checks.reports import FORMATS, report
from fabric.audit.verify.reports import state_report
from fabric.base.text import plural
from fabric.cli.common import FILE, FINDINGS, MISSING, option, progress, say
from fabric.cli.output import AS_JSON, asked, formats_option, one_of, write
from fabric.nos.state.records import KINDS


def verify(
    file: Path = FILE,
    state: Path = typer.Argument(..., metavar="STATE", help="folder of collected state", show_default=False),
    form: list[str] = formats_option(FORMATS),
    as_json: bool = AS_JSON,
    before: Path = option(None, "--before", "STATE", "earlier folder: counters count from there"),
    need: list[str] = option([], "--need", "KIND", "kind of state that every switch must have; repeatable"),
    whole: bool = typer.Option(False, "--all", help="print every finding and complete lists"),
) -> None:
    """Compare the state that switches report with the plan.

    Ports, cables, sessions, routes, EVPN, counters and optics. Exit code 3: nothing is wrong, but a switch has no state, or
    lacks a kind of state that --need names.
    """
    reports = asked(form, FORMATS, "sarif=verify.sarif", as_json)
    one_of("--need", need, list(KINDS))
    with progress("plan"):
        plan = pipeline.plan(pipeline.load(file))
    with progress("state of the switches"):
        verified = pipeline.verify_state(plan, state, before)
    shown = state_report(verified, whole)
    write(reports, lambda name: report(name, shown))
    if shown.verdict.fails():
        raise typer.Exit(FINDINGS)
    if verified.silent:
        say(f"fabric: no state of {plural(len(verified.silent), 'switch', 'switches')}")
    lacking = verified.lacks(need)
    for one in lacking:
        say(f"fabric: --need {one.kind}: {one.words}")
    if verified.silent or lacking:
        raise typer.Exit(MISSING)
