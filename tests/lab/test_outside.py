"""Routers outside that send the site its own prefixes: what a border leaf without its denials accepts is found, live."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabric import pipeline
from fabric.lab import run_tests, up_down
from fabric.lab.blueprint import Names
from fabric.lab.drawing import beyond
from fabric.lab.machine.host import require
from fabric.lab.up_down import bring_up, take_down
from tests.lab.sites import generated

SITE = """\
version: 1
site: SITE
catalog: {servers: {node: {gpus: 1, nics: {compute: {count: 1, speed_gbps: 100}}}}}
fabrics:
  backend:
    nos: frr
    qos: {enabled: false}
    servers: {model: node, count: 2, name: gpu}
    topology:
      switch: 32x100g
      unit: {servers: 1}
      leaf: {uplinks: {count: 1}}
      spine: {count: 1}
      attachments: [{name: wan, links: 2, external: {asn: 64600, accept: [0.0.0.0/0, 10.0.0.0/8]}}]
"""
NAME = "lab-outside"
LEAF1 = "backend-leaf001"


@pytest.mark.usefixtures("machine")
def test_a_leaf_without_its_denials(tmp_path: Path) -> None:
    intent = generated(SITE, NAME, tmp_path)
    conf = intent.folder / "configs" / LEAF1 / "frr.conf"
    lines = conf.read_text(encoding="utf-8").splitlines(keepends=True)
    bare = [line for line in lines if not (line.startswith("ip prefix-list PL-wan-IN ") and " deny " in line)]
    assert len(bare) == len(lines) - 3
    conf.write_text("".join(bare), encoding="utf-8")
    lab, kernel = pipeline.lab(intent), require(overlay=False)
    try:
        bring_up(lab.blueprint, kernel, up_down.State(str(intent.path), up_down.Choices(), ""), lambda text: None)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("fabric.lab.proofs.outside.PATIENCE_S", 4.0)
            outcome = run_tests.run(lab.blueprint, kernel, {"sessions", "outside"}, "", lambda text: None)
    finally:
        with up_down.only_one(Names(NAME)):
            take_down(Names(NAME))
    results = {result.id: result for result in outcome.results}
    assert results["sessions"].status == "pass"
    found = results["outside"]
    assert (found.status, {fault.device for fault in found.faults}) == ("fail", {LEAF1})
    messages = [fault.message.partition("): ")[2] for fault in found.faults]
    site = "is accepted from outside, but it is in pool"
    assert f"10.127.255.255/32 {site} 'p2p' 10.64.0.0/10 of the site" in messages
    assert any(f"{site} 'servers' 10.128.0.0/9" in text and not text.startswith("10.255.255.255") for text in messages)


def test_an_address_beyond_an_accepted_prefix_is_not_the_sites_own() -> None:
    assert beyond("10.0.0.0/8", ("10.0.0.0/15", "10.2.0.0/16")) == "10.3.0.1"
    assert beyond("10.0.0.0/31", ("10.0.0.0/32",)) == "10.0.0.1"
    assert (beyond("172.20.0.0/16"), beyond("::/0")) == ("172.20.0.1", "2001:db8:51::1")
