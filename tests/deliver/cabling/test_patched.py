"""Run lists over patch panels: two trunks and a jumper for every link, optics once, and panels in the bill."""

from __future__ import annotations

from collections import Counter

import pytest

from fabric.base.diagnostics import InputError
from fabric.deliver.bom.gather import BomRequest, gather
from fabric.deliver.bom.parts import CABLE
from fabric.deliver.cabling.patched import stands
from fabric.deliver.cabling.tables import COLUMNS, rack_rows, rows, run_list, totals
from fabric.design.floor.floor import JUMPER_M, floor
from fabric.model.plan import LEAF_SPINE, Plan
from tests.design.planner.helpers import make

SITE = """\
version: 1
site: s
fabrics:
  backend:
    servers: {{model: dgx-h100, count: {servers}}}
    topology: {{switch: sn5600, unit: {{servers: 16}}{more}}}
{rest}
"""
PANELS = ", patch_panels: {leaf-spine: {ports: 96}}"


def made(servers: int = 32, more: str = PANELS, rest: str = "") -> Plan:
    return make(SITE.format(servers=servers, more=more, rest=rest))


def test_a_link_is_two_trunks_and_a_jumper() -> None:
    plan = made()
    fabric, found = plan.fabrics["backend"], run_list(plan)
    assert fabric.patching is not None
    cells = [dict(zip(COLUMNS, row, strict=True)) for row in rows(found.runs, found.chosen)]
    mine = [row for row in cells if row["kind"] == "leaf-spine"]
    links = int((fabric.links.kind == LEAF_SPINE).sum())
    assert len(mine) == 3 * links
    panels = {panel.name for panel in fabric.patching.panels}
    ends = Counter((row[f"{end}_device"] in panels, row["a_device"] in panels) for row in mine for end in "ab")
    assert ends == {(False, False): 2 * links, (True, False): 2 * links, (True, True): 2 * links}
    at_panel = [(row[f"{end}_device"], row[f"{end}_port"]) for row in mine for end in "ab" if row[f"{end}_device"] in panels]
    assert set(Counter(at_panel).values()) == {2}  # a trunk behind, a jumper in front
    assert all(row["length_m"] == JUMPER_M for row in mine if row["a_device"] in panels)
    assert all(row["medium"] and row["class"] in ("multimode", "single-mode") for row in mine)
    assert len({row["cable"] for row in cells}) == len({(row["cable"], row["fabric"]) for row in cells})


def test_optics_are_those_of_the_direct_cables() -> None:
    """A panel adds cables and no optic."""
    optics = [
        Counter({str(name): int(count) for name, label, _, count in totals(its.runs, its.chosen) if "optic," in str(label)})
        for its in (run_list(made()), run_list(made(more="", rest="floor: {media: {leaf-spine: multimode}}")))
    ]
    assert optics[0] == optics[1]


def test_lengths_are_those_of_all_three_parts() -> None:
    plan = made()
    fabric, ground = plan.fabrics["backend"], floor(plan)
    over = fabric.links.kind == LEAF_SPINE
    lower, upper = ground.trunks_m(fabric)
    assert (ground.lengths_m(fabric)[over] == (lower + upper)[over] + JUMPER_M).all()
    assert ground.lengths_m(fabric)[over].max() <= fabric.spec.lengths[LEAF_SPINE].metres


def test_panels_are_ordered_and_stand_above_a_rack() -> None:
    plan = made()
    patched = plan.fabrics["backend"].patching
    assert patched is not None
    bill, _ = gather(plan, BomRequest())
    counts = {line.part.item: line.in_use for line in bill.lines if line.part.kind == CABLE}
    assert counts["patch-panel-96"] == len(patched.panels)
    found = run_list(plan)
    listed = [row for row in rack_rows(found.runs, found.chosen) if row[4] == "panel"]
    assert [row[3] for row in listed] == [panel.name for panel in patched.panels]
    assert {row[5] for row in listed} == {"96 ports"}
    assert stands(plan.fabrics["backend"])[-1] == patched.panels[-1].name


def test_growth_keeps_the_names_of_trunks() -> None:
    names = []
    old = made(32)
    new = make(SITE.format(servers=48, more=PANELS, rest=""), old.lock)
    for plan in (old, new):
        found = run_list(plan)
        devices = len(plan.fabrics["backend"].devices)
        trunks = [row for row in found.chosen.tolist() if found.runs.a[row] < devices <= found.runs.b[row]]
        names.append({found.runs.cable[row]: found.runs.b_label[row].partition(" > ")[0] for row in trunks})
    both = names[0].keys() & names[1].keys()  # a trunk whose port has no link now is not listed
    assert len(both) > len(names[0]) / 2
    assert [name for name in sorted(both) if names[0][name] != names[1][name]] == []


@pytest.mark.parametrize("medium", ["dac", "aec"])
def test_copper_passes_no_panel(medium: str) -> None:
    plan = made(rest=f"floor: {{media: {{leaf-spine: {medium}}}}}")
    with pytest.raises(InputError, match=r"patch_panels: expected optics|no medium"):
        run_list(plan)
