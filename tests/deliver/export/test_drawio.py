"""The draw.io file: what its editor relies on, shapes inside each other and never on each other, the plan's own data."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

import pytest

from fabric.deliver.export.drawio import drawio
from tests.deliver.export.diagrams import DESIGNS, HOSTILE, hostile, made, of_intent, plan


@dataclass(frozen=True)
class Cell:
    """A cell with the object around it, where it has one."""

    id: str
    label: str
    data: dict[str, str]
    cell: ET.Element

    @property
    def switch(self) -> tuple[float, float, float, float]:
        geometry = self.cell.find("mxGeometry")
        assert geometry is not None
        x, y, w, h = (float(geometry.attrib[key]) for key in ("x", "y", "width", "height"))
        return x, y, x + w, y + h


def pages(text: str) -> dict[str, list[Cell]]:
    root = ET.fromstring(text)
    assert root.tag == "mxfile"
    found = {}
    for diagram in root:
        assert diagram.tag == "diagram"
        cells = diagram.find("mxGraphModel/root")
        assert cells is not None
        found[diagram.attrib["name"]] = [_cell(element) for element in cells]
    return found


def _cell(element: ET.Element) -> Cell:
    inner = element if element.tag == "mxCell" else element.find("mxCell")
    assert inner is not None
    data = {key: value for key, value in element.attrib.items() if element.tag == "object" and key not in ("id", "label")}
    return Cell(element.attrib["id"], element.get("label", element.get("value", "")), data, inner)


@pytest.mark.parametrize("design", DESIGNS)
def test_is_a_tree_of_cells_with_lines_between_shapes(design: str, tmp_path: Path) -> None:
    text = drawio(plan(design))
    assert text == drawio(made(tmp_path, DESIGNS[design]))
    assert len(text.encode()) < 250_000
    ids: set[str] = set()
    for cells in pages(text).values():
        root, *rest = cells
        assert not root.cell.attrib.keys() - {"id"}
        layers = [cell.id for cell in rest if cell.cell.get("parent") == root.id]
        shapes = {cell.id for cell in rest if cell.cell.get("vertex") == "1"}
        lines = [cell for cell in rest if cell.cell.get("edge") == "1"]
        assert len(layers) + len(shapes) + len(lines) == len(rest)
        for cell in rest:
            assert cell.cell.get("parent") in {root.id, *layers, *shapes}
            assert cell.id not in ids
            ids.add(cell.id)
        for line in lines:
            assert {line.cell.get("source"), line.cell.get("target")} <= shapes
            assert line.cell.find("mxGeometry[@relative='1'][@as='geometry']") is not None
        assert "html=1" not in text


@pytest.mark.parametrize("design", DESIGNS)
def test_shapes_lie_in_each_other_and_not_on_each_other(design: str) -> None:
    for name, cells in pages(drawio(plan(design))).items():
        by_id = {cell.id: cell for cell in cells}
        inside: dict[str, list[Cell]] = {}
        for cell in cells:
            if cell.cell.get("vertex") == "1":
                inside.setdefault(cell.cell.attrib["parent"], []).append(cell)
        for parent, children in inside.items():
            models = sorted(child.switch for child in children)
            for at, (left, top, right, bottom) in enumerate(models):
                assert right > left, name
                assert bottom > top, name
                for other in models[at + 1 :]:
                    assert other[0] >= right or other[1] >= bottom or other[3] <= top, (
                        name,
                        (left, top, right, bottom),
                        other,
                    )
            if by_id[parent].cell.get("vertex") == "1":
                x, y, right, bottom = by_id[parent].switch
                assert max(switch[2] for switch in models) <= right - x, name
                assert max(switch[3] for switch in models) <= bottom - y, name


def test_pages_of_every_view() -> None:
    assert list(pages(drawio(of_intent("h100-4su.yaml")))) == ["backend", "backend, switches", "backend, rail 1", "racks"]
    assert list(pages(drawio(plan("planes-in-pods")))) == ["f0", "f0, pod 1", "f0, rail 1", "f0, plane 1", "racks"]
    assert list(pages(drawio(plan("collapsed")))) == ["f0", "racks"]


def test_shapes_know_their_devices() -> None:
    made_ = of_intent("h100-4su.yaml")
    fabric = made_.fabrics["backend"]
    cells = {cell.label.split("\n")[0]: cell for cell in pages(drawio(made_))["backend, switches"]}
    for device in fabric.switches:
        data = cells[device.name].data
        assert data["model"] == device.model
        assert data["asn"] == str(device.asn)
        assert data["loopback"] == str(ip_address(int(fabric.loopback[device.index])))
    assert cells["backend-leaf011"].data["rail"] == "3"


def test_every_rack_of_a_small_site_has_its_devices() -> None:
    racks = pages(drawio(of_intent("ai-sonic.yaml")))["racks"]
    names = [cell.data["name"] for cell in racks if "ru" in cell.data]
    expected = {device.name for fabric in of_intent("ai-sonic.yaml").fabrics.values() for device in fabric.devices}
    assert sorted(names) == sorted(expected)


def test_hostile_names_stay_text() -> None:
    text = drawio(hostile(plan("one-unit")))
    assert "<script" not in text
    assert any(cell.label.startswith(f"{HOSTILE} · {HOSTILE}") for cell in pages(text)[HOSTILE])
