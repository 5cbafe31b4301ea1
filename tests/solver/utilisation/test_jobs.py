"""Lists of jobs: YAML, and Slurm's accounting in its forms."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fabric.base.diagnostics import InputError
from fabric.solver.utilisation.jobs import Job, Size, read
from tests.solver.utilisation.slurm import job, slurm


def of(folder: Path, text: str, partition: str = "") -> object:
    (folder / "jobs").write_text(text, encoding="utf-8")
    return read(folder / "jobs", partition)


def test_a_list_of_sizes(tmp_path: Path) -> None:
    found = of(tmp_path, "jobs:\n  - {gpus: 8, hours: 1.5}\n  - {gpus: 64, hours: 2, count: 3}\n")
    assert found.sizes == (Size(8, 1.5, 1), Size(64, 2.0, 3))  # type: ignore[attr-defined]
    assert found.gpu_hours() == {8: (1, 12.0), 64: (3, 384.0)}  # type: ignore[attr-defined]


@pytest.mark.parametrize("objects", [False, True])
def test_slurm_counts_gpus_once_and_times_from_the_first(tmp_path: Path, objects: bool) -> None:
    found = of(tmp_path, slurm([(16, 100, 60), (8, 40, 600)], objects))
    assert found.jobs == (Job(8, 600.0, 0.0), Job(16, 60.0, 60.0))  # type: ignore[attr-defined]


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity", "1e999", "1" + "0" * 400, '{"set": true, "number": NaN}'])
def test_a_number_of_slurm_that_is_none_is_no_time_and_no_count(tmp_path: Path, value: str) -> None:
    text = slurm([(8, 40, 600), (8, 41, 601)])
    assert of(tmp_path, text.replace(": 601", f": {value}")).left_out == (("that did not run", 1),)  # type: ignore[attr-defined]
    odd = json.dumps(job(8, 0, 60)).replace('"count": 8', f'"count": {value}')
    found = of(tmp_path, text.replace('"jobs": [', f'"jobs": [{odd}, '))
    assert found.left_out == (("without GPUs", 1),)  # type: ignore[attr-defined]


def test_a_number_with_too_many_digits(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a number has too many digits"):
        of(tmp_path, slurm([(8, 40, 600)]).replace(": 600", ": " + "6" * 5000))


def test_older_and_odd_forms_of_slurm(tmp_path: Path) -> None:
    by_model, no_submit, cpu, pending = (job(4, 0, 60) for _ in range(4))
    by_model["tres"]["allocated"] = [
        {"type": "gres", "name": "gpu:a100", "count": 3},
        {"type": "gres", "name": "gpu:h100", "count": 2},
        {"type": "mem", "name": None, "count": None},
    ]
    by_model["state"] = {"current": "COMPLETED"}
    del no_submit["time"]["submission"]
    cpu["tres"]["allocated"] = cpu["tres"]["allocated"][:1]
    pending["time"]["elapsed"] = {"set": False, "infinite": False, "number": 0}
    rows = [by_model, no_submit, cpu, pending, {**job(4, 9, 9), "partition": "debug"}, 7]
    found = of(tmp_path, json.dumps({"metadata": {}, "jobs": rows}), "train")
    assert found.jobs == (Job(5, 60.0, 0.0), Job(4, 60.0, 5.0))  # type: ignore[attr-defined]
    assert found.left_out == (  # type: ignore[attr-defined]
        ("of other partitions", 1),
        ("that are no job", 1),
        ("that did not run", 1),
        ("without GPUs", 1),
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("job: []", "jobs:1:1: error[FAB172]: unknown key 'job'"),
        ("jobs: []", "jobs:1:7: error[FAB172]: jobs: expected at least 1 entry, got none"),
        ("jobs: [{gpus: 8}]", "jobs:1:8: error[FAB172]: jobs[0].hours: missing key"),
        ("jobs: [{gpus: 8, hours: 2h}]", "jobs:1:25: error[FAB172]: jobs[0].hours: expected a number, got '2h'"),
        ("jobs: [{gpus: 8, minutes: 2, hours: 1}]", "jobs:1:18: error[FAB172]: unknown key 'minutes' under jobs[0]"),
        ("jobs: [{gpus: 0, hours: 1}]", "jobs:1:15: error[FAB172]: jobs[0].gpus: expected 1 to 10000000, got 0"),
        ('{"meta": {}, "jobs": [', "jobs:1:23: error[FAB172]: no JSON: expecting value"),
        ('{"meta": {}, "jobs": 3}', "jobs:1:1: error[FAB172]: jobs: expected a list, got 3"),
        ('{"meta": {}, "jobs": []}', "jobs:1:1: error[FAB172]: expected jobs that ran on GPUs, got none: the list is empty"),
        ('{"meta": {}, "jobs": [{"tres": {}}]}', "expected jobs that ran on GPUs, got none: 1 without GPUs"),
    ],
)
def test_mistakes_have_their_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, expected: str) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "jobs").write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read(Path("jobs"))
    assert expected in str(caught.value)
