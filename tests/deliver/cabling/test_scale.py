"""Large floors: the run list costs as much a link as that of a small one."""

from __future__ import annotations

import numpy as np
import pytest

from fabric.deliver.cabling.laying_order import walk
from fabric.deliver.cabling.runs import Runs, runs
from fabric.design.floor.floor import floor
from tests.cost import calls, growth
from tests.design.planner.helpers import make

INTENT = "version: 1\nsite: dc1\nfabrics:\n  f0: {{servers: {{model: dgx-h100, count: {}}}, topology: {{{}}}}}\n"
SIZES = (
    (2048, "switch: 64x400g, unit: {servers: 32}, pods: {units: 4}", 49_152),  # 1,280 switches
    (12_500, "switch: sn5600, unit: {servers: 64}", 200_352),  # 100,000 GPUs
)


@pytest.mark.slow
@pytest.mark.parametrize(("servers", "topology", "links"), SIZES)
def test_a_run_list_costs_the_same_for_every_link(servers: int, topology: str, links: int) -> None:
    plan = make(INTENT.format(servers, topology))
    made: list[Runs] = []
    assert calls(lambda: made.append(runs(plan, floor(plan)))) < 60 * links  # 18 of each
    (found,) = made
    assert int(found.links.sum()) == links
    assert found.errors == ()
    assert len(walk(found, np.arange(len(found))).row) == len(found)


@pytest.mark.slow
def test_its_time_grows_with_the_links() -> None:
    """Also what NumPy does: 8 times the links, where pairs of links would take 64 times as long."""
    small, large = (make(INTENT.format(servers, "switch: sn5600, unit: {servers: 64}")) for servers in (512, 4096))
    assert growth(lambda: runs(small, floor(small)), lambda: runs(large, floor(large))) < 24
