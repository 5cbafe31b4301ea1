"""`fabric plan`: what a person reads, the JSON contract, exit codes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run
from tests.cli.designs import DESIGNS, write
from tests.goldens import golden

# The contract of `plan --json`; int, float, str or None stand for a value of that type.
RATIO = (float, type(None))
PORTS = dict.fromkeys(("down", "up", "spare", "down_speed_gbps", "up_speed_gbps"), int)
KINDS = dict.fromkeys(("server-leaf", "leaf-leaf", "leaf-spine", "spine-core", "attachments"), int)
TIERS = ("leaf", "spine", "core")
CONTRACT: dict[str, Any] = {
    "servers": int,
    "gpus": int,
    "tiers": int,
    "planes": int,
    "units": int,
    "unit": dict.fromkeys(("servers", "gpus", "leaves"), int),
    "pods": dict.fromkeys(("count", "units", "leaves", "spines"), int),
    "switches": dict.fromkeys(TIERS, int),
    "links": KINDS,
    "cables": KINDS,
    "ports": dict.fromkeys(TIERS, PORTS),
    "oversubscription": {"leaf": float, "spine": RATIO},
    "bgp": {"sessions": int, "asns": int},
    "limits": {"max_servers": int, "max_gpus": int},
}
EXTRA = {"purpose": str, "kind": str, "models": dict, "lengths": dict}


@pytest.mark.parametrize("name", DESIGNS)
def test_text(name: str, run: Run, tmp_path: Path) -> None:
    write(tmp_path, name)
    done = run("plan intent.yaml")
    notes = ["FAB197"] if name == "racks-dual-tor" else []  # a leaf pair for every two servers
    assert (done.code, re.findall("FAB[0-9]+", done.err)) == (0, notes)
    golden(f"cli/plan-{name}.txt", done.out)


MIXED = """\
version: 1
site: dc1
fabrics:
  backend:
    servers:
      - {model: dgx-h100, count: 48, name: old}
      - {model: dgx-b300, count: 40}
    topology: {switch: sn5600, unit: {full: false}}
