"""Large floors take seconds: CPU time, so that a busy machine fails no one."""

from __future__ import annotations

import time

import numpy as np
import pytest

from fabric.cabling.runs import runs
from fabric.cabling.walking import walk
from fabric.floor.floor import floor
from tests.planner.helpers import make

INTENT = "version: 1\nsite: dc1\nfabrics:\n  f0: {{servers: {{model: dgx-h100, count: {}}}, topology: {{{}}}}}\n"


@pytest.mark.parametrize(
    ("servers", "topology", "links", "seconds"),
    [
        (2048, "switch: 64x400g, unit: {servers: 32}, pods: {units: 4}", 49_152, 3),  # 1,280 switches
        (12_500, "switch: sn5600, unit: {servers: 64}", 200_352, 15),  # 100,000 GPUs
    ],
)
def test_a_run_list_in_seconds(servers: int, topology: str, links: int, seconds: float) -> None:
    plan = make(INTENT.format(servers, topology))
    begin = time.process_time()
    stands = floor(plan)
    found = runs(plan, stands)
    assert time.process_time() - begin < seconds
    assert int(found.links.sum()) == links
    assert found.errors == ()
    assert len(walk(found, np.arange(len(found))).row) == len(found)
