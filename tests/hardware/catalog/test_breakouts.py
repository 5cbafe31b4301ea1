"""Ports of a speed that a switch has, as its maker or the software on it publishes them, and the layout that uses them."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
import yaml
from hypothesis import given, strategies as st

from fabric import pipeline
from fabric.audit.checks import NOTE, Scope
from fabric.base.diagnostics import InputError
from fabric.hardware import catalog
from fabric.hardware.catalog.models import SwitchModel
from fabric.model.plan import NoFit
from fabric.model.plan.cages import Slot, capacity, lay_out, spare, splits_left

# CumulusNetworks/docs@2ef5bcb1cf35, Switch-Port-Attributes.md of 5.13: "Maximum 100G ports: 256" and so on, without the ports
# beside the cages. Left out are speeds of which that page has more ports than the catalog: 10G and 40G ports for which no
# breakout cable is known (one for each cage in the catalog), and the SN2201, which SONiC does not split into four.
CUMULUS = {
    "sn2700": {25: 64, 40: 32, 50: 64, 100: 32},
    "sn3700c": {10: 128, 25: 128, 40: 32, 50: 64, 100: 32},
    "sn3700": {10: 128, 25: 128, 40: 32, 50: 128, 100: 64, 200: 32},
    "sn4600c": {25: 128, 40: 64, 50: 128, 100: 64},
    "sn4600": {25: 128, 40: 64, 50: 128, 100: 128, 200: 64},
    "sn4700": {10: 128, 25: 128, 40: 32, 50: 128, 100: 128, 200: 64, 400: 32},
    "sn5400": {10: 256, 25: 256, 50: 256, 100: 256, 200: 128, 400: 64},
    "sn5600": {10: 256, 25: 256, 50: 256, 100: 256, 200: 256, 400: 128, 800: 64},
}
# Dell Networking quick reference guide, June 2026, ports by speed. The 320 ports of 100G of the Z9864F-ON need two splits
# beside each other in each pair of cages; a plan gives all ports of a speed one split.
DELL = {
    "s5232f-on": {25: 124, 40: 32, 100: 32},
    "z9664f-on": {10: 256, 25: 256, 40: 128, 50: 128, 100: 256, 200: 128, 400: 64},
    "z9864f-on": {100: 256, 200: 256, 400: 128, 800: 64},
}
# githedgehog/fabric@78827deb pkg/ctrl/switchprofile: splits, and the ports of a pipeline (40G: 1x40 in place of 2x40)
HEDGEHOG = {
    "ds3000": {10: 128, 25: 128, 40: 32, 50: 64, 100: 32},
    "ds4000": {10: 128, 25: 128, 40: 32, 50: 128, 100: 128, 200: 64, 400: 32},
    "z9332f-on": {10: 128, 25: 128, 40: 32, 50: 128, 100: 128, 200: 64, 400: 32},
    "ds4101": {10: 256, 25: 256, 40: 64, 50: 256, 100: 256, 200: 128, 400: 64},
    "ds5000": {50: 256, 100: 256, 200: 256, 400: 128, 800: 64},
}
KNOWN_IN_PART = {
    "n9364d-gx2a": {100: 256, 200: 128, 400: 64},
    "n9332d-gx2b": {100: 128, 200: 64, 400: 32},
    "qfx5220-32cd": {100: 128, 200: 64, 400: 32},
    "qfx5230-64cd": {10: 256, 25: 256, 40: 64, 100: 256, 200: 128, 400: 64},
}
PUBLISHED = {**CUMULUS, **DELL, **HEDGEHOG, **KNOWN_IN_PART}


def shipped(name: str) -> SwitchModel:
    model = catalog.switch(name)
    assert model is not None
    return model


@pytest.mark.parametrize("name", PUBLISHED)
def test_ports_of_each_speed(name: str) -> None:
    model = shipped(name)
    assert {speed: capacity(model, speed) for speed in PUBLISHED[name]} == PUBLISHED[name]


@pytest.mark.parametrize("name", [*CUMULUS, *HEDGEHOG, "s5232f-on", "z9664f-on", "z9864f-on"])
def test_these_lists_have_every_speed(name: str) -> None:
    assert shipped(name).breakouts_complete


@pytest.mark.parametrize("name", [*KNOWN_IN_PART, "qfx5130-32cd", "n93180yc-fx3", "7060x6-64pe", "qfx5250"])
def test_these_lists_may_lack_a_speed(name: str) -> None:
    assert not shipped(name).breakouts_complete


def test_the_pipelines_of_a_ds5000() -> None:
    """Its profile: cages 1 and 4 share a pipeline, 2 and 3 the next, and so on up to 32 of them."""
    pipelines = shipped("ds5000").pipelines
    assert pipelines is not None
    assert [pipelines.of(cage) for cage in (1, 2, 3, 4, 5, 6, 7, 8, 61, 62, 63, 64)] == [
        1,
        2,
        2,
        1,
        3,
        4,
        4,
        3,
        31,
        32,
        32,
        31,
    ]


def test_eight_ports_in_one_of_two_cages() -> None:
    """128 ports of 100G: the first two of four cages are split, and the others are left for the uplinks."""
    layout = lay_out(shipped("ds5000"), 128, 100, 32, 400)
    assert sorted({slot.cage for slot in layout.down})[:6] == [1, 2, 5, 6, 9, 10]
    assert {slot.split for slot in layout.down} == {8}
    assert sorted({slot.cage for slot in layout.up}) == list(range(49, 65))


@given(
    name=st.sampled_from(["ds4000", "ds5000", "z9332f-on", "7060x6-64pe"]),
    data=st.data(),
    ports=st.integers(0, 300),
    uplinks=st.integers(0, 64),
)
def test_no_pipeline_has_more_ports_than_it_drives(name: str, data: st.DataObject, ports: int, uplinks: int) -> None:
    model = shipped(name)
    down_gbps, up_gbps = (data.draw(st.sampled_from(model.speeds)) for _ in "du")
    assert model.pipelines is not None
    try:
        layout = lay_out(model, ports, down_gbps, uplinks, up_gbps)
    except NoFit:
        return
    used = {slot.cage: slot.split for slot in (*layout.down, *layout.up)}
    driven = Counter[int]()
    for cage in range(1, model.cages + 1):
        driven[model.pipelines.of(cage)] += used.get(cage, 1)
    assert max(driven.values()) <= model.pipelines.max_ports
    assert (len(layout.down), len(layout.up)) == (ports, uplinks)
    assert spare(model, layout, down_gbps) <= capacity(model, down_gbps)


def test_further_breakouts_go_into_the_cages_that_hold_them() -> None:
    model = shipped("s5248f-on")
    assert model.speeds == (100, 50, 40, 25, 10)
    more = model.with_breakouts(("2x200", "8x10", "1x1"))
    assert [group.breakouts[-2:] for group in more.ports] == [("1x10", "1x1"), ("8x10", "1x1")]
    assert more.speeds == (100, 50, 40, 25, 10, 1)
    assert more.group_of(49).splits[10] == 8


def test_a_slot_of_a_shared_split() -> None:
    layout = lay_out(shipped("ds4000"), 3, 50, 1, 400)
    assert layout.down == tuple(Slot(1, sub, 8, 50) for sub in range(3))
    assert layout.up == (Slot(32, 0, 1, 400),)


@pytest.mark.parametrize("stated", ["[2x200]", "2x200"])
def test_a_breakout_that_the_site_states(stated: str, tmp_path: Path) -> None:
    path = tmp_path / "dc1.yaml"
    path.write_text(
        f"version: 1\nsite: dc1\ncatalog: {{breakouts: {{qfx5130-32cd: {stated}}}}}\nfabrics:\n  backend:\n"
        "    qos: {pfc_watchdog: false}\n    servers: {model: dgx-a100, count: 16}\n    topology: {switch: qfx5130-32cd}\n"
    )
    leaf = pipeline.plan(pipeline.load(path)).fabrics["backend"].spec.leaf.model
    assert leaf.speeds == (400, 200, 100)
    assert capacity(leaf, 200) == 64


# Cumulus Linux user guide, Breakout Ports: ports of a breakout that disables the next cage.
WIDE = {
    ("sn2700", "4x25"): 64,
    ("sn4600c", "4x25"): 128,
    ("sn4600", "4x50"): 128,
    ("sn4700", "8x50"): 128,
    ("sn5400", "8x50"): 256,
    ("sn5600", "8x100"): 256,
    ("sn5610", "8x50"): 256,
}


@pytest.mark.parametrize(("name", "breakout"), WIDE)
def test_ports_of_breakouts_that_disable_the_next_cage(name: str, breakout: str) -> None:
    model = shipped(name).with_breakouts((breakout,))
    speed = int(breakout.partition("x")[2])
    assert capacity(model, speed) == WIDE[name, breakout]
    assert capacity(model, model.native_gbps) == capacity(shipped(name), model.native_gbps)
    layout = lay_out(model, 3, speed, 2, model.native_gbps)
    assert {slot.cage for slot in layout.down} == {1}
    assert 2 not in layout.free
    assert splits_left(model, layout, 4).get(speed, 1) == 1  # an even cage has no such breakout


@pytest.mark.parametrize("name", ["sn3700", "sn3700c", "sn2201", "sn5640"])
def test_switches_that_disable_none(name: str) -> None:
    assert shipped(name).disables_next is None


@given(name=st.sampled_from(list(WIDE)), ports=st.integers(0, 256), uplinks=st.integers(0, 64), data=st.data())
def test_no_port_is_in_a_disabled_cage(name: tuple[str, str], ports: int, uplinks: int, data: st.DataObject) -> None:
    model = shipped(name[0]).with_breakouts((name[1],))
    down_gbps, up_gbps = (data.draw(st.sampled_from(model.speeds)) for _ in "du")
    try:
        layout = lay_out(model, ports, down_gbps, uplinks, up_gbps)
    except NoFit:
        return
    used = {slot.cage: slot.split for slot in (*layout.down, *layout.up)}
    disabled = {cage + 1 for cage, split in used.items() if model.is_wide(split)}
    assert not disabled & ({*used} | {*layout.free})
    assert all(cage % 2 for cage, split in used.items() if model.is_wide(split))
    assert (len(layout.down), len(layout.up)) == (ports, uplinks)
    assert spare(model, layout, down_gbps) + len(layout.down) <= capacity(model, down_gbps)


EDGE = """\
version: 1
site: dc1
catalog: {{breakouts: {{sn5600: [8x100]}}}}
fabrics:
  backend:
    nos: {nos}
    servers: {{model: hgx-h100, count: 8, name: gpu}}
    topology:
      kind: rack
      switch: sn5600
      attachments: [{{name: edge, links: 20, speed_gbps: 100}}]
{rest}"""


@pytest.mark.parametrize("nos", ["cumulus", "sonic"])
def test_disabled_cages_in_configs(nos: str, tmp_path: Path) -> None:
    """Attachments take odd cages from the last on; the next ones have no port, and no finding of a check."""
    path = tmp_path / "dc1.yaml"
    path.write_text(EDGE.format(nos=nos, rest=""), encoding="utf-8")
    intent = pipeline.load(path)
    [fabric] = pipeline.plan(intent).fabrics.values()
    taken = sorted({int(cage) for cage, split in zip(fabric.links.b_cage, fabric.links.b_split, strict=True) if split == 8})
    assert taken == [57, 59, 61, 63]
    generation = pipeline.generate(intent, jobs=1)
    generation.write()
    [config] = [path for path in (tmp_path / "generated").rglob("*") if path.name in ("startup.yaml", "config_db.json")]
    document = yaml.safe_load(config.read_text(encoding="utf-8"))
    if nos == "cumulus":
        ports = document[-1]["set"]["interface"]
        disabled = [name for name, port in ports.items() if "disabled" in port.get("link", {}).get("breakout", {})]
        assert disabled == ["swp58", "swp60", "swp62", "swp64"]
        assert "8x" in ports["swp63"]["link"]["breakout"]
        assert not [name for name in ports if re.fullmatch(r"swp(58|60|62|64)s\d+", name)]
    else:
        indices = {int(row["index"]) for row in document["PORT"].values()}
        assert {58, 60, 62, 64}.isdisjoint(indices)
        assert {57, 59, 61, 63} < indices
    findings = pipeline.check(Scope(files=(path,), output=tmp_path / "generated", jobs=1)).verdict.findings
    assert [finding for finding in findings if finding.severity != NOTE] == []


@pytest.mark.parametrize(
    ("ports", "message"),
    [
        ("edge: [62]", "expected an odd port, as 8 ports of sn5600 disable the next, got 62"),
        (
            "gpu-0001: [64, 64, 54, 54, 53, 53, 52, 52]",
            "expected a port that no breakout disables and that disables none in use, got 64",
        ),
    ],
)
def test_pins_to_disabled_cages(ports: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "dc1.yaml"
    rest = f"    pins: {{backend-leaf001: {{ports: {{{ports}}}}}}}\n"
    path.write_text(EDGE.format(nos="sonic", rest=rest).replace("links: 20", "links: 1"), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        pipeline.plan(pipeline.load(path))
    assert message in str(caught.value)


def test_pinned_links_trade_places(tmp_path: Path) -> None:
    path = tmp_path / "dc1.yaml"
    spots = [(2, 1), (2, 0), (1, 0), (1, 1), (4, 0), (4, 1), (3, 1), (3, 0)]
    texts = ", ".join(f"{cage}/{sub + 1}" for cage, sub in spots)
    rest = f"    pins: {{backend-leaf001: {{ports: {{gpu-0001: [{texts}]}}}}}}\n"
    path.write_text(EDGE.format(nos="sonic", rest=rest).replace("links: 20", "links: 1"), encoding="utf-8")
    links = pipeline.plan(pipeline.load(path)).fabrics["backend"].links
    assert list(zip(links.b_cage.tolist(), links.b_sub.tolist(), strict=True))[:8] == spots
    path.write_text(path.read_text(encoding="utf-8").replace("2/2", "2/3"), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        pipeline.plan(pipeline.load(path))
    assert "expected a port of sn5600 that does 400G, got 2/3" in str(caught.value)
