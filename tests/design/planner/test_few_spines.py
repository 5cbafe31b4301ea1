"""A fabric of one spine is reported, with a key that gives a second one: the intent with that key has no such warning."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabric import pipeline
from fabric.base.diagnostics import Diagnostic

RACKS = "servers: [{model: x, count: 8, per_rack: 4}, {model: x, count: 8, per_rack: 3, name: y}]"
SERVERS = "catalog: {servers: {x: {gpus: 8, nics: {compute: {count: 2, ports: 1, speed_gbps: 100}}}}}"


def few_spines(folder: Path, topology: str) -> list[Diagnostic]:
    path = folder / "s.yaml"
    head = f"version: 1\nsite: s\n{SERVERS}\nfabrics:\n  backend:\n    {RACKS}\n"
    text = f"{head}    topology: {{kind: rack, switch: 64x100g, {topology}}}\n"
    path.write_text(text, encoding="utf-8")
    return [one for one in pipeline.plan(pipeline.load(path)).warnings if one.code == "FAB182"]


@pytest.mark.parametrize(
    ("topology", "hint", "better"),
    [
        (
            "leaf: {uplinks: {count: 1}}",
            "increase the uplinks of the leaves (`leaf: {uplinks: {count: 2}}`) so that two spines divide them",
            "leaf: {uplinks: {count: 2}}",
        ),
        (  # 3 and 2 uplinks
            "leaf: {oversubscription: 3}",
            "increase the uplinks of the leaves (`leaf: {uplinks: {count: 4}}`) so that two spines divide them",
            "leaf: {oversubscription: 3, uplinks: {count: 4}}",
        ),
        (
            "leaf: {uplinks: {count: 9}}, spine: {count: 1}",
            "set `spine: {count: 3}`, which divides the uplinks of the leaves",
            "leaf: {uplinks: {count: 9}}, spine: {count: 3}",
        ),
    ],
)
def test_the_hint_gives_a_second_spine(topology: str, hint: str, better: str, tmp_path: Path) -> None:
    assert [one.hint for one in few_spines(tmp_path, topology)] == [hint]
    assert few_spines(tmp_path, better) == []
