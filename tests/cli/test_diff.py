"""`fabric diff`: what a person, a pull request and a program read, and how it ends."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import ROOT
from tests.cli.conftest import Run
from tests.cli.diff_sites import EVPN, RED, SITES, fabric, site
from tests.goldens import GOLDEN, golden


def write(folder: Path, name: str) -> None:
    for side, text in zip(("old", "new"), SITES[name], strict=True):
        (folder / f"{side}.yaml").write_text(text, encoding="utf-8")


@pytest.mark.parametrize("name", SITES)
def test_text(name: str, run: Run, tmp_path: Path) -> None:
    write(tmp_path, name)
    done = run("diff old.yaml new.yaml")
    assert (done.code, done.err) == (0, "")
    golden(f"diff/{name}.txt", done.out)


@pytest.mark.parametrize("name", ["growth-sonic", "tenant-eos", "nothing"])
def test_markdown(name: str, run: Run, tmp_path: Path) -> None:
    write(tmp_path, name)
    done = run("diff old.yaml new.yaml --format markdown")
    assert (done.code, done.err) == (0, "")
    golden(f"diff/{name}.md", done.out)


HEAD_KEYS = ("old", "new", "site", "state", "differs")


def test_json(run: Run, tmp_path: Path) -> None:
    write(tmp_path, "growth-sonic")
    done = run("diff old.yaml new.yaml --format json")
    golden("diff/growth-sonic.json", done.out)
    document = json.loads(done.out)
    assert list(document) == [*HEAD_KEYS, "intent", "fabrics", "links", "capacity", "devices", "hosts"]
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
    assert "backend-spine001" not in leaf.partition("Configs\n")[2]
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


def test_moves_come_first_and_are_never_folded_behind_new_links(run: Run, tmp_path: Path) -> None:
    write(tmp_path, "growth-shared-pool")
    out = run("diff old.yaml new.yaml --no-configs").out
    summary, service = (out.partition(f"{title}\n")[2].partition("\n\n")[0] for title in ("Summary", "In service"))
    assert summary.splitlines()[1].startswith("  in service: 8 links to move (backend leaf-spine 8); 2 switches to drain")
    assert service.count("  move  backend-leaf") == 4
    assert "  and 4 more" in service
    assert "  lay" not in service
    marked = run("diff old.yaml new.yaml --no-configs --format markdown").out
    assert marked.index("- move ") < marked.index("- lay ")
    document = json.loads(run("diff old.yaml new.yaml --format json").out)
    assert {"fabric": "backend", "kind": "leaf-spine", "action": "move", "act": "move", "links": 8} in document["links"][
        "by_fabric"
    ]
    assert [drain["switches"] for drain in document["links"]["drains"]] == [["backend-spine001"], ["backend-spine002"]]
    assert sum(link["action"] == "move" for link in document["links"]["changes"]) == 8
    assert document["fabrics"]["backend"]["retuned"] == ["backend-spine001", "backend-spine002"]
    assert document["fabrics"]["storage"]["peers"] == []


def test_files_of_servers_in_service(run: Run, tmp_path: Path) -> None:
    """Fabrics that share a pool name every block, so growth of one changes the routes of all; alike ones are one row."""
    write(tmp_path, "growth-shared-pool")
    document = json.loads(run("diff old.yaml new.yaml --format json").out)
    assert [(change["path"], len(change["hosts"]), change["of_servers"]) for change in document["hosts"]] == [
        ("60-fabric.yaml", 4, True),
    ]
    assert all(line.startswith('+      - {to: "10.128.') for change in document["hosts"] for line in change["lines"])
    text = run("diff old.yaml new.yaml").out
    assert "  in service: files of 4 servers change: routes only\n" in text
    one = run("diff old.yaml new.yaml --limit quad-0002").out
    assert "  in service: files of 1 server change: routes only\n" in one
    own = SITES["growth-shared-pool"][0].replace("version: 1\n", "version: 1\noutput: {hosts: false}\n")
    (tmp_path / "old.yaml").write_text(own, encoding="utf-8")
    assert "files of" not in run("diff old.yaml new.yaml").out


def test_a_figure_that_reads_the_same_has_no_row(run: Run, tmp_path: Path) -> None:
    for name in ("growth-sonic", "spines-eos", "qos-cumulus"):
        write(tmp_path, name)
        assert not re.search(r"[+-]0\.0 %", run("diff old.yaml new.yaml").out)


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
    wanted = (GOLDEN / "diff" / "shrink-frr.txt").read_text(encoding="utf-8").partition("\n")[2]
    assert run("diff git:HEAD intent/dc1.yaml").out.partition("\n")[2] == wanted
    git(tmp_path, "commit", "-qam", "two")
    assert run("diff git:HEAD~1 intent/dc1.yaml").out.partition("\n")[2] == wanted
    assert run("diff git:HEAD~1:intent/dc1.yaml git:HEAD").out.partition("\n")[2] == wanted
    assert run("diff git: intent/dc1.yaml").out == "site dc1: git: → intent/dc1.yaml\nnothing differs\n"


def test_a_site_that_comes_or_goes(run: Run, tmp_path: Path) -> None:
    """What a pull request adds or removes is compared too, with every pair of names that says so."""
    text = SITES["spines-eos"][0]
    (tmp_path / "intent").mkdir()
    (tmp_path / "intent/dc1.yaml").write_text(text, encoding="utf-8")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "one")
    (tmp_path / "intent/dc2.yaml").write_text(text.replace("site: dc1", "site: dc2"), encoding="utf-8")
    (tmp_path / "intent/dc1.yaml").unlink()
    done = run("diff git:HEAD intent/dc2.yaml --exit-code")
    assert (done.code, done.err) == (1, "")
    assert "  the whole site is added: it is in intent/dc2.yaml, not in git:HEAD\n" in done.out
    assert "  fabric backend is added: 4 servers, 16 GPUs, 4 leaves, 2 spines\n" in done.out
    assert "  configs of switches: 6 new\n" in done.out
    assert "in service" not in done.out
    gone = run("diff git:HEAD intent/dc1.yaml --format json")
    assert (gone.code, gone.err) == (0, "")
    document = json.loads(gone.out)
    assert (document["state"], document["differs"], document["site"]) == ("removed", True, "dc1")
    assert {device["state"] for device in document["devices"]} == {"removed"}
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "two")
    assert "the whole site is added" in run("diff git:HEAD~1 git:HEAD:intent/dc2.yaml").out
    assert "the whole site is removed" in run("diff git:HEAD~1:intent/dc1.yaml git:HEAD").out
    for words, error in (
        ("git:HEAD intent/dc3.yaml", "intent/dc3.yaml: error[FAB001]: cannot be read"),  # on neither side
        ("git:nosuch intent/dc2.yaml", "git:nosuch: error[FAB001]: cannot be read: invalid object name"),
        ("intent/dc2.yaml intent/dc3.yaml", "intent/dc3.yaml: error[FAB001]: cannot be read"),
        ("git:HEAD:intent/dc1.yaml intent/dc2.yaml", "git:HEAD:intent/dc1.yaml: error[FAB001]: cannot be read"),
    ):
        done = run(f"diff {words}")
        assert (done.code, done.out) == (2, "")
        assert error in done.err


def workflow() -> str:
    """The step of docs/diff.md that writes the comment."""
    text = (ROOT / "docs" / "diff.md").read_text(encoding="utf-8")
    lines = text[text.index("- run: |\n") :].partition("        env:")[0].splitlines()[1:]
    return "\n".join(line.strip() for line in lines)


def test_the_documented_workflow_has_every_intent_that_changed(run: Run, tmp_path: Path) -> None:
    (tmp_path / "intent").mkdir()
    for name in ("dc1", "dc2", "dc3"):
        text = SITES["shrink-frr"][0].replace("site: dc1", f"site: {name}")
        (tmp_path / f"intent/{name}.yaml").write_text(text, encoding="utf-8")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "one")
    git(tmp_path, "update-ref", "refs/remotes/origin/main", "HEAD")
    (tmp_path / "intent/dc1.yaml").write_text(SITES["shrink-frr"][1], encoding="utf-8")
    (tmp_path / "intent/dc2.yaml").unlink()
    (tmp_path / "intent/dc4.yaml").write_text(SITES["shrink-frr"][0].replace("site: dc1", "site: dc4"), encoding="utf-8")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "two")
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "BASE": "main"}
    subprocess.run(["bash", "-e", "-c", workflow()], cwd=tmp_path, env=environment, check=True)
    found = (tmp_path / "diff.md").read_text(encoding="utf-8")
    heads = [line.removeprefix("Site ").partition(".")[0] for line in found.splitlines() if line.startswith("Site ")]
    assert heads == ["dc1", "dc2", "dc4"]
    assert found.count("the whole site is added") == found.count("the whole site is removed") == 1


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
        ("old.yaml new.yaml --format html", "--format: error[FAB102]: expected one of text, markdown, json, or NAME"),
        ("old.yaml new.yaml --fabric nosuch", "--fabric: error[FAB106]: unknown fabric 'nosuch'"),
        ("old.yaml new.yaml --limit nosuch*", "--limit: error[FAB162]: 'nosuch*' matches no switch or server of either side"),
        ("old.yaml new.yaml --size big", "--size: error[FAB102]: expected a size of 8 bytes to 4 TiB, got 'big'"),
        ("old.yaml new.yaml -o nosuch/diff.txt", "-o: error[FAB102]: expected an existing folder, got nosuch"),
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
