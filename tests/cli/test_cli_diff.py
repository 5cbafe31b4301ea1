"""`fabric diff`: what a person, a pull request and a program read, and how it ends."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from .cli_diff_sites import EVPN, RED, SITES, fabric, site
from .conftest import Run

GOLDEN = Path(__file__).parents[1] / "golden" / "diff"


def golden(name: str, text: str) -> None:
    """Compares with `tests/golden/diff/NAME`; UPDATE_GOLDEN=1 rewrites it."""
    path = GOLDEN / name
    if os.environ.get("UPDATE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def write(folder: Path, name: str) -> None:
    for side, text in zip(("old", "new"), SITES[name], strict=True):
        (folder / f"{side}.yaml").write_text(text, encoding="utf-8")


@pytest.mark.parametrize("name", SITES)
def test_text(name: str, run: Run, tmp_path: Path) -> None:
    write(tmp_path, name)
    done = run("diff old.yaml new.yaml")
    assert (done.code, done.err) == (0, "")
    golden(f"{name}.txt", done.out)


@pytest.mark.parametrize("name", ["growth-sonic", "tenant-eos", "nothing"])
def test_markdown(name: str, run: Run, tmp_path: Path) -> None:
    write(tmp_path, name)
    done = run("diff old.yaml new.yaml --format markdown")
    assert (done.code, done.err) == (0, "")
    golden(f"{name}.md", done.out)


def test_json(run: Run, tmp_path: Path) -> None:
    write(tmp_path, "growth-sonic")
    done = run("diff old.yaml new.yaml --format json")
    golden("growth-sonic.json", done.out)
    document = json.loads(done.out)
    assert list(document) == ["old", "new", "site", "differs", "intent", "fabrics", "links", "capacity", "devices"]
    assert {change["device"]: change["state"] for change in document["devices"]} == {
        "backend-spine001": "changed",
        "backend-spine002": "changed",
        "backend-leaf001": "changed",  # the longer row of racks needs a longer class of cables
        "backend-leaf002": "added",
    }
    spine = document["devices"][0]["files"][0]
    assert (spine["path"], spine["form"]) == ("config_db.json", "json-patch")
    assert json.loads("\n".join(spine["lines"])) == spine["json_patch"]


@pytest.mark.parametrize(
    ("name", "option", "code"),
    [("tenant-eos", "", 0), ("tenant-eos", " --exit-code", 1), ("nothing", " --exit-code", 0)],
)
def test_exit_code(name: str, option: str, code: int, run: Run, tmp_path: Path) -> None:
    write(tmp_path, name)
    assert run(f"diff old.yaml new.yaml{option}").code == code


def test_options(run: Run, tmp_path: Path) -> None:
    write(tmp_path, "mtu-nxos")
    whole = run("diff old.yaml new.yaml").out
    assert "backend-spine001" in whole
    leaf = run("diff old.yaml new.yaml --limit backend-leaf*").out
    assert "backend-leaf001 and 1 the same (backend-leaf002)" in leaf
    assert "backend-spine001" not in leaf
    assert "configs of switches (of those that match backend-leaf*): 2 changed" in leaf
    without = run("diff old.yaml new.yaml --no-configs").out
    assert "Configs" not in without
    assert "fabrics.backend.underlay.mtu  9216    9000" in without
    assert json.loads(run("diff old.yaml new.yaml --no-configs --format json").out)["devices"] is None
    write(tmp_path, "growth-sonic")
    sizes = run("diff old.yaml new.yaml --no-configs --size 1M --size 64K").out
    assert [line.split("  ")[2] for line in sizes.splitlines() if line.startswith("  backend  all-reduce")] == [
        "all-reduce of 64K",
        "all-reduce of 1M",
    ]
    write(tmp_path, "fabric-comes")
    assert "Fabric storage" not in run("diff old.yaml new.yaml --fabric backend").out
    done = run("diff old.yaml new.yaml -o diff.txt")
    assert (done.out, (tmp_path / "diff.txt").read_text(encoding="utf-8")) == ("", run("diff old.yaml new.yaml").out)


def test_a_renamed_switch_goes_by_both_names(run: Run, tmp_path: Path) -> None:
    write(tmp_path, "names")
    new, old = (run(f"diff old.yaml new.yaml --limit {name}").out for name in ("tor01", "backend-leaf001"))
    assert "configs of switches (of those that match tor01): 1 changed" in new
    assert "configs of switches (of those that match backend-leaf001): 1 changed" in old


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=t", "-c", "user.email=t@example.net", "-c", "commit.gpgsign=false")
    subprocess.run(["git", "-C", str(folder), *who, *words], check=True, capture_output=True)


def test_revisions_of_git(run: Run, tmp_path: Path) -> None:
    """The new intent stands on the numbers of the old one's commit, so nothing that stays is renumbered."""
    old, new = SITES["shrink-frr"]
    (tmp_path / "intent").mkdir()
    (tmp_path / "intent/dc1.yaml").write_text(old, encoding="utf-8")
    git(tmp_path, "init", "-q")
    assert run("generate intent/dc1.yaml").code == 0
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "three")
    (tmp_path / "intent/dc1.yaml").write_text(new, encoding="utf-8")
    wanted = (GOLDEN / "shrink-frr.txt").read_text(encoding="utf-8").partition("\n")[2]
    assert run("diff git:HEAD intent/dc1.yaml").out.partition("\n")[2] == wanted
    git(tmp_path, "commit", "-qam", "two")
    assert run("diff git:HEAD~1 intent/dc1.yaml").out.partition("\n")[2] == wanted
    assert run("diff git:HEAD~1:intent/dc1.yaml git:HEAD").out.partition("\n")[2] == wanted
    assert run("diff git: intent/dc1.yaml").out == "site dc1: git: → intent/dc1.yaml\nnothing differs\n"


