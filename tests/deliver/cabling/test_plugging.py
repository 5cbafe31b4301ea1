"""Every cable can be plugged in: cages of servers and switches, their optics, copper, and errors about both."""

from __future__ import annotations

import copy
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from fabric.base.diagnostics import InputError
from fabric.deliver.cabling.runs import Runs, runs
from fabric.design.floor.floor import floor
from fabric.hardware import catalog
from fabric.hardware.catalog import media
from tests.deliver.cabling.plugging import Judge, examples, judged, planned, random_designs, rows_of
from tests.design.planner.helpers import make

SITE = """\
version: 1
site: cages
{catalog}
fabrics:
  backend:
    servers: {servers}
    topology: {topology}
{floor}
"""
TWIN = "{count: 8, ports: 2, speed_gbps: 400, model: ConnectX-8}"


def site(servers: str, topology: str, nics: str = "", rest: str = "") -> str:
    own = f"catalog: {{servers: {{own: {{gpus: 8, nics: {{compute: {nics}}}}}}}}}" if nics else ""
    return SITE.format(catalog=own, servers=servers, topology=topology, floor=rest)


def laid(text: str) -> Runs:
    plan = make(text)
    return runs(plan, floor(plan))


def counts(found: Runs) -> dict[tuple[str, str], int]:
    """Optics at servers and at switches by name."""
    tally: Counter[tuple[str, str]] = Counter()
    for end in "ab":
        names, bought = getattr(found, f"{end}_optic"), getattr(found, f"{end}_optics").tolist()
        for row, (name, count) in enumerate(zip(names, bought, strict=True)):
            tally["server" if end == "a" and found.kind[row] == 0 else "switch", name] += count if name else 0
    return {key: count for key, count in tally.items() if count}


@pytest.mark.parametrize(
    ("servers", "topology", "nics", "optics"),
    [
        # 96 servers of eight cages on two planes: no single-port optic
        ("{model: hgx-b300, count: 96}", "{planes: 2, switch: sn5600}", "", {"800g-2xsr4": 768}),
        ("{model: dgx-b300, count: 96}", "{dual_tor: true, switch: sn5600}", "", {"800g-2xsr4": 768}),
        ("{model: own, count: 96}", "{planes: 2, switch: sn5600}", TWIN, {"800g-2xsr4": 768}),
        # two QSFP112 in place of one OSFP
        ("{model: own, count: 96}", "{planes: 2, switch: sn5600}", TWIN.replace("-8", "-8 C8240"), {"400g-sr4": 1536}),
        # published: 512 for 128 servers
        ("{model: dgx-h100, count: 128}", "{switch: qm9700}", "", {"800g-2xsr4": 512}),
        ("{model: dgx-h100, count: 128}", "{switch: sn5600}", "", {"800g-2xsr4": 512}),
        ("{model: gb300-tray, count: 72}", "{planes: 2, switch: sn5600}", "", {"800g-2xsr4": 288}),
        ("{model: gb200-tray, count: 72}", "{switch: qm9700}", "", {"400g-sr4": 288}),
    ],
)
def test_optics_of_servers(servers: str, topology: str, nics: str, optics: dict[str, int]) -> None:
    stated = site(servers, topology, nics, "floor: {media: {server-leaf: optics}}")
    answer = judged(make(stated))
    assert answer is not None
    assert answer[0] == []
    assert {name: count for (where, name), count in counts(answer[1]).items() if where == "server"} == optics


@pytest.mark.parametrize(
    ("servers", "topology", "nics", "media_used"),
    [
        # a leaf cage of 2x400G leads to two servers' shared cages: no cable with plugs does
        ("{model: hgx-b300, count: 16}", "{planes: 2, switch: sn5600}", "", {"mpo12-apc-om4"}),
        # both halves of a server's cage in the two halves of a leaf's: one twin-port cable
        ("{model: own, count: 4, per_rack: 4}", "{kind: rack, switch: sn5600}", TWIN, {"dac-800g"}),
        # the halves crossed: no copper
        (
            "{model: own, count: 4, per_rack: 4}",
            "{kind: rack, switch: sn5600}",
            "{count: 2, speed_gbps: 400, cages: [OSFP1P2, OSFP1P1]}",
            {"mpo12-apc-om4"},
        ),
        # cages of one port: a splitter
        ("{model: own, count: 4}", "{switch: sn5600}", "{count: 8, speed_gbps: 400}", {"dac-800g-2x400g"}),
        ("{model: own, count: 4}", "{switch: sn5600}", "{count: 8, speed_gbps: 200}", {"dac-800g-4x200g"}),
        # a server's cage split over two leaves whose cages are whole, beside cages of leaves that are split
        ("{model: own, count: 4}", "{planes: 2, switch: qfx5140-24cd8o}", TWIN, {"dac-800g-2x400g", "mpo12-apc-om4"}),
        # both ports of a NIC in one cage that a splitter would end in
        (
            "{model: own, count: 2}",
            "{kind: rack, switch: sn5600}",
            "{count: 2, ports: 2, speed_gbps: 200, cages: 2}",
            {"mpo12-apc-om4"},
        ),
    ],
)
def test_what_copper_joins(servers: str, topology: str, nics: str, media_used: set[str]) -> None:
    answer = judged(make(site(servers, topology, nics)), short=True)
    assert answer is not None
    faults, found = answer
    assert faults == []
    assert {name for name, kind in zip(found.medium, found.kind.tolist(), strict=True) if kind == 0} == media_used


