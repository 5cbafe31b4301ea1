"""RoCE on Cumulus Linux: the profile alone where its numbers are asked for, and overrides where others are."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fabric.model.plan import Marking, Qos, SwitchView, Watchdog
from fabric.nos.cumulus.write.interfaces import classes, marking_names, qos, weights
from fabric.nos.cumulus.write.switch import tree
from tests.nos.tenant_views import MARKING, QOS, rich

OTHER = replace(QOS, priority=4, dscp=24, cnp_priority=7, cnp_dscp=46)


def leaf() -> SwitchView:
    return rich("leaf1", "qos", "cumulus")


def with_marking(own: SwitchView, marks: dict[int, Marking]) -> SwitchView:
    """Other thresholds, by speed of the port."""
    ports = tuple(
        replace(port, lossless=replace(port.lossless, marking=marks.get(port.ref.speed_gbps, port.lossless.marking)))
        if port.lossless
        else port
        for port in own.ports
    )
    return replace(own, ports=ports)


def test_the_numbers_of_the_profile_need_no_map() -> None:
    assert classes(QOS) == {}
    assert tree(leaf())["qos"]["roce"] == {"state": "enabled", "mode": "lossless"}


def test_the_lossless_share_of_the_buffer_is_that_of_its_pool() -> None:
    pools = qos(replace(leaf(), qos=replace(QOS, memory_percent=90)))["qos"]["traffic-pool"]
    assert pools == {"default-lossy": {"memory-percent": 10}, "roce-lossless": {"memory-percent": 90}}
    assert "traffic-pool" not in qos(leaf())["qos"]


def test_other_numbers_are_mapped_and_nothing_else_falls_into_the_classes() -> None:
    found = classes(OTHER)
    dscp = {int(code): entry["switch-priority"] for code, entry in found["mapping"]["default-global"]["dscp"].items()}
    assert found["mapping"]["default-global"]["trust"] == "both"
    level = {code: dscp.get(code, code // 8) for code in range(64)}
    assert [code for code in range(64) if level[code] == 4] == [24]
    assert [code for code in range(64) if level[code] == 7] == [46]
    assert found["egress-queue-mapping"]["default-global"]["switch-priority"] == {
        "3": {"traffic-class": 0},
        "4": {"traffic-class": 3},
        "6": {"traffic-class": 0},
        "7": {"traffic-class": 6},
    }
    assert found["pfc"] == {"default-global": {"switch-priority": {"4": {}}}}


def test_another_dscp_alone_moves_no_queue() -> None:
    found = classes(replace(QOS, dscp=24))
    assert "egress-queue-mapping" not in found
    assert found["mapping"]["default-global"]["dscp"] == {
        **{str(code): {"switch-priority": 0} for code in range(25, 32)},
        **{str(code): {"switch-priority": 0} for code in range(49, 56)},
    }


def test_exchanged_priorities_exchange_their_queues() -> None:
    found = classes(replace(QOS, priority=6, cnp_priority=3))
    queues = found["egress-queue-mapping"]["default-global"]["switch-priority"]
    assert queues == {"3": {"traffic-class": 6}, "6": {"traffic-class": 3}}


def test_every_profile_pauses_the_priority_asked_for() -> None:
    profiles = tree(replace(leaf(), qos=OTHER))["qos"]["pfc"]
    assert {name: list(profile["switch-priority"]) for name, profile in profiles.items()} == {
        "default-global": ["4"],
        "ROCE-3M": ["4"],
        "ROCE-30M": ["4"],
    }


def test_a_profile_per_length_of_cable() -> None:
    data = tree(leaf())
    assert {name: profile["cable-length"] for name, profile in data["qos"]["pfc"].items()} == {"ROCE-3M": 3, "ROCE-30M": 30}
    assert data["interface"]["swp1s0"]["qos"]["pfc"] == {"profile": "ROCE-3M"}
    assert data["interface"]["swp3"]["qos"]["pfc"] == {"profile": "ROCE-30M"}


def test_half_and_half_is_the_profile_s_own_weight() -> None:
    assert weights(replace(QOS, lossless_percent=50, lossy_percent=50)) == {}
    assert weights(QOS)["egress-scheduler"]["default-global"]["traffic-class"] == {
        "0": {"mode": "dwrr", "bw-percent": 40},
        "3": {"mode": "dwrr", "bw-percent": 60},
        "6": {"mode": "strict"},
    }


LOW, HIGH = (replace(MARKING, kmin_bytes=low) for low in (100_000, 200_000))


@pytest.mark.parametrize(
    ("marks", "names"),
    [
        ({}, {MARKING: "ROCE"}),
        ({400: LOW, 800: HIGH}, {LOW: "ROCE-400G", HIGH: "ROCE-800G"}),
        ({400: LOW, 800: LOW}, {LOW: "ROCE"}),
    ],
)
def test_a_profile_per_set_of_thresholds(marks: dict[int, Marking], names: dict[Marking, str]) -> None:
    assert marking_names(with_marking(leaf(), marks)) == names


def test_two_sets_at_one_speed_have_two_names() -> None:
    own = leaf()
    first = next(port for port in own.ports if port.lossless)
    assert first.lossless is not None
    changed = replace(first, lossless=replace(first.lossless, marking=LOW))
    own = replace(own, ports=tuple(changed if port is first else port for port in own.ports))
    assert marking_names(own) == {LOW: "ROCE-400G", MARKING: "ROCE-400G-800G"}
    assert marking_names(with_marking(own, {800: HIGH})) == {LOW: "ROCE-400G", MARKING: "ROCE-400G-2", HIGH: "ROCE-800G"}


def test_marks_and_never_drops_and_leaves_notifications_alone() -> None:
    profiles = tree(leaf())["qos"]["congestion-control"]
    assert profiles == {
        "ROCE": {
            "traffic-class": {
                "3": {
                    "ecn": "enable",
                    "red": "disable",
                    "min-threshold": 524_288,
                    "max-threshold": 1_048_576,
                    "probability": 20,
                }
            }
        }
    }


@pytest.mark.parametrize(
    ("watchdog", "expected"),
    [
        (Watchdog(200, 200, 200), {"polling-interval": 200, "robustness": 1}),
        (Watchdog(400, 400, 100), {"polling-interval": 100, "robustness": 4}),
        (Watchdog(250, 250, 100), {"polling-interval": 100, "robustness": 3}),
        (Watchdog(200, 200, 50), {"polling-interval": 100, "robustness": 2}),
    ],
)
def test_watchdog_in_polls(watchdog: Watchdog, expected: dict[str, int]) -> None:
    data = tree(replace(leaf(), qos=replace(QOS, watchdog=watchdog)))
    assert data["qos"]["pfc-watchdog"] == expected
    assert data["interface"]["swp3"]["qos"]["pfc-watchdog"] == {"state": "enable"}


def test_no_watchdog_where_none_is_asked_for() -> None:
    data = tree(replace(leaf(), qos=replace(QOS, watchdog=None)))
    assert "pfc-watchdog" not in data["qos"]
    assert "pfc-watchdog" not in data["interface"]["swp3"]["qos"]


def test_a_port_without_the_class_pauses_no_one_and_is_not_believed() -> None:
    own = leaf()
    ports = tuple(replace(port, lossless=None) if port.kind == "server" else port for port in own.ports)
    data = tree(replace(own, ports=ports))
    assert data["interface"]["swp1s0"]["qos"] == {"pfc": {"profile": "NO-PFC"}, "mapping": {"profile": "UNTRUSTED"}}
    assert data["qos"]["pfc"]["NO-PFC"] == {"switch-priority": {"3": {}}, "rx": "disable", "tx": "disable"}
    assert data["qos"]["mapping"]["UNTRUSTED"] == {"trust": "port", "port-default-sp": 0}
    assert "mapping" not in data["interface"]["swp3"]["qos"]


@pytest.mark.parametrize("own", [replace(leaf(), qos=None), replace(leaf(), ports=())], ids=["no qos", "no ports"])
def test_no_class_no_lines(own: SwitchView) -> None:
    assert qos(own) == {}
    assert "qos" not in tree(own)
    assert all("qos" not in port for port in tree(own)["interface"].values())


@pytest.mark.parametrize("numbers", [QOS, OTHER])
def test_the_profile_s_own_classes_stay(numbers: Qos) -> None:
    """Pools, ETS and ECN depend on the traffic classes 3 and 6, whatever the priority is."""
    data = tree(replace(leaf(), qos=numbers))["qos"]
    assert list(data["congestion-control"]["ROCE"]["traffic-class"]) == ["3"]
    assert data["egress-scheduler"]["default-global"]["traffic-class"]["6"] == {"mode": "strict"}
