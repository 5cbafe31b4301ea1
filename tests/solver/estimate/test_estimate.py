"""What must hold of any estimate on any fabric, whatever the parameters are fitted to."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

from fabric.base.diagnostics import InputError
from fabric.base.schemas.models import document
from fabric.model.plan import FabricPlan
from fabric.solver.collective import COLLECTIVES, collective_names
from fabric.solver.collectives.algorithms import NEVER
from fabric.solver.estimate import lines
from fabric.solver.estimate.estimate import ALGORITHMS, Estimate, Row
from fabric.solver.estimate.request import EstimateRequest, estimate
from tests import samples
from tests.solver.estimate.fabrics import FABRICS, STABLE, ask, placements, planned, plans, routings

SIZES = tuple(8 << step for step in range(0, 31, 2))
BIG = (1 << 20, 1 << 30)
RUNS = {
    **dict.fromkeys(collective_names(), ("auto",)),
    "all_reduce": tuple(name for name in ALGORITHMS if name != "p2p"),
    "all_gather": ("auto", "ring", "nvls"),
    "reduce_scatter": ("auto", "ring", "nvls"),
    "broadcast": ("auto", "ring"),
    "reduce": ("auto", "ring"),
    "alltoall": ("auto", "p2p"),
    "sendrecv": ("auto", "p2p"),
}
PAIRS = [(collective, algorithm) for collective, names in RUNS.items() for algorithm in names]


NOT_EVERYWHERE = ("nvls", "nvls_tree", "in_network")


def answered(fabric: FabricPlan, asked: EstimateRequest, placement: str) -> tuple[Estimate, Estimate | None] | str:
    """The estimate with and without the failures, or the code of the error with which a question ends."""
    try:
        return estimate(fabric, asked, placement)
    except InputError as error:
        return error.diagnostics[0].code


def sane(found: Estimate) -> None:
    """Finite, above what physics allows, growing with the size, and consistent in itself."""
    times = [row.time_us for row in found.rows]
    assert all(math.isfinite(time) and 0 < time < NEVER for time in times)
    assert times == sorted(times)
    for row in found.rows:
        assert row.time_us >= row.ideal_time_us > 0, row
        assert row.algbw_GBps == pytest.approx(row.bytes / row.time_us / 1e3)
        assert row.busbw_GBps == pytest.approx(row.algbw_GBps * COLLECTIVES[row.collective].busbw(row.ranks))
        assert (row.wire_bytes > 0) == (found.placement.domains > 1)
        assert row.bottleneck
    for share in found.shares.values():
        assert 0 < share.worst <= share.share + 1e-12 <= share.best + 2e-12 <= 1 + 2e-12
        assert share.hop_us >= 0


@settings(STABLE, max_examples=samples.examples(18))
@given(st.data(), plans(), placements, routings, st.sampled_from((1, 4, 16)))
def test_every_collective_on_every_fabric(
    data: st.DataObject, fabric: FabricPlan, placement: str, routing: str, queue_pairs: int
) -> None:
    collective, algorithm = data.draw(st.sampled_from(PAIRS))
    words = {"collective": collective, "algorithm": algorithm, "routing": routing, "queue_pairs": queue_pairs}
    if algorithm in NOT_EVERYWHERE:  # one server or rack, GPUs whose switch cannot reduce
        assume(
            not isinstance(
                answered(fabric, EstimateRequest(collective=collective, sizes=SIZES, algorithm=algorithm), placement), str
            )
        )
    found = ask(fabric, placement=placement, sizes=SIZES, **words)
    sane(found)
    again = ask(fabric, placement=placement, sizes=SIZES, **words)
    assert lines.lines(again) == lines.lines(found)


@pytest.mark.parametrize(("collective", "algorithm"), PAIRS)
def test_what_can_run_runs(collective: str, algorithm: str) -> None:
    """On eight servers of H100s everything but what needs a switch that reduces: racks of GB200 have one, for all_gather
    and reduce_scatter inside one domain only."""
    one = 6 if (collective, algorithm) in (("all_gather", "nvls"), ("reduce_scatter", "nvls")) else None
    fabric = planned("trays" if "nvls" in algorithm else "rails")
    found = ask(fabric, sizes=SIZES, collective=collective, algorithm=algorithm, gpus=one)
    sane(found)
    if algorithm != "auto":
        assert {row.algorithm for row in found.rows} <= {algorithm, "nvls_tree" if algorithm == "nvls" else algorithm}


@settings(STABLE, max_examples=samples.examples(18))
@given(st.data(), plans(), placements, routings)
def test_a_failure_never_makes_it_faster(data: st.DataObject, fabric: FabricPlan, placement: str, routing: str) -> None:
    count = data.draw(st.integers(1, 3))
    names = [device.name for device in fabric.devices if device.role != "server"]
    links = [
        f"{fabric.devices[int(a)].name}:{fabric.devices[int(b)].name}"
        for a, b in zip(fabric.links.a, fabric.links.b, strict=True)
    ]
    fail = tuple(data.draw(st.sampled_from(names + links)) for _ in range(count))
    collective = data.draw(st.sampled_from(collective_names()))
    asked = EstimateRequest(collective=collective, sizes=SIZES, routing=routing, fail=fail)
    found = answered(fabric, asked, placement)
    if isinstance(found, str):
        assert found == "FAB171"  # a partition
        return
    now, before = found
    sane(now)
    assert before is not None
    for row, healthy in zip(now.rows, before.rows, strict=True):
        assert row.time_us >= healthy.time_us * (1 - 1e-9)


@pytest.mark.parametrize("placement", ["packed", "spread", "random:1", "random:7"])
def test_fewer_nics_never_lead_to_a_faster_choice(placement: str) -> None:
    """Without the ports of a leaf, NCCL may choose what would have been better before: that is no merit of the failure."""
    fabric = planned("mixed", servers=[("four", 9), ("slow", 1)], leaf={"oversubscription": 2})
    for leaf in samples.some([device.name for device in fabric.devices if device.role == "leaf"], 4):
        found = answered(fabric, EstimateRequest(collective="all_reduce", sizes=SIZES, fail=(leaf,)), placement)
        if isinstance(found, str):
            continue
        now, before = found
        assert before is not None
        assert all(a.time_us >= b.time_us * (1 - 1e-9) for a, b in zip(now.rows, before.rows, strict=True)), leaf


@settings(STABLE, max_examples=samples.examples(12))
@given(st.data(), placements)
def test_oversubscription_never_makes_it_faster(data: st.DataObject, placement: str) -> None:
    """With packets sprayed: a hash may happen to be more even on fewer links."""
    name = data.draw(st.sampled_from(sorted(set(FABRICS) - {"collapsed"})))
    collective = data.draw(st.sampled_from(collective_names()))
    before = None
    for ratio in (1, 2, 4):
        try:
            fabric = planned(name, leaf={"oversubscription": ratio})
        except InputError:
            continue
        found = ask(fabric, placement=placement, sizes=BIG, collective=collective, routing="spray")
        if before is not None:
            for now, then in zip(found.rows, before.rows, strict=True):
                assert now.time_us >= then.time_us * (1 - 1e-9), (name, ratio)
        before = found


@pytest.mark.parametrize("routing", ["ecmp", "adaptive"])
def test_oversubscription_costs_under_any_routing(routing: str) -> None:
    """Where there are links enough for the law of large numbers: 32 servers of eight, spread over four units."""
    times = []
    for ratio in (1, 2, 4):
        fabric = planned("rails", servers=[("four", 32)], unit={"servers": 8}, leaf={"oversubscription": ratio})
        times.append(ask(fabric, placement="spread", collective="alltoall", routing=routing).rows[0].time_us)
    assert times[0] < times[1] < times[2]


def test_document() -> None:
    """The contract of `estimate --json`."""
    answer = ask(planned("rails", leaf={"oversubscription": 2}), placement="spread", sizes=(8, 1 << 30))
    found = document(answer, lines.EstimateDocument)
    assert json.loads(json.dumps(found)) == found
    keys = {"collective", "ranks", "bytes", "algorithm", "protocol", "time_us", "algbw_GBps", "busbw_GBps"}
    keys |= {"bottleneck", "wire_bytes", "ideal_time_us"}
    for row in found["rows"]:
        assert keys <= set(row)
        assert isinstance(row["bytes"], int)
        assert isinstance(row["wire_bytes"], int)
    assert [row["bytes"] for row in found["rows"]] == [8, 1 << 30]
    assert found["shares"]["ring"]["link"].startswith("backend-")


@pytest.mark.parametrize("name", sorted(FABRICS))
def test_several_jobs_share_the_fabric(name: str) -> None:
    """Two jobs at once are never faster than one of them alone, and each has half of the GPUs."""
    fabric = planned(name)
    whole = ask(fabric, collective="alltoall", routing="spray").placement
    gpus = whole.domains // 2 * whole.domain_gpus
    one, two = (ask(fabric, gpus=gpus, jobs=jobs, collective="alltoall", routing="spray") for jobs in (1, 2))
    assert one.placement.gpus == two.placement.gpus == gpus
    assert len(two.placement.servers) == 2 * len(one.placement.servers)
    assert two.placement.domains == one.placement.domains
    assert two.rows[0].time_us >= one.rows[0].time_us * (1 - 1e-9)
    sane(two)


def row_of(**words: Any) -> Row:
    return ask(planned("rails"), **words).rows[0]


def test_what_limits() -> None:
    """Latency for a few bytes; the fabric's link where it is the narrowest; CTAs where a ring has too few."""
    spread = planned("rails", leaf={"oversubscription": 4})
    assert row_of(sizes=(8,)).bottleneck == "latency"
    assert " -> " in ask(spread, placement="spread", collective="alltoall").rows[0].bottleneck
    assert ask(planned("rails"), algorithm="ring", ctas=1).rows[0].bottleneck == "GPUs: CTAs (NCCL_MIN_CTAS)"
    assert ask(planned("trays"), gpus=6, sizes=(1 << 33,)).rows[0].bottleneck == "NVLink"


