"""EOS: the lossless class with any numbers, and what management answers to."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fabric.model.plan import Balancing, Management, SwitchView, Watchdog
from tests.nos.eos.write.test_tenants import lines, section
from tests.nos.tenant_views import LONG, MARKING, SHORT, rich


def leaf(kind: str = "qos") -> SwitchView:
    return rich("leaf1", kind, "eos")


def managed(view: SwitchView, **changes: object) -> SwitchView:
    management: Management = replace(view.management, **changes)  # type: ignore[arg-type]
    return replace(view, management=management)


# --- QoS ----------------------------------------------------------------------------------------------------


def test_every_code_point_has_a_class() -> None:
    view = leaf()
    assert view.qos is not None
    view = replace(view, qos=replace(view.qos, priority=4, dscp=24, cnp_priority=7, cnp_dscp=46))
    maps = [line for line in lines(view) if line.startswith("qos map dscp")]
    named = [line.removeprefix("qos map dscp ").partition(" to traffic-class ") for line in maps]
    classes = {int(dscp): int(number) for text, _, number in named for dscp in text.split()}
    assert classes == dict.fromkeys(range(64), 0) | {24: 4, 46: 7}
    # Queue 7 belongs to class 7 without being reported.
    assert [line for line in lines(view) if "to tx-queue" in line] == [
        "qos map traffic-class 0 to tx-queue 0",
        "qos map traffic-class 4 to tx-queue 4",
    ]
    body = section(view, "qos profile ROCE")
    assert "priority-flow-control priority 4 no-drop" in body
    assert body[body.index("uc-tx-queue 7") + 1] == "priority strict"


def test_every_class_in_use_has_a_code_point_of_its_own_in_the_outer_header() -> None:
    def outer(kind: str) -> list[str]:
        return [line for line in lines(leaf(kind)) if line.startswith("qos map traffic-class") and " to dscp " in line]

    assert outer("evpn") == [
        "qos map traffic-class 0 to dscp 0",
        "qos map traffic-class 3 to dscp 26",
        "qos map traffic-class 6 to dscp 48",
    ]
    assert outer("qos") == []


@pytest.mark.parametrize(
    ("priority", "cnp", "best", "strict"),
    [(3, 6, 0, 6), (4, 7, 0, 7), (5, 2, 0, 6), (0, 6, 1, 6), (0, 1, 2, 3), (6, 0, 1, 7)],
)
def test_the_strict_queue_lies_above_those_that_share(priority: int, cnp: int, best: int, strict: int) -> None:
    view = leaf()
    assert view.qos is not None
    view = replace(view, qos=replace(view.qos, priority=priority, cnp_priority=cnp))
    body = section(view, "qos profile ROCE")
    assert [line for line in body if line.startswith("uc-tx-queue")] == [f"uc-tx-queue {n}" for n in (best, priority, strict)]
    if strict < 7:
        assert f"qos map traffic-class {cnp} to tx-queue {strict}" in lines(view)


def test_a_profile_for_each_marking() -> None:
    view = leaf()
    slow = replace(SHORT, marking=replace(MARKING, kmin_bytes=262_144))
    fast = {800: LONG, 400: slow}
    ports = tuple(replace(port, lossless=fast[port.ref.speed_gbps]) if port.lossless else port for port in view.ports)
    view = replace(view, ports=ports)
    assert [line for line in lines(view) if line.startswith("qos profile")] == [
        "qos profile ROCE-400G",
        "qos profile ROCE-800G",
    ]
    assert section(view, "interface Ethernet2/1")[-1] == "service-profile ROCE-400G"
    assert section(view, "interface Ethernet3/1")[-1] == "service-profile ROCE-800G"
    ecn = "random-detect ecn minimum-threshold 262144 bytes maximum-threshold 1048576 bytes max-mark-probability 20 weight 0"
    assert ecn in section(view, "qos profile ROCE-400G")


def test_a_port_without_the_class_is_not_trusted() -> None:
    view = leaf()
    ports = tuple(replace(port, lossless=None) if port.kind == "server" else port for port in view.ports)
    view = replace(view, ports=ports)
    assert section(view, "interface Ethernet1/1")[-1] == "no qos trust"
    assert section(view, "interface Ethernet2/1")[-1] == "service-profile ROCE"


@pytest.mark.parametrize(
    ("timers", "expected"),
    [
        ((200, 200, 200), ("0.2", "0.2", "0.1")),
        ((400, 1000, 100), ("0.4", "1", "0.1")),
        ((105, 5000, 1000), ("0.11", "5", "0.055")),
    ],
)
def test_the_watchdog_counts_in_seconds_and_polls_twice_as_often(
    timers: tuple[int, int, int], expected: tuple[str, str, str]
) -> None:
    view = leaf()
    assert view.qos is not None
    view = replace(view, qos=replace(view.qos, watchdog=Watchdog(*timers)))
    words = ("timeout", "recovery-time", "polling-interval")
    for word, value in zip(words, expected, strict=True):
        assert f"priority-flow-control pause watchdog default {word} {value}" in lines(view)


def test_without_a_watchdog_nothing_speaks_of_it() -> None:
    view = leaf()
    assert view.qos is not None
    view = replace(view, qos=replace(view.qos, watchdog=None))
    assert not [line for line in lines(view) if "watchdog" in line or "guaranteed" in line]


def test_without_a_lossless_class_there_is_no_qos() -> None:
    view = leaf()
    view = replace(view, qos=None, ports=tuple(replace(port, lossless=None) for port in view.ports))
    assert not [line for line in lines(view) if "qos" in line or "priority-flow-control" in line]


def test_load_decides_only_where_it_is_asked_for() -> None:
    line = "ip hardware fib load-balance distribution dynamic"
    assert line not in lines(leaf())
    assert line in lines(replace(leaf(), balancing=Balancing(seed=1, dynamic=True)))


# --- management ---------------------------------------------------------------------------------------------


def test_ssh_is_shut_before_it_is_opened_in_its_vrf() -> None:
    assert section(leaf(), "management ssh") == [
        "ip access-group MANAGEMENT vrf MGMT in",
        "ipv6 access-group MANAGEMENT vrf MGMT in",
        "idle-timeout 15",
        "shutdown",
        "vrf MGMT",
        "no shutdown",
    ]
    assert section(leaf(), "ip access-list standard MANAGEMENT") == ["10 permit 172.16.0.0/22"]
    assert section(leaf(), "ipv6 access-list standard MANAGEMENT") == ["10 deny any"]


def test_the_monitoring_group_says_what_it_reads() -> None:
    found = lines(leaf())
    at = found.index("snmp-server view ALL iso included")
    assert found[at + 1] == "snmp-server group READ v3 priv read ALL"


def test_without_a_management_vrf_ssh_stays_open_in_the_default_one() -> None:
    view = managed(leaf(), vrf=False)
    assert section(view, "management ssh")[-1] == "no shutdown"
    assert "no snmp-server vrf default" not in lines(view)
    assert "   ip access-group CP-MANAGEMENT vrf default in" in lines(view)
    rules = section(view, "ip access-list CP-MANAGEMENT")
    assert "60 permit tcp any any eq bgp" in rules
    assert "90 permit tcp 172.16.0.0/22 any eq ssh" in rules


def test_the_cpu_receives_routing_in_every_table_and_managers_in_one() -> None:
    view = rich("leaf2", "evpn", "eos")
    guards = section(view, "system control-plane")
    assert guards[:4] == [
        "ip access-group CP-FABRIC vrf default in",
        "ip access-group CP-FABRIC vrf red in",
        "ip access-group CP-FABRIC vrf blue in",
        "ip access-group CP-MANAGEMENT vrf MGMT in",
    ]
    assert [line.replace("ip ", "ipv6 ", 1) for line in guards[:4]] == guards[4:]
    rules = " ".join(section(view, "ip access-list CP-FABRIC"))
    assert all(word in rules for word in ("icmp", "tracked", "eq bfd ttl eq 255", "eq bgp any", "deny ip any any"))
    assert "ssh" not in rules


def test_services_that_are_not_asked_for_are_not_let_in() -> None:
    view = managed(leaf(), snmp_user="", gnmi=False)
    assert not [line for line in lines(view) if "snmp" in line or "gnmi" in line or "6030" in line]


def test_no_one_named_means_no_one_kept_out() -> None:
    view = managed(leaf(), allow=())
    assert "40 permit tcp any any eq ssh" in section(view, "ip access-list CP-MANAGEMENT")
    assert not [line for line in lines(view) if "MANAGEMENT vrf MGMT in" in line and "CP-" not in line]


def test_an_ipv6_manager_is_let_in_too() -> None:
    view = managed(leaf(), allow=("172.16.0.0/22", "fd00:a::/64"))
    assert section(view, "ipv6 access-list standard MANAGEMENT") == ["10 permit fd00:a::/64"]
    assert "40 permit tcp fd00:a::/64 any eq ssh" in section(view, "ipv6 access-list CP-MANAGEMENT")


@pytest.mark.parametrize(
    ("banner", "printed"),
    [
        ("Keep out", ["banner login", "Keep out", "EOF"]),
        ("EOF", []),
        (" EOF ", []),
        ("", []),
        ("! EOF", ["banner login", "! EOF", "EOF"]),
    ],
)
def test_a_banner_never_ends_early(banner: str, printed: list[str]) -> None:
    found = lines(managed(leaf(), banner=banner))
    at = found.index("banner login") if printed else 0
    assert found[at : at + 3] == printed if printed else "banner login" not in found
    assert found.count("EOF") == (1 if printed else 0)


def test_secrets_are_references() -> None:
    found = lines(leaf())
    assert "username admin privilege 15 role network-admin secret sha512 ${ADMIN_PASSWORD_HASH}" in found
    assert "snmp-server user monitor READ v3 auth sha256 ${SNMP_AUTH_KEY} priv aes ${SNMP_PRIV_KEY}" in found
    assert sum(line.count("${") for line in found) == 3


def test_a_tenant_may_be_called_like_the_management_vrf() -> None:
    view = leaf("evpn")
    view = replace(view, vrfs=(replace(view.vrfs[0], name="MGMT"), *view.vrfs[1:]))
    assert [line for line in lines(view) if line.startswith("vrf instance")] == [
        "vrf instance MGMT-OUT-OF-BAND",
        "vrf instance MGMT",
        "vrf instance blue",
    ]


def test_no_web_no_telnet() -> None:
    assert not [line for line in lines(leaf()) if "http" in line or "telnet" in line]
