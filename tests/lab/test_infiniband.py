"""`fabric lab` of InfiniBand on ibsim and opensm: up, proved, broken, down in seconds; tables entry by entry as predicted."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from fabric import pipeline
from fabric.lab.blueprint import Names
from fabric.lab.infiniband import simulator
from fabric.lab.infiniband.simulator import missing, prefix, processes
from fabric.lab.lab import Lab
from fabric.lab.outcome import FAIL, PASS, SKIP, Outcome
from tests.configs.infiniband.designs import ENGINES, STATIC, subnets, text
from tests.lab.record_tables import real_tables
from tests.solver.infiniband.test_tables import made, written


@pytest.fixture(scope="module", autouse=True)
def programs() -> None:
    """Skips where a subnet cannot be simulated, and says why."""
    if why := missing() or ("" if os.geteuid() == 0 else "needs root"):
        pytest.skip(why)


def lab_of(folder: Path, name: str, *replacements: tuple[str, str]) -> Lab:
    its = text(name, f"t{os.getpid()}")
    for old, new in replacements:
        assert old in its
        its = its.replace(old, new)
    (folder / "dc1.yaml").write_text(its)
    return pipeline.lab(pipeline.load(folder / "dc1.yaml"))


def tried(lab: Lab, scenarios: bool = True) -> Outcome:
    """Up, tested, down whatever came of it, and nothing left behind."""
    try:
        lab.up()
        return lab.test(scenarios=scenarios)
    finally:
        lab.down()
        site = lab.names.site
        assert not processes(prefix(site))
        assert not Names(site).folder.exists()


def statuses(outcome: Outcome) -> dict[str, str]:
    return {result.id: result.status for result in outcome.results}


def test_64_ports(tmp_path: Path) -> None:
    """All proofs and both accidents."""
    outcome = tried(lab_of(tmp_path, "two-tiers"))
    found = statuses(outcome)
    assert found.pop("subnet-partitions") == SKIP
    assert set(found.values()) == {PASS}, [r.faults for r in outcome.results if r.faults]
    assert len(found) == 5
    tables = next(result for result in outcome.results if result.id == "subnet-tables")
    assert tables.measured == {"same_entries_percent": 100.0}
    assert "worst shift 1 on a link" in tables.summary


def test_tenants_have_no_paths_to_each_other(tmp_path: Path) -> None:
    outcome = tried(lab_of(tmp_path, "tenants"), scenarios=False)
    assert set(statuses(outcome).values()) == {PASS}, [r.faults for r in outcome.results if r.faults]


def test_compute_and_storage_side_by_side(tmp_path: Path) -> None:
    outcome = tried(lab_of(tmp_path, "compute-and-storage"), scenarios=False)
    assert (
        next(r.summary for r in outcome.results if r.id == "subnet-manager")
        == "backend: ftree, 64 ports, storage: ftree, 16 ports"
    )


def test_an_edited_partition_file_is_found(tmp_path: Path) -> None:
    """The manager takes the files as they lie in the folder: tenants with one P_Key reach each other."""
    lab = lab_of(tmp_path, "tenants")
    pipeline.generate(pipeline.load(tmp_path / "dc1.yaml")).write()
    path = tmp_path / "generated" / lab.names.site / "subnet-manager" / "backend" / "partitions.conf"
    path.write_text(path.read_text().replace("blue=0x8100", "blue=0x8001"))
    outcome = tried(lab, scenarios=False)
    assert statuses(outcome)["subnet-partitions"] == FAIL
    faults = [fault.message for result in outcome.results for fault in result.faults]
    assert any("expected no path, got the opposite" in fault for fault in faults)


def test_an_unknown_engine_is_found(tmp_path: Path) -> None:
    """opensm logs it, routes with minhop, and its exit code is 0."""
    lab = lab_of(tmp_path, "two-tiers")
    pipeline.generate(pipeline.load(tmp_path / "dc1.yaml")).write()
    path = tmp_path / "generated" / lab.names.site / "subnet-manager" / "backend" / "opensm.conf"
    path.write_text(path.read_text().replace("ftree,updn", "ar_updn"))
    outcome = tried(lab, scenarios=False)
    faults = [fault.message for result in outcome.results for fault in result.faults]
    assert "expected routing by ftree or updn, got minhop" in faults


def test_a_lab_that_is_killed_is_taken_down(tmp_path: Path) -> None:
    lab = lab_of(tmp_path, "two-tiers")
    try:
        lab.up()
        assert lab.status().word == "up"
        for number in processes(prefix(lab.names.site)):
            os.kill(number, 9)
        time.sleep(0.2)
        assert lab.status().word == "broken"
        assert lab.status().dead == ("backend: ibsim", "backend: opensm")
    finally:
        lab.down()
    assert lab.status().word == "none"


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", STATIC)
def test_tables_of_every_engine(name: str, engine: str, tmp_path: Path) -> None:
    used, tables = real_tables(subnets(name)[0], engine, tmp_path, f"t{os.getpid()}-{engine}")
    assert used == engine
    assert written(tables) == written(made(name, engine).forwarding)


@pytest.mark.slow
def test_4096_ports(tmp_path: Path) -> None:
    """Three tiers of the published 16 units: all pairs of 600 shifts, and loads as predicted."""
    path = Path(tmp_path / "dc1.yaml")
    path.write_text(
        "version: 1\nsite: t4096\nfabrics:\n  backend:\n    servers: {model: dgx-b200, count: 512}\n"
        "    topology: {switch: qm9700, unit: {servers: 32}}\n"
    )
    outcome = tried(pipeline.lab(pipeline.load(path)), scenarios=False)
    assert not outcome.failed, [r.faults for r in outcome.failed]


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulator.shutil, "which", lambda name: None if name == "opensm" else f"/usr/sbin/{name}")
    assert simulator.missing() == "opensm not installed (Debian packages)"
