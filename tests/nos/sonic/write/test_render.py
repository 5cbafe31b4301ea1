"""config_db.json refers only to what it defines, and its ports are the board's."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from fabric.configs.render import render
from fabric.hardware import catalog
from fabric.hardware.catalog.models import SonicPlatform, lane_list
from fabric.model.plan import PortRef
from fabric.nos.sonic.target import BFD_TIMES, TARGET
from fabric.nos.sonic.write import ports as sonic_ports
from tests.nos.views import BOARD, STYLES, SWITCH, half, view, whole

# What SONiC's models call a leaf-list.
LISTS = {
    ("SWITCH_HASH", "ecmp_hash"),
    ("SWITCH_HASH", "lag_hash"),
    ("SSH_SERVER", "ciphers"),
    ("SSH_SERVER", "kex_algorithms"),
    ("SSH_SERVER", "macs"),
    ("ACL_TABLE", "services"),
}


def config_db(name: str = "leaf1", style: str = "ipv4") -> dict[str, Any]:
    made = render(view(name, replace(STYLES[style], nos="sonic")), TARGET)
    loaded: dict[str, Any] = json.loads(made[0].text)
    return loaded


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("name", ["leaf1", "spine1"])
def test_every_key_referred_to_exists(name: str, style: str) -> None:
    db = config_db(name, style)
    ports, interfaces = set(db["PORT"]), set(db["INTERFACE"])
    assert {key.split("|")[0] for key in interfaces} <= ports & interfaces
    assert set(db["BREAKOUT_CFG"]) <= ports
    assert set(db["CABLE_LENGTH"]["AZURE"]) == set(db["DEVICE_NEIGHBOR"]) <= ports
    assert {key.split("|")[0] for key in db["LOOPBACK_INTERFACE"]} == {"Loopback0"}
    assert {key.split("|")[0] for key in db["MGMT_INTERFACE"]} <= set(db["MGMT_PORT"])
    assert set(db["DEVICE_NEIGHBOR_METADATA"]) <= {row["name"] for row in db["DEVICE_NEIGHBOR"].values()}
    assert db["MGMT_VRF_CONFIG"]["vrf_global"]["mgmtVrfEnabled"] == "true"  # NTP and syslog say vrf mgmt


def test_every_value_is_a_string_and_no_lane_is_used_twice() -> None:
    db = config_db()
    for table, rows in db.items():
        for row in rows.values():
            for field, value in row.items():
                assert isinstance(value, list if (table, field) in LISTS else str), (table, field)
    lanes = [lane for row in db["PORT"].values() for lane in row["lanes"].split(",")]
    assert len(lanes) == len(set(lanes)) == 65


@pytest.mark.parametrize("name", ["leaf1", "spine1"])
def test_frr_names_only_ports_that_exist(name: str) -> None:
    made = render(view(name, replace(STYLES["unnumbered"], nos="sonic")), TARGET)
    ports = json.loads(made[0].text)["PORT"]
    peers = [line.split()[1] for line in made[1].text.splitlines() if " interface peer-group " in line]
    assert peers
    assert set(peers) <= set(ports)


# Names and lanes from the SKU files of sonic-net/sonic-buildimage: SN5600-O128 and -V256, SN4600, 7060X6-64PE
# and its -O128S2 and -C224O8.
SN5600 = SonicPlatform(platform="x86_64-nvidia_sn5600-r0", hwsku={"default": "x"}, lanes=("0-7", "8-15", "16-23"))
SN4600 = SonicPlatform(platform="x86_64-mlnx_msn4600-r0", hwsku={"default": "x"}, lanes=("0-3", "8-11", "16-19"))
ARISTA = SonicPlatform(platform="x86_64-arista_7060x6_64pe", hwsku={"default": "x"}, lanes=("17-24", "1-8", "9-16"))


@pytest.mark.parametrize(
    ("board", "ref", "name"),
    [
        (SN5600, PortRef(2, 0, 1, 800), "Ethernet8"),
        (SN5600, PortRef(2, 1, 2, 400), "Ethernet12"),
        (SN5600, PortRef(3, 3, 4, 200), "Ethernet22"),
        (SN4600, PortRef(2, 0, 1, 200), "Ethernet4"),
        (SN4600, PortRef(3, 0, 1, 200), "Ethernet8"),
        (ARISTA, PortRef(1, 0, 1, 800), "Ethernet0"),
        (ARISTA, PortRef(1, 1, 2, 400), "Ethernet4"),
        (ARISTA, PortRef(2, 5, 8, 100), "Ethernet13"),
    ],
)
def test_port_names_follow_the_board(board: SonicPlatform, ref: PortRef, name: str) -> None:
    assert sonic_ports.named(board, ref) == name


def test_lanes_of_a_split_cage_are_its_own_in_order() -> None:
    board = BOARD.model_copy(update={"lanes": ("17-24", *BOARD.lanes[1:])})
    made = view("leaf1", replace(STYLES["ipv4"], nos="sonic"))
    rows = [sonic_ports.port_row(made, board, port) for port in made.ports[:2]]
    assert [(row["lanes"], row["alias"]) for row in rows] == [("17,18,19,20", "etp1a"), ("21,22,23,24", "etp1b")]


def test_a_part_of_a_cage_says_which() -> None:
    """The transceiver daemon lights the lanes of a part by this number; without it all parts are the first."""
    ports = config_db()["PORT"]
    parts = {row["alias"]: row.get("subport") for row in ports.values()}
    assert (parts["etp1a"], parts["etp1b"], parts["etp3"]) == ("1", "2", None)


@pytest.mark.parametrize(("style", "map_", "ip"), [("ipv4", "RM_SET_SRC", "ip"), ("ipv6", "RM_SET_SRC6", "ipv6")])
def test_the_source_route_map_is_the_one_that_bgpcfgd_writes_too(style: str, map_: str, ip: str) -> None:
    text = render(view("leaf1", replace(STYLES[style], nos="sonic")), TARGET)[1].text
    assert f"\nroute-map {map_} permit 10\n set src " in text
    assert f"\n{ip} protocol bgp route-map {map_}\n" in text
    assert "RM-SOURCE" not in text


@pytest.mark.parametrize(
    ("requests", "refused"),
    [
        ({}, []),
        ({"underlay.bfd.interval_ms": 300, "underlay.bfd.multiplier": 3, "qos.cnp_priority": 6}, []),
        ({"underlay.bfd.interval_ms": 100, "underlay.bfd.multiplier": 3}, ["underlay.bfd.interval_ms"]),
        ({"underlay.bfd.interval_ms": 1000, "underlay.bfd.multiplier": 5}, list(BFD_TIMES)),
    ],
)
def test_bfd_times_that_a_restart_would_lose_are_refused(requests: dict[str, int], refused: list[str]) -> None:
    assert list(TARGET.objects(requests)) == refused


def test_a_switch_without_a_port_map_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sonic_ports, "platform", lambda model, name: model.sonic)
    bare = SWITCH.model_copy(update={"sonic": None})
    assert "no SONiC port map" in str(TARGET.refusal(bare, "test-switch"))
    assert TARGET.refusal(SWITCH, "test-switch") is None
    short = SWITCH.model_copy(update={"sonic": BOARD.model_copy(update={"lanes": ("0-7",)})})
    assert TARGET.refusal(short) == "its SONiC port map has 1 cages, the switch has 9"


@pytest.mark.parametrize(
    ("refs", "sku"),
    [([half(1, 0), half(2, 0)], "Test-O16"), ([whole(1), whole(2)], "Test-P8"), ([half(1, 0), whole(2)], "Test-Mixed")],
)
def test_the_sku_follows_the_split(refs: list[PortRef], sku: str) -> None:
    made = view("leaf1", STYLES["ipv4"])
    ports = tuple(replace(made.ports[0], ref=ref) for ref in refs) + made.ports[-1:]
    assert sonic_ports.hwsku(replace(made, ports=ports), BOARD) == sku


BOARDS = [name for name in catalog.switch_names() if catalog.sonic_platform(name) is not None]


@pytest.mark.parametrize("name", BOARDS)
@pytest.mark.parametrize("split", [1, 2, 4])
def test_no_two_ports_of_a_shipped_board_share_a_name(name: str, split: int) -> None:
    model = catalog.switch(name)
    board = catalog.sonic_platform(name)
    assert model is not None
    assert board is not None
    assert TARGET.refusal(model, name) is None
    cages = [cage for cage, text in enumerate(board.lanes, 1) if len(lane_list(text)) % split == 0]
    names = [TARGET.port_name(model, PortRef(cage, sub, split, 1), name) for cage in cages for sub in range(split)]
    assert len(names) == len(set(names))
