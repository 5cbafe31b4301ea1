"""The verbs that only show something, the help of every verb, and what starting costs."""

from __future__ import annotations

import json
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import jsonschema
import pytest
import yaml

from fabric import __version__
from fabric.hardware.catalog import server, switch
from fabric.model.settings.site import OwnCatalog
from tests.cli.conftest import Done, Run
from tests.cli.designs import DESIGNS, write
from tests.cost import calls

VERBS = ("init", "plan", "explain", "generate", "export", "catalog", "schema")


def test_help(run: Run) -> None:
    done = run("--help")
    assert done.code == 0
    assert all(f"  {verb} " in done.out for verb in VERBS)
    assert run("--version").out == f"fabricwright {__version__}\n"


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_a_verb(verb: str, run: Run) -> None:
    for flag in ("--help", "-h"):
        done = run(f"{verb} {flag}")
        assert (done.code, done.err) == (0, "")
        assert done.out.startswith(f"Usage: fabric {verb}")


@pytest.mark.parametrize("name", DESIGNS)
def test_schema_takes_what_the_command_takes(name: str, run: Run, tmp_path: Path) -> None:
    done = run("schema")
    assert (done.code, done.err) == (0, "")
    jsonschema.validate(yaml.safe_load(write(tmp_path, name).read_text(encoding="utf-8")), json.loads(done.out))


def test_vendors(run: Run) -> None:
    table = json.loads(run("catalog --os --json").out)
    assert {"sonic", "eos", "frr"} <= set(table)
    assert "sn5600" in table["sonic"]["switches"]
    assert "7060x6-64pe" in table["eos"]["switches"]
    text = run("catalog --os")
    assert text.code == 0
    assert all(f"\n{name} " in f"\n{text.out}" for name in table)


def test_catalog(run: Run) -> None:
    whole = json.loads(run("catalog --json").out)
    assert whole["sn5600"]["ports"][0]["count"] == 64
    assert whole["dgx-h100"]["gpus"] == 8
    assert json.loads(run("catalog sn5600 --json").out) == whole["sn5600"]
    text = run("catalog").out
    heads = [line.split() for line in text.splitlines() if line.startswith(("switch ", "server "))]
    assert heads == [
        ["switch", "maker", "ports", "ASIC", "network", "OS"],
        ["server", "GPUs", "NICs:", "count", "x", "ports", "x", "speed"],
    ]
    assert all(any(line.split()[:1] == [model] for line in text.splitlines()) for model in whole)
    wrong = run("catalog sn560")
    assert (wrong.code, wrong.out) == (2, "")
    assert "sn5600" in wrong.err


@pytest.mark.parametrize("name", ["sn5600", "7060x6-64pe", "sn2201", "64x400g", "dgx-h100", "cpu-2x100"])
def test_an_entry_of_the_catalog_is_a_block_of_an_intent(name: str, run: Run, tmp_path: Path) -> None:
    shown = yaml.safe_load(run(f"catalog {name}").out)
    site = OwnCatalog.model_validate_json(json.dumps(shown["catalog"]))
    entry = site.switches.get(name) or site.servers[name]
    assert entry == (switch(name) or server(name))


def test_export_svg(run: Run, tmp_path: Path) -> None:
    write(tmp_path, "two-fabrics")
    done = run("export svg intent.yaml")
    assert (done.code, done.err) == (0, "")
    assert ET.fromstring(done.out).tag == "{http://www.w3.org/2000/svg}svg"
    assert run("export svg intent.yaml -o all.svg").out == ""
    assert (tmp_path / "all.svg").read_text(encoding="utf-8") == done.out
    one = run("export svg intent.yaml --fabric storage").out
    assert "storage" in one
    assert len(one) < len(done.out)


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        ("export svgg intent.yaml", "did you mean 'svg'?"),
        ("export svg intent.yaml --fabric storag", "did you mean 'storage'?"),
        ("export svg intent.yaml -o no/such/folder.svg", "-o: error[FAB102]: expected an existing folder, got no/such"),
    ],
)
def test_export_refuses(arguments: str, hint: str, run: Run, tmp_path: Path) -> None:
    write(tmp_path, "two-fabrics")
    done = run(arguments)
    assert (done.code, done.out) == (2, "")
    assert hint in done.err


def test_help_imports_little() -> None:
    heavy = ("pydantic", "numpy", "jinja2", "networkx")
    code = (
        "import sys\nfrom fabric.cli import main\ntry:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        f"print([name for name in {heavy} if name in sys.modules], len(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    found, _, modules = done.stderr.rpartition(" ")
    assert found == "[]"
    assert int(modules) < 600
    assert "Usage: fabric" in done.stdout


MILLION = """\
version: 1
site: million
fabrics:
  backend:
    servers: {model: dgx-b300, count: 125000}
    topology: {switch: 512x800g, tiers: 3, unit: {servers: 64}}
"""


def test_a_million_gpus_are_sized_without_their_wiring(run: Run, tmp_path: Path) -> None:
    (tmp_path / "intent.yaml").write_text(MILLION, encoding="utf-8")
    ends: list[Done] = []
    assert calls(lambda: ends.append(run("plan intent.yaml --json"))) < 5_000_000
    row = json.loads(ends[0].out)["fabrics"]["backend"]
    assert row["gpus"] == 1_000_000
    assert row["links"]["server-leaf"] == 1_000_000
    assert row["switches"]["leaf"] == -(-125_000 // 64) * 8


def test_bom_says_which_rack_draws_too_much(run: Run, tmp_path: Path) -> None:
    write(tmp_path, "two-tier")
    assert run("bom intent.yaml --rack-limit 1000").err == ""
    done = run("bom intent.yaml --rack-limit 0.5")
    assert done.code == 1
    assert done.err.startswith("intent.yaml: error[FAB514]: expected at most 0.5 kW a rack in the worst case, got ")