"""


def test_every_group_of_servers_has_its_units_and_leaves(run: Run, tmp_path: Path) -> None:
    (tmp_path / "intent.yaml").write_text(MIXED)
    golden("cli/plan-groups.txt", run("plan intent.yaml").out)
    row = json.loads(run("plan intent.yaml --json").out)["fabrics"]["backend"]
    groups = row["groups"]
    assert list(groups) == ["old", "dgx-b300"]
    assert sum(own["leaves"] for own in groups.values()) == row["switches"]["leaf"]
    assert sum(own["servers"] for own in groups.values()) == row["servers"]
    assert {name: (own["unit"]["servers"], own["ports"]["down_speed_gbps"]) for name, own in groups.items()} == {
        "old": (64, 400),
        "dgx-b300": (32, 800),
    }


@pytest.mark.parametrize("name", DESIGNS)
def test_json_keeps_the_contract(name: str, run: Run, tmp_path: Path) -> None:
    write(tmp_path, name)
    done = run("plan intent.yaml --json")
    assert (done.code, done.err) == (0, "")
    document = json.loads(done.out)  # one document, nothing beside it
    assert set(document) == {"site", "fabrics"}
    assert document["site"] == "dc1"
    for row in document["fabrics"].values():
        more = {"planned": {"planned": dict}, "mixed": {"groups": dict}}  # where room is reserved; of several groups
        extra = {**EXTRA, **more.get(name, {})}
        assert wrong({**CONTRACT, **extra}, row) == []


def wrong(form: Any, got: Any, at: str = "") -> list[str]:
    """Where a document leaves its form: other keys, or values of another type."""
    if not isinstance(form, dict):
        return [] if isinstance(got, form) and not isinstance(got, bool) else [f"{at}: {got!r}"]
    if set(form) != set(got):
        return [f"{at}: keys {sorted(set(form) ^ set(got))}"]
    return [line for key in form for line in wrong(form[key], got[key], f"{at}.{key}")]


def test_zeros_are_present(run: Run, tmp_path: Path) -> None:
    write(tmp_path, "collapsed")
    row = json.loads(run("plan intent.yaml --json").out)["fabrics"]["backend"]
    assert row["switches"] == {"leaf": 2, "spine": 0, "core": 0}
    assert row["links"]["leaf-spine"] == row["links"]["spine-core"] == row["links"]["attachments"] == 0
    assert row["ports"]["core"] == {"down": 0, "up": 0, "spare": 0, "down_speed_gbps": 0, "up_speed_gbps": 0}
    assert row["oversubscription"]["spine"] is None


@pytest.mark.parametrize("name", DESIGNS)
def test_counts_agree_with_each_other(name: str, run: Run, tmp_path: Path) -> None:
    write(tmp_path, name)
    for row in json.loads(run("plan intent.yaml --json").out)["fabrics"].values():
        links, ports = row["links"], row["ports"]
        between = links["leaf-leaf"] + links["leaf-spine"] + links["spine-core"]
        assert row["bgp"]["sessions"] == (0 if name == "infiniband" else between)
        assert all(0 <= row["cables"][kind] <= links[kind] for kind in links)
        assert row["servers"] <= row["units"] * row["unit"]["servers"]
        assert row["limits"]["max_servers"] >= row["servers"]
        if name != "mixed" and row["switches"]["spine"]:
            assert links["leaf-spine"] == row["switches"]["leaf"] * ports["leaf"]["up"]
            assert links["spine-core"] == row["switches"]["spine"] * ports["spine"]["up"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("plan", "Missing argument 'FILE'"),
        ("plan nosuch.yaml", "nosuch.yaml: error[FAB001]"),
        ("plan .", "error[FAB001]"),
        ("plan --yaml intent.yaml", "No such option"),
        ("plan intent.yaml other.yaml", "unexpected extra argument"),
        ("plan wrong.yaml --json", "wrong.yaml:4:12: error[FAB102]"),
        ("nosuch", "No such command"),
    ],
)
def test_bad_usage_prints_no_result(arguments: str, words: str, run: Run, tmp_path: Path) -> None:
    write(tmp_path, "collapsed")
    (tmp_path / "wrong.yaml").write_text("version: 1\nsite: dc1\nfabrics:\n  backend: 3\n", encoding="utf-8")
    done = run(arguments)
    assert (done.code, done.out) == (2, "")
    assert words in done.err
    assert "Traceback" not in done.err


def test_the_limit_says_which_group_grows_and_what_makes_room(run: Run, tmp_path: Path) -> None:
    """Where no unit more fits: larger units do fit, in the words of the line."""
    two = "[{name: gpu, model: dgx-h100, count: COUNT}, {name: sto, model: dgx-a100, count: 12}]"
    topology = "{switch: sn5600, tiers: 2, unit: {servers: 32}}"
    text = f"version: 1\nsite: s\nfabrics: {{backend: {{servers: SERVERS, topology: {topology}}}}}\n"
    (tmp_path / "intent.yaml").write_text(text.replace("SERVERS", two.replace("COUNT", "64")), encoding="utf-8")
    found = re.search(r"limit +([0-9,]+) servers at two tiers, with more of gpu alone\n", run("plan intent.yaml").out)
    assert found is not None
    most = int(found[1].replace(",", "")) - 12
    (tmp_path / "intent.yaml").write_text(text.replace("SERVERS", two.replace("COUNT", str(most))), encoding="utf-8")
    line = next(line for line in run("plan intent.yaml").out.splitlines() if line.startswith("  limit"))
    assert "no room for another unit of gpu: more spines, a larger `unit` or `tiers: 3`" in line
    (tmp_path / "intent.yaml").write_text(text.replace("SERVERS", two.replace("COUNT", str(most + 1))), encoding="utf-8")
    assert run("plan intent.yaml").code == 2
