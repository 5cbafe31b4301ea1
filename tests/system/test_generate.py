"""What `fabric generate` does to a folder."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests import ROOT
from tests.system.conftest import FABRIC, Run, tree


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder with the starter's intent."""
    (tmp_path / "intent").mkdir()
    shutil.copy(ROOT / "intent/starter.yaml", tmp_path / "intent/starter.yaml")
    return tmp_path


def edit(site: Path, old: str, new: str) -> None:
    path = site / "intent/starter.yaml"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_check_tells_what_is_not_up_to_date(site: Path, fabric: Run) -> None:
    before = fabric("generate", "--check", "intent/starter.yaml", cwd=site)
    assert before.returncode == 1
    assert not (site / "generated").exists()
    assert fabric("generate", "intent/starter.yaml", cwd=site).returncode == 0
    assert fabric("generate", "--check", "intent/starter.yaml", cwd=site).returncode == 0
    config = site / "generated/starter/configs/backend-leaf001/frr.conf"
    config.write_text(config.read_text(encoding="utf-8") + "! by hand\n", encoding="utf-8")
    after = fabric("generate", "--check", "intent/starter.yaml", cwd=site)
    assert after.returncode == 1
    assert "generated/starter/configs/backend-leaf001/frr.conf: differs" in after.stderr


def test_growth_changes_no_config_of_a_leaf_that_is_there(site: Path, fabric: Run) -> None:
    fabric("generate", "intent/starter.yaml", cwd=site)
    before = tree(site / "generated/starter")
    edit(site, "count: 8", "count: 16")
    assert fabric("generate", "intent/starter.yaml", cwd=site).returncode == 0
    after = tree(site / "generated/starter")
    for name in ("configs/backend-leaf001/frr.conf", "configs/backend-leaf002/config_db.json"):
        assert after[name] == before[name]
    spine = "configs/backend-spine001/frr.conf"
    lost = set(before[spine].splitlines()) - set(after[spine].splitlines())
    assert not lost
    edit(site, "count: 16", "count: 8")
    fabric("generate", "intent/starter.yaml", cwd=site)
    again = tree(site / "generated/starter")
    assert {p: d for p, d in again.items() if p.startswith("configs/")} == {
        p: d for p, d in before.items() if p.startswith("configs/")
    }


def test_a_file_of_another_origin_is_never_changed(site: Path, fabric: Run) -> None:
    fabric("generate", "intent/starter.yaml", cwd=site)
    notes = site / "generated/starter/configs/backend-leaf001/notes.txt"
    notes.write_text("mine\n", encoding="utf-8")
    edit(site, "  backend:", "  training:")
    assert fabric("generate", "intent/starter.yaml", cwd=site).returncode == 0
    assert notes.read_text(encoding="utf-8") == "mine\n"
    assert not (notes.parent / "frr.conf").exists()


def test_limit_leaves_the_others_alone(site: Path, fabric: Run) -> None:
    fabric("generate", "intent/starter.yaml", cwd=site)
    before = tree(site / "generated/starter")
    edit(site, "site: starter", "site: starter\nmanagement: {ntp: time.example.net}")
    done = fabric("generate", "intent/starter.yaml", "--limit", "*leaf001", cwd=site)
    assert done.returncode == 0
    after = tree(site / "generated/starter")
    changed = {path for path in before if before[path] != after[path]}
    assert "configs/backend-leaf001/config_db.json" in changed
    assert all("leaf001" in path or path == "manifest.txt" for path in changed)
    nothing = fabric("generate", "intent/starter.yaml", "--limit", "nosuch*", cwd=site)
    assert nothing.returncode == 2
    assert "matches no switch" in nothing.stderr


def test_diff_is_a_patch_that_git_takes(site: Path, fabric: Run) -> None:
    fabric("generate", "intent/starter.yaml", cwd=site)
    edit(site, "site: starter", "site: starter\nmanagement: {ntp: time.example.net}")
    shown = fabric("generate", "--diff", "intent/starter.yaml", cwd=site)
    assert shown.returncode == 1
    assert '+        "time.example.net"' in shown.stdout
    applied = subprocess.run(["git", "apply", "-p1"], cwd=site, input=shown.stdout, text=True, check=False)
    assert applied.returncode == 0
    patched = tree(site / "generated/starter")
    fabric("generate", "intent/starter.yaml", cwd=site)
    after = tree(site / "generated/starter")
    assert {p: d for p, d in patched.items() if p != "manifest.txt"} == {
        p: d for p, d in after.items() if p != "manifest.txt"
    }


@pytest.mark.parametrize("written", [0, 60, *(pytest.param(files, marks=pytest.mark.slow) for files in (1, 20, 120, 180))])
def test_a_killed_run_is_finished_or_rolled_back(written: int, fabric: Run, examples: Path, tmp_path: Path) -> None:
    """SIGKILL of the whole process group once so many files are on disk; the next run ends as one in peace does."""
    intent, site = ROOT / "intent/h100-4su.yaml", tmp_path / "h100-4su"
    child = subprocess.Popen([str(FABRIC), "generate", str(intent), "-o", str(tmp_path)], start_new_session=True)
    while child.poll() is None and sum(len(files) for _, _, files in os.walk(site)) < written:
        time.sleep(0.001)
    with suppress(ProcessLookupError):  # it was faster
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    done = fabric("generate", intent, "-o", tmp_path)
    assert done.returncode == 0, done.stderr
    assert tree(site) == tree(examples / "h100-4su")


def test_infiniband_is_planned_and_reported_once(tmp_path: Path, fabric: Run) -> None:
    intent = tmp_path / "ib.yaml"
    intent.write_text(
        "version: 1\nsite: ib\nfabrics:\n  backend:\n    servers: {model: dgx-h100, count: 64}\n"
        "    topology: {switch: qm9700, unit: {servers: 32}}\n",
        encoding="utf-8",
    )
    done = fabric("generate", intent)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("InfiniBand") == 1
    assert sorted(path.name for path in (tmp_path / "generated/ib").iterdir()) == [
        ".gitattributes",
        "hosts",
        "links.csv",
        "lock.yaml",
        "manifest.txt",
        "plan.json",
        "subnet-manager",
    ]
