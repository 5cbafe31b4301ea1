"""A push to real servers: `INVENTORY_LIVE=netbox,nautobot pytest tests/deliver/inventory/test_live.py`, some minutes each."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fabric.deliver.inventory.push import SYSTEMS
from tests.deliver.inventory.live import grows
from tests.deliver.inventory.servers import running, why_not

ASKED = os.environ.get("INVENTORY_LIVE", "").split(",")


@pytest.mark.parametrize("name", sorted(SYSTEMS))
def test_a_site_that_grows(name: str, tmp_path: Path) -> None:
    if name not in ASKED:
        pytest.skip(f"takes minutes: set INVENTORY_LIVE={name}; {why_not(name) or 'the server is installed'}")
    with running(name) as url:
        rows = {row.title: row.counts for row in grows(name, url, tmp_path)}
    for again in ("4 servers again", "8 servers again", "4 servers again with --prune"):
        created, updated, _, deleted = rows[again]
        assert (created, updated, deleted) == (0, 0, 0), again
    assert rows["4 servers"][0] > 100
    assert rows["8 servers"][0] > 50
    assert rows["8 servers"][3] == rows["4 servers after 8"][3] == 0
    assert rows["4 servers with --prune"][3] > 50
