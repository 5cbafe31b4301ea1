"""`-o FILE` of every command that prints one document: what it would print goes to the file, whole or not at all.

A command that writes a folder, or a file of a form of its own, declares `-o` itself.
"""

from __future__ import annotations

import inspect
import io
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import typer

from fabric.cli import stdio
from fabric.cli.common import FINDINGS, MISSING, check_target, refuse, say
from fabric.cli.reports import put, usage

GENERATED = typer.Option(
    None, "--generated", metavar="FOLDER", help="folder of generated files", show_default="the intent's, or generated/"
)
_FILE = typer.Option(
    None,
    "-o",
    "--output",
    metavar="FILE",
    help="file to write what is printed to",
    show_default="stdout",
    rich_help_panel="Output",
)
_OF_ENDING = {".csv": "csv", ".json": "json", ".md": "markdown", ".sarif": "sarif", ".xlsx": "xlsx", ".xml": "junit"}
_NAME = "output"
_WRITTEN = (FINDINGS, MISSING)  # exit codes of a command that has printed its result


def with_output(command: Callable[..., None]) -> Callable[..., None]:
    """The command with `-o FILE`, unless it has `-o` of its own."""
    signature = inspect.signature(command)
    if any("-o" in (getattr(its.default, "param_decls", None) or ()) for its in signature.parameters.values()):
        return command

    @wraps(command)
    def run(**options: Any) -> None:
        file = options.pop(_NAME)
        if file is not None and file.is_dir() and options.get("generated", file) is None:
            options["generated"], file = file, None
            say("fabric: `-o FOLDER` of this command is now `--generated FOLDER`; the next release removes the old option")
        if file is None:
            command(**options)
            return
        name = "fabric.xlsx" if "form" in options and file.suffix.lower() == ".xlsx" else "fabric.txt"
        refuse(lambda report: check_target(report, "-o", file, name))
        if "form" in options:
            command(**options | _as_format(file, options["form"], options["as_json"]))
        else:
            is_json = {"as_json": True} if "as_json" in options and file.suffix.lower() == ".json" else {}
            _to_file(file, lambda: command(**options | is_json))

    option = inspect.Parameter(_NAME, inspect.Parameter.KEYWORD_ONLY, default=_FILE, annotation=Path | None)
    run.__signature__ = signature.replace(parameters=[*signature.parameters.values(), option])  # type: ignore[attr-defined]
    run.__annotations__ = {**command.__annotations__, _NAME: Path | None}
    return run


def _as_format(file: Path, form: list[str], as_json: bool) -> dict[str, Any]:
    """`-o FILE` as `--format NAME=FILE`, for the report that is stated without a file, else for the one of its ending."""
    stated = [*(name for name in form if "=" not in name), *(["json"] if as_json else [])]
    unnamed = stated or [_OF_ENDING.get(file.suffix.lower(), "text")]
    return {"form": [name for name in form if "=" in name] + [f"{name}={file}" for name in unnamed], "as_json": False}


def _to_file(file: Path, command: Callable[[], None]) -> None:
    """Runs a command whose stdout is a file; nothing is written where it fails."""
    stdout, memory = sys.stdout, io.BytesIO()
    sys.stdout = stdio.in_memory(memory)
    code = 0
    try:
        command()
    except typer.Exit as stop:
        code = stop.exit_code
    finally:
        sys.stdout.flush()
        text, sys.stdout = memory.getvalue(), stdout
    if text and code in (0, *_WRITTEN):
        put(file, text)
        say(f"wrote {file}")
    elif not code:
        usage(f"-o {file}: expected output to write, got none", "remove -o")
    if code:
        raise typer.Exit(code)
