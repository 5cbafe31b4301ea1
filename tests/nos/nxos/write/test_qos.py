"""The three QoS policies of NX-OS: queue 7 is strict, queues are qos-groups, one output policy per ECN threshold."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fabric.model.plan import Port, Qos, SwitchView
from tests.nos.nxos.write.test_render import config, section
from tests.nos.tenant_views import MARKING, QOS, rich

FAST = replace(MARKING, kmin_bytes=1_000_000, kmax_bytes=3_000_000)


def with_qos(**changes: object) -> SwitchView:
    return replace(rich("leaf1", "qos", "nxos"), qos=replace(QOS, **changes))  # type: ignore[arg-type]


def with_ports(seen: SwitchView, change: dict[int, Port]) -> SwitchView:
    return replace(seen, ports=tuple(change.get(n, port) for n, port in enumerate(seen.ports)))


def nested(lines: list[str], head: str) -> dict[str, list[str]]:
    """The classes of a policy with what is under them."""
    found: dict[str, list[str]] = {}
    for line in section(lines, head):
        if line.startswith("class "):
            found[line.removeprefix("class ").removeprefix("type queuing ").removeprefix("type network-qos ")] = []
        else:
            found[list(found)[-1]].append(line)
    return found


def test_the_classes_as_published() -> None:
    lines = config(rich("leaf1", "qos", "nxos"))
    assert nested(lines, "policy-map type qos ROCE-CLASSIFY") == {
        "ROCE": ["set qos-group 3"],
        "CNP": ["set qos-group 7"],
        "class-default": ["set qos-group 0"],
    }
    assert nested(lines, "policy-map type network-qos ROCE-NETWORK") == {
        "c-8q-nq3": ["mtu 9216", "pause pfc-cos 3"],
        "c-8q-nq-default": ["mtu 9216"],
    }
    ecn = "random-detect minimum-threshold 524 kbytes maximum-threshold 1048 kbytes drop-probability 20 weight 0 ecn"
    assert nested(lines, "policy-map type queuing ROCE-400G") == {
        "c-out-8q-q7": ["priority level 1"],
        "c-out-8q-q6": ["bandwidth remaining percent 0"],
        "c-out-8q-q5": ["bandwidth remaining percent 0"],
        "c-out-8q-q4": ["bandwidth remaining percent 0"],
        "c-out-8q-q3": ["bandwidth remaining percent 60", ecn],
        "c-out-8q-q2": ["bandwidth remaining percent 0"],
        "c-out-8q-q1": ["bandwidth remaining percent 0"],
        "c-out-8q-q-default": ["bandwidth remaining percent 40"],
    }
    assert section(lines, "system qos") == [
        "service-policy type network-qos ROCE-NETWORK",
        "service-policy type queuing output ROCE-400G",
    ]


def test_other_numbers() -> None:
    lines = config(with_qos(priority=4, dscp=24, cnp_priority=7, cnp_dscp=46))
    assert section(lines, "class-map type qos match-any ROCE") == ["match dscp 24"]
    assert section(lines, "class-map type qos match-any CNP") == ["match dscp 46"]
    assert nested(lines, "policy-map type qos ROCE-CLASSIFY")["ROCE"] == ["set qos-group 4"]
    assert nested(lines, "policy-map type network-qos ROCE-NETWORK")["c-8q-nq4"] == ["mtu 9216", "pause pfc-cos 4"]
    queues = nested(lines, "policy-map type queuing ROCE-400G")
    assert queues["c-out-8q-q4"][0] == "bandwidth remaining percent 60"
    assert queues["c-out-8q-q3"] == ["bandwidth remaining percent 0"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"priority": 7}, r"qos.lossless_priority 7: on NX-OS queue 7 is the strict queue.*expected 1 to 6"),
        ({"priority": 0}, r"qos.lossless_priority 0: on NX-OS queue 0 is best effort; expected 1 to 6"),
        ({"dscp": 48}, "qos.lossless_dscp and qos.cnp_dscp are both 48"),
    ],
)
def test_what_the_queues_cannot_hold_is_refused(changes: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        config(with_qos(**changes))


def test_without_qos_there_is_none_of_it() -> None:
    bare: Qos | None = None
    lines = config(replace(rich("leaf1", "qos", "nxos"), qos=bare))
    assert not any(word in line for line in lines for word in ("qos", "priority-flow-control", "queuing"))


def test_a_port_outside_the_lossless_class_is_neither_paused_nor_classified() -> None:
    seen = rich("leaf1", "qos", "nxos")
    lines = section(config(with_ports(seen, {0: replace(seen.ports[0], lossless=None)})), "interface Ethernet1/1/1")
    assert not any("priority" in line or "policy" in line for line in lines)


@pytest.mark.parametrize(("detect_ms", "multiplier"), [(50, 1), (200, 2), (250, 3), (5000, 10)])
def test_watchdog_steps_are_of_100_ms(detect_ms: int, multiplier: int) -> None:
    assert QOS.watchdog is not None
    lines = config(with_qos(watchdog=replace(QOS.watchdog, detect_ms=detect_ms)))
    assert f"priority-flow-control watch-dog shutdown-multiplier {multiplier}" in lines
    assert "priority-flow-control watch-dog-interval on" in section(lines, "interface Ethernet1/1/1")
    off = config(with_qos(watchdog=None))
    assert not any("watch-dog" in line for line in off)


def test_a_threshold_of_its_own_is_a_policy_of_its_own() -> None:
    seen = rich("leaf1", "qos", "nxos")
    at = next(n for n, port in enumerate(seen.ports) if port.ref.cage == 3)
    port = seen.ports[at]
    assert port.lossless is not None
    lines = config(with_ports(seen, {at: replace(port, lossless=replace(port.lossless, marking=FAST))}))
    assert "  service-policy type queuing output ROCE-400G" in lines
    assert "service-policy type queuing output ROCE-800G" in section(lines, "interface Ethernet1/3")
    assert "service-policy type queuing output ROCE-800G" not in section(lines, "interface Ethernet1/4")
    assert nested(lines, "policy-map type queuing ROCE-800G")["c-out-8q-q3"][1].startswith(
        "random-detect minimum-threshold 1000 kbytes maximum-threshold 3000 kbytes"
    )


def test_a_cable_beyond_100_m_is_named_and_no_pause_buffer_guessed() -> None:
    seen = rich("leaf1", "qos", "nxos")
    at = next(n for n, port in enumerate(seen.ports) if port.ref.cage == 3)
    lines = config(with_ports(seen, {at: replace(seen.ports[at], length_m=300)}))
    assert [line for line in lines if line.startswith("! Lossless")] == [
        "! Lossless cables of 300 m: beyond 100 m NX-OS needs an explicit pause buffer, which this file does not configure. "
        "Add it before use."
    ]
    assert not any("pause buffer-size" in line or "queuing input" in line for line in lines)
    exact = config(with_ports(seen, {at: replace(seen.ports[at], length_m=100)}))
    assert not any(line.startswith("! Lossless") for line in exact)


def test_silicon_one_has_room_for_six_policies() -> None:
    seen = rich("leaf1", "qos", "nxos")
    many = {}
    for n, port in enumerate(seen.ports):
        if port.lossless:
            own = replace(port.lossless, marking=replace(MARKING, kmin_bytes=1_000 * (n + 1)))
            many[n] = replace(port, lossless=own)
    wide = with_ports(seen, many)
    assert "policy-map type queuing ROCE-400G-4" in config(wide)
    small = replace(wide, model=wide.model.model_copy(update={"asic": "silicon-one-g200"}))
    with pytest.raises(ValueError, match=r"^8 QoS policies, and test-switch has room for 6"):
        config(small)
    config(replace(seen, model=small.model))
