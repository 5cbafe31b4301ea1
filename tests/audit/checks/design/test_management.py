"""Management: a design that holds each property, and designs that break it."""

from __future__ import annotations

from tests.audit.checks.design.designs import BACKEND, Case, Cases, alter, at, design, found, put

OWN = "    qos: {}\n", "    management: {%s}\n"
SITE = "management: {ntp: [192.0.2.10, 192.0.2.11], syslog: 192.0.2.20"

CASES: Cases = {
    ("FAB238", "VRF"): Case(
        BACKEND,
        (SITE, SITE + ", vrf: false"),
        ["intent.yaml:4:70: warning[FAB238]: management.vrf: expected the management VRF, got the default VRF"],
    ),
    ("FAB238", "own VRF"): Case(
        BACKEND,
        (OWN[0], OWN[1] % "vrf: false"),
        ["intent.yaml:20:23: warning[FAB238]: management.vrf: expected the management VRF, got the default VRF"],
    ),
    ("FAB238", "gateway"): Case(
        BACKEND,
        (SITE, SITE + ", gateway: 192.0.2.1"),
        [
            "intent.yaml:4:74: error[FAB238]: management.gateway: 192.0.2.1 is outside the pool "
            "'management' (172.16.0.0/16) of fabric 'backend'"
        ],
    ),
    ("FAB238", "none"): Case(
        BACKEND,
        lambda d: alter(d, management=put(d.fabric.management, at(d, "backend-leaf001"), -1)),
        ["intent.yaml:7:5: error[FAB238]: fabric 'backend': no management address on backend-leaf001"],
    ),
    ("FAB238", "pool"): Case(
        BACKEND,
        lambda d: alter(d, management=put(d.fabric.management, 0, (10 << 24) + (200 << 16))),
        [
            "intent.yaml:7:5: error[FAB238]: fabric 'backend': management address in the pool 'servers' "
            "(10.128.0.0/9) on backend-spine001"
        ],
    ),
    ("FAB239", "one"): Case(
        BACKEND,
        ("[192.0.2.10, 192.0.2.11]", "192.0.2.10"),
        ["intent.yaml:4:13: note[FAB239]: management: expected at least 2 NTP servers and 1 syslog server, got 1 and 1"],
    ),
    ("FAB239", "own"): Case(
        BACKEND,
        (OWN[0], OWN[1] % "gnmi: false"),
        ["intent.yaml:20:17: note[FAB239]: management: expected at least 2 NTP servers and 1 syslog server, got 0 and 0"],
    ),
    ("FAB240", "wide"): Case(
        BACKEND,
        (SITE, SITE + ", allow: 16.0.0.0/4"),
        ["intent.yaml:4:72: warning[FAB240]: management.allow: expected a prefix length of /8 or longer, got 16.0.0.0/4"],
    ),
    ("FAB240", "servers"): Case(
        BACKEND,
        (SITE, SITE + ", allow: [192.0.2.0/24, 10.0.0.0/8]"),
        ["intent.yaml:4:72: warning[FAB240]: management.allow: 10.0.0.0/8 overlaps the pool 'servers' (10.128.0.0/9)"],
    ),
    ("FAB2430", "without local"): Case(
        BACKEND,
        (SITE, SITE + ", aaa: {tacacs: {servers: 192.0.2.30}, login: tacacs}"),
        [
            "intent.yaml:4:70: warning[FAB2430]: management.aaa: logins by tacacs alone: no user can log in when no"
            " server answers"
        ],
    ),
    ("FAB2430", "local"): Case(BACKEND, (SITE, SITE + ", aaa: {tacacs: {servers: 192.0.2.30}}"), []),
    ("FAB240", "few"): Case(BACKEND, (SITE, SITE + ", allow: 192.0.2.0/24"), []),
}


OTHER = """\
  other:
    nos: sonic
    servers: {model: node, count: 4, name: other}
    topology: {switch: sn5600, unit: {servers: 4}}
"""


def test_the_sites_management_is_reported_once() -> None:
    """Two fabrics with the site's management: the first one speaks."""
    text = BACKEND.replace(", syslog: 192.0.2.20", "").replace("  backend:\n", f"{OTHER}  backend:\n")
    assert [len(found("FAB239", design(text, name))) for name in ("other", "backend")] == [1, 0]