def test_a_board_of_four_has_no_switch_that_reduces() -> None:
    """HGX 4-GPU boards join each pair directly: no NVLS, though the GPUs of a rack have it."""
    assert "nvls" not in {row.algorithm for row in ask(planned("rails"), gpus=4, sizes=SIZES).rows}
    assert "nvls" in {row.algorithm for row in ask(planned("trays"), gpus=6, sizes=(1 << 30,)).rows}


@pytest.mark.parametrize(
    ("words", "bytes_"),
    [
        ({"algorithm": "ring"}, 2 * 31 / 32),
        ({"algorithm": "tree"}, 2 * 7 / 8),
        ({"algorithm": "in_network"}, 1),
        ({"collective": "all_gather"}, 31 / 32),
        ({"collective": "reduce_scatter"}, 31 / 32),
        ({"collective": "broadcast"}, 1),
        ({"collective": "alltoall"}, 4 * 28 / 32),
        ({"collective": "all_reduce", "gpus": 4}, 0),
    ],
)
def test_bytes_on_the_wire(words: dict[str, Any], bytes_: float) -> None:
    """Of 32 GPUs in eight NVLink domains, per byte of the buffer."""
    assert row_of(**words).wire_bytes == round(bytes_ * (1 << 30))


@pytest.mark.parametrize(
    ("words", "ideal"),
    [
        ({}, 2 * 7 / 8 / 200),
        ({"algorithm": "in_network"}, 1 / 200),
        ({"collective": "all_gather"}, 7 / 8 / 200),
        ({"collective": "alltoall"}, 28 / 32 / 50),
        ({"collective": "sendrecv"}, 1 / 50),
        ({"gpus": 4}, 2 * 3 / 4 / 450),
        ({"gpus": 4, "collective": "all_gather"}, 3 / 4 / 450),
    ],
)
def test_ideal_time(words: dict[str, Any], ideal: float) -> None:
    """Four NICs of 50 GB/s per domain of four H100s at 450 GB/s; 1 GB/s is one byte per ns."""
    assert row_of(**words).ideal_time_us == pytest.approx(ideal * (1 << 30) / 1e3)


