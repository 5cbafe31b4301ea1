"""The lossless class of SONiC in numbers, and its buffers on every switch of the catalog."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fabric.hardware import catalog
from fabric.model.plan import Marking, Port, PortRef, SwitchView, Watchdog
from fabric.nos.sonic.write.buffers import headroom
from fabric.nos.sonic.write.ports import marking_names, watchdog
from tests.nos.sonic.write.test_references import findings
from tests.nos.sonic.write.views import db, on_chip, with_qos
from tests.nos.tenant_views import LONG, MARKING, QOS, SHORT, rich

PLAIN = rich("leaf1", "qos", "sonic")


def with_cables(made: SwitchView, length_m: int) -> SwitchView:
    """Every lossless port with a cable of that length."""
    return replace(made, ports=tuple(replace(port, length_m=length_m) if port.lossless else port for port in made.ports))


@pytest.mark.parametrize(
    ("priority", "dscp", "cnp_priority", "cnp_dscp"), [(3, 26, 6, 48), (4, 24, 7, 46), (1, 8, 2, 56), (7, 63, 1, 0)]
)
def test_one_number_for_the_class(priority: int, dscp: int, cnp_priority: int, cnp_dscp: int) -> None:
    made = db(with_qos(PLAIN, priority=priority, dscp=dscp, cnp_priority=cnp_priority, cnp_dscp=cnp_dscp))
    classes = made["DSCP_TO_TC_MAP"]["ROCE"]
    assert {text: tc for text, tc in classes.items() if tc != "0"} == {
        str(dscp): str(priority),
        str(cnp_dscp): str(cnp_priority),
    }
    assert len(classes) == 64
    assert made["PORT_QOS_MAP"]["Ethernet0"]["pfc_enable"] == str(priority)
    assert made["PORT_QOS_MAP"]["Ethernet0"]["pfcwd_sw_enable"] == str(priority)
    assert made["QUEUE"][f"Ethernet0|{priority}"] == {"scheduler": "ROCE", "wred_profile": "ROCE"}
    assert made["QUEUE"][f"Ethernet0|{cnp_priority}"] == {"scheduler": "CNP"}
    assert made["SCHEDULER"]["CNP"] == {"type": "STRICT"}
    assert made["BUFFER_PG"][f"Ethernet0|{priority}"] == {"profile": "NULL"}
    assert made["PFC_PRIORITY_TO_PRIORITY_GROUP_MAP"]["ROCE"] == {str(priority): str(priority)}
    assert findings(made) == []


def test_weights_and_thresholds_are_the_plans() -> None:
    made = db(with_qos(PLAIN, lossless_percent=70, lossy_percent=30))
    assert [made["SCHEDULER"][name]["weight"] for name in ("ROCE", "BEST-EFFORT")] == ["70", "30"]
    row = made["WRED_PROFILE"]["ROCE"]
    for colour in ("green", "yellow", "red"):
        assert row[f"{colour}_min_threshold"] == "524288"
        assert row[f"{colour}_max_threshold"] == "1048576"
        assert row[f"{colour}_drop_probability"] == "20"


def test_no_class_no_tables() -> None:
    made = db(replace(PLAIN, qos=None))
    assert not {"PORT_QOS_MAP", "QUEUE", "PFC_WD", "WRED_PROFILE", "BUFFER_PG", "BUFFER_POOL"} & set(made)
    assert "buffer_model" not in made["DEVICE_METADATA"]["localhost"]
    assert made["CABLE_LENGTH"]["AZURE"]["Ethernet0"] == "3m"


def test_a_port_without_the_class_is_not_trusted() -> None:
    ports = tuple(replace(port, lossless=None) if port.kind == "server" else port for port in PLAIN.ports)
    made = db(replace(PLAIN, ports=ports))
    assert made["PORT_QOS_MAP"]["Ethernet0"] == {
        "dscp_to_tc_map": "BEST-EFFORT",
        "tc_to_queue_map": "ROCE",
        "tc_to_pg_map": "ROCE",
    }
    assert set(made["DSCP_TO_TC_MAP"]["BEST-EFFORT"].values()) == {"0"}
    assert "Ethernet0" not in made["PFC_WD"]
    assert findings(made) == []


@pytest.mark.parametrize(
    ("ports", "times", "row", "poll"),
    [
        (32, Watchdog(200, 200, 200), ("200", "200"), "200"),
        (33, Watchdog(200, 200, 200), ("400", "400"), "400"),
        (64, Watchdog(200, 200, 200), ("400", "400"), "400"),
        (66, Watchdog(200, 200, 200), ("600", "600"), "600"),  # 64 ports and two of the management's make three rounds
        (128, Watchdog(200, 200, 200), ("800", "800"), "800"),
        (256, Watchdog(200, 200, 200), ("1600", "1600"), "1000"),
        (512, Watchdog(400, 400, 200), ("5000", "6400"), "1000"),
        (32, Watchdog(100, 100, 100), ("100", "100"), "100"),
    ],
)
def test_the_watchdog_grows_with_the_switch(ports: int, times: Watchdog, row: tuple[str, str], poll: str) -> None:
    spare = Port(ref=PortRef(9, 0, 1, 25), kind="unused", peer=None, length_m=0)
    made = replace(PLAIN, ports=(PLAIN.ports[0], *[spare] * (ports - 1)))
    names = [f"Ethernet{n}" for n in range(ports)]
    rows = watchdog(made, replace(QOS, watchdog=times), names)
    assert rows == {
        "GLOBAL": {"POLL_INTERVAL": poll},
        "Ethernet0": {"action": "drop", "detection_time": row[0], "restoration_time": row[1]},
    }


def test_no_watchdog_where_none_is_wanted() -> None:
    made = db(with_qos(PLAIN, watchdog=None))
    assert "PFC_WD" not in made
    assert "pfcwd_sw_enable" not in made["PORT_QOS_MAP"]["Ethernet0"]


def test_a_profile_per_marking() -> None:
    fast = Marking(1_000_000, 2_000_000, 20, "linear")
    ports = tuple(
        replace(port, lossless=replace(port.lossless, marking=fast)) if port.lossless and port.ref.speed_gbps == 800 else port
        for port in PLAIN.ports
    )
    assert marking_names(replace(PLAIN, ports=ports)) == {MARKING: "ROCE-400G", fast: "ROCE-800G"}
    made = db(replace(PLAIN, ports=ports))
    assert made["QUEUE"]["Ethernet0|3"]["wred_profile"] == "ROCE-400G"
    assert made["QUEUE"]["Ethernet16|3"]["wred_profile"] == "ROCE-800G"
    server, *rest = PLAIN.ports
    assert server.lossless is not None
    mixed = replace(server, lossless=replace(server.lossless, marking=fast))
    assert list(marking_names(replace(PLAIN, ports=(mixed, *rest))).values()) == ["ROCE-400G", "ROCE-400G-800G"]


@pytest.mark.parametrize(
    ("asic", "requested", "model"),
    [
        ("", "auto", "dynamic"),
        ("", "static", "traditional"),
        ("", "dynamic", "dynamic"),
        ("tomahawk5", "dynamic", "traditional"),
    ],
)
def test_the_buffer_model_follows_chip_and_request(asic: str, requested: str, model: str) -> None:
    made = with_qos(PLAIN, buffer_model=requested)
    made = on_chip(made, asic) if asic else made
    assert db(made)["DEVICE_METADATA"]["localhost"]["buffer_model"] == model


@pytest.mark.parametrize(("traffic", "percent"), [("static", "100"), ("dynamic", "50")])
def test_the_dynamic_model_knows_the_traffic(traffic: str, percent: str) -> None:
    made = db(with_qos(PLAIN, traffic=traffic, lossless_mtu=4200))
    assert made["LOSSLESS_TRAFFIC_PATTERN"] == {"AZURE": {"mtu": "4200", "small_packet_percentage": percent}}
    assert made["DEFAULT_LOSSLESS_BUFFER_PARAMETER"] == {"AZURE": {"default_dynamic_th": "0"}}
    assert [name for name, row in made["BUFFER_POOL"].items() if "size" in row] == ["egress_lossless_pool"]


@pytest.mark.parametrize("chip", ["tomahawk5", "tofino2"])
def test_only_some_chips_map_priorities_to_groups(chip: str) -> None:
    made = db(on_chip(PLAIN, chip))
    assert ("PFC_PRIORITY_TO_PRIORITY_GROUP_MAP" in made) == (chip == "tofino2")
    assert ("pfc_to_pg_map" in made["PORT_QOS_MAP"]["Ethernet0"]) == (chip == "tofino2")


# Rows of DellEMC-Z9664f-O64's pg_profile_lookup.ini at 400G: 5, 40 and 300 m.
@pytest.mark.parametrize(
    ("speed", "length", "cable", "profile"),
    [
        (400, 0, "5m", "pg_lossless_400000_5m_profile"),
        (400, 5, "5m", "pg_lossless_400000_5m_profile"),
        (400, 6, "40m", "pg_lossless_400000_40m_profile"),
        (400, 300, "300m", "pg_lossless_400000_300m_profile"),
        (400, 301, "0m", "pg_lossless_400000_301m_profile"),  # no row: written outright, and the buffer manager kept off
        (800, 30, "0m", "pg_lossless_800000_30m_profile"),
        (800, 0, "0m", "pg_lossless_800000_1m_profile"),
    ],
)
def test_cables_are_rounded_up_to_a_row(speed: int, length: int, cable: str, profile: str) -> None:
    port = replace(PLAIN.ports[0], ref=PortRef(1, 0, 1, speed), length_m=length)
    found = headroom(on_chip(PLAIN, "tomahawk4"), port, "DellEMC-Z9664f-O64")
    assert (found.cable, found.profile) == (cable, profile)


def test_headroom_is_the_plans_and_ports_of_one_row_share_the_largest() -> None:
    made = db(on_chip(PLAIN, "tomahawk5"))
    row = made["BUFFER_PROFILE"]["pg_lossless_400000_3m_profile"]
    assert (row["xoff"], row["xon"], row["size"]) == (str(SHORT.xoff_bytes), str(SHORT.xon_bytes), str(SHORT.size_bytes))
    one_length = db(on_chip(with_cables(PLAIN, 7), "tomahawk5"))
    assert one_length["BUFFER_PROFILE"]["pg_lossless_400000_7m_profile"]["xoff"] == str(LONG.xoff_bytes)


@pytest.mark.parametrize("style", ["auto", "static"])
def test_no_cable_is_so_short_that_its_group_is_lost(style: str) -> None:
    made = db(with_cables(with_qos(PLAIN, buffer_model=style), 0))
    assert findings(made) == []
    assert made["CABLE_LENGTH"]["AZURE"]["Ethernet0"] == ("1m" if style == "auto" else "0m")


def test_a_switch_without_any_buffer_figures_is_refused() -> None:
    made = with_qos(PLAIN, buffer=replace(QOS.buffer, total_bytes=None, shared_bytes=None))
    with pytest.raises(ValueError, match="buffer pools of test-switch are not known"):
        db(made)


BOARDS = [name for name in catalog.switch_names() if catalog.sonic_platform(name) is not None]


@pytest.mark.parametrize("model", ["auto", "static"])
@pytest.mark.parametrize("role", ["leaf", "spine"])
@pytest.mark.parametrize("name", BOARDS)
def test_every_shipped_switch_is_lossless_on_every_port(name: str, role: str, model: str) -> None:
    assert findings(db(whole_switch(name, role, model))) == []


def whole_switch(name: str, role: str, buffer_model: str) -> SwitchView:
    """A switch with a cable in every cage, at the cage's own speed."""
    model = catalog.switch(name)
    assert model is not None
    first = PLAIN.ports[0]
    ports = []
    for cage in range(1, model.cages + 1):
        speed, split = max(model.group_of(cage).splits.items())
        for sub in range(split):
            ports.append(replace(first, ref=PortRef(cage, sub, split, speed), address=None, peer_address=None, lossless=LONG))
    made = replace(
        PLAIN,
        model=model,
        device=replace(PLAIN.device, model=name, role=role),
        ports=tuple(ports),
        sessions=(),
        aggregates=(),
    )
    return with_qos(made, buffer_model=buffer_model)
