"""`fabric lab up, status, test, state, running, down`: the fabric on real routing daemons before it is bought."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from fabric import pipeline
from fabric.audit.checks.reports import FORMATS
from fabric.base.processes import exit_on_signal
from fabric.base.text import counted, plural, style, volume
from fabric.cli.common import FILE, FINDINGS, MISSING, check_folder, option, out, refuse, say
from fabric.cli.output import AS_JSON, asked, formats_option, one_of, put_text, write
from fabric.lab.infiniband.simulator import Simulator
from fabric.lab.lab import Lab
from fabric.lab.machine.namespaces import LabError
from fabric.lab.reports import report
from fabric.lab.run_tests import NAMES
from fabric.lab.up_down import Choices, Status

lab = typer.Typer(help="Run the generated FRR configs in network namespaces.", no_args_is_help=True)


@lab.command()
def up(
    file: Path = FILE,
    limit: str = option("", "--limit", "GLOB", "only switches with matching names"),
    scale_down: str = option("", "--scale-down", "SPINESxLEAVES", "size of a smaller copy of the design"),
    as_nos: str = option("", "--as", "NOS", "network OS to use in place of the planned one"),
    servers: int = option(2, "--servers", "N", "servers per leaf and tenant", min=0),
) -> None:
    """Start every switch as a network namespace with FRR."""
    with _lab(file, Choices(limit, scale_down, as_nos, servers)) as chosen:
        done = chosen.up()
        for note in done.blueprint.notes:
            say(f"note: {note}")
        for line in done.refused:
            say(f"refused: {line}")
        names = chosen.names
        out(f"{names.site}: {'already ' if done.already else ''}up, {done.blueprint.shape}")
        for first in list(done.blueprint.nodes)[:1]:
            shell = f"vtysh --vty_socket {names.home(first)}" if done.blueprint.views else "ip route"
            print(f"  ip netns exec {names.namespace(first)} {shell}")
        for subnet in done.blueprint.subnets[:1]:
            print(f"  {Simulator(names.site, names.folder, subnet.subnet.name).shell} ibnetdiscover")
        if done.refused:
            raise typer.Exit(FINDINGS)


@lab.command()
def status(file: Path = FILE) -> None:
    """Show the state of a lab."""
    with _lab(file) as chosen:
        found = chosen.status()
        put_text(None, lambda: "\n".join(_status(chosen.names.site, found)) + "\n")
        if found.word == "broken":
            raise typer.Exit(FINDINGS)


def _status(site: str, status: Status) -> Iterator[str]:
    kind = {"up": "pass", "broken": "fail"}.get(status.word, "")
    yield f"{site}: {style(kind, status.word)}"
    if status.word == "none":
        return
    yield f"  namespaces  {status.namespaces}"
    yield f"  nodes       {status.nodes} with {status.running} daemons, {volume(status.memory_bytes)}"
    if status.state:
        choices = status.state.choices
        words = [f"--limit '{choices.limit}'"] if choices.limit else []
        yield f"  built with  {' '.join([*words, *_other_design(choices), f'--servers {choices.servers}'])}"
    yield from (f"  {style('fail', 'dead')}        {line}" for line in status.dead)


def _other_design(choices: Choices) -> list[str]:
    """Options that made another design of the intent."""
    words = [f"--scale-down {choices.scale_down}"] if choices.scale_down else []
    return [*words, *([f"--as {choices.as_nos}"] if choices.as_nos else [])]


@lab.command("test")
def trial(
    file: Path = FILE,
    scenarios: bool = typer.Option(False, "--scenarios", help="also run failure scenarios: links, spines, leaves, cables"),
    only: list[str] = option([], "--only", "NAME", "test or failure scenario to run; repeatable"),
    fabric: str = option("", "--fabric", "NAME", "fabric of the failure scenarios"),
    form: list[str] = formats_option(FORMATS),
    as_json: bool = AS_JSON,
) -> None:
    """Test that the lab matches the plan, also under failures."""
    reports = asked(form, FORMATS, "junit=lab.xml", as_json)
    one_of("--only", only, NAMES)
    with _lab(file) as chosen:
        outcome = chosen.test(only, scenarios, fabric)
        write(reports, lambda name: report(name, outcome))
        if outcome.failed:
            raise typer.Exit(FINDINGS)


@lab.command("state")
def collected(
    file: Path = FILE,
    folder: Path = option(..., "-o --output", "FOLDER", "folder to write"),
    now: bool = typer.Option(False, "--now", help="do not wait until sessions and routes settle"),
) -> None:
    """Write the state of every switch of a lab, for `fabric verify`."""
    from fabric.lab.collect import save

    refuse(lambda report: check_folder(report, "-o", folder))
    with _lab(file) as chosen:
        texts = chosen.collect(settle=not now)
        save(texts, folder)
        switches = len({path.partition("/")[0] for path in texts})
        print(f"{chosen.names.site}: {counted(len(texts), 'file')} of {plural(switches, 'switch', 'switches')} in {folder}")


@lab.command()
def running(file: Path = FILE, folder: Path = option(..., "-o --output", "FOLDER", "folder to write")) -> None:
    """Write the running configs of a lab, for `fabric drift`."""
    from fabric.lab.collect import save

    refuse(lambda report: check_folder(report, "-o", folder))
    with _lab(file) as chosen:
        texts = chosen.running()
        save(texts, folder)
        state = chosen.status().state
        if state and (words := " ".join(_other_design(state.choices))):
            say(f"note: the lab was built with {words}: its configs are not those of {file}")
        switches = len({path.partition("/")[0] for path in texts})
        print(f"{chosen.names.site}: {counted(len(texts), 'file')} of {plural(switches, 'switch', 'switches')} in {folder}")


@lab.command()
def down(file: Path = FILE) -> None:
    """Stop a lab and remove its namespaces and files."""
    with _lab(file) as chosen:
        count = chosen.down()
        print(f"{chosen.names.site}: {'down' if count else 'no lab is up'}")


@contextmanager
def _lab(file: Path, choices: Choices | None = None) -> Iterator[Lab]:
    """The lab of an intent; what goes wrong in it in one line. SIGTERM and SIGHUP clean up as Ctrl-C does."""
    intent = pipeline.load(file)
    if stopped := pipeline.stopped_run(intent):
        say(str(stopped))
    chosen = pipeline.lab(intent)
    chosen.choices = choices or Choices()
    chosen.say = _step
    try:
        with exit_on_signal():
            yield chosen
    except LabError as error:
        say(f"fabric: {error}")
        raise typer.Exit(FINDINGS) from None
    except PermissionError as error:
        say(f"fabric: fabric lab needs root: {error}")
        raise typer.Exit(MISSING) from None


def _step(text: str) -> None:
    """Progress: at once, also through a pipe."""
    print(f"  {text} …", file=sys.stderr, flush=True)
