"""Growth up to `planned` changes no line of buffers, headroom, ECN or cable lengths in a config that is in service."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from fabric.base import source
from fabric.configs import Renderer, targets
from fabric.design.intent.load import validate
from fabric.design.planner.resolve import resolve
from fabric.design.planner.site import plan_site
from fabric.model.plan import Plan
from fabric.model.plan.lock_file import Lock
from tests import ROOT

QUEUES = re.compile(r"xoff|xon|headroom|threshold|ecn|wred|buffer|random-detect|drop-profile|cable|pause", re.IGNORECASE)
TABLES = ("CABLE_LENGTH", "BUFFER_", "WRED_PROFILE", "DEFAULT_LOSSLESS_BUFFER_PARAMETER")


def planned(data: dict[str, Any], lock: Lock) -> Plan:
    parsed = source.parse(yaml.safe_dump(data, sort_keys=False), "intent.yaml")
    site = validate(parsed)
    return plan_site(spec := resolve(site, parsed), lock, targets.choose(spec.fabrics))


def files(plan: Plan, names: frozenset[str]) -> dict[tuple[str, str], str]:
    """Texts of some switches, by fabric's switch and path."""
    renderer = Renderer(plan, ROOT)
    return {
        (job.device.name, path): data.decode()
        for job in renderer.jobs(names.__contains__)
        for path, data in renderer.files(job)
    }


def rows(text: str) -> Counter[str]:
    """What a file says of queues and buffers: lines, of JSON the entries of its tables."""
    if not text.startswith("{"):
        return Counter(line.strip() for line in text.splitlines() if QUEUES.search(line))
    return Counter(_entries(json.loads(text)))


def _entries(data: dict[str, Any]) -> Iterator[str]:
    """Of ports only those that are cabled: a free port has no lossless class until it is."""
    for table, its in data.items():
        if table.startswith(TABLES):
            for key, row in its.items():
                if key.startswith("Ethernet") and key.split("|")[0] not in data["DEVICE_NEIGHBOR"]:
                    continue
                yield from (f"{table} {key} {name} {value}" for name, value in row.items())


@pytest.mark.parametrize("nos", ["sonic", "eos", "nxos", "junos", "cumulus", "frr"])
def test_growth_changes_no_line_of_queues(nos: str) -> None:
    small = yaml.safe_load((ROOT / "intent" / f"ai-{nos}.yaml").read_text(encoding="utf-8"))
    for fabric in small["fabrics"].values():
        fabric["topology"].pop("cable_length_m", None)
        fabric["servers"]["planned"] = 20
    large = yaml.safe_load(yaml.safe_dump(small))
    for fabric in large["fabrics"].values():
        fabric["servers"]["count"] = 19
    old = planned(small, Lock())
    new = planned(large, old.lock)
    names = frozenset(device.name for fabric in old.fabrics.values() for device in fabric.switches)
    before, after = files(old, names), files(new, names)
    assert before.keys() == after.keys()
    assert sum(len(fabric.switches) for fabric in new.fabrics.values()) > len(names)
    lost = {key: rows(text) - rows(after[key]) for key, text in before.items()}
    assert {key: list(gone) for key, gone in lost.items() if gone} == {}
    assert nos == "frr" or sum(sum(rows(text).values()) for text in before.values()) > 20
