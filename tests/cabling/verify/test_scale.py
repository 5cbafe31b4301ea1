"""Ten thousand cables, files included: two seconds on a quiet machine, five allowed on any."""

from __future__ import annotations

import random
import time
from pathlib import Path

from fabric.cabling.verify.planned import planned
from fabric.cabling.verify.reports import report
from fabric.cabling.verify.verify import verify
from tests.cabling.verify.helpers import site
from tests.cabling.verify.lldp_writers import Floor, sonic_db, write


def test_ten_thousand_cables(tmp_path: Path) -> None:
    plan = site("b200-3tier")
    floor = Floor(planned(plan))
    assert len(floor.plan) > 10_000
    sample = random.Random(7).sample(range(1, len(floor.plan.device), 2), 400)
    for first, second in zip(sample[::2], sample[1::2], strict=True):
        floor.swap(first, second)
    write(tmp_path, floor, sonic_db)
    started = time.process_time()
    found, _ = verify(plan, [tmp_path])
    text = report("text", found)
    assert time.process_time() - started < 5
    assert len(found.findings) == 200
    assert sum(len(finding.moves) for finding in found.findings) == 400
    assert text.endswith(
        f"{len(floor.plan) - 400:,} of {len(floor.plan):,} links as planned; 200 swapped; 400 moves fix everything\n"
    )
