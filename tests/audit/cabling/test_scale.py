"""Ten thousand cables, files included: what they cost, counted."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from fabric.audit.cabling.compare import verify
from fabric.audit.cabling.finding import CablingState
from fabric.audit.cabling.planned import planned
from fabric.audit.cabling.report import report
from tests.audit.cabling.helpers import site
from tests.audit.cabling.lldp_writers import Floor, sonic_db, write
from tests.cost import calls


@pytest.mark.slow
def test_ten_thousand_cables(tmp_path: Path) -> None:
    plan = site("b200-3tier")
    floor = Floor(planned(plan))
    assert len(floor.plan) > 10_000
    sample = random.Random(7).sample(range(1, len(floor.plan.device), 2), 400)
    for first, second in zip(sample[::2], sample[1::2], strict=True):
        floor.swap(first, second)
    write(tmp_path, floor, sonic_db)
    ends: list[tuple[CablingState, str]] = []

    def whole() -> None:
        found, _ = verify(plan, [tmp_path])
        ends.append((found, report("text", found)))

    assert calls(whole) < 1000 * len(floor.plan)  # 285 of each
    ((found, text),) = ends
    assert len(found.findings) == 200
    assert sum(len(finding.moves) for finding in found.findings) == 400
    assert text.endswith(
        f"{len(floor.plan) - 400:,} of {len(floor.plan):,} links as planned; 200 swapped; 400 moves fix everything\n"
    )
