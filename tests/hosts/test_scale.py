"""A hundred thousand ports of servers take seconds."""

from __future__ import annotations

import time

from fabric.hosts import host_files
from tests.hosts.helpers import lossless_facts, plan, site

LIMIT_S = 10.0  # measured: 1.5 s


def test_12500_servers() -> None:
    intent = site(servers={"model": "hgx-h100", "count": 12_500}, topology={"switch": "512x800g", "unit": {"servers": 256}})
    made = plan(intent)
    start = time.process_time()
    sizes = [len(data) for _, data in host_files(made, facts_of=lossless_facts)]
    took_s = time.process_time() - start
    assert len(sizes) == 12_502
    assert min(sizes[:-2]) > 2000
    assert took_s < LIMIT_S
