"""Some GPUs of each server, and several communicators at once: their NICs, what they share, what was measured of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

from fabric.base.diagnostics import InputError
from fabric.base.schemas.models import document
from fabric.model.plan import FabricPlan
from fabric.pipeline import capacity
from fabric.solver.collectives import physics
from fabric.solver.collectives.algorithms import monotone
from fabric.solver.collectives.band import band_of
from fabric.solver.collectives.job import joined, measured_job
from fabric.solver.collectives.physics import gpu, shipped
from fabric.solver.estimate.estimate import Estimate, nvlink_gpus
from fabric.solver.estimate.lines import EstimateDocument, head
from fabric.solver.estimate.nic_bandwidth import supply
from fabric.solver.estimate.placement import ALL, PER_RAIL, Placement, ServerPart, place
from fabric.solver.estimate.request import EstimateRequest
from fabric.solver.measured.platform import nics_beside
from fabric.solver.measured.tables import read_all
from fabric.solver.network import network
from tests import ROOT
from tests.solver.estimate.fabrics import STABLE, ask, placements, planned, plans, wired

MEASURED = ROOT / "tests" / "reference" / "partial"
FAR = "h200_2n_g1_allreduce_dranet"  # pods whose NIC is far from their GPU


@pytest.mark.parametrize(
    ("gpus", "of", "nics", "beside"),
    [
        ((0,), 8, 8, [0]),
        ((0, 4), 8, 8, [0, 4]),
        ((0, 1), 8, 4, [0]),  # GPUs in pairs under one switch
        ((1, 2), 8, 4, [0, 1]),
        ((3,), 8, 16, [6, 7]),
        ((7,), 8, 2, [1]),
        ((1,), 4, 8, [2, 3]),
        ((0, 1, 2, 3), 4, 3, [0, 1, 2]),
    ],
)
def test_the_nics_beside_gpus(gpus: tuple[int, ...], of: int, nics: int, beside: list[int]) -> None:
    assert nics_beside(gpus, of, nics) == beside


def rails(placed: Placement, fabric: FabricPlan) -> list[list[int]]:
    """NICs of each communicator on the first of its servers."""
    ports = network(fabric).ports
    each = placed.ports.reshape(placed.communicators, placed.domains, -1)[:, 0]
    return [sorted(set(ports.nic[rows].tolist())) for rows in each]


@pytest.mark.parametrize(
    ("name", "part", "gpus", "expected"),
    [
        ("rails", ServerPart(1), 4, [[0]]),
        ("rails", ServerPart(ids=(3, 1)), 8, [[1, 3]]),
        ("rails", ServerPart(communicators=PER_RAIL), 8, [[0], [1], [2], [3]]),
        ("rails", ServerPart(communicators=2), 8, [[0, 1], [2, 3]]),
        ("rails", ServerPart(1, communicators=3), 8, [[0], [1], [2]]),
        ("rails", ServerPart(ids=(0, 3), communicators=2), 8, [[0], [3]]),
        ("few", ServerPart(1), 2, [[0]]),
        ("few", ServerPart(communicators=PER_RAIL), 8, [[0], [1]]),  # two NICs of eight GPUs
        ("few", ServerPart(2, communicators=4), 8, [[0], [0], [1], [1]]),
        ("dual", ServerPart(1), 4, [[0]]),
    ],
)
def test_what_a_communicator_uses(name: str, part: ServerPart, gpus: int, expected: list[list[int]]) -> None:
    fabric = planned(name)
    placed = place(network(fabric), gpus, "packed", part=part)
    assert rails(placed, fabric) == expected
    assert placed.gpus == gpus
    assert placed.domains * placed.gpus_per_server == gpus
    assert placed.nics_per_server == len(expected[0])
    assert placed.ports.shape[1] == len(expected[0]) * placed.nic_ports


@pytest.mark.parametrize(
    ("part", "words", "message"),
    [
        (ServerPart(5), {}, "--gpus-per-server: error[FAB174]: expected at most 4 GPUs per server, got 5"),
        (ServerPart(ids=(0, 4)), {}, "--gpu-ids: error[FAB174]: expected different GPUs below 4, got 0,4"),
        (ServerPart(ids=(1, 1)), {}, "--gpu-ids: error[FAB174]: expected different GPUs below 4, got 1,1"),
        (
            ServerPart(2, communicators=3),
            {},
            "--communicators: error[FAB174]: expected communicators that share out the GPUs, got 3 communicators of 2 GPUs "
            "each on 4 GPUs",
        ),
        (ServerPart(3), {"gpus": 4}, "--gpus: error[FAB174]: expected whole servers of 3 GPUs, got 4"),
        (ServerPart(1), {"gpus": 9}, "--gpus: error[FAB174]: expected at most 8 GPUs, got 9"),
        (ServerPart(1), {"request": "four-0001"}, "--gpus-per-server: error[FAB174]: expected at least 2 GPUs, got 1"),
        (ServerPart(1), {"jobs": 2}, "--gpus-per-server: error[FAB174]: expected no --jobs, which takes other servers"),
    ],
)
def test_mistakes(part: ServerPart, words: dict[str, int | str], message: str) -> None:
    asked = {"gpus": None, **words}
    with pytest.raises(InputError) as caught:
        place(wired(), **asked, part=part)  # type: ignore[arg-type]
    assert str(caught.value).startswith(message)


@settings(STABLE, max_examples=8)
@given(plans(), placements)
def test_all_gpus_of_each_server_are_the_whole_job(fabric: FabricPlan, placement: str) -> None:
    """Law: the part of a server that has all of its GPUs is the server."""
    whole = place(network(fabric), None, placement)
    assume(whole.gpus > 1 and whole.domain_servers == 1)
    part = replace(ALL, ids=tuple(range(whole.server.gpus)))
    for words in ({"collective": "all_reduce"}, {"collective": "alltoall"}):
        one, other = ask(fabric, placement=placement, **words), ask(fabric, placement=placement, part=part, **words)
        assert [row.time_us for row in one.rows] == [row.time_us for row in other.rows]


@settings(STABLE, max_examples=10)
@given(plans(), placements, st.integers(0, 3))
def test_communicators_share_fairly(fabric: FabricPlan, placement: str, seed: int) -> None:
    """Law: the least of the max-min shares is the share of all together, and no communicator has more than its NICs."""
    net = network(fabric)
    part = ServerPart(1, communicators=place(net, None).server.gpus)
    try:
        placed = place(net, None, placement, part=part)
    except InputError:  # one server
        assume(False)
        raise
    assume(placed.domains > 1)
    for routing in ("ecmp", "spray"):
        one = supply(net, placed, routing, 1, seed)
        fair = one.fair_shares("ring")
        assert len(fair) == placed.communicators
        assert fair.max() <= 1 + 1e-9
        if routing == "spray":  # a draw numbers the queue pairs of all communicators together
            assert fair.min() == pytest.approx(one.of("ring").share)


def test_communicators_beside_one_nic_share_it() -> None:
    """Eight GPUs, two NICs: four communicators with one GPU each have a quarter of a NIC."""
    four = ask(planned("few"), part=ServerPart(1, communicators=4), routing="spray")
    alone = ask(planned("few"), part=ServerPart(1), routing="spray")
    assert four.shares["ring"].share == pytest.approx(0.25)
    assert alone.shares["ring"].share == 1
    assert four.rows[0].time_us > 3 * alone.rows[0].time_us


def test_rails_do_not_slow_each_other() -> None:
    every, one = (ask(planned(), part=part, routing="spray") for part in (ServerPart(communicators=PER_RAIL), ServerPart(1)))
    assert every.rows[0].time_us == one.rows[0].time_us
    assert every.placement.communicators == 4


def test_a_failed_nic_concerns_its_communicator() -> None:
    fabric = planned()
    with pytest.raises(InputError, match="no rail is left"):
        ask(fabric, part=ServerPart(1), fail=("four-0001:compute1",))
    other = ask(fabric, part=ServerPart(ids=(1,)), fail=("four-0001:compute1",))
    assert other.rows[0].time_us == ask(fabric, part=ServerPart(ids=(1,))).rows[0].time_us


def test_a_rack_of_trays_with_one_gpu_of_each() -> None:
    """NVLink of a rack joins the GPUs in use of all its servers."""
    found = ask(planned("trays"), part=ServerPart(1))
    assert (found.placement.domains, found.placement.domain_gpus, found.placement.gpus) == (4, 3, 12)


@pytest.mark.parametrize(
    ("model", "ranks", "board", "share", "nvls"),
    [
        ("h100", 8, 8, 1, True),
        ("h100", 2, 8, 1, True),
        ("h100", 1, 8, 1, False),  # NVLink SHARP needs two GPUs
        ("h100", 2, 4, 1 / 3, False),  # HGX 4-GPU: each pair has its own links
        ("a100", 3, 4, 2 / 3, False),
        ("mi300x", 8, 8, 1, False),
        ("mi300x", 2, 8, 1 / 7, False),
    ],
)
def test_nvlink_of_the_gpus_in_use(model: str, ranks: int, board: int, share: float, nvls: bool) -> None:
    fields = joined(gpu(model), ranks, board, board)
    assert fields["nvlink_GBps"] == pytest.approx(gpu(model).nvlink_GBps * share)
    assert fields["nvls"] is nvls


@pytest.mark.parametrize(("ids", "joined_gpus"), [((0, 1), 2), ((0, 4), 1), ((0, 1, 4, 5), 2), ((1, 2, 3), 3)])
def test_bridges_join_gpus_beside_each_other(ids: tuple[int, ...], joined_gpus: int) -> None:
    placed = place(wired("few"), None, part=ServerPart(ids=ids))
    bridged = placed.server.model_copy(update={"gpu": "h200-nvl", "nvlink_domain_gpus": 4})
    assert nvlink_gpus(replace(placed, server=bridged)) == joined_gpus


def test_text_and_json_name_the_part() -> None:
    found: Estimate = ask(planned(), part=ServerPart(communicators=PER_RAIL), gpus=8)
    assert head(found)[:2] == [
        "fabric backend: all_reduce of 4 communicators at once of 8 GPUs each, 1 of 4 per server, on 8 servers in 4 units, "
        "packed",
        "  8 servers with one GPU each; 1 NIC port of 400G per server, 50 GB/s in total",
    ]
    written = document(found, EstimateDocument)
    keys = ("communicators", "gpus_per_server", "gpu_ids", "nics_per_server")
    assert [written[key] for key in keys] == [4, 1, [[0], [1], [2], [3]], 1]
    assert len(written["fair_shares"]) == 4


# --- capacity -------------------------------------------------------------------------------------------------


def test_capacity_of_one_gpu_of_each_server() -> None:
    fabric = planned()
    whole = capacity(fabric)
    part = capacity(fabric, job=EstimateRequest(part=ServerPart(1)))
    assert (part.servers, part.gpus, part.gpus_per_server, part.nic_GBps) == (8, 8, 1, 400)
    assert (whole.gpus, whole.gpus_per_server, whole.nic_GBps) == (32, None, 1600)
    server_links = next(row for row in part.singles if row.what == "server-leaf link")
    assert server_links.alike == 8  # others are not there
    both = capacity(fabric, job=EstimateRequest(gpus=8, part=ServerPart(1, communicators=2)))
    assert (both.gpus, both.nic_GBps) == (16, 800)


def test_capacity_of_an_oversubscribed_fabric_by_a_part() -> None:
    """Half of the NICs of a leaf at 2:1 have the uplinks for themselves."""
    fabric = planned("rack", leaf={"oversubscription": 2})
    whole, part = capacity(fabric), capacity(fabric, job=EstimateRequest(part=ServerPart(2)))
    assert whole.bisection is not None
    assert part.bisection is not None
    assert (whole.bisection.share, part.bisection.share) == (0.5, 1.0)


# --- measured -------------------------------------------------------------------------------------------------


def test_measured_runs_of_some_gpus_lie_in_the_band() -> None:
    """Tables that no parameter was fitted to; all but pods whose NIC is far from their GPU, at 0.64 of the NIC."""
    tables = {table.id: table for table in read_all([MEASURED])}
    inside, errors = [], {}
    for name, table in tables.items():
        sizes, times = (np.array([getattr(row, key) for row in table.rows], dtype=float) for key in ("bytes", "time_us"))
        job = measured_job(table.collective, table.platform, sizes)
        choice = table.platform.algorithm, table.platform.protocol
        estimated = monotone(job, shipped(), *choice)[1]
        low, high = band_of(job, shipped(), *choice)
        errors[name] = float(np.median(np.abs(estimated / times - 1)))
        if name != FAR:
            inside += list((times >= low * estimated) & (times <= high * estimated))
    assert np.mean(inside) >= 0.8
    small = "a100_2n_g1_allreduce_150"  # four rows of up to 64 bytes: a start is as that of servers of eight GPUs
    assert max(errors[name] for name in errors if "tcp" not in name and name not in (FAR, small)) < 0.2
    assert errors[small] < 0.36
    assert errors[FAR] > 0.3


def test_tables_are_not_fitted() -> None:
    assert not {path.stem for path in MEASURED.glob("*.yaml")} & set(_fitted())


def _fitted() -> list[str]:
    text = (Path(physics.DATA) / "platform.yaml").read_text(encoding="utf-8")
    return [line.strip('- "') for line in text.splitlines() if line.startswith("- ")]
