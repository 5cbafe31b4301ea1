"""The picture of a plan: well-formed, the same bytes every time, small, and true to the counts."""

from __future__ import annotations

import os
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest

from fabric import pipeline
from fabric.cli.export import export
from fabric.diagnostics import InputError
from fabric.export.canvas import fit, text_width, wrap
from fabric.export.formats import FORMATS
from fabric.export.parts import Gap, condense
from fabric.export.words import bandwidth
from fabric.plan.plan import Plan

ROOT = Path(__file__).parents[2]
GOLDEN = Path(__file__).parent / "golden"
SVG = "{http://www.w3.org/2000/svg}"

TWO_PORTS = "{gpus: 8, nvlink_domain_gpus: 8, nics: {compute: {count: 8, ports: 2, speed_gbps: 200}}}"
DESIGNS = {
    "four-units": "{servers: {model: dgx-h100, count: 128}, topology: {switch: 64x400g, unit: {servers: 32}}}",
    "one-unit": "{servers: {model: dgx-h100, count: 16}, topology: {switch: 64x400g, unit: {servers: 16}}}",
    "three-tiers": "{servers: {model: dgx-h100, count: 512}, topology: {switch: 64x400g, unit: {servers: 32}}}",
    "1280-switches": (
        "{servers: {model: dgx-h100, count: 2048}, topology: {switch: 64x400g, unit: {servers: 32}, pods: {units: 4}}}"
    ),
    "planes": "{servers: {model: two, count: 256}, topology: {switch: sn5600, planes: 2, unit: {servers: 64}}}",
    "planes-in-pods": (
        "{servers: {model: two, count: 2048}, topology: {switch: sn5600, planes: 2, tiers: 3, unit: {servers: 64}}}"
    ),
    "dual-tor": "{servers: {model: two, count: 100}, topology: {switch: sn5600, dual_tor: true, unit: {servers: 16}}}",
    "rail-only": (
        "{servers: {model: dgx-h100, count: 256}, topology: {kind: rail-only, switch: 64x400g, unit: {servers: 32}}}"
    ),
    "collapsed": "{servers: {model: dgx-h100, count: 12}, topology: {kind: collapsed, switch: sn5600}}",
    "racks": (
        "{purpose: storage, servers: {model: dgx-h100, count: 96, per_rack: 4},"
        " topology: {switch: sn5600, leaf: {oversubscription: 3}}}"
    ),
    "mixed": (
        "{servers: [{model: dgx-h100, count: 96}, {model: dgx-a100, count: 70}],"
        " topology: {switch: sn5600, unit: {servers: 32}, attachments: [{name: ufm, links: 4}]}}"
    ),
    "tiny-three-tiers": "{servers: {model: one, count: 8}, topology: {switch: 4x100g, tiers: 3}}",
}


def made(folder: Path, *fabrics: str) -> Plan:
    body = "\n".join(f"  f{at}: {fabric}" for at, fabric in enumerate(fabrics))
    path = folder / "intent.yaml"
    path.write_text(
        f"version: 1\nsite: dc1\ncatalog: {{servers: {{two: {TWO_PORTS}, "
        "one: {gpus: 1, nvlink_domain_gpus: 1, nics: {compute: {count: 1, ports: 1, speed_gbps: 100}}}}}\n"
        f"fabrics:\n{body}\n"
    )
    return pipeline.plan(pipeline.load(path))


def picture(plan: Plan) -> ET.Element:
    return ET.fromstring(FORMATS["svg"](plan))


def texts(root: ET.Element) -> list[str]:
    return [element.text or "" for element in root.iter(f"{SVG}text")]


@pytest.mark.parametrize("design", DESIGNS)
def test_is_well_formed_small_and_deterministic(design: str, tmp_path: Path) -> None:
    plan = made(tmp_path, DESIGNS[design])
    text = FORMATS["svg"](plan)
    assert text == FORMATS["svg"](made(tmp_path, DESIGNS[design]))
    root = ET.fromstring(text)
    assert len(text.encode()) < 60_000
    assert root.findtext(f"{SVG}title") == "Network of dc1: f0"
    tags = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert tags <= {"svg", "title", "desc", "rect", "path", "text"}


@pytest.mark.parametrize("design", DESIGNS)
def test_says_what_the_summary_says(design: str, tmp_path: Path) -> None:
    plan = made(tmp_path, DESIGNS[design])
    row = pipeline.summarize(pipeline.load(tmp_path / "intent.yaml"))["fabrics"]["f0"]
    root = picture(plan)
    said, described = texts(root), root.findtext(f"{SVG}desc") or ""
    for tier, count in row["switches"].items():
        if count:
            assert f"{count:,} × {row['models'][tier]}" in said
    for kind in ("server-leaf", "leaf-spine", "spine-core"):
        if row["links"][kind]:
            assert any(line.startswith(f"{row['links'][kind]:,} links, ") for line in said), kind
    for count, noun in ((row["servers"], "servers"), (row["gpus"], "GPUs"), (sum(row["links"].values()), "links")):
        assert f"{count:,} {noun}" in described
    if row["tiers"] > 1 and design != "mixed":
        assert any(line.startswith(f"{row['oversubscription']['leaf']:g}:1 ") for line in said)


