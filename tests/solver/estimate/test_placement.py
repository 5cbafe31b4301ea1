"""Where a job stands: order of the servers, NVLink domains, the ports of each, and what cannot be placed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from fabric.base.diagnostics import InputError
from fabric.model.plan import FabricPlan
from fabric.solver.estimate.placement import Placement, place
from fabric.solver.network import network
from tests.solver.estimate.fabrics import STABLE, placements, planned, plans, wired

UNITS = {"servers": [("four", 8)], "unit": {"servers": 2}}


def names(placed: Placement, fabric: FabricPlan) -> list[str]:
    return [fabric.devices[int(at)].name for at in placed.servers]


def numbers(requested: str, gpus: int | None = None, jobs: int = 1, name: str = "rails", **changes: Any) -> list[int]:
    """Numbers of the servers, by their names."""
    fabric = planned(name, **changes)
    return [int(item.rsplit("-", 1)[1]) for item in names(place(network(fabric), gpus, requested, jobs), fabric)]


def mistake(requested: str, gpus: int | None = None, jobs: int = 1, name: str = "rails", **changes: Any) -> str:
    """The one mistake of a placement, as it is shown."""
    with pytest.raises(InputError) as caught:
        place(wired(name, **changes), gpus, requested, jobs)
    assert [item.code for item in caught.value.diagnostics] == ["FAB174"]
    return str(caught.value)


@pytest.mark.parametrize(
    ("requested", "gpus", "expected"),
    [
        ("packed", None, [1, 2, 3, 4, 5, 6, 7, 8]),
        ("packed", 12, [1, 2, 3]),
        ("packed", 2, [1]),
        ("spread", None, [1, 3, 5, 7, 2, 4, 6, 8]),
        ("spread", 20, [1, 3, 5, 7, 2]),
        ("four-0007,four-0002", None, [7, 2]),
        (" four-0003 , four-0001 ", 8, [3, 1]),
    ],
)
def test_order(requested: str, gpus: int | None, expected: list[int]) -> None:
    assert numbers(requested, gpus) == expected


def test_spread_takes_turns_over_an_uneven_last_unit() -> None:
    assert numbers("spread", servers=[("four", 7)], unit={"servers": 3}) == [1, 4, 7, 2, 5, 3, 6]


def test_random_is_seeded() -> None:
    first, again, other = (numbers(f"random:{seed}") for seed in (3, 3, 4))
    assert first == again != other
    assert sorted(first) == sorted(other) == list(range(1, 9))
    assert numbers("random") == numbers("random:0")
    assert len(set(numbers("random:3", 12))) == 3


@settings(STABLE, max_examples=48)
@given(plans(), placements)
def test_every_placement(fabric: FabricPlan, requested: str) -> None:
    """All servers of one kind once, whole domains, and the same place in two domains on the same rail."""
    net = network(fabric)
    placed = place(net, None, requested)
    chosen = placed.servers.tolist()
    assert len(set(chosen)) == len(chosen)
    kind = {fabric.devices[at].group for at in chosen}
    assert len(kind) == 1
    rows = placed.ports
    assert placed.gpus == len(chosen) * placed.server.gpus
    assert placed.domains == -(-len(chosen) // placed.domain_servers)
    assert rows.shape == (placed.domains, placed.all_ports)
    assert (net.ports.nic[rows] == net.ports.nic[rows][0]).all()
    assert (net.ports.port[rows] == net.ports.port[rows][0]).all()
    assert set(net.ports.server[rows].ravel().tolist()) == set(chosen)
    assert placed.units == len({fabric.devices[at].unit for at in chosen})


def test_the_kind_with_the_most_gpus() -> None:
    """4 servers of 4 GPUs against 5 of 2."""
    assert place(wired("mixed"), None).model == "four"
    assert place(wired("mixed", servers=[("four", 1), ("slow", 5)]), None).model == "slow"


@pytest.mark.parametrize("requested", ["packed", "spread", "random:1"])
def test_racks_of_one_nvlink_domain_stay_together(requested: str) -> None:
    """Twelve trays of two GPUs, three to a domain: six GPUs and six ports each."""
    net = wired("trays")
    placed = place(net, None, requested)
    assert (placed.domains, placed.domain_gpus, placed.ports.shape) == (4, 6, (4, 6))
    trays = net.ports.server[placed.ports]
    for row in trays:
        block = np.unique(row)
        assert np.ptp(block) == 2
        assert len(block) == 3


def test_a_domain_that_is_not_full_comes_last() -> None:
    placed = place(wired("trays", servers=[("tray", 11)]), None, "spread")
    assert placed.domains == 4
    assert len(set(placed.servers[-2:].tolist())) == 2
    assert placed.ports.shape == (4, 6)  # the two trays of the last domain carry what three do elsewhere


def test_named_trays_are_gathered_by_domain() -> None:
    """Of the second and the first domain, two trays each: the domain named first comes first."""
    placed = numbers("tray-0005,tray-0001,tray-0004,tray-0002", name="trays")
    assert placed == [5, 4, 1, 2]
    assert "expected the same number of servers of each NVLink domain, got 2, 1" in mistake(
        "tray-0001,tray-0002,tray-0004", name="trays"
    )


def test_jobs_stand_one_behind_the_other() -> None:
    placed = place(wired(), 8, "packed", jobs=3)
    assert (placed.jobs, placed.gpus, placed.domains) == (3, 8, 2)
    assert len(placed.servers) == len(placed.ports) == 6
    assert place(wired("trays"), 12, "packed", jobs=2).domains == 2


def test_dead_ports_are_left_out_in_all_domains() -> None:
    net = wired("planes")
    placed = place(net, None)
    dead = net.ports.link[placed.ports[1, [2, 5]]]
    left = place(net.without(dead, np.empty(0, dtype=np.int64)), None)
    assert left.all_ports == placed.all_ports == 8
    assert (left.ports == np.delete(placed.ports, [2, 5], axis=1)).all()


@pytest.mark.parametrize(
    ("requested", "gpus", "jobs", "expected"),
    [
        ("packed", 36, 1, "--gpus: error[FAB174]: expected at most 32 GPUs, got 36"),
        ("packed", 6, 1, "8 GPUs are whole servers of 4"),
        ("packed", 1, 1, "expected at least 2 GPUs, got 1"),
        ("packed", 16, 3, "expected at most 8 GPUs for each of 3 jobs, got 3 jobs of 16"),
        ("spred", None, 1, "did you mean 'spread'?"),
        ("four-0009", None, 1, "did you mean 'four-0008'?"),
        ("", None, 1, "expected a placement, got none"),
        ("four-0001,four-0001", None, 1, "server four-0001 is repeated"),
        ("four-0001,four-0002", 12, 1, "expected 8 GPUs, which is what the 2 servers named have, got 12"),
        ("four-0001,four-0002", None, 2, "expected packed, spread or random for 2 jobs, got names"),
    ],
)
def test_mistakes(requested: str, gpus: int | None, jobs: int, expected: str) -> None:
    assert expected in mistake(requested, gpus, jobs)


def test_part_of_an_nvlink_domain_for_several_jobs() -> None:
    assert "expected whole NVLink domains for each of 2 jobs, got 8" in mistake("packed", 8, 2, name="trays")


def test_more_jobs_than_servers() -> None:
    assert "expected at most 8 jobs, one per server, got 400" in mistake("packed", None, 400)
