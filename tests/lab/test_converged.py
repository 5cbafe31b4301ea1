"""Converged designs as labs: each is drawn with FRR on every switch, and vtysh reads every frr.conf of it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from fabric.lab.expected import endpoints
from fabric.lab.scenarios.switch_lost import part_of
from tests import ROOT
from tests.design.planner import test_converged as designs
from tests.docs.blocks import blocks
from tests.lab.converged_designs import drawn, planned, refused

PAGES = ("docs/howto/converged.md", "docs/howto/oob.md")
TEXTS = {
    "pair": designs.PAIR,
    "racks": designs.RACKS,
    "rails": designs.RAILS,
    "below": designs.BELOW,
    "one switch": designs.SERVERS + designs.ONE.format(gpu=4, own=""),
    **{
        f"{page} {number}": block.text
        for page in PAGES
        for number, block in enumerate(block for block in blocks(ROOT / page) if "version: 1\n" in block.text)
        if block.kind == "yaml"
    },
}


def accepted(path: Path) -> None:
    lab = drawn(path)
    assert lab.views
    assert all(node.routed for node in lab.nodes.values() if node.name in lab.views)
    if shutil.which("vtysh"):
        assert refused(lab, path.parent) == []


@pytest.mark.parametrize("name", TEXTS)
def test_a_documented_design_is_a_lab(name: str, tmp_path: Path) -> None:
    path = tmp_path / "intent.yaml"
    path.write_text(TEXTS[name], encoding="utf-8")
    accepted(path)


def test_random_designs_are_labs(tmp_path: Path) -> None:
    """More of them: `python -m tests.lab.converged_designs`."""
    for path in planned(5, 2, tmp_path):
        accepted(path)


def test_every_network_of_the_documented_pair_has_hosts(tmp_path: Path) -> None:
    path = tmp_path / "intent.yaml"
    path.write_text(designs.PAIR, encoding="utf-8")
    assert {part_of(end).id for end in endpoints(drawn(path))} == {"gpu", "inband", "storage"}
