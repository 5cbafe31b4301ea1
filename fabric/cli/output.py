"""Reports of every verb on the screen or in files: `--format NAME[=FILE]`, and `-o FILE`, written whole or not at all."""

from __future__ import annotations

import inspect
import io
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial, wraps
from pathlib import Path
from typing import Any, NoReturn

import typer

from fabric.base.diagnostics import Diagnostic, Place, nearest
from fabric.base.formats import json_text, write_file, write_files, write_folder
from fabric.base.text import either, fit, guarded, printable
from fabric.cli import terminal
from fabric.cli.common import FINDINGS, MISSING, USAGE, check_target, option, page, refuse, say, show_diagnostics
from fabric.cli.terminal import screen_of

# --- --format NAME[=FILE]: one on the screen, others in files -------------------------------------------------


def formats_option(names: Sequence[str], default: str = "text") -> Any:
    """`--format` of a command with some reports."""
    return option([], "--format", "NAME[=FILE]", f"{either(names)}; repeatable", shown=default)


AS_JSON = typer.Option(False, "--json", help="the same as --format json")
JOBS = option(0, "--jobs", "N", "number of processes", shown="one per core", min=0)


def asked(forms: Sequence[str], names: Sequence[str], example: str, as_json: bool = False) -> list[tuple[str, Path | None]]:
    """`sarif=check.sarif` → the report's name and where it goes, which is looked at before any work is done; else text.

    Args:
        forms: of `--format`.
        names: of all reports of the command.
        example: of one with a file, for who gets it wrong.
        as_json: whether `--json` is given.
    """
    forms = [*forms, *(["json"] if as_json else [])] or ["text"]
    formats: dict[Path | None, str] = {}
    for text in forms:
        name, equals, path = text.partition("=")
        if name not in names or (equals and not path):
            close = nearest(name, names)
            hint = close if close.startswith("did") and name not in names else ""
            usage(f"--format: expected one of {', '.join(names)}, or NAME=FILE, got '{text}'", hint)
        file = Path(path) if equals else None
        other = formats.setdefault(file, name)
        if other != name and file is None:
            hint = f"--format text --format {example}"
            usage("--format: expected at most one report without =FILE", hint)
        if other != name:
            usage(f"--format: {file} is the file of two reports, {other} and {name}")
        if file is not None and file.suffix.lower() in (".yaml", ".yml"):
            usage(f"--format: expected a file for a report, got the name of a YAML file, {file}", f"--format {example}")
        if file is not None and (file.is_dir() or not file.parent.is_dir()):
            usage(
                f"--format: {text}: {'expected a file, got a folder' if file.is_dir() else f'no such folder: {file.parent}'}"
            )
    return [(name, file) for file, name in formats.items()]


def write(reports: Sequence[tuple[str, Path | None]], report: Callable[[str], str | bytes]) -> None:
    """The reports; files are all written, each whole, or none. The one named `text` fits the terminal that it goes to."""
    made = [(file, _made(name == "text" and file is None, partial(report, name))) for name, file in reports]
    files = {file: text for file, text in made if file is not None and _plain(file)}
    write_files({file: encoded(text) for file, text in files.items()})
    for file, text in made:
        if file not in files:
            put(file, text)


def put_text(file: Path | None, make: Callable[[], str]) -> None:
    """Writes text for people: made for the terminal where it goes to one, without limits or colour where it is a file."""
    put(file, _made(file is None, make))


def put_lines(make: Callable[[], Iterable[str]]) -> None:
    """Prints lines for people: tables that are made inside know the width of the terminal."""
    put_text(None, lambda: "\n".join(make()) + "\n")


def put_result(is_json: bool, document: Callable[[], Any], lines: Callable[[], Iterable[str]]) -> None:
    """Prints a result as one JSON document, or as lines for people."""
    if is_json:
        print(json_text(document()))
    else:
        put_lines(lines)


def _made(terminal: bool, make: Callable[[], str | bytes]) -> str | bytes:
    if not terminal:
        return make()
    with page():
        made = make()
        return fit(made) if isinstance(made, str) else made


def put(file: Path | None, content: str | bytes) -> None:
    """Writes a file whole or leaves it as it was; no file is stdout. A symlink that a person names is followed."""
    data = encoded(content, file is None and screen_of(sys.stdout).colour)
    try:
        if file is None:
            sys.stdout.flush()
            sys.stdout.buffer.write(data)  # UTF-8 everywhere, whatever the terminal's own encoding is
            sys.stdout.buffer.flush()
        elif not _plain(file):
            file.write_bytes(data)
        else:
            write_file(file, data)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(file or "stdout")) from error


def put_folder(folder: Path, files: Mapping[str, str | bytes]) -> None:
    """Writes files below a folder that -o names, all or none.

    The folder itself may be a symlink, as the user named it. Its content may come from a checkout: a symlink there is
    refused.
    """
    for name in files:
        at = folder
        for part in Path(name).parts:
            at = at / part
            if at.is_symlink():
                usage(f"-o: {at} is a symlink: files are not written through symlinks", "remove it, or choose another folder")
    write_folder(folder, {name: encoded(content) for name, content in sorted(files.items())})


def encoded(text: str | bytes, colour: bool = False) -> bytes:
    """The bytes of a file: UTF-8, also of names of files that are no text; control characters are spelled."""
    return text if isinstance(text, bytes) else guarded(text, colour).encode("utf-8", "backslashreplace")


def _plain(file: Path) -> bool:
    """Whether this is a file or can become one, and not a pipe or /dev/stderr."""
    return file.is_file() or not file.exists()


def one_of(option: str, words: Iterable[str], known: Sequence[str]) -> None:
    """Refuses a command line with a word that an option does not know."""
    for word in words:
        if word not in known:
            close = nearest(word, known)
            usage(f"{option}: expected {', '.join(known)}, got '{word}'", close if close.startswith("did") else "")


def usage(message: str, hint: str = "") -> NoReturn:
    """Refuses a command line. `message` begins with the option or command, `--jobs: expected …`."""
    where, _, what = printable(message).partition(": ")
    show_diagnostics([Diagnostic("FAB102", Place(where), what, hint)])
    raise typer.Exit(USAGE)


GENERATED = option(None, "--generated", "FOLDER", "folder of generated files", shown="the intent's, or generated/")
_FILE = option(None, "-o --output", "FILE", "file to write what is printed to", shown="stdout", panel="Output")
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
            say("fabric: `-o FOLDER` of this command is now `--generated FOLDER`; version 0.3 removes the old option")
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
    sys.stdout = terminal.in_memory(memory)
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
