"""A unit that is not stated is one that a leaf has the ports for, so a design without `unit` can be built."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabric import pipeline


@pytest.mark.parametrize(
    ("nics", "topology", "unit", "down", "up"),
    [
        ("count: 8, speed_gbps: 400", "switch: sn5600, tiers: 2", 64, "64 x 400G", "32 x 800G"),  # half of the bandwidth
        ("count: 2, speed_gbps: 100", "switch: sn5600, tiers: 2", 168, "168 x 100G", "21 x 800G"),  # four ports to a cage
        (
            "count: 2, speed_gbps: 25",
            "switch: 7050sx3-48yc8, kind: rack, tiers: 2",
            16,
            "32 x 25G",
            "8 x 100G",
        ),  # eight uplink cages
        (
            "count: 2, speed_gbps: 25",
            "switch: 7050sx3-48yc8, kind: rack, tiers: 2, leaf: {oversubscription: 2}",
            20,
            "40 x 25G",
            "5 x 100G",
        ),
        ("count: 2, speed_gbps: 25", "switch: sn4700, leaf: {uplinks: {count: 8}}", 96, "96 x 25G", "8 x 400G"),
    ],
)
def test_the_ports_of_a_leaf_limit_the_default_unit(
    nics: str, topology: str, unit: int, down: str, up: str, tmp_path: Path
) -> None:
    path = tmp_path / "d.yaml"
    path.write_text(
        f"version: 1\nsite: d\ncatalog: {{servers: {{x: {{gpus: 0, nics: {{compute: {{{nics}}}}}}}}}}}\nfabrics:\n"
        f"  backend:\n    servers: {{model: x, count: 20}}\n    topology: {{{topology}}}\n",
        encoding="utf-8",
    )
    row = pipeline.summarize(pipeline.load(path))["fabrics"]["backend"]
    ports = row["ports"]["leaf"]
    built = [f"{ports[way]} x {ports[f'{way}_speed_gbps']}G" for way in ("down", "up")]
    assert (row["unit"]["servers"], *built) == (unit, down, up)
