"""Where `fabric export` and `fabric explore` write, and what they say where they cannot."""

from __future__ import annotations

import json
import re
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


def test_all_designs_are_shown_where_asked(run: Run, tmp_path: Path) -> None:
    """The text says how many are left out; the others follow the best without a number, with the same figures as the CSV."""
    write(tmp_path, "two-tier")
    words = "explore intent.yaml --vary oversubscription=1,2,4 --by switches"
    best, whole = run(words).out, run(f"{words} --all").out
    assert re.search(r"more designs?; --all shows", best)
    assert "--all" not in whole
    csv = run(f"{words} --format csv").out.splitlines()
    built = [line for line in csv[1:] if not line.endswith('"')]
    rows = whole.split("\n\n")[1].splitlines()[1:]
    assert len(rows) == len(built) > len(best.split("\n\n")[1].splitlines()) - 2
    assert rows[0].split()[0] == "1"


def test_one_unit_is_not_spread(run: Run, tmp_path: Path) -> None:
    """Placement makes no difference there, so it is no advice: a smaller unit is."""
    text = (
        "version: 1\nsite: s\nfabrics: {backend: {servers: {model: dgx-h100, count: 16}, topology: {switch: sn5600, UNIT}}}\n"
    )
    for name, unit in (("one", "unit: {servers: 16}"), ("two", "unit: {servers: 8}")):
        (tmp_path / f"{name}.yaml").write_text(text.replace("UNIT", unit), encoding="utf-8")
    one, two = (run(f"explore {name}.yaml --vary oversubscription=1,2").out for name in ("one", "two"))
    assert "one unit, where packed and spread are the same; --vary unit=8,4" in one
    assert "one unit" not in two
    assert "one unit, where packed and spread are the same" in run("compare one.yaml").out
