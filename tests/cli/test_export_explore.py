"""Where `fabric export` and `fabric explore` write, and what they say where they cannot."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.designs import write

SWEEP = "explore intent.yaml --vary oversubscription=1,2"


@pytest.mark.parametrize(
    ("arguments", "reported"),
    [
        ("export nccl intent.yaml", "-o: error[FAB102]: expected a folder, nccl writes 1 file: backend/dgx-h100.xml"),
        (
            "export kubernetes intent.yaml",
            "-o: error[FAB102]: expected a folder, kubernetes writes 3 files: kueue.yaml, nodes.yaml, ",
        ),
        ("export nccl intent.yaml -o intent.yaml", "-o: error[FAB102]: expected a folder, got the file intent.yaml"),
        ("export nccl intent.yaml -o intent.yaml/below", "fabric: intent.yaml/below: not a directory"),
        ("export svg intent.yaml -o folder", "-o: error[FAB102]: expected a file, got the folder folder"),
        ("export svg intent.yaml -o /dev/full", "fabric: /dev/full: no space left on device"),
        ("export svg-rail intent.yaml --rail 99", "--rail: error[FAB163]: expected a number from 1 to 8, got 99"),
        (f"{SWEEP} --resume folder", "--resume: error[FAB102]: expected a file in an existing folder, got folder"),
        (f"{SWEEP} --resume /dev/null", "--resume: error[FAB102]: expected a regular file, got /dev/null"),
        (f"{SWEEP} --plot no/picture.svg", "--plot: error[FAB102]: expected a file in an existing folder"),
        (f"{SWEEP} --dask nonsense", "--dask: error[FAB102]: expected an address such as tcp://host:8786, got 'nonsense'"),
        (f"{SWEEP} --by cost", "--by: error[FAB102]: cost: expected prices, got none"),
        (f"{SWEEP} --placement here", "--placement: error[FAB174]: expected packed, spread or random:SEED, got 'here'"),
    ],
)
def test_what_cannot_be_written_or_meant(arguments: str, reported: str, run: Run, tmp_path: Path) -> None:
    write(tmp_path, "two-tier")
    (tmp_path / "folder").mkdir()
    before = sorted(tmp_path.rglob("*"))
    done = run(arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(reported)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_file_stays_as_it_was_where_the_disk_is_full(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "two-tier")
    (tmp_path / "site.svg").write_text("before", encoding="utf-8")

    def full(draft: Path, data: bytes, target: Path) -> None:
        draft.write_bytes(data[: len(data) // 2])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("fabric.base.formats.atomic_files._stage", full)
    done = run("export svg intent.yaml -o site.svg")
    assert (done.code, done.err) == (2, "fabric: site.svg: no space left on device\n")
    assert (tmp_path / "site.svg").read_text(encoding="utf-8") == "before"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["intent.yaml", "site.svg"]


def test_a_sweep(run: Run, tmp_path: Path) -> None:
    write(tmp_path, "two-tier")
    whole = run(f"{SWEEP} --resume sweep.jsonl --plot sweep.svg --json")
    assert (whole.code, whole.err) == (0, "wrote sweep.svg\n")
    assert len(json.loads(whole.out)["designs"]) == 2
    assert run(f"{SWEEP} --resume sweep.jsonl --json").out == whole.out
    assert (tmp_path / "sweep.svg").read_text(encoding="utf-8").startswith("<svg ")


def test_a_sweep_of_which_nothing_can_be_built_is_a_finding(run: Run, tmp_path: Path) -> None:
    write(tmp_path, "two-tier")
    done = run("explore intent.yaml --vary switch=sn2201")
    assert (done.code, done.err) == (1, "")
    assert done.out.splitlines()[:2] == ["1 design of fabric backend", "none can be built"]
