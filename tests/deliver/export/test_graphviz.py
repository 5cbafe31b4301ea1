"""The DOT graph: drawn by dot where Debian's graphviz is installed; its bundles add up to the links of the plan."""

from __future__ import annotations

import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from fabric.deliver.export.graphs import graphviz
from tests.deliver.export.plans import DESIGNS, plan
from tests.goldens import golden

SVG = "{http://www.w3.org/2000/svg}"
EDGE = re.compile(r'n\d+_\d+ -- n\d+_\d+ \[label="([^"]*)"\];')
BUNDLE = re.compile(r"(\d+) x (\d+)G")


@pytest.mark.parametrize("design", DESIGNS)
def test_bundles_add_up_to_the_links(design: str) -> None:
    made = plan(design)
    text = graphviz(made)
    drawn = sum(int(count) for label in EDGE.findall(text) for count, _ in BUNDLE.findall(label))
    collapsed = sum(int((fabric.links.kind == 1).sum()) for fabric in made.fabrics.values())  # leaf-leaf, drawn too
    assert drawn == sum(len(fabric.links) for fabric in made.fabrics.values())
    assert collapsed == 0 or "leaf001" in text
    assert len(text) < 40_000


@pytest.mark.parametrize("design", [*DESIGNS, "b200-3tier"])
def test_dot_draws_it(design: str) -> None:
    if shutil.which("dot") is None:
        pytest.skip("dot (graphviz) is not installed")
    text = graphviz(plan(design))
    drawn = subprocess.run(["dot", "-Tsvg"], input=text, capture_output=True, text=True)
    assert drawn.returncode == 0, drawn.stderr
    assert not drawn.stderr
    kinds = [element.get("class") for element in ET.fromstring(drawn.stdout).iter(f"{SVG}g")]
    assert kinds.count("edge") == len(EDGE.findall(text))
    assert kinds.count("node") == len(re.findall(r"^ *n\d+_\d+ \[label=", text, re.MULTILINE))


def test_hostile_names_stay_text() -> None:
    made = plan("one-unit")
    bad = '"]; x -- y [label="\\N<b>&'
    fabric = made.fabrics["f"]
    devices = tuple(replace(device, name=bad + str(device.index)) for device in fabric.devices)
    text = graphviz(replace(made, site=bad, fabrics={bad: replace(fabric, name=bad, devices=devices)}))
    assert text.count(" -- ") - text.count("x -- y") == len(EDGE.findall(graphviz(made)))
    if shutil.which("dot") is not None:
        drawn = subprocess.run(["dot", "-Tsvg"], input=text, capture_output=True, text=True)
        assert drawn.returncode == 0, drawn.stderr
        titles = [element.text or "" for element in ET.fromstring(drawn.stdout).iter(f"{SVG}text")]
        assert any("x -- y [label=" in title for title in titles)


def test_golden() -> None:
    golden("export/graphviz/h100-4su.dot", graphviz(plan("h100-4su")))
    golden("export/graphviz/starter.dot", graphviz(plan("starter")))
