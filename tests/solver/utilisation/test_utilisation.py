"""Mixes of jobs whose utilisation is known, and what no run may break."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fabric import pipeline
from fabric.model.plan import FabricPlan
from fabric.solver.network import network
from fabric.solver.utilisation.jobs import Job, Mix, Size
from fabric.solver.utilisation.simulate import POLICIES, Cluster, _Simulation, cluster
from fabric.solver.utilisation.utilisation import Utilisation, lines, utilisation

INTENT = """\
version: 1
site: dc1
fabrics:
  backend:
    nos: sonic
    servers: {model: MODEL, count: COUNT}
    topology: {switch: sn5600TOPOLOGY}
"""


def fabric(folder: Path, topology: str = ", unit: {servers: 32}", count: int = 128, model: str = "dgx-h100") -> FabricPlan:
    text = INTENT.replace("MODEL", model).replace("COUNT", str(count)).replace("TOPOLOGY", topology)
    (folder / "i.yaml").write_text(text, encoding="utf-8")
    return pipeline.plan(pipeline.load(folder / "i.yaml")).fabrics["backend"]


def used(found: Utilisation) -> dict[str, float]:
    return {use.placement: round(use.used, 4) for use in found.uses}


@pytest.mark.parametrize(
    ("gpus", "expected"),
    [
        (160, {"packed": 120 / 128, "topology": 120 / 128, "strict": 80 / 128}),  # 20 of 32 servers of a unit
        (256, {"packed": 1.0, "topology": 1.0, "strict": 1.0}),
        (12, {"packed": 12 / 16, "topology": 12 / 16, "strict": 12 / 16}),  # two servers for one and a half
        (5, {"packed": 5 / 8, "topology": 5 / 8, "strict": 5 / 8}),
        (2, {"packed": 1.0, "topology": 1.0, "strict": 1.0}),
        (520, {"packed": 520 / 1024, "topology": 520 / 1024, "strict": 520 / 1024}),
    ],
)
def test_one_size(tmp_path: Path, gpus: int, expected: dict[str, float]) -> None:
    found = utilisation(fabric(tmp_path), Mix(sizes=(Size(gpus, 1.0, 1),)))
    assert used(found) == {name: round(value, 4) for name, value in expected.items()}


def test_shares_add_up_and_runs_are_repeatable(tmp_path: Path, whole: bool) -> None:
    if whole:
        mix = Mix(sizes=(Size(1, 2, 30), Size(8, 5, 30), Size(72, 9, 8), Size(300, 20, 3)))
        plan = fabric(tmp_path)
    else:
        mix = Mix(sizes=(Size(1, 2, 12), Size(8, 5, 12), Size(72, 9, 4)))
        plan = fabric(tmp_path, ", unit: {servers: 16}", count=32)
    found = utilisation(plan, mix)
    for use in found.uses:
        assert use.used + use.in_part + use.waiting + use.no_demand == pytest.approx(1)
        bandwidth = use.bandwidth
        assert bandwidth.used + bandwidth.contention + bandwidth.inside == pytest.approx(use.used, abs=0.05)  # samples
    assert found == utilisation(plan, mix)
    assert found != utilisation(plan, mix, seed=1)
    packed, topology, strict = found.uses
    assert strict.bandwidth.crossing <= topology.bandwidth.crossing <= packed.bandwidth.crossing


def test_oversubscription_is_lost_only_by_jobs_in_several_units(tmp_path: Path) -> None:
    """Two units of 32 servers with 4:1 uplinks: a job of all 64 sends 32/63 of its bytes to the other unit."""
    plan = fabric(tmp_path, ", unit: {servers: 32}, leaf: {oversubscription: 4}", count=64)
    whole = utilisation(plan, Mix(sizes=(Size(512, 1.0, 1),)), ["packed"]).uses[0].bandwidth
    assert whole.used == pytest.approx(0.25 * 63 / 32)
    assert whole.contention == pytest.approx(1 - 0.25 * 63 / 32)
    halves = utilisation(plan, Mix(sizes=(Size(256, 1.0, 1),)), ["strict"]).uses[0].bandwidth
    assert [halves.used, halves.contention, halves.crossing] == pytest.approx([1, 0, 0])


def test_jobs_as_recorded(tmp_path: Path) -> None:
    """Two halves beside each other, then all: the third waits an hour; the fabric is free for the last one from the third."""
    jobs = (Job(512, 3600.0, 0.0), Job(512, 3600.0, 0.0), Job(1024, 3600.0, 0.0), Job(8, 3600.0, 10800.0))
    use = utilisation(fabric(tmp_path), Mix(jobs=jobs), ["packed"]).uses[0]
    assert use.jobs == 4
    assert use.wait_hours == pytest.approx(1 / 4)
    assert use.used == pytest.approx((1024 + 1024 + 0 + 8) / 4 / 1024)
    assert use.waiting == 0
    assert use.no_demand == pytest.approx((1024 + 1016) / 4 / 1024)


def test_backfill_does_not_delay_the_first_job(tmp_path: Path) -> None:
    """96 servers are in use for 2 h; a job of 64 waits. Of the jobs behind it those start that end before, or leave 64."""
    jobs = [Job(768, 7200.0), Job(512, 3600.0), Job(256, 3600.0), Job(256, 36000.0), Job(8, 36000.0)]
    plan = cluster(network(fabric(tmp_path)))
    run = _Simulation(plan, "packed", jobs, endless=False)
    run._arrive()
    run._start()
    started = sorted(gpus for _, _, gpus, _ in run.running)
    assert started == [256, 768]  # 256 for an hour takes all that is free
    later = _Simulation(plan, "packed", [*jobs[:2], *jobs[3:]], endless=False)
    later._arrive()
    later._start()
    assert sorted(gpus for _, _, gpus, _ in later.running) == [256, 768]  # for ten hours: 64 of the 96 are left for the first
    blocked = _Simulation(plan, "packed", [jobs[0], Job(1024, 3600.0), *jobs[3:]], endless=False)
    blocked._arrive()
    blocked._start()
    assert sorted(gpus for _, _, gpus, _ in blocked.running) == [768]


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(("topology", "count", "model"), [
    (", unit: {servers: 16}", 100, "dgx-h100"),
    (", tiers: 3, unit: {servers: 8}, pods: {units: 2}", 64, "dgx-h100"),
    ("", 72, "gb200-tray"),
])  # fmt: skip
def test_placements_are_whole_and_free(tmp_path: Path, policy: str, topology: str, count: int, model: str) -> None:
    ground, dice = cluster(network(fabric(tmp_path, topology, count, model))), np.random.default_rng(3)
    for _ in range(200):
        free = np.where(dice.random(ground.servers) < dice.random(), ground.server_gpus, dice.integers(0, 3))
        gpus = int(dice.integers(1, ground.gpus + 1))
        found = ground.put(free, gpus, policy)
        need = ground.servers_of(gpus)
        assert ground.fits(free, gpus, policy) is (found is not None)
        if found is None:
            assert policy == "strict" or (int((free == ground.server_gpus).sum()) < need if need else (free < gpus).all())
            continue
        assert len(found) == len({*found.tolist()}) == max(1, need)
        assert (free[found] == ground.server_gpus).all() if need else free[found[0]] >= gpus
        if policy == "strict" and need:
            level = ground.level(need)
            assert level is not None
            assert len(np.unique(ground.groups[level][found])) == 1


def test_levels(tmp_path: Path) -> None:
    def levels(topology: str, count: int, model: str = "dgx-h100") -> tuple[tuple[str, int], ...]:
        ground: Cluster = cluster(network(fabric(tmp_path, topology, count, model)))
        return tuple(zip(ground.levels, ground.counts, strict=True))

    assert levels("", 16) == (("NVLink domain", 16), ("fabric", 1))
    assert levels(", unit: {servers: 8}", 16) == (("NVLink domain", 16), ("unit", 2), ("fabric", 1))
    three = levels(", tiers: 3, unit: {servers: 8}, pods: {units: 2}", 64)
    assert three == (("NVLink domain", 64), ("unit", 8), ("pod", 4), ("fabric", 1))
    assert levels("", 72, "gb200-tray")[0] == ("NVLink domain", 4)


def test_sizes_that_do_not_fit_are_named(tmp_path: Path) -> None:
    found = utilisation(fabric(tmp_path), Mix(sizes=(Size(12, 1, 1), Size(160, 1, 1), Size(2000, 1, 3))), ["strict"])
    assert [(fit.level, fit.unused_gpus, fit.left_gpus) for fit in found.fits] == [
        ("unit", 4, 0),
        ("unit", 0, 96),
        ("", 0, 0),
    ]
    assert found.too_large == 3
    text = "\n".join(lines(found, 2.5, "USD"))
    assert "3 jobs of more GPUs than the fabric has are left out" in text
    assert "96 GPUs of a full unit" in text
    nothing = utilisation(fabric(tmp_path), Mix(sizes=(Size(2000, 1, 1),)))
    assert nothing.uses == ()
    assert "1 job of more GPUs than the fabric has is left out" in "\n".join(lines(nothing))
