"""The pictures of a plan: well-formed, the same bytes every time, small, nothing on top of anything, true to the counts."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from fabric.base.diagnostics import InputError
from fabric.base.formats import fit, text_width, wrap
from fabric.cli.export import export
from fabric.deliver.export.legend import bandwidth
from fabric.deliver.export.parts import Gap, condense
from fabric.deliver.export.svg import svg, svg_plane, svg_racks, svg_rail
from fabric.model.plan import Plan
from fabric.model.plan.summary import summary
from tests.deliver.export.diagrams import DESIGNS, HOSTILE, hostile, made, of_intent, plan
from tests.goldens import golden

SVG = "{http://www.w3.org/2000/svg}"
PICTURES: dict[str, Callable[[Plan], str]] = {"tiers": svg, "rail": svg_rail, "plane": svg_plane, "racks": svg_racks}
EVERY = [(picture, design) for picture in PICTURES for design in DESIGNS]


def drawn(picture: str, design: str) -> ET.Element:
    return ET.fromstring(PICTURES[picture](plan(design)))


def texts(root: ET.Element) -> list[str]:
    return [element.text or "" for element in root.iter(f"{SVG}text")]


@pytest.mark.parametrize(("picture", "design"), EVERY)
def test_is_well_formed_small_and_deterministic(picture: str, design: str, tmp_path: Path) -> None:
    text = PICTURES[picture](plan(design))
    assert text == PICTURES[picture](made(tmp_path, DESIGNS[design]))
    root = ET.fromstring(text)
    assert len(text.encode()) < 60_000
    assert (root.findtext(f"{SVG}title") or "").startswith(("Network of dc1", "Racks of dc1"))
    tags = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert tags <= {"svg", "title", "desc", "style", "rect", "path", "text"}
    assert not {name for element in root.iter() for name in element.keys() if name.startswith("on") or "href" in name}  # noqa: SIM118


@pytest.mark.parametrize("design", DESIGNS)
def test_says_what_the_summary_says(design: str) -> None:
    fabric = plan(design).fabrics["f0"]
    row = summary(fabric.spec, fabric.sizing)
    root = drawn("tiers", design)
    shown, described = texts(root), root.findtext(f"{SVG}desc") or ""
    for tier, count in row["switches"].items():
        if count:
            assert f"{count:,} × {row['models'][tier]}" in shown
    for kind in ("server-leaf", "leaf-spine", "spine-core"):
        if row["links"][kind]:
            assert any(line.startswith(f"{row['links'][kind]:,} links, ") for line in shown), kind
    for count, noun in ((row["servers"], "servers"), (row["gpus"], "GPUs"), (sum(row["links"].values()), "links")):
        assert f"{count:,} {noun}" in described
    if row["tiers"] > 1 and not design.startswith("mixed"):
        assert any(line.startswith(f"{row['oversubscription']['leaf']:g}:1 ") for line in shown)


@pytest.mark.parametrize(("picture", "design"), EVERY)
def test_texts_stay_inside_and_apart(picture: str, design: str) -> None:
    root = drawn(picture, design)
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


@pytest.mark.parametrize(("picture", "design"), EVERY)
def test_no_text_crosses_the_edge_of_a_box(picture: str, design: str) -> None:
    """A text is inside of a box or outside of it, give or take a pixel of its estimated size."""
    root = drawn(picture, design)
    boxes = [
        tuple(float(element.get(key, 0)) for key in ("x", "y", "width", "height")) for element in root.iter(f"{SVG}rect")
    ]
    for element in root.iter(f"{SVG}text"):
        left, top, right, bottom, text = _extent(element)
        for x, y, w, h in boxes:
            outside = left >= x + w - 1 or right <= x + 1 or top >= y + h - 1 or bottom <= y + 1
            inside = left >= x - 1 and right <= x + w + 1 and top >= y - 1 and bottom <= y + h + 1
            assert outside or inside, (text, (left, top, right, bottom), (x, y, w, h))


def _extent(element: ET.Element) -> tuple[float, float, float, float, str]:
    text, size = element.text or "", float(element.get("font-size", 0))
    wide = text_width(text, size, element.get("font-weight") == "700") * 0.9  # the estimate errs to the wide side
    x, y = float(element.get("x", 0)), float(element.get("y", 0))
    left = {"middle": x - wide / 2, "end": x - wide}.get(element.get("text-anchor", ""), x)
    return left, y - size * 0.72, left + wide, y + size * 0.2, text


def test_many_units_and_pods_are_condensed() -> None:
    shown = texts(drawn("tiers", "1280-switches"))
    assert [line for line in shown if re.fullmatch(r"pod \d+", line)] == ["pod 2", "pod 16"]
    assert "pod 1: 4 units, 32 leaves, 128 servers" in shown
    assert "13 more" in shown


def test_a_small_fabric_names_every_switch_and_draws_every_pair() -> None:
    root = drawn("tiers", "one-unit")
    hints = [element.findtext(f"{SVG}title") for element in root.iter(f"{SVG}rect")]
    for device in plan("one-unit").fabrics["f0"].switches:
        assert f"{device.name} ({device.model})" in hints
    lines = [element for element in root.iter(f"{SVG}path") if element.get("stroke")]
    assert len(lines) == 8 * 2


def test_fabrics_stand_below_each_other(tmp_path: Path) -> None:
    both = made(tmp_path, DESIGNS["four-units"], DESIGNS["collapsed"])
    shown = texts(ET.fromstring(svg(both)))
    assert shown.index("dc1 · f0") < shown.index("dc1 · f1")
    assert "Without a rail 1: f1" in texts(ET.fromstring(svg_rail(both)))


def test_a_rail_shows_its_leaves_with_their_ports() -> None:
    shown = texts(drawn("rail", "four-units"))
    assert [line for line in shown if line.startswith("f0-leaf")] == ["f0-leaf001", "f0-leaf009", "f0-leaf017", "f0-leaf025"]
    assert [shown[at + 1] for at, line in enumerate(shown) if line == "at spine"] == ["1–2", "17–18", "33–34", "49–50"]
    assert shown.count("33–64") == shown.count("1–32") == shown.count("compute1") == 4
    assert "128 servers, 4 leaves and 256 links of its own; 16 spines shared with the other rails" in shown
    third = texts(ET.fromstring(svg_rail(plan("four-units"), 3)))
    assert {"dc1 · f0 · rail 3", "f0-leaf003", "compute3"} <= set(third)


def test_a_plane_has_its_own_switches_alone() -> None:
    first, second = (texts(ET.fromstring(svg_plane(plan("planes"), at))) for at in (1, 2))
    assert "256 servers, 32 leaves, 8 spines, 2,560 links, isolated from the other planes" in first
    assert {"f0-leaf001 … 015", "compute1–8 p1", "plane 1: 8 spines"} <= set(first)
    assert {"f0-leaf002 … 016", "compute1–8 p2", "plane 2: 8 spines"} <= set(second)


@pytest.mark.parametrize(("make", "design", "what"), [(svg_rail, "racks", "rails"), (svg_plane, "four-units", "planes")])
def test_a_fabric_without_slices_is_drawn_whole_and_says_so(make: Callable[[Plan], str], design: str, what: str) -> None:
    shown = texts(ET.fromstring(make(plan(design))))
    assert f"This fabric has no {what}: the whole fabric is drawn." in shown


@pytest.mark.parametrize(("make", "number", "most"), [(svg_rail, 9, 8), (svg_rail, 0, 8), (svg_plane, 3, 2)])
def test_a_number_that_is_not_there_is_refused(make: Callable[[Plan, int], str], number: int, most: int) -> None:
    with pytest.raises(InputError) as caught:
        make(plan("planes"), number)
    assert f"expected a number from 1 to {most}, got {number}" in caught.value.diagnostics[0].message


def test_racks_that_are_alike_are_drawn_once() -> None:
    shown = texts(drawn("racks", "1280-switches"))
    assert "640 racks of 48 units in 36 rows; 5 kinds, each drawn once" in shown
    assert {"512 racks like this", "64 racks like this", "32 rows E–AJ", "4 servers, 32 GPUs", "8 leaves"} <= set(shown)


def test_a_small_site_shows_every_device_where_it_stands() -> None:
    from fabric.design.floor.floor import floor

    starter = of_intent("ai-sonic.yaml")
    shown, spots = texts(ET.fromstring(svg_racks(starter))), floor(starter).spots
    assert sorted(name for name in spots if name not in shown) == []
    assert all(shown.count(name) == 1 for name in spots)


@pytest.mark.parametrize("picture", PICTURES)
@pytest.mark.parametrize("design", ["one-unit", "planes", "mixed"])
def test_hostile_names_are_escaped(picture: str, design: str) -> None:
    text = PICTURES[picture](hostile(plan(design)))
    root = ET.fromstring(text)
    assert "<script" not in text
    heading = texts(root)[0]
    assert heading.startswith(HOSTILE)


@pytest.mark.parametrize("picture", PICTURES)
def test_golden_starter(picture: str) -> None:
    name = "starter.svg" if picture == "tiers" else f"starter-{picture}.svg"
    golden(f"export/pictures/{name}", PICTURES[picture](of_intent("starter.yaml")))


def test_the_verb_writes_a_file_and_one_fabric_alone(tmp_path: Path) -> None:
    both = made(tmp_path, DESIGNS["one-unit"], DESIGNS["collapsed"])
    export("svg", tmp_path / "intent.yaml", "f1", None, None, inventory=None, output=tmp_path / "x.svg")
    alone = replace(both, fabrics={"f1": both.fabrics["f1"]})
    assert (tmp_path / "x.svg").read_bytes() == svg(alone).encode()


@pytest.mark.parametrize(("form", "fabric", "hint"), [("svgg", "", "did you mean 'svg'?"), ("svg", "f9", "one of f0")])
def test_unknown_format_or_fabric_names_the_nearest(form: str, fabric: str, hint: str, tmp_path: Path) -> None:
    made(tmp_path, DESIGNS["collapsed"])
    with pytest.raises(InputError) as caught:
        export(form, tmp_path / "intent.yaml", fabric, None, None, inventory=None, output=None)
    assert [item.hint for item in caught.value.diagnostics] == [hint]


def test_words() -> None:
    assert [bandwidth(n) for n in (800, 1000, 409_600, 6_553_600)] == ["800 Gb/s", "1 Tb/s", "409.6 Tb/s", "6.55 Pb/s"]
    assert condense([1, 2, 3, 4], 4) == [1, 2, 3, 4]
    assert condense(list(range(64)), 4) == [0, 1, Gap(61), 63]
    assert fit("backend-leaf001", 50, 11) == "ba…001"
    assert wrap("storage-and-frontend-leaf001", 80, 11, 2) == ["…frontend-", "leaf001"]
    assert wrap("storage-and-frontend-leaf001", 56, 11, 2) == ["…leaf001"]
