"""The survey that is made from a plan has what the plan has."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabric import pipeline
from tests.deliver.brownfield.oracle import survey_of


@pytest.mark.parametrize("name", ["starter", "evpn-lab", "era-2-8-5-200", "three-tier"])
def test_every_device_and_link_of_a_plan_is_in_its_survey(name: str, tmp_path: Path) -> None:
    plan = pipeline.plan(pipeline.load(Path("intent") / f"{name}.yaml", tmp_path))
    survey = survey_of(plan)
    assert survey.switches.keys() == {device.name for fabric in plan.fabrics.values() for device in fabric.switches}
    assert len(survey.cables) == sum(len(fabric.links) for fabric in plan.fabrics.values())
    ends = survey.switches.keys() | survey.hosts.keys()
    assert all(cable.a in ends and cable.b in survey.switches for cable in survey.cables)
    assert all(cable.b_port and cable.a_port for cable in survey.cables)
