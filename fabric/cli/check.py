"""`fabric check`: is the design sound, and do the files say what the plan says?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import typer

from fabric import pipeline
from fabric.audit.checks import FAIL_ON, Scope
from fabric.audit.checks.reports import FORMATS, report
from fabric.cli.common import FINDINGS, MISSING, USAGE, option, progress, say
from fabric.cli.output import AS_JSON, GENERATED, JOBS, asked, formats_option, one_of, usage, write


def check(
    files: list[Path] = typer.Argument(None, metavar="FILE…", help="intent files", show_default=False),
    configs: Path | None = option(None, "--configs", "DIR", "folder of configs to check, with or without an intent"),
    batfish: str = option("", "--batfish", "HOST", "Batfish server for additional checks", envvar="BATFISH_HOST"),
    cluster: Path | None = option(None, "--cluster", "DIR", "folder of objects of the servers' Kubernetes cluster, as YAML"),
    generated: Path | None = GENERATED,
    form: list[str] = formats_option(FORMATS),
    as_json: bool = AS_JSON,
    fail_on: str = option(
        "error", "--fail-on", "SEVERITY", "lowest severity with exit code 1: error, warning, note or never"
    ),
    all_servers: bool = option(False, "--all-servers", help="compare every server with its leaves, instead of a sample"),
    whole: bool = typer.Option(False, "--all", help="report every finding, even if many devices share it"),
    jobs: int = JOBS,
) -> None:
    """Check designs, generated files against the plan, or configs alone."""
    reports = asked(form, FORMATS, "sarif=check.sarif", as_json)
    one_of("--fail-on", [fail_on], list(FAIL_ON))
    if not files and configs is None:
        usage("check: expected an intent, or --configs DIR", "fabric check intent/dc1.yaml")
    if cluster is not None and not files:
        usage("--cluster: expected an intent beside it", "fabric check intent/dc1.yaml --cluster objects")
    with progress("plan and checks"):
        outcome = pipeline.check(
            Scope(
                files=tuple(files or ()),
                configs=configs,
                batfish=batfish,
                output=generated,
                jobs=jobs,
                all_servers=all_servers,
                cluster=cluster,
            ),
            fail_on,
            progress,
        )
    verdict = replace(outcome.verdict, whole=whole)
    write(reports, lambda name: report(name, verdict))
    if all(file is not None for _, file in reports):
        say(verdict.sentence())
    if outcome.missing:
        say(f"fabric: {outcome.missing}")
    code = USAGE if outcome.broken else FINDINGS if verdict.fails() else MISSING if outcome.missing else 0
    if code:
        raise typer.Exit(code)