def test_templates_of_a_revision(run: Run, tmp_path: Path) -> None:
    """A site's own lines change with its commits."""
    text = site(fabric("eos")) + "overrides:\n  - {template: site/own.eos.j2, role: leaf}\n"
    (tmp_path / "site").mkdir()
    own = '{{% extends "eos/device.j2" %}}\n{{% block users %}}\n{{{{ super() }}}}\nalias {}\n{{% endblock %}}\n'
    (tmp_path / "site/own.eos.j2").write_text(own.format("one show version"), encoding="utf-8")
    (tmp_path / "dc1.yaml").write_text(text, encoding="utf-8")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "one")
    (tmp_path / "site/own.eos.j2").write_text(own.format("two show version"), encoding="utf-8")
    out = run("diff git:HEAD dc1.yaml").out
    assert "    no alias one show version\n    alias two show version\n" in out
    assert "backend-leaf001 and 1 the same (backend-leaf002)" in out


BROKEN = site(fabric("eos", 2, EVPN, RED)).replace("quad, count: 2,", "quad, count: two,")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("old.yaml", "Missing argument 'NEW'"),
        ("old.yaml nosuch.yaml", "nosuch.yaml: error[FAB001]: cannot be read"),
        ("git:nosuch old.yaml", "git:nosuch: error[FAB001]: cannot be read: invalid object name 'nosuch'."),
        ("git:HEAD:nosuch.yaml old.yaml", "git:HEAD:nosuch.yaml: error[FAB001]: cannot be read: path 'nosuch.yaml'"),
        ("git:--help old.yaml", "git:--help: error[FAB104]: expected a revision such as git:main"),
        ("git:HEAD git:HEAD", "git:HEAD: error[FAB104]: expected a file of the revision, such as git:main:intent/dc1.yaml"),
        ("old.yaml broken.yaml", "broken.yaml:12:35: error[FAB102]: fabrics.backend.servers.count"),
        ("old.yaml new.yaml --format html", "--format: error[FAB102]: expected a format, got 'html'"),
        ("old.yaml new.yaml --fabric nosuch", "--fabric: error[FAB106]: unknown fabric 'nosuch'"),
        ("old.yaml new.yaml --limit nosuch*", "--limit: error[FAB162]: 'nosuch*' matches no switch of either side"),
        ("old.yaml new.yaml --size big", "--size: error[FAB102]: expected a size of 8 bytes to 4 TiB, got 'big'"),
        ("old.yaml new.yaml -o nosuch/diff.txt", "--output: error[FAB102]: expected a folder that is there, got nosuch"),
    ],
)
def test_bad_input(arguments: str, words: str, run: Run, tmp_path: Path) -> None:
    write(tmp_path, "tenant-eos")
    (tmp_path / "broken.yaml").write_text(BROKEN, encoding="utf-8")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "old.yaml")
    git(tmp_path, "commit", "-qm", "old")
    done = run(f"diff {arguments}")
    assert (done.code, done.out) == (2, "")
    assert words in done.err
    assert "Traceback" not in done.err


def test_the_mistakes_of_both_sides_come_together(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(BROKEN, encoding="utf-8")
    (tmp_path / "b.yaml").write_text(BROKEN, encoding="utf-8")
    err = run("diff a.yaml b.yaml").err
    assert [line.split(":")[0] for line in err.splitlines() if "error[" in line] == ["a.yaml", "b.yaml"]
