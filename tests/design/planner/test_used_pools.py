"""A pool that removed servers fill: the error says who holds the addresses, and how to free them."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabric import pipeline
from fabric.base.diagnostics import InputError
from fabric.model.plan.lock import Lock


def load(folder: Path, group: str) -> pipeline.Intent:
    path = folder / "u.yaml"
    path.write_text(
        f"version: 1\nsite: u\nfabrics:\n  backend:\n    servers: {{model: hgx-h100, count: 8, name: {group}}}\n"
        "    topology: {switch: sn5600, rails: 2, unit: {servers: 8}}\n    pools: {p2p: 10.99.0.0/26}\n",
        encoding="utf-8",
    )
    return pipeline.load(path)


def test_removed_servers_hold_their_addresses(tmp_path: Path) -> None:
    lock = pipeline.plan(load(tmp_path, "old"), Lock()).lock
    new = load(tmp_path, "new")
    with pytest.raises(InputError) as stop:
        pipeline.plan(new, lock)
    hints = [one.hint for one in stop.value.diagnostics if one.code == "FAB135"]
    assert hints == [
        "use a shorter prefix, or add one: `pools: {p2p: [10.99.0.0/26, …]}`; devices that were removed keep theirs until "
        "their lines in `lock.yaml` are deleted"
    ]
    assert pipeline.plan(new, Lock()).fabrics["backend"].prefixes["p2p"] == ("10.99.0.0/26",)
