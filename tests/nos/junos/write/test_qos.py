"""Class of service of Junos Evolved: queues, code points, thresholds in percent, the watchdog's own units."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fabric.model.plan import Marking, Watchdog
from fabric.nos.junos.write.interfaces import platform
from fabric.nos.junos.write.qos import Dog, drop_profiles, fill, partitions, watchdog
from fabric.nos.target import CannotRender
from tests.nos.junos.write.test_render import block, of_model, text
from tests.nos.tenant_views import MARKING, QOS, rich

LEAF = rich("leaf1", "qos", "junos")
OTHER = replace(QOS, priority=4, dscp=24, cnp_priority=7, cnp_dscp=46)


@pytest.mark.parametrize(
    ("requested", "given"),
    [
        (Watchdog(detect_ms=200, restore_ms=200, poll_ms=200), Dog(100, 2, 200)),
        (Watchdog(detect_ms=400, restore_ms=400, poll_ms=100), Dog(100, 4, 400)),
        (Watchdog(detect_ms=1600, restore_ms=1600, poll_ms=1000), Dog(800, 2, 1000)),
        (Watchdog(detect_ms=100, restore_ms=100, poll_ms=100), Dog(100, 2, 200)),
        (Watchdog(detect_ms=5000, restore_ms=500, poll_ms=100), Dog(100, 10, 500)),
    ],
)
def test_watchdog_within_its_ranges(requested: Watchdog, given: Dog) -> None:
    assert watchdog(requested) == given


@pytest.mark.parametrize(
    ("kmin", "kmax", "full", "percent"),
    [
        (524_288, 1_048_576, 1_218_000, (43, 86, 20)),
        (1, 2, 1_000_000, (1, 2, 20)),
        (190_000, 1_790_000, 1_000_000, (19, 99, 10)),  # half of the way to 179 percent
        (3_000_000, 9_000_000, 1_000_000, (98, 99, 1)),
        (3_000_000, 3_000_001, 1_000_000, (98, 99, 1)),
        (500_000, 500_001, 1_000_000, (50, 51, 20)),
        (524_288, 1_048_576, None, (55, 90, 20)),
    ],
)
def test_thresholds_as_percent_of_the_fill_that_sends_pause(
    kmin: int, kmax: int, full: int | None, percent: tuple[int, int, int]
) -> None:
    buffer = replace(QOS.buffer, trigger_bytes=full)
    assert fill(Marking(kmin, kmax, 20, "stated"), buffer) == percent


def test_a_drop_profile_for_each_marking_named_by_speed() -> None:
    ports = []
    for port in LEAF.ports:
        if port.kind == "server" and port.lossless:
            port = replace(port, lossless=replace(port.lossless, marking=replace(MARKING, kmax_bytes=800_000)))
        ports.append(port)
    names = [profile.name for profile in drop_profiles(replace(LEAF, ports=tuple(ports))).values()]
    assert names == ["ROCE-400G", "ROCE-800G"]


def test_one_marking_has_no_speed_in_its_name() -> None:
    assert {port.ref.speed_gbps for port in LEAF.ports if port.up and port.lossless} == {400, 800}
    assert [profile.name for profile in drop_profiles(LEAF).values()] == ["ROCE"]
    assert "scheduler-map ROCE;" in block(text(LEAF)[text(LEAF).index("class-of-service {") :], "et-0/0/0:0")


TOMAHAWK5 = platform("qfx5240-64od")


@pytest.mark.parametrize(
    ("pool", "reserved", "shares"),
    [
        (0, 1_000_000, (66, 24, 10)),
        (25_740_000, 26_000_000, (66, 24, 10)),  # 24 percent of 107,250,000
        (25_740_001, 26_000_000, (66, 25, 9)),
        (53_465_984, 54_668_928, (44, 50, 6)),  # 64 ports of 800G, cables of 40 m
        (0, 53_465_984, (44, 50, 6)),  # every port with headroom of its own
        (85_800_000, 86_000_000, (15, 80, 5)),
    ],
)
def test_headroom_has_the_share_that_the_plan_needs(pool: int, reserved: int, shares: tuple[int, int, int]) -> None:
    buffer = replace(QOS.buffer, total_bytes=165_000_000, headroom_pool_bytes=pool, reserved_bytes=reserved)
    ingress, egress = partitions(buffer, TOMAHAWK5)
    assert tuple(part.percent for part in ingress) == shares
    assert [part.dynamic_threshold for part in ingress] == [10, 0, 0]
    assert sum(shares) == 100
    assert tuple(part.percent for part in egress) == (shares[0], shares[2])


def test_headroom_beyond_the_partition_is_refused() -> None:
    buffer = replace(QOS.buffer, total_bytes=165_000_000, headroom_pool_bytes=103_778_304, reserved_bytes=104_981_248)
    message = r"^expected PFC headroom within 80 % of the shared buffer, 85,800,000 bytes of 107,250,000, got 103,778,304"
    with pytest.raises(CannotRender, match=message):
        text(of_model(replace(LEAF, qos=replace(QOS, buffer=buffer)), "qfx5240-64od"))
    text(of_model(replace(LEAF, qos=replace(QOS, buffer=buffer)), "qfx5230-64cd"))  # keeps its own partitions


def test_published_shares_where_the_buffer_is_not_known() -> None:
    buffer = replace(QOS.buffer, total_bytes=None, headroom_pool_bytes=103_778_304)
    assert partitions(buffer, TOMAHAWK5) == (TOMAHAWK5.ingress, TOMAHAWK5.egress)


@pytest.mark.parametrize(
    ("qos", "lines"),
    [
        (
            QOS,
            [
                "class CNP queue-num 6;",
                "class NO-LOSS queue-num 3 no-loss pfc-priority 3;",
                "loss-priority low code-points 011010;",
                "loss-priority low code-points 110000;",
                "code-point 011 {",
                "flow-control-queue 3;",
                "forwarding-class network-control scheduler CONTROL;",
            ],
        ),
        (
            OTHER,
            [
                "class CNP queue-num 7;",
                "class NO-LOSS queue-num 4 no-loss pfc-priority 4;",
                "loss-priority low code-points 011000;",
                "loss-priority low code-points 101110;",
                "code-point 100 {",
                "flow-control-queue 4;",
            ],
        ),
    ],
    ids=["usual", "other"],
)
def test_numbers_of_the_classes_are_inputs(qos: object, lines: list[str]) -> None:
    conf = text(replace(LEAF, qos=qos))
    printed = {line.strip() for line in conf.split("\n")}
    assert printed.issuperset(lines)
    assert ("CONTROL {" in conf) == (qos is QOS)  # queue 7 has one scheduler


def test_weights_add_up_and_notifications_are_strict() -> None:
    conf = block(text(LEAF), "schedulers")
    assert "transmit-rate percent 57;" in conf
    assert "transmit-rate percent 38;" in conf
    assert block(conf, "CNP") == "CNP {\n    transmit-rate percent 5;\n    priority strict-high;\n}"
    assert conf.count("explicit-congestion-notification") == 1  # never on notifications


def test_pfc_profile_for_each_cable_length() -> None:
    conf = text(LEAF)
    assert "cable-length 3;" in block(conf, "PFC-3M")
    assert "cable-length 30;" in block(conf, "PFC-30M")
    ports = conf[conf.index("class-of-service {") :]
    assert "congestion-notification-profile PFC-3M;" in block(ports, "et-0/0/0:0")
    assert "congestion-notification-profile PFC-30M;" in block(ports, "et-0/0/2")


DOUBT = "DSCP-based PFC for untagged traffic only"


def test_the_config_says_where_lossless_traffic_has_tags() -> None:
    assert DOUBT not in text(LEAF)
    slices = rich("leaf1", "vrf-lite", "junos")
    assert text(slices).count(DOUBT) == 1
    assert DOUBT not in text(replace(slices, qos=None))
    bonds = rich("leaf1", "evpn", "junos")
    assert DOUBT not in text(bonds)
    assert DOUBT in text(replace(bonds, lags=(replace(bonds.lags[0], tagged=(100,), untagged=0),)))


def test_a_port_without_the_lossless_class_is_not_trusted_into_it() -> None:
    ports = tuple(replace(port, lossless=None) if port.kind == "server" else port for port in LEAF.ports)
    conf = text(replace(LEAF, ports=ports))
    own = block(conf[conf.index("class-of-service {") :], "et-0/0/0:0")
    assert "congestion-notification-profile" not in own
    assert "dscp NO-ROCE;" in own
    assert "NO-LOSS" not in block(conf, "dscp NO-ROCE")


@pytest.mark.parametrize(
    ("model", "dog", "partitions"),
    [
        ("qfx5130-32cd", False, False),
        ("qfx5220-32cd", False, False),
        ("qfx5230-64cd", True, False),
        ("qfx5240-64od", True, True),
        ("qfx5241-64od", True, True),
    ],
)
def test_what_a_model_is_reported(model: str, dog: bool, partitions: bool) -> None:
    conf = text(of_model(LEAF, model))
    assert ("pfc-watchdog {" in conf) == dog
    assert ("buffer-partition lossless-headroom {" in conf) == partitions
    assert ("dedicated-buffer {" in conf) == partitions


def test_no_class_of_service_without_a_lossless_class() -> None:
    assert "class-of-service" not in text(replace(LEAF, qos=None))


def test_dynamic_balancing_where_asked() -> None:
    assert "ecmp-dlb" not in text(LEAF)
    conf = text(of_model(replace(LEAF, balancing=replace(LEAF.balancing, dynamic=True)), "qfx5240-64od"))
    assert "flowset-table-size 2048;" in block(conf, "ecmp-dlb")
