"""The documented out-of-band fabric, live: a management port of a switch reaches its gateway and those of other switches."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from fabric import pipeline
from fabric.lab import run_tests, up_down
from fabric.lab.blueprint import Names
from fabric.lab.expected import endpoints, gateway_of
from fabric.lab.machine.host import require
from fabric.lab.up_down import bring_up, take_down
from tests.docs.test_promises import adapted
from tests.lab.sites import generated

NAME = "lab-oob"
PROOFS = {"sessions", "gateways", "management", "reach", "lldp"}


@pytest.mark.usefixtures("machine")
def test_management_ports_reach_their_gateway_and_each_other(tmp_path: Path) -> None:
    site = yaml.safe_load(adapted("docs/howto/oob.md", "frr")) | {"site": "SITE"}
    backend, oob = site["fabrics"].values()
    backend["servers"] |= {"count": 2, "per_rack": 1}
    backend["topology"] |= {"unit": {"servers": 2}, "leaf": {"uplinks": {"count": 2}}}
    oob["servers"] |= {"count": 2, "per_rack": 1}
    oob["tenants"][0]["servers"] = "gpu-*"
    oob["topology"]["attachments"].append({"name": "jump", "links": 1, "speed_gbps": 1, "tenant": "bmc"})
    intent = generated(yaml.safe_dump(site, sort_keys=False), NAME, tmp_path)
    lab, kernel = pipeline.lab(intent), require(overlay=True)
    ends = {end.server: end for end in endpoints(lab.blueprint) if end.network}
    switches = [name for name in lab.blueprint.views if not name.startswith("oob-leaf")]
    assert sorted(ends) == sorted([*(f"{name}-management" for name in switches), "jump"])
    assert {gateway_of(ends[f"{name}-management"]) for name in switches} == {"172.16.0.1"}
    assert len({end.leaf for end in ends.values()}) == 2
    try:
        bring_up(lab.blueprint, kernel, up_down.State(str(intent.path), up_down.Choices(), ""), lambda text: None)
        outcome = run_tests.run(lab.blueprint, kernel, PROOFS, "", lambda text: None)
    finally:
        with up_down.only_one(Names(NAME)):
            take_down(Names(NAME))
    results = {result.id: (result.status, [str(fault) for fault in result.faults]) for result in outcome.results}
    assert {name: results[name] for name in PROOFS} == dict.fromkeys(PROOFS, ("pass", []))
