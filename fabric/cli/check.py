"""`fabric check`: is the design sound, and do the files say what the plan says?"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from fabric.cli.common import FINDINGS, MISSING, USAGE, progress, say

if TYPE_CHECKING:
    from fabric.checks.verdict import Verdict


def check(
    files: list[Path] = typer.Argument(None, metavar="FILE…", help="intents", show_default=False),
    configs: Path | None = typer.Option(
        None, "--configs", metavar="DIR", help="judge the configs of this folder; needs no intent", show_default=False
    ),
    batfish: str = typer.Option(
        "", "--batfish", metavar="HOST", envvar="BATFISH_HOST", help="ask this Batfish server as well", show_default=False
    ),
    output: Path | None = typer.Option(None, "-o", "--output", help="folder of generated files", show_default=False),
    form: list[str] = typer.Option(
        [], "--format", metavar="NAME[=FILE]", help="text, json, sarif, junit or github; may be repeated", show_default=False
    ),
    as_json: bool = typer.Option(False, "--json", help="the same as --format json"),
    fail_on: str = typer.Option("error", "--fail-on", help="exit 1 for findings as bad as this: error, warning, note, never"),
    jobs: int = typer.Option(0, "--jobs", min=0, help="processes; 0 takes every core", show_default=False),
) -> None:
    """Check designs, their generated files, or any folder of configs."""
    from fabric import pipeline
    from fabric.checks.reports import FORMATS
    from fabric.checks.run import Scope
    from fabric.checks.verdict import FAIL_ON

    reports = _reports([*form, *(["json"] if as_json else [])] or ["text"], list(FORMATS))
    if fail_on not in FAIL_ON:
        _usage(f"--fail-on: expected {', '.join(FAIL_ON)}, got '{fail_on}'")
    if not files and configs is None:
        _usage("check: expected an intent, or --configs DIR", "fabric check intent/dc1.yaml")
    outcome = pipeline.check(Scope(tuple(files or ()), configs, batfish, output, jobs), fail_on, progress)
    _write(reports, outcome.verdict)
    if outcome.missing:
        say(f"fabric: {outcome.missing}")
    code = USAGE if outcome.broken else FINDINGS if outcome.verdict.fails() else MISSING if outcome.missing else 0
    if code:
        raise typer.Exit(code)


def _reports(forms: list[str], known: list[str]) -> list[tuple[str, Path | None]]:
    """`sarif=check.sarif` → the report's name and where it goes, which is looked at before anything is checked."""
    found: dict[Path | None, str] = {}
    for text in forms:
        name, equals, told = text.partition("=")
        if name not in known or (equals and not told):
            _usage(f"--format: expected one of {', '.join(known)}, with =FILE to write one, got '{text}'")
        file = Path(told) if equals else None
        other = found.setdefault(file, name)
        if other != name and file is None:
            hint = "--format text --format sarif=check.sarif"
            _usage("--format: expected one report on the screen, the others with =FILE", hint)
        if other != name:
            _usage(f"--format: {file} cannot be two reports, {other} and {name}")
        if file is not None and (file.is_dir() or not file.parent.is_dir()):
            _usage(f"--format: {text}: {'a folder has this name' if file.is_dir() else f'there is no folder {file.parent}'}")
    return [(name, file) for file, name in found.items()]


def _write(reports: list[tuple[str, Path | None]], verdict: Verdict) -> None:
    """The reports; a file is whole or as it was before."""
    from fabric.checks.reports import report

    for name, file in reports:
        data = report(name, verdict).encode("utf-8", "backslashreplace")  # names of files may be no text
        try:
            if file is None:
                sys.stdout.flush()
                sys.stdout.buffer.write(data)  # UTF-8 everywhere, whatever the terminal's own encoding is
                sys.stdout.buffer.flush()
            elif file.exists() and not file.is_file():  # a pipe, or /dev/stderr
                file.write_bytes(data)
            else:
                _replace(file.resolve(), data)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(file or "stdout")) from error


def _replace(file: Path, data: bytes) -> None:
    staged = file.with_name(f".{file.name}.new")
    try:
        staged.write_bytes(data)
        os.replace(staged, file)
    except OSError:
        staged.unlink(missing_ok=True)
        raise


def _usage(message: str, hint: str = "") -> None:
    say(f"fabric: {message}" + (f"\n    hint: {hint}" if hint else ""))
    raise typer.Exit(USAGE)