def test_examples(tmp_path: Path) -> None:
    for name, text in examples().items():
        plan = planned(tmp_path / f"{name}.yaml", text)
        assert plan is not None
        for short in (False, True):
            answer = judged(plan, short=short)
            assert answer is not None
            assert (name, answer[0]) == (name, [])


def test_random_designs(tmp_path: Path, whole: bool) -> None:
    """A design that is refused, by the planner or for want of a medium, is not judged."""
    drawn = random_designs(tmp_path, 11, range(400 if whole else 60))
    plans = [plan for name, text in drawn.items() if (plan := planned(tmp_path / f"{name}.yaml", text))]
    judgments = [answer for plan in plans for short in (False, True) if (answer := judged(plan, short=short))]
    assert [faults for faults, _ in judgments if faults] == []
    assert len(judgments) > len(drawn) * 3 / 4
    assert sum(name in media.cables() for _, found in judgments for name in found.medium) > 5 * len(drawn)


Change = dict[str, Any]


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"a_optic": "400g-sr4", "a_plug": "OSFP1P1 MPO-12/APC"}, "expected one optic or plug"),
        ({"a_plug": "OSFP1P2 MPO-12/APC 2"}, "place 1"),
        ({"b_plug": "MPO-12/APC 2"}, "expected one cable in the connector"),
        ({"medium": "lc-om4"}, "lc-om4 between"),
        ({"medium": "mpo12-apc-2xmpo12-om4"}, "a straight and a split fibre"),
        ({"a_optic": "", "b_optic": "", "medium": "dac-400g"}, "expected one optic or plug"),
        ({"cable": "backend-leaf002:1/1"}, "joins 2 and 2 plugs"),
        ({"speed_gbps": 800}, "1200G in 800g-2xsr4"),
    ],
)
def test_the_judge_sees(change: Change, fault: str) -> None:
    found = laid(site("{model: hgx-b300, count: 16}", "{planes: 2, switch: sn5600}"))
    rows = [dict(row) for row in rows_of(found)]
    assert rows[0]["a_port"] == "compute1p1"
    judge = Judge(found.plan)
    judge.rows(copy.deepcopy(rows))
    assert judge.faults == []
    rows[0] |= change
    judge.rows(rows)
    assert any(fault in text for text in judge.faults), judge.faults


def refused(text: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        make(text)
    return [str(item) for item in caught.value.diagnostics]


@pytest.mark.parametrize(
    ("servers", "nics", "message"),
    [
        (
            "{model: own, count: 8}",
            TWIN.replace("ConnectX-8", "x, cages: 6"),
            "cages: expected a divisor of the 16 ports, such as 4, got 6",
        ),
        (
            "{model: own, count: 8}",
            TWIN.replace("ConnectX-8", "x, cages: [OSFP1P1]"),
            "cages: expected a cage and a place for each of the 16 ports, got 1",
        ),
        (
            "{model: own, count: 8}",
            "{count: 2, speed_gbps: 400, cages: [OSFP1P1, OSFP1P3]}",
            "cages: expected equally many ports in every cage, numbered from P1, got OSFP1P3",
        ),
        (
            "{model: hgx-b300, count: 8, nic_breakout: 4x100}",
            "",
            "servers.nic_breakout: expected 1x800 or 2x400 or 4x200 or 8x100, got 4x100",
        ),
        ("{model: dgx-h100, count: 8, nic_breakout: 2x200}", "", "servers.nic_breakout: expected 1x400, got 2x200"),
    ],
)
def test_cages_that_cannot_be(servers: str, nics: str, message: str) -> None:
    [text] = refused(site(servers, "{switch: sn5600}", nics))
    assert message in text
    assert text.startswith("intent.yaml:")


def test_copper_that_cannot_be_plugged_in() -> None:
    text = site("{model: hgx-b300, count: 16}", "{planes: 2, switch: sn5600}", "", "floor: {media: {server-leaf: dac}}")
    [error] = laid(text).errors
    assert error.code == "FAB153"
    assert "expected two cages that lead to each other alone" in error.message
    assert "got 4 cages that lead to one another" in error.message
    assert error.place.line == 8


def test_shared_cages_of_the_catalog() -> None:
    """A label for every port of a shared cage, none for others."""
    server = catalog.server("dgx-h100")
    assert server is not None
    assert [port.label for port in media.nic_ports(server.nics["compute"])][:2] == ["OSFP4P2", "OSFP3P2"]
    assert {port.label for port in media.nic_ports(server.nics["storage"])} == {""}


def test_shared_cages_of_several_purposes() -> None:
    """Cages are counted through all NICs of a server that a fabric connects."""
    nics = (
        "{count: 2, ports: 2, speed_gbps: 400, model: ConnectX-8}, storage: {count: 2, speed_gbps: 400, cages: 1, form: OSFP}"
    )
    servers = "{model: own, count: 4, nics: [compute, storage]}"
    plan = make(site(servers, "{kind: collapsed, switch: sn5600}", nics, "floor: {media: {server-leaf: optics}}"))
    answer = judged(plan)
    assert answer is not None
    assert answer[0] == []
    assert counts(answer[1])["server", "800g-2xsr4"] == 4 * 3
    short = judged(plan, short=True)
    assert short is not None
    assert short[0] == []
