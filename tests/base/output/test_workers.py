"""Two runs at once, and one run in several processes."""

import multiprocessing
import os
import pickle
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from fabric.base.output import OutputError, Store
from fabric.base.output.journal import Step, stage
from tests.base.output.helpers import generate, killed_at, snapshot, whole


def test_two_at_once(site: Path) -> None:
    with Store(site).transaction() as run:
        run.write("a", b"1")
        with pytest.raises(OutputError, match="another run") as refused:
            generate(site, {"a": b"2"})
        assert refused.value.hint
        run.commit()
    assert snapshot(site) == whole({"a": b"1"})
    generate(site, {"a": b"2"})


def test_a_worker_that_outlives_its_run_does_not_hold_the_lock(site: Path) -> None:
    ready_in, ready_out = os.pipe()
    end_in, end_out = os.pipe()

    def fork_and_die(step: Step) -> None:
        with Store(site).transaction():
            if os.fork() == 0:
                os.close(end_out)
                os.write(ready_out, b"!")
                os.read(end_in, 1)  # until the test ends
                os._exit(0)
            os.read(ready_in, 1)
            step("die")

    assert killed_at(0, fork_and_die)
    generate(site, {"a": b"1"})
    for pipe in (ready_in, ready_out, end_in, end_out):
        os.close(pipe)


def test_workers_stage(site: Path) -> None:
    generate(site, {"f1": b"1", "f2": b"old", "gone": b"1"})
    context = multiprocessing.get_context("fork")
    with Store(site).transaction() as run, ProcessPoolExecutor(2, mp_context=context) as pool:
        jobs = [pool.submit(stage, site, f"f{n}", str(n).encode(), run.owned.get(f"f{n}")) for n in range(1, 20)]
        states = [run.add(job.result()).state for job in jobs]
        changes = run.commit()
    assert states == ["unchanged", "changed"] + ["new"] * 17
    assert (changes.removed, changes.changed, len(changes.new)) == (("gone",), ("f2",), 17)
    assert snapshot(site) == whole({f"f{n}": str(n).encode() for n in range(1, 20)})


def test_an_error_from_a_worker_keeps_its_hint() -> None:
    copy = pickle.loads(pickle.dumps(OutputError("m", "h")))
    assert (copy.message, copy.hint, str(copy)) == ("m", "h", "m")


def test_staging_needs_an_open_run_of_this_folder(site: Path, tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="no run is open"):
        stage(site, "a", b"1", None)
    with Store(site).transaction() as run:
        elsewhere = Store(tmp_path / "other").transaction()
        with elsewhere:
            staged = stage(tmp_path / "other", "a", b"1", None)
        run.add(staged)
        with pytest.raises(OutputError, match="a was not staged"):
            run.commit()
    assert not site.exists()
