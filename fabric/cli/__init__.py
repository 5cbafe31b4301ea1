"""The command `fabric`: one verb a file, each thin; a file is imported when its verb runs (`lazy.py`)."""

from __future__ import annotations

import atexit
import gc
import os
import sys
import traceback
from functools import cache
from typing import Any

import typer

from fabric.base.reading import GUARD
from fabric.cli import terminal
from fabric.cli.common import FINDINGS, INTERNAL, INTERRUPTED, MISSING, NO_READER, OUT, USAGE, option, say, show_diagnostics
from fabric.cli.lazy import Lazy

_ClickError: type[Exception] = typer.BadParameter.__mro__[2]  # ClickException, wherever this Typer has its Click

app = typer.Typer(
    cls=Lazy,
    name="fabric",
    help="Design AI-datacenter networks as code: a YAML intent becomes a plan and the configs of every switch.",
    epilog="`fabric COMMAND --help` shows options and an example, `fabric explain CODE` explains a finding or error.\n\n"
    "Exit codes: 0 success, 1 findings, 2 invalid input or usage, 3 missing dependency or privilege, 70 internal error.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)


def _version(wanted: bool) -> None:
    if wanted:
        from fabric.base.version import __version__

        print(f"fabricwright {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="print the version"),
    debug: bool = typer.Option(False, "--debug", help="show a traceback on internal errors"),
    color: str = option("auto", "--color", "WHEN", "auto (color on a terminal), always or never"),
) -> None:
    OUT.debug = debug
    if color not in terminal.COLOURS:
        raise typer.BadParameter(f"expected {', '.join(terminal.COLOURS)}, got '{color}'", param_hint="--color")
    terminal.CHOICE.colour = color


def main(arguments: list[str] | None = None) -> None:
    """Entry point; ends the process.

    Exit codes: 0 fine, 1 findings, 2 bad input or usage, 3 something outside is missing, 70 an internal error.
    """
    words = _color_first(sys.argv[1:] if arguments is None else arguments)
    OUT.debug = GUARD.traceback = "--debug" in words
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy starts a thread a core else: a third of what its import costs
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "1")  # the search for them reads the metadata of every package
    gc.set_threshold(500_000, 100, 1_000)  # plans are many small records and few cycles: collecting took a tenth of the time
    atexit.register(gc.freeze)  # else the interpreter searches a whole plan for cycles before it ends
    terminal.open_streams()
    try:
        code = _run(words)
        sys.stdout.flush()  # here, where a failure can be reported
    except KeyboardInterrupt:
        say("fabric: interrupted")
        code = INTERRUPTED
    except Exception as error:
        code = _failed(error)
    terminal.give_up()
    sys.exit(code)


def _color_first(words: list[str]) -> list[str]:
    """The command line with `--color WHEN` before the verb, where it may stand anywhere."""
    end = words.index("--") if "--" in words else len(words)
    first, rest = list[str](), list[str]()
    for index, word in enumerate(words[:end]):
        is_value = index > 0 and words[index - 1] == "--color"
        (first if is_value or word.partition("=")[0] == "--color" else rest).append(word)
    return [*first, *rest, *words[end:]]


def _run(words: list[str]) -> int:
    """Runs a verb; its exit code. Typer's own `main` is not used: it takes a closed pipe for findings."""
    try:
        with _command().make_context("fabric", list(words)) as context:
            context.command.invoke(context)
    except typer.Exit as stop:
        return stop.exit_code
    except typer.Abort:
        return FINDINGS
    except _ClickError as error:
        shown: Any = error
        shown.show()
        return USAGE
    return 0


@cache
def _command() -> Any:
    return typer.main.get_command(app)


def _failed(error: Exception) -> int:
    """Says what went wrong; the exit code."""
    from fabric.base.diagnostics import InputError, MissingError
    from fabric.base.output.site_folder import OutputError

    if isinstance(error, InputError):
        show_diagnostics(error.diagnostics)
        return USAGE
    if isinstance(error, MissingError):
        say(f"fabric: {error}")
        return MISSING
    if isinstance(error, BrokenPipeError):
        return NO_READER
    if OUT.debug:
        traceback.print_exception(error)
    if isinstance(error, OutputError):
        say(f"fabric: error[FAB160]: {error.message}" + (f"\n    hint: {error.hint}" if error.hint else ""))
        return USAGE
    if isinstance(error, OSError):
        say(f"fabric: {error.filename or type(error).__name__}: {(error.strerror or str(error)).lower()}")
        return USAGE
    _say_internal(error)
    return INTERNAL


def _say_internal(error: Exception) -> None:
    if isinstance(error, MemoryError):
        say("fabric: out of memory\n    hint: `fabric plan FILE --json` counts a site of any size without its wiring")
        return
    what = "nested too deeply" if isinstance(error, RecursionError) else f"{type(error).__name__}: {error}"
    hint = "" if OUT.debug else "\n    hint: run the command again with --debug and report the output"
    say(f"fabric: internal error: {what}{hint}")
