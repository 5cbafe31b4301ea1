"""NVIDIA's enterprise reference architectures, stated as intents: every group of links has the number, speed and leaves of
the original, but for what the note of a file in `tests/reference/eras/` says.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from fabric import pipeline
from fabric.audit.checks.run import Scope
from fabric.model.plan import KINDS, LEAF, SERVER_LEAF, FabricPlan, Plan, nic_name
from tests.design.planner.helpers import make

ERAS = sorted((Path(__file__).parents[2] / "reference" / "eras").glob("*.yaml"))


def era(path: Path) -> tuple[dict[str, Any], Plan]:
    data = yaml.safe_load(path.read_text())
    return data, make(data["intent"])


def ends(plan: FabricPlan) -> list[tuple[str, str, int, str, int]]:
    """(group or device, NICs, NIC from 1 or 0, leaf or kind of link, Gb/s) of every link; leaves below are one."""
    groups = {group.name: group for group in plan.spec.groups}
    found = []
    columns = plan.links.lists()
    for kind, a, b, cage, gbps in zip(*(columns[name] for name in ("kind", "a", "b", "a_cage", "speed_gbps")), strict=True):
        low, high = plan.devices[a], plan.devices[b]
        if kind == SERVER_LEAF:
            group = groups[low.group]
            use, number = group.use_of(cage)
            assert nic_name(group, cage, 0).startswith(use.nics)
            found.append((group.name, use.nics, number, high.name, gbps))
        elif KINDS[kind] == "attachments":
            found.append(("oob" if low.name in plan.spec.added else low.name, "", 0, high.name, gbps))
        else:
            found.append((KINDS[kind], "", 0, f"{low.name} {high.name}", gbps))
    return found


def group_of(plan: FabricPlan, name: str) -> dict[str, Any]:
    """What a plan has of a group of links, in the form of the reference."""
    group, _, nics = name.partition(" ")
    mine = [end for end in ends(plan) if end[:2] == (group, nics)]
    (gbps,) = {end[4] for end in mine}
    if "-leaf" in name or "-spine" in name:
        per_pair = Counter(end[3] for end in mine)
        return {"gbps": gbps, "links": len(mine), "per_pair": max(per_pair.values())}
    leaves = [device.name for device in plan.devices if device.role == LEAF]
    count = Counter(end[3] for end in mine)
    by_leaf = [sorted({end[2] for end in mine if end[3] == leaf}) for leaf in leaves]
    kept = [numbers for at, numbers in enumerate(by_leaf) if numbers not in by_leaf[:at]]
    return {"gbps": gbps, "leaves": [count[leaf] for leaf in leaves], "nics": kept}


@pytest.mark.parametrize("path", ERAS, ids=lambda path: path.stem)
def test_every_group_of_links_is_that_of_the_original(path: Path) -> None:
    data, plan = era(path)
    assert len(data["intent"].splitlines()) <= 48
    for fabric, groups in data["expect"].items():
        for name, expected in groups.items():
            got = group_of(plan.fabrics[fabric], name)
            assert {key: got[key] for key in expected} == expected, (fabric, name)


@pytest.mark.parametrize("path", ERAS, ids=lambda path: path.stem)
def test_no_group_of_links_is_left_out(path: Path) -> None:
    data, plan = era(path)
    for fabric, groups in data["expect"].items():
        got = {f"{end[0]} {end[1]}".strip() for end in ends(plan.fabrics[fabric])}
        assert got - groups.keys() <= {"support frontend"}, fabric


QUICK = ("2-4-5-400", "2-8-5-200-largescale")


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=[] if path.stem in QUICK else [pytest.mark.slow]) for path in ERAS],
    ids=lambda path: path.stem,
)
def test_its_configs_have_no_finding(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    intent = tmp_path / "intent" / path.name
    intent.parent.mkdir()
    intent.write_text(yaml.safe_load(path.read_text())["intent"])
    pipeline.generate(pipeline.load(intent), jobs=1).write()
    assert pipeline.check(Scope(files=(intent,), jobs=1)).verdict.findings == ()
