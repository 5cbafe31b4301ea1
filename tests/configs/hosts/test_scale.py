"""The files of many servers cost as much a server as those of a few."""

from __future__ import annotations

import pytest

from fabric.configs.hosts import host_files
from tests.configs.hosts.helpers import lossless_facts, plan, site
from tests.cost import calls

SERVERS = 4000


@pytest.mark.slow
def test_4000_servers() -> None:
    intent = site(servers={"model": "hgx-h100", "count": SERVERS}, topology={"switch": "512x800g", "unit": {"servers": 256}})
    made = plan(intent)
    sizes: list[int] = []
    count = calls(lambda: sizes.extend(len(data) for _, data in host_files(made, facts_of=lossless_facts)))
    assert len(sizes) == SERVERS + 2
    assert min(sizes[:-2]) > 2000
    assert count < 2500 * SERVERS  # 680 of each
