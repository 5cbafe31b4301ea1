"""A cable or optics for every port speed that the shipped switches list, from a server three metres away."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabric import pipeline
from fabric.base.diagnostics import InputError
from fabric.hardware import catalog

# No breakout cable of this kind is known: QSFP-DD to eight SFP28 or SFP+, and to two QSFP+.
WITHOUT = {("7060dx5-64s", 25), ("as9516-32d", 25), ("ds4101", 10), ("ds4101", 25), ("ds4101", 40), ("z9664f-on", 40)}

INTENT = """
version: 1
site: t
catalog: {{servers: {{s: {{gpus: 0, nics: {{frontend: {{count: 1, speed_gbps: {speed}}}}}}}}}}}
fabrics:
  f:
    purpose: frontend
    servers: {{model: s, count: 4, per_rack: 2}}
    topology: {{switch: {name}, cable_length_m: {{server-leaf: 3}}}}
"""
SWITCHES = [name for name in catalog.switch_names() if catalog.switch(name).technology == "ethernet"]  # type: ignore[union-attr]


def problems(path: Path) -> list[str]:
    """Codes of what keeps the cables of an intent from being chosen."""
    try:
        pipeline.cables(pipeline.plan(pipeline.load(path)))
    except InputError as error:
        return [diagnostic.code for diagnostic in error.diagnostics]
    return []


@pytest.mark.parametrize("name", SWITCHES)
def test_every_speed_has_a_medium(name: str, tmp_path: Path) -> None:
    model, path, found = catalog.switch(name), tmp_path / "t.yaml", {}
    assert model is not None
    for speed in model.speeds:
        path.write_text(INTENT.format(name=name, speed=speed))
        found[name, speed] = problems(path)
    assert {at: codes for at, codes in found.items() if codes} == {at: ["FAB153"] for at in WITHOUT if at[0] == name}
