"""`fabric lab` of InfiniBand on ibsim and opensm: up, proved, broken, down in seconds; tables entry by entry as predicted."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from fabric import pipeline
from fabric.configs.infiniband.topology import netlist
from fabric.lab import up_down
from fabric.lab.blueprint import Names
from fabric.lab.infiniband import simulator
from fabric.lab.infiniband.simulator import missing, prefix, processes
from fabric.lab.lab import Lab
from fabric.lab.outcome import PASS, SKIP, Outcome
from fabric.model.plan.subnets import Cable, Subnet
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


# --- injected faults: each is found with its place -------------------------------------------------------------------

Plant = Callable[[Lab, pytest.MonkeyPatch], None]


def edited(name: str, edit: Callable[[str], str]) -> Plant:
    """The manager takes the files as they lie in the folder."""

    def plant(lab: Lab, _: pytest.MonkeyPatch) -> None:
        pipeline.generate(pipeline.load(lab.path)).write()
        path = lab.path.parent / "generated" / lab.names.site / "subnet-manager" / "backend" / name
        path.write_text(edit(path.read_text()))

    return plant


def cabled(edit: Callable[[Subnet], Iterable[Cable]]) -> Plant:
    """The network is cabled otherwise than planned."""

    def plant(_: Lab, patch: pytest.MonkeyPatch) -> None:
        patch.setattr(up_down, "netlist", lambda subnet, *given: netlist(replace(subnet, cables=tuple(edit(subnet))), *given))

    return plant


def without_first_guid(text: str) -> str:
    return re.sub(r"^0x.*\n", "", text, count=1, flags=re.MULTILINE)


def half_a_leaf(subnet: Subnet) -> list[Cable]:
    """The third leaf lacks every second uplink."""
    uplinks = [cable for cable in subnet.cables if subnet.nodes[cable.a].name == "backend-leaf003"]
    return [cable for cable in subnet.cables if cable not in uplinks[::2]]


def with_a_slow_link(subnet: Subnet) -> list[Cable]:
    names = {at for at, node in enumerate(subnet.nodes) if node.name == "dgx-h100-0003 mlx5_4"}
    return [replace(cable, speed_gbps=100) if cable.a in names else cable for cable in subnet.cables]


def swapped(subnet: Subnet) -> list[Cable]:
    """Two servers of a leaf are on each other's ports."""
    first, second = [cable for cable in subnet.cables if subnet.nodes[cable.a].name.endswith("mlx5_4")][:2]
    ports = {first: second.b_port, second: first.b_port}
    return [replace(cable, b_port=ports.get(cable, cable.b_port)) for cable in subnet.cables]


ROOT = "root-guids.conf: subnet 'backend': expected 1 more root: backend-spine001"
LEAF_3 = "backend-leaf003 5/1 – backend-spine001 3/1 is missing"
SLOW = "dgx-h100-0003 port compute3 (OSFP3P1) and backend-leaf003 port 2/1 run at 100G, expected 400G"
SWAP = "dgx-h100-0001 compute3 – backend-leaf003 1/1 and dgx-h100-0002 compute3 – backend-leaf003 1/2 are swapped"
PKEY = "partitions.conf:41: subnet 'backend': tenant 'blue': expected P_Key 0x0100, got 0x0001"
PLANTED: dict[str, tuple[str, Plant, dict[str, str]]] = {  # → design, fault, words of each proof that fails
    "swapped cable": ("two-tiers", cabled(swapped), {"subnet-cables": SWAP}),
    "wrong P_Key": (
        "tenants",
        edited("partitions.conf", lambda text: text.replace("blue=0x8100", "blue=0x8001")),
        {"subnet-manager": PKEY, "subnet-partitions": "expected no path, got the opposite"},
    ),
    "missing root": (
        "two-tiers",
        edited("root-guids.conf", without_first_guid),
        {"subnet-manager": ROOT, "subnet-tables": "backend-spine001 1/1 to backend-leaf001: expected 56 routes"},
    ),
    "half-connected leaf": (
        "two-tiers",
        cabled(half_a_leaf),
        {"subnet-cables": LEAF_3, "subnet-tables": "backend-leaf003 5/1"},
    ),
    "slow link": ("two-tiers", cabled(with_a_slow_link), {"subnet-cables": SLOW}),
    "unknown engine": (  # the manager logs it, routes with minhop, and its exit code is 0
        "two-tiers",
        edited("opensm.conf", lambda text: text.replace("ftree,updn", "ar_updn")),
        {"subnet-manager": "expected routing by ftree or updn, got minhop"},
    ),
}


@pytest.mark.parametrize("planted", PLANTED)
def test_planted(planted: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    design, plant, expected = PLANTED[planted]
    lab = lab_of(tmp_path, design)
    plant(lab, monkeypatch)
    outcome = tried(lab, scenarios=False)
    faults = {result.id: [fault.message for fault in result.faults] for result in outcome.failed}
    assert set(faults) == set(expected), faults
    for proof, words in expected.items():
        assert any(words in message for message in faults[proof]), (proof, faults[proof])


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
    """Three tiers of the published 16 units: all pairs of 600 shifts, loads as predicted, a cut and two swapped cables."""
    path = Path(tmp_path / "dc1.yaml")
    path.write_text(
        "version: 1\nsite: t4096\nfabrics:\n  backend:\n    servers: {model: dgx-b200, count: 512}\n"
        "    topology: {switch: qm9700, unit: {servers: 32}}\n"
    )
    outcome = tried(pipeline.lab(pipeline.load(path)))
    assert not outcome.failed, [r.faults for r in outcome.failed]


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulator.shutil, "which", lambda name: None if name == "opensm" else f"/usr/sbin/{name}")
    assert simulator.missing() == "opensm not installed (Debian packages)"