def test_a_dead_rail_is_left_out_and_reported() -> None:
    """Its leaves gone, the job runs on the three rails that are left."""
    fabric = planned("rails")
    leaves = [device.name for device in fabric.devices if device.role == "leaf"]
    first_rail = tuple(name for at, name in enumerate(leaves) if at % 4 == 0)
    now, before = estimate(fabric, EstimateRequest(collective="all_reduce", sizes=(1 << 30,), fail=first_rail), "packed")
    assert before is not None
    assert now.nic_GBps == before.nic_GBps * 3 / 4
    assert any("1 of 4 NIC ports is left out in every domain" in text for text in now.notes)
    assert now.rows[0].time_us > before.rows[0].time_us


@pytest.mark.parametrize("routing", ["ecmp", "adaptive", "spray"])
def test_the_limit_is_a_link_that_the_job_uses(routing: str) -> None:
    """With the first rail left out, none of its links, though the healthy run is limited as much by one of them."""
    fabric = planned("rails", leaf={"oversubscription": 2})
    asked = EstimateRequest(collective="all_gather", sizes=(1 << 30,), routing=routing, fail=("four-0001:backend-leaf001",))
    now, before = estimate(fabric, asked, "spread")
    assert before is not None
    names = [item.supply.link_name(item.shares["ring"].link) for item in (now, before)]
    first_rail = [f"backend-leaf{at:03} " for at in (1, 5, 9, 13)]
    assert any(leaf in names[1] for leaf in first_rail) or routing != "spray"
    assert not any(leaf in names[0] for leaf in first_rail), names


def test_more_ctas_and_queue_pairs_help() -> None:
    fabric = planned("rails", servers=[("four", 32)], unit={"servers": 8})
    few, many = (ask(planned("rails"), algorithm="ring", ctas=ctas).rows[0].time_us for ctas in (1, 16))
    assert many < few
    shares = [
        ask(fabric, placement="spread", collective="all_gather", queue_pairs=qps).shares["ring"].share for qps in (1, 4, 16)
    ]
    assert shares == sorted(shares)
    assert shares[0] < shares[-1]


def test_seed_draws_other_queue_pairs() -> None:
    fabric = planned("rails", servers=[("four", 32)], unit={"servers": 8})
    shares = {
        ask(fabric, placement="spread", collective="alltoall", seed=seed).shares["peers"].best for seed in range(0, 80, 8)
    }
    assert len(shares) > 1
    assert np.ptp(list(shares)) < 0.5
