"""The command `fabric`: one verb a file, each thin; heavy imports happen inside the verbs."""

from __future__ import annotations

import os
import sys

import typer

from fabric.cli import (
    bom,
    cabling,
    calibrate,
    catalog,
    check,
    diff,
    estimate,
    explain,
    explore,
    export,
    generate,
    headroom,
    init,
    lab,
    netbox,
    plan,
    report,
    schema,
    score,
    vendors,
)
from fabric.cli.common import FINDINGS, MISSING, OUT, USAGE, say, show_diagnostics

app = typer.Typer(
    name="fabric",
    help="Design AI-datacenter networks as code: intent in, plan and switch configs out.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)


def _version(wanted: bool) -> None:
    if wanted:
        from fabric import __version__

        print(f"fabricwright {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="print the version"),
    debug: bool = typer.Option(False, "--debug", help="show a traceback when something goes wrong inside"),
) -> None:
    OUT.debug = debug


app.command("init")(init.init)
app.command("plan")(plan.plan)
app.command("check")(check.check)
app.command("explain")(explain.explain)
app.command("generate")(generate.generate)
app.command("diff")(diff.diff)
app.command("export")(export.export)
app.command("estimate")(estimate.estimate)
app.add_typer(cabling.cabling, name="cabling")
app.command("bom")(bom.bom)
app.command("report")(report.report)
app.add_typer(netbox.netbox, name="netbox")
app.add_typer(netbox.nautobot, name="nautobot")
app.command("explore")(explore.explore)
app.command("score")(score.score)
app.command("calibrate")(calibrate.calibrate)
app.add_typer(lab.lab, name="lab")
app.command("headroom")(headroom.headroom)
app.command("catalog")(catalog.catalog)
app.command("vendors")(vendors.vendors)
app.command("schema")(schema.schema)


def main(arguments: list[str] | None = None) -> None:
    """Entry point. Exit codes: 0 fine, 1 findings, 2 bad input or usage, 3 something outside is missing."""
    from fabric.diagnostics import InputError, MissingError

    OUT.debug = "--debug" in (sys.argv[1:] if arguments is None else arguments)
    try:
        app(args=arguments, prog_name="fabric")  # ends the process itself: 0, or 2 for bad usage
    except InputError as error:
        show_diagnostics(error.diagnostics)
        sys.exit(USAGE)
    except MissingError as error:
        say(f"fabric: {error}")
        sys.exit(MISSING)
    except BrokenPipeError:  # the reader of our output has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(FINDINGS)
    except Exception as error:
        _unexpected(error)


def _unexpected(error: Exception) -> None:
    """What is no mistake of the input's; output errors of the store carry a hint of their own."""
    from fabric.output.errors import OutputError

    if OUT.debug:
        raise error
    if isinstance(error, OutputError):
        say(f"fabric: error[FAB160]: {error.message}" + (f"\n    hint: {error.hint}" if error.hint else ""))
        sys.exit(USAGE)
    if isinstance(error, OSError):
        say(f"fabric: {error.filename or ''}: {(error.strerror or str(error)).lower()}")
        sys.exit(USAGE)
    say(
        f"fabric: internal error: {type(error).__name__}: {error}\n    hint: run again with --debug and report what it prints"
    )
    sys.exit(USAGE)
