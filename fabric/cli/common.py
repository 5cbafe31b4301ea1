"""What the verbs share: exit codes, where words go, and how a finding is shown."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from fabric.base.diagnostics import Diagnostic, InputError, Place, Report, nearest, show
from fabric.base.text import fit, on
from fabric.cli.terminal import clear, progress as progress, screen_of

if TYPE_CHECKING:
    from fabric.model.plan import Plan

FINDINGS, USAGE, MISSING, INTERNAL = 1, 2, 3, 70  # 0 is fine; 70 is EX_SOFTWARE of sysexits.h
INTERRUPTED, NO_READER = 130, 141  # as a shell shows a process that SIGINT or SIGPIPE ended


def option(
    default: Any,
    names: str,
    metavar: str | None = None,
    help: str = "",
    *,
    shown: bool | str | None = None,
    panel: str | None = None,
    **more: Any,
) -> Any:
    """An option of a command.

    Args:
        default: value if it is not given; `...`: it must be.
        names: with blanks between them.
        metavar: of its value; None for a flag.
        help: one line.
        shown: the default in the help, or whether it is there; None: unless it is empty.
        panel: group of options in the help.
        more: as `typer.Option` takes it.
    """
    is_shown = default not in (None, ..., "", []) if shown is None else shown
    return typer.Option(
        default, *names.split(), metavar=metavar, help=help, show_default=is_shown, rich_help_panel=panel, **more
    )


@dataclass
class Out:
    """State of one run of the command."""

    debug: bool = False


OUT = Out()
FILE = typer.Argument(..., metavar="FILE", help="intent file", show_default=False)


def say(text: object) -> None:
    """Progress, warnings and errors: stderr, so that results can be piped. Colours are those of stderr."""
    with suppress(OSError), on(screen_of(sys.stderr)):  # a full or closed stderr is no reason to fail
        clear()
        print(fit(str(text)), file=sys.stderr)


def out(text: str) -> None:
    """A result on stdout, its lines as wide as the terminal at most. For text without tables or colour; see `page`."""
    with page():
        print(fit(text))


@contextmanager
def page() -> Iterator[None]:
    """Text that is made inside is for the terminal of stdout: tables know its width, styles its colours."""
    with on(screen_of(sys.stdout)):
        yield


def show_diagnostics(diagnostics: Iterable[Diagnostic]) -> None:
    """Every finding on stderr."""
    for diagnostic in diagnostics:
        say(diagnostic)


def mistake(report: Report, option: str, message: str, hint: str = "", code: str = "FAB102") -> None:
    """A mistake of the command line, shown with all others."""
    report.error(code, Place(option), message, hint)


def check_range(report: Report, option: str, value: float, least: float, most: float, expected: str, *, hint: str) -> None:
    if not least <= value <= most:
        mistake(report, option, f"expected {expected}, got {value if isinstance(value, int) else format(value, 'g')}", hint)


TEXT = ".txt"  # of what a command prints, in whatever form was asked for
NO_TEXT = frozenset((".html", ".pdf", ".xlsx", ".zip"))
DOCUMENTS = NO_TEXT | {".csv", ".json", ".md", ".svg", ".txt", ".xml", ".yaml", ".yml"}


def check_target(report: Report, option: str, path: Path, name: str, makes_folder: bool = False) -> None:
    """Looks where a file would go before anything is computed for it.

    Args:
        name: what the file could be called; one with the ending of another kind of file is refused, unless this is a text.
        makes_folder: its folder need not exist.
    """
    wrong, ending = path.suffix.lower(), Path(name).suffix
    if path.is_dir():
        mistake(report, option, f"expected a file, got the folder {path}", f"use `{option} {path / name}`")
    elif not path.parent.is_dir() and not makes_folder:
        mistake(
            report, option, f"expected an existing folder, got {path.parent}", f"create it, or use `{option} {path.name}`"
        )
    elif wrong in (NO_TEXT if ending == TEXT else DOCUMENTS) and wrong.replace("yml", "yaml") != ending:
        hint = f"use `{option} {path.with_suffix(ending)}`"
        mistake(report, option, f"expected a file that ends in {ending}, got {path}", hint)


def check_folder(report: Report, option: str, path: Path) -> None:
    """Looks where a folder of several files would go: no file, and no name that only a file has."""
    if path.is_dir():
        return
    if path.exists():
        mistake(report, option, f"expected a folder, got the file {path}", "choose another name")
    elif path.suffix.lower() in DOCUMENTS:
        hint = f"several files are written: use `{option} {path.with_suffix('')}/`"
        mistake(report, option, f"expected a folder, got the name of a file, {path}", hint)


def refuse(check: Callable[[Report], None]) -> None:
    """Raises InputError with what a look at options reports."""
    report = Report()
    check(report)
    report.raise_errors()


def check_fabric(made: Plan, name: str) -> None:
    """Raises InputError where --fabric names none of the site; "" is every fabric."""
    if name and name not in made.fabrics:
        message = f"unknown fabric {show(name)}"
        raise InputError([Diagnostic("FAB106", Place("--fabric"), message, nearest(name, made.fabrics))])


def only(made: Plan, name: str) -> Plan:
    """The plan with one fabric alone, or with all for "". Raises InputError."""
    check_fabric(made, name)
    return replace(made, fabrics={name: made.fabrics[name]}) if name else made
