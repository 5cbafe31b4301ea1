"""`-o`, `--json`, `--format`, `--limit` and `--fabric` mean the same in every command: each command is a row."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from keyword import iskeyword
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.models import OptionInfo

from fabric import pipeline
from fabric.cli.lazy import COMMANDS, load
from fabric.solver.estimate.request import EstimateRequest
from tests.cli.conftest import Run

FILE, FOLDER = "FILE", "FOLDER"
INTENT = """\
version: 1
site: dc1
fabrics:
  backend: {nos: eos, servers: {model: dgx-h100, count: 4}, topology: {switch: 7060x6-64pe, unit: {servers: 4}}}
"""
JOB = """\
model: {parameters: 8e9, layers: 32, hidden: 4096, sequence: 4096}
batch: {micro_batches: 8}
parallel: {tensor: 8}
compute: {tflops_per_gpu: 989, utilisation: 0.4}
checkpoint: {write_GBps: 100}
failures: {detection_s: 300, restart_s: 600}
"""
TABLE = """\
id: t
collective: all_reduce
platform: {gpu: h100, gpus_per_node: 8, nodes: 1, nvlink_GBps_per_direction: 450}
source: this test
rows: [{bytes: 1073741824, time_us: 4400}]
"""
JOBS = "jobs: [{gpus: 8, hours: 1, count: 3}]\n"


@dataclass(frozen=True)
class Row:
    """What a command takes.

    Attributes:
        words: arguments after its name, for a run; "" for one that needs root or a server.
        output: what -o names: a FILE of text, FILE.pdf, a FOLDER, or PATH, one of both.
        json: --json prints one document.
        form: --format NAME[=FILE], repeatable.
        limit: --limit GLOB.
        fabric: --fabric NAME.
        code: exit code of the run.
    """

    words: str
    output: str = FILE
    json: bool = False
    form: bool = False
    limit: bool = False
    fabric: bool = False
    code: int = 0


ROWS = {
    "init": Row("dc2"),
    "plan": Row("dc1.yaml", json=True),
    "import": Row("", output="FILE.yaml", json=True, form=True),
    "explore": Row("dc1.yaml --vary oversubscription=1", json=True, form=True, fabric=True),
    "explain": Row("FAB102", json=True),
    "report": Row("dc1.yaml --no-load", output="FILE.html", fabric=True),
    "generate": Row("dc1.yaml", output=FOLDER, limit=True),
    "check": Row("dc1.yaml", json=True, form=True),
    "drift": Row("dc1.yaml running", json=True, form=True, code=3),
    "verify": Row("dc1.yaml state", json=True, form=True, code=1),
    "diff": Row("dc1.yaml dc1.yaml", json=True, form=True, limit=True, fabric=True),
    "change plan": Row("dc1.yaml reboot backend-leaf001 --floor 0%", json=True, form=True, fabric=True),
    "change apply": Row("", json=True, form=True),
    "estimate": Row("dc1.yaml --size 1G", json=True, fabric=True),
    "step": Row("dc1.yaml --job job.yaml", json=True, fabric=True),
    "goodput": Row("dc1.yaml --job job.yaml", json=True, fabric=True),
    "compare": Row("dc1.yaml --job job.yaml", json=True, fabric=True),
    "utilisation": Row("dc1.yaml --jobs jobs.yaml", json=True, fabric=True),
    "capacity": Row("dc1.yaml", json=True, fabric=True),
    "model score": Row("table.yaml", json=True),
    "model calibrate": Row("table.yaml", output="PLATFORM"),
    "doctor": Row("dc1.yaml --busbw all_reduce:16:1G:300", json=True, fabric=True),
    "acceptance write": Row("dc1.yaml", output=FOLDER, fabric=True),
    "acceptance judge": Row("accepted results", json=True, form=True, code=1),
    "bom": Row("dc1.yaml --rack-limit 100", json=True, form=True),
    "cabling list": Row("dc1.yaml", output="PATH", json=True, form=True, limit=True, fabric=True),
    "cabling labels": Row("dc1.yaml", output="FILE.pdf", limit=True, fabric=True),
    "cabling verify": Row("dc1.yaml lldp", json=True, form=True, code=1),
    "lab up": Row("", limit=True),
    "lab status": Row(""),
    "lab test": Row("", json=True, form=True, fabric=True),
    "lab state": Row("", output=FOLDER),
    "lab running": Row("", output=FOLDER),
    "lab down": Row(""),
    "export": Row("svg dc1.yaml", output="PATH", fabric=True),
    "push netbox": Row("", json=True),
    "push nautobot": Row("", json=True),
    "headroom": Row("--switch sn5600 --speed 400 --length 30", json=True),
    "catalog": Row("sn5600", json=True),
    "schema": Row("check"),
}
RUN = [name for name, row in ROWS.items() if row.words]


def commands() -> Iterator[tuple[str, Any]]:
    """Every command by its words."""
    for name in COMMANDS:
        command = load(name)
        inner = getattr(command, "commands", None)
        yield from ((f"{name} {sub}", its) for sub, its in inner.items()) if inner else [(name, command)]


def options(command: Any) -> dict[str, Any]:
    return {word: its for its in command.params for word in its.opts}


@pytest.fixture
def site(run: Run) -> Run:
    """An intent and every file that a command takes beside it."""
    for name, text in {"dc1.yaml": INTENT, "job.yaml": JOB, "table.yaml": TABLE, "jobs.yaml": JOBS}.items():
        Path(name).write_text(text)
    for folder in ("running", "state", "lldp", "notes", "empty", "results"):
        Path(folder).mkdir()
    Path("results/cabling.json").write_text('{"site": "dc1", "findings": [], "notes": [], "summary": {}}')
    Path("running/x.cfg").write_text("! device: x (DCS-7060X6, EOS-4.33.1F)\nhostname x\nrouter bgp 65001\n")
    Path("lldp/backend-leaf001.json").write_text('{"lldpNeighbors": []}')
    Path("state/backend-leaf001.json").write_text('{"lldpNeighbors": []}')
    Path("notes/README.md").write_text("see the wiki\n")
    Path("notes/router.cfg").write_text("hostname R1\n!\ninterface GigabitEthernet0/0/0/0\n!\nline vty 0 4\n")
    Path("accepted").mkdir()
    Path("accepted/gates.json").write_text(_gates())
    return run


@cache
def _gates() -> str:
    """The acceptance tests of dc1.yaml."""
    site = pipeline.plan(pipeline.load(Path("dc1.yaml")))
    request = EstimateRequest(routing="", queue_pairs=0)
    return pipeline.acceptance(site, site.fabrics["backend"], request).text()


def test_every_command_has_a_row() -> None:
    assert sorted(name for name, _ in commands()) == sorted(ROWS)


@pytest.mark.parametrize(("name", "command"), list(commands()))
def test_the_options_of_a_command(name: str, command: Any) -> None:
    """A command has the options of its row, with the same meaning as in all others."""
    row, has = ROWS[name], options(command)
    assert has["-o"].metavar == row.output
    assert "--output" in has["-o"].opts
    assert (("--json" in has), ("--format" in has), ("--limit" in has), ("--fabric" in has)) == (
        *(row.json, row.form, row.limit, row.fabric),
    )
    if row.form:
        assert has["--format"].metavar == "NAME[=FILE]"
        assert has["--format"].help.endswith(("repeatable", "repeatable with =FILE"))
        assert has["--json"].help in ("the same as --format json", "print one JSON document")
    assert not row.json or has["--json"].help in ("the same as --format json", "print one JSON document") or name == "explain"
    assert not row.limit or has["--limit"].metavar == "GLOB"
    assert not row.fabric or has["--fabric"].metavar == "NAME"


@pytest.mark.parametrize("name", RUN)
def test_output_is_written_or_refused(site: Run, name: str) -> None:
    """-o names the one file, or the folder of several, that a run writes; nothing else appears beside it."""
    row = ROWS[name]
    target = {FOLDER: "made", "FILE.html": "made.html", "FILE.pdf": "made.pdf", "PLATFORM": "made.yaml"}.get(
        row.output, "made.yaml" if name == "init" else "made.txt"
    )
    before = set(Path().iterdir())
    done = site(*name.split(), *row.words.split(), "-o", target)
    assert done.code == row.code, done.err
    made = {path.name for path in set(Path().iterdir()) - before} - {"fabric.schema.json"}
    assert made == {target}
    assert Path(target).is_dir() == (row.output == FOLDER)
    assert Path(target).is_dir() or Path(target).stat().st_size > 0
    assert done.out == "" or row.output in (FOLDER, "PLATFORM")


@pytest.mark.parametrize("name", RUN)
@pytest.mark.parametrize("target", ["empty", "nowhere/made.txt", "made.zip"])
def test_a_target_that_cannot_be_is_refused(site: Run, name: str, target: str) -> None:
    """A folder for a file, a file for a folder, a folder that is not there: exit code 2, before anything is written."""
    makes = ROWS[name].output == FOLDER or name == "init" or (name == "cabling list" and target == "empty")
    if (makes and target != "made.zip") or (target == "empty" and name in ("plan", "check", "explain")):
        return
    done = site(*name.split(), *ROWS[name].words.split(), "-o", target)
    assert (done.code, done.out) == (2, "")
    assert "-o: error[FAB102]: expected " in done.err
    assert not Path("made.zip").exists()
    assert not Path("nowhere").exists()
    assert list(Path("empty").iterdir()) == []


@pytest.mark.parametrize("name", [name for name in RUN if ROWS[name].json])
def test_json_is_one_document_and_goes_to_a_file(site: Run, name: str) -> None:
    words = [*name.split(), *ROWS[name].words.split()]
    written = site(*words, "-o", "made.json")
    found = json.loads(Path("made.json").read_text())
    assert (written.code, written.out) == (ROWS[name].code, "")
    if ROWS[name].form:  # the others take the same path
        assert json.loads(site(*words, "--json").out).keys() == found.keys()


def test_json_of_a_folder_for_generated_files_is_the_old_option(site: Run) -> None:
    assert site("generate", "dc1.yaml", "-o", "made").code == 0
    done = site("check", "dc1.yaml", "-o", "made")
    assert (done.code, "is now `--generated FOLDER`" in done.err) == (0, True)
    assert site("check", "dc1.yaml", "--generated", "made").out == done.out


@pytest.mark.parametrize("name", [name for name in RUN if ROWS[name].fabric])
def test_an_unknown_fabric(site: Run, name: str) -> None:
    targets = {"report": "made.html", "cabling labels": "made.pdf", "acceptance write": "made"}
    needed = ["-o", targets[name]] if name in targets else []
    done = site(*name.split(), *ROWS[name].words.split(), "--fabric", "bakend", *needed)
    assert (done.code, done.out) == (2, "")
    assert "unknown fabric 'bakend'\n    hint: did you mean 'backend'?" in done.err


@pytest.mark.parametrize("name", [name for name in ROWS if ROWS[name].limit])
def test_a_limit_without_a_match(site: Run, name: str) -> None:
    needed = ["-o", "made.pdf"] if name == "cabling labels" else []
    done = site(*name.split(), *(ROWS[name].words or "dc1.yaml").split(), "--limit", "zz*", *needed)
    assert (done.code, done.out) == (2, "")
    assert "error[FAB162]" in done.err
    assert not Path("made.pdf").exists()


# Commands that judge what others collected, with a place for the folder.
JUDGES = [
    "check --configs {}",
    "check dc1.yaml --configs {} --format junit=made.xml",
    "drift dc1.yaml {} --format sarif=made.sarif",
    "verify dc1.yaml {}",
    "cabling verify dc1.yaml {}",
    "doctor dc1.yaml {}",
    "model score {}",
    "model calibrate {} -o made.yaml",
    "utilisation dc1.yaml --jobs {}",
    "acceptance judge accepted {}",
]


@pytest.mark.parametrize("words", JUDGES)
@pytest.mark.parametrize("folder", ["empty", "notes", "nowhere", "notes/README.md"])
def test_nothing_recognized_is_no_success(site: Run, words: str, folder: str) -> None:
    """Exit code 2, no report, and the message names what is there."""
    before = set(Path().iterdir())
    done = site(*words.format(folder).split())
    assert (done.code, done.out) == (2, "")
    assert folder in done.err
    assert set(Path().iterdir()) == before


# Option with text that selects something → (command, a word that it does not know, what the message says).
WORDS = {
    "--nos": ("init dc2", "sonci", "did you mean 'sonic'"),
    "--server": ("init dc2", "dgx-h10", "did you mean 'dgx-h100'"),
    "--switch": ("init dc2", "sn560", "did you mean 'sn5600'"),
    "--leaf": ("init dc2", "sn560", "did you mean 'sn5600'"),
    "--spine": ("init dc2", "sn560", "did you mean 'sn5600'"),
    "--core": ("init dc2 --tiers 3", "sn560", "did you mean 'sn5600'"),
    "--topology": ("init dc2", "racks", "did you mean 'rack'"),
    "--tiers": ("init dc2", "4", "expected one of auto, 1, 2, 3"),
    "--pods": ("init dc2", "rows=2", "unknown key 'rows'"),
    "--nic-ports": ("init dc2", "2x400G", "expected 2x400"),
    "--uplinks": ("init dc2", "32@800G", "expected 32 or 32@800"),
    "--oversubscription": ("init dc2", "3:1", "expected 3 or 1,7"),
    "--model": ("import running -o made.yaml", "leaf1=sn560", "did you mean 'sn5600'"),
    "--site": ("import running -o made.yaml", "../dc1", "expected a name of letters"),
    "--since": ("report dc1.yaml -o made.html", "old.yaml", "cannot be read"),
    "--against": ("plan dc1.yaml", "old.yaml", "cannot be read"),
    "--fabric": ("estimate dc1.yaml", "backnd", "did you mean 'backend'"),
    "--vary": ("explore dc1.yaml", "kind=racks", "did you mean 'rack'"),
    "--reach": ("explore dc1.yaml", "busbww=350", "did you mean 'busbw'"),
    "--by": ("explore dc1.yaml", "costs", "did you mean 'cost'"),
    "--dask": ("explore dc1.yaml", "scheduler", "expected an address"),
    "--collective": ("estimate dc1.yaml", "allreduce", "did you mean 'all_reduce'"),
    "--floor": ("change dc1.yaml reboot leaf", "90 percent", "expected a share from 0% to 100%"),
    "--size": ("estimate dc1.yaml", "1Gb", "b is bits"),
    "--sweep": ("estimate dc1.yaml", "8-1G", "expected MIN:MAX"),
    "--placement": ("estimate dc1.yaml", "pack", "expected packed, spread"),
    "--gpu-ids": ("estimate dc1.yaml", "0-4", "expected numbers of GPUs"),
    "--communicators": ("estimate dc1.yaml", "rails", "expected a number or per-rail"),
    "--routing": ("estimate dc1.yaml", "ecpm", "did you mean 'ecmp'"),
    "--fail": ("estimate dc1.yaml", "backend-leaf99", "unknown switch or server"),
    "--algorithm": ("estimate dc1.yaml", "rign", "did you mean 'ring'"),
    "--protocol": ("estimate dc1.yaml", "ll12", "did you mean 'll128'"),
    "--batfish": ("check dc1.yaml", "", ""),
    "--format": ("check dc1.yaml", "sarf", "did you mean 'sarif'"),
    "--fail-on": ("check dc1.yaml", "warnings", "did you mean 'warning'"),
    "--limit": ("generate dc1.yaml", "leaf*", "FAB162"),
    "--need": ("verify dc1.yaml state", "route", "did you mean 'routes'"),
    "--partition": ("utilisation dc1.yaml --jobs jobs.yaml", "gpu", "only it has partitions"),
    "--busbw": ("doctor dc1.yaml", "allreduc:16:1G:30", "expected NAME:GPUS:SIZE:BUSBW"),
    "--image": ("acceptance write dc1.yaml -o made", "a b", "expected the name of a container image"),
    "--intent": ("acceptance judge accepted results", "nowhere.yaml", "cannot be read"),
    "--step": ("acceptance judge accepted results", "pairs", "did you mean 'pair'"),
    "--leave-out": ("model score table.yaml --cross-validate", "sources", "did you mean 'source'"),
    "--base": ("model calibrate table.yaml -o made.yaml", "shiped", "cannot be read"),
    "--spares": ("bom dc1.yaml", "optic=3", "did you mean 'optics'"),
    "--sheet": ("cabling labels dc1.yaml -o made.pdf", "l7652", "did you mean"),
    "--device": ("cabling verify dc1.yaml", "leaf1=lldp/backend-leaf001.json", "is not a device of the plan"),
    "--source": ("cabling verify dc1.yaml lldp", "eoss", "did you mean 'eos'"),
    "--as": ("lab up dc1.yaml", "frrr", "did you mean 'frr'"),
    "--scale-down": ("lab up dc1.yaml --as frr", "2by2", "--scale-down"),
    "--only": ("lab test dc1.yaml", "session", "did you mean 'sessions'"),
    "--from": ("import -o made.yaml", "netbos", "expected netbox, nautobot, got 'netbos'"),
    "--url": ("push netbox dc1.yaml", "netbox", "expected the http:// or https:// URL"),
    "--asic": ("headroom --speed 400 --length 30", "tomahwk5", "did you mean 'tomahawk5'"),
    "--traffic": ("headroom --switch sn5600 --speed 400 --length 30", "burst", "expected static or dynamic"),
}


def test_every_option_with_text_has_a_row() -> None:
    """A new option with text: does it select something? Then an unknown word needs a message."""
    texts = set()
    for name in COMMANDS:
        word = f"{name}_" if iskeyword(name) else name
        made = getattr(import_module(f"fabric.cli.{word}"), word)
        for command in [its.callback for its in made.registered_commands] if isinstance(made, typer.Typer) else [made]:
            for its in inspect.signature(command).parameters.values():
                if isinstance(its.default, OptionInfo) and its.annotation in ("str", "list[str]"):
                    texts |= {next(word for word in its.default.param_decls or () if word.startswith("--"))}
    assert sorted(texts - WORDS.keys()) == []


@pytest.mark.parametrize("option", [option for option, row in WORDS.items() if row[1]])
def test_a_word_that_an_option_does_not_know(site: Run, option: str) -> None:
    command, word, message = WORDS[option]
    done = site(*command.split(), option, word)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert not Path("made.yaml").exists()
