"""`--format NAME[=FILE]`, of every verb that has reports: one on the screen, others in files."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

import typer

from fabric.cli.common import USAGE, show_diagnostics


def asked(forms: Sequence[str], known: Sequence[str], example: str) -> list[tuple[str, Path | None]]:
    """`sarif=check.sarif` → the report's name and where it goes, which is looked at before any work is done.

    Args:
        example: of one with a file, for who gets it wrong.
    """
    found: dict[Path | None, str] = {}
    for text in forms:
        name, equals, told = text.partition("=")
        if name not in known or (equals and not told):
            usage(f"--format: expected one of {', '.join(known)}, with =FILE to write one, got '{text}'")
        file = Path(told) if equals else None
        other = found.setdefault(file, name)
        if other != name and file is None:
            hint = f"--format text --format {example}"
            usage("--format: expected one report on the screen, the others with =FILE", hint)
        if other != name:
            usage(f"--format: {file} cannot be two reports, {other} and {name}")
        if file is not None and (file.is_dir() or not file.parent.is_dir()):
            usage(f"--format: {text}: {'a folder has this name' if file.is_dir() else f'there is no folder {file.parent}'}")
    return [(name, file) for file, name in found.items()]


def write(reports: Sequence[tuple[str, Path | None]], report: Callable[[str], str | bytes]) -> None:
    """The reports; a file is whole or as it was before."""
    for name, file in reports:
        put(file, report(name))


def put(file: Path | None, made: str | bytes) -> None:
    """Writes a file whole or leaves it as it was; no file is stdout."""
    data = made if isinstance(made, bytes) else made.encode("utf-8", "backslashreplace")  # names of files may be no text
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


def usage(message: str, hint: str = "") -> NoReturn:
    """Refuses a command line. `message` begins with the option or command, `--jobs: expected …`."""
    from fabric.diagnostics import Diagnostic, Place, printable

    where, _, what = printable(message).partition(": ")
    show_diagnostics([Diagnostic("FAB102", Place(where), what, hint)])
    raise typer.Exit(USAGE)