@pytest.mark.parametrize("design", DESIGNS)
def test_texts_stay_inside_and_apart(design: str, tmp_path: Path) -> None:
    root = picture(made(tmp_path, DESIGNS[design]))
    width, height = float(root.get("width", 0)), float(root.get("height", 0))
    boxes = [_extent(element) for element in root.iter(f"{SVG}text")]
    for at, (left, top, right, bottom, text) in enumerate(boxes):
        assert left >= 0, text
        assert top >= 0, text
        assert right <= width, text
        assert bottom <= height, text
        for other in boxes[:at]:
            apart = left >= other[2] or right <= other[0] or top >= other[3] or bottom <= other[1]
            assert apart, (text, other[4])


def _extent(element: ET.Element) -> tuple[float, float, float, float, str]:
    text, size = element.text or "", float(element.get("font-size", 0))
    wide = text_width(text, size, element.get("font-weight") == "700") * 0.9  # the estimate errs to the wide side
    x, y = float(element.get("x", 0)), float(element.get("y", 0))
    left = {"middle": x - wide / 2, "end": x - wide}.get(element.get("text-anchor", ""), x)
    return left, y - size * 0.72, left + wide, y + size * 0.2, text


def test_many_units_and_pods_are_condensed(tmp_path: Path) -> None:
    said = texts(picture(made(tmp_path, DESIGNS["1280-switches"])))
    assert [line for line in said if re.fullmatch(r"pod \d+", line)] == ["pod 2", "pod 16"]
    assert "pod 1: 4 units, 32 leaves, 128 servers" in said
    assert "13 more" in said


def test_a_small_fabric_names_every_switch_and_draws_every_pair(tmp_path: Path) -> None:
    plan = made(tmp_path, DESIGNS["one-unit"])
    root = picture(plan)
    hints = [element.findtext(f"{SVG}title") for element in root.iter(f"{SVG}rect")]
    for device in plan.fabrics["f0"].switches:
        assert f"{device.name} ({device.model})" in hints
    lines = [element for element in root.iter(f"{SVG}path") if element.get("stroke")]
    assert len(lines) == 8 * 2


def test_fabrics_stand_below_each_other(tmp_path: Path) -> None:
    said = texts(picture(made(tmp_path, DESIGNS["four-units"], DESIGNS["collapsed"])))
    assert said.index("dc1 · f0") < said.index("dc1 · f1")


def test_hostile_names_are_escaped(tmp_path: Path) -> None:
    plan = made(tmp_path, DESIGNS["one-unit"])
    fabric = plan.fabrics["f0"]
    bad = "<script>alert('1')</script>&\"x"
    devices = tuple(replace(device, name=bad, model=bad) for device in fabric.devices)
    text = FORMATS["svg"](replace(plan, site=bad, fabrics={bad: replace(fabric, name=bad, devices=devices)}))
    root = ET.fromstring(text)
    assert "<script" not in text
    assert f"{bad} · {bad}" in texts(root)


def test_golden_starter() -> None:
    text = FORMATS["svg"](pipeline.plan(pipeline.load(ROOT / "intent" / "starter.yaml")))
    golden = GOLDEN / "starter.svg"
    if os.environ.get("UPDATE_GOLDEN"):
        golden.parent.mkdir(parents=True, exist_ok=True)
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8"), "run with UPDATE_GOLDEN=1 and look at the picture"


def test_the_verb_writes_a_file_and_one_fabric_alone(tmp_path: Path) -> None:
    plan = made(tmp_path, DESIGNS["one-unit"], DESIGNS["collapsed"])
    export("svg", tmp_path / "intent.yaml", "f1", tmp_path / "x.svg")
    alone = replace(plan, fabrics={"f1": plan.fabrics["f1"]})
    assert (tmp_path / "x.svg").read_bytes() == FORMATS["svg"](alone).encode()


@pytest.mark.parametrize(("form", "fabric", "hint"), [("svgg", "", "did you mean 'svg'?"), ("svg", "f9", "one of f0")])
def test_unknown_format_or_fabric_names_the_nearest(form: str, fabric: str, hint: str, tmp_path: Path) -> None:
    made(tmp_path, DESIGNS["collapsed"])
    with pytest.raises(InputError) as caught:
        export(form, tmp_path / "intent.yaml", fabric, None)
    assert [item.hint for item in caught.value.diagnostics] == [hint]


def test_words() -> None:
    assert [bandwidth(n) for n in (800, 1000, 409_600, 6_553_600)] == ["800 Gb/s", "1 Tb/s", "409.6 Tb/s", "6.55 Pb/s"]
    assert condense([1, 2, 3, 4], 4) == [1, 2, 3, 4]
    assert condense(list(range(64)), 4) == [0, 1, Gap(61), 63]
    assert fit("backend-leaf001", 50, 11) == "bac…001"
    assert wrap("storage-and-frontend-leaf001", 80, 11, 2) == ["…frontend-", "leaf001"]
    assert wrap("storage-and-frontend-leaf001", 56, 11, 2) == ["…leaf001"]
