"""The lossless class: a design that holds each property, and designs that break it."""

from __future__ import annotations

from dataclasses import replace

from fabric.model.plan import Lossless, SpeedAndLength
from tests.audit.checks.design.designs import BACKEND as PLAIN, FRONT, Case, Cases, Design, role

BACKEND = PLAIN.replace("min_count: 4}\n", "min_count: 4}\n      cable_length_m: {server-leaf: 5, leaf-spine: 40}\n")
SPREAD = BACKEND.replace("nos: sonic", "nos: cumulus").replace("mtu: 9216", "load_balancing: {mode: dynamic}")
SERVER: SpeedAndLength = (400, 5)  # of a leaf of BACKEND


def _port(about: Design, which: str, place: SpeedAndLength, **values: object) -> Design:
    """Ports of a role with other figures; those of marking are named."""
    assert about.fabric.lossless is not None
    entry = next(entry for key, entry in about.fabric.lossless.roles.items() if key[0] == which)
    port: Lossless = replace(entry.ports[place], **values)  # type: ignore[arg-type]
    return role(about, which, ports={**entry.ports, place: port})


def _marking(about: Design, kmin_bytes: int, kmax_bytes: int) -> Design:
    assert about.fabric.lossless is not None
    port = about.fabric.lossless.of("leaf", "gpu").ports[SERVER]
    return _port(about, "leaf", SERVER, marking=replace(port.marking, kmin_bytes=kmin_bytes, kmax_bytes=kmax_bytes))


def _without(about: Design, which: str, place: SpeedAndLength) -> Design:
    """A role that computed with no such port."""
    assert about.fabric.lossless is not None
    entry = next(entry for key, entry in about.fabric.lossless.roles.items() if key[0] == which)
    return role(about, which, ports={key: port for key, port in entry.ports.items() if key != place})


def _switch(lossless: str) -> tuple[str, str]:
    return "      rails: 2\n", f"      rails: 2\n      attachments: [{{name: nas, links: 2, tenant: red{lossless}}}]\n"


CASES: Cases = {
    ("FAB218", "one tier"): Case(
        BACKEND,
        ("nos: sonic", "nos: {leaf: sonic, spine: frr}"),
        [
            "intent.yaml:21:10: error[FAB218]: fabric 'backend': 400G leaf-spine links: PFC on "
            "backend-leaf001, but not on backend-spine001 (32 links in all)"
        ],
    ),
    ("FAB218", "no tier"): Case(BACKEND, ("nos: sonic\n", "nos: frr\n"), []),
    ("FAB218", "no figures"): Case(
        BACKEND,
        lambda d: _without(d, "spine", (400, 40)),
        [
            "intent.yaml:21:10: error[FAB218]: fabric 'backend': 400G leaf-spine links: PFC on "
            "backend-leaf001, but not on backend-spine001 (32 links in all)"
        ],
    ),
    ("FAB218", "servers"): Case(
        BACKEND,
        lambda d: _without(d, "leaf", SERVER),
        [
            "intent.yaml:21:10: error[FAB218]: fabric 'backend': 400G server-leaf links: PFC on gpu-0001, "
            "but not on backend-leaf001 (32 links in all)"
        ],
    ),
    ("FAB219", "priority"): Case(
        BACKEND,
        lambda d: role(d, "leaf", qos={"priority": 4}),
        ["intent.yaml:21:10: error[FAB219]: fabric 'backend': sn5600 leaves: expected lossless priority 3, got 4"],
    ),
    ("FAB219", "notifications"): Case(
        BACKEND,
        lambda d: role(d, "spine", qos={"cnp_priority": 3}),
        [
            "intent.yaml:21:10: error[FAB219]: fabric 'backend': sn5600 spines: expected CNP priority 6, "
            "got 3, which is lossless"
        ],
    ),
    ("FAB220", "one tier"): Case(
        BACKEND,
        lambda d: role(d, "spine", qos={"dscp": 24}),
        ["intent.yaml:21:10: error[FAB220]: fabric 'backend': sn5600 spines: lossless_dscp: expected DSCP 26, got 24"],
    ),
    ("FAB220", "one for both"): Case(
        BACKEND,
        lambda d: role(d, "leaf", qos={"cnp_dscp": 26}),
        [
            "intent.yaml:21:10: error[FAB220]: fabric 'backend': sn5600 leaves: cnp_dscp: expected DSCP 48, got 26",
            "intent.yaml:21:10: error[FAB220]: fabric 'backend': sn5600 leaves: RoCE data and CNPs have the same DSCP, 26",
        ],
    ),
    ("FAB221", "order"): Case(
        BACKEND,
        lambda d: _marking(d, 200_000, 100_000),
        [
            "intent.yaml:21:10: error[FAB221]: fabric 'backend': sn5600 leaves, 400G at 5 m: expected "
            "Kmin below Kmax (100,000 bytes), got 200,000"
        ],
    ),
    ("FAB221", "step"): Case(
        BACKEND,
        ("qos: {}", "qos: {ecn: {kmin_bytes: 100000, kmax_bytes: 100000}}"),
        [
            "intent.yaml:21:16: warning[FAB221]: fabric 'backend': sn5600 leaves, 400G at 5 m: expected "
            "Kmin below Kmax (100,000 bytes), got 100,000",
            "intent.yaml:21:16: warning[FAB221]: fabric 'backend': sn5600 leaves, 400G at 40 m: expected "
            "Kmin below Kmax (100,000 bytes), got 100,000",
            "intent.yaml:21:16: warning[FAB221]: fabric 'backend': sn5600 spines, 400G at 40 m: expected "
            "Kmin below Kmax (100,000 bytes), got 100,000",
        ],
    ),
    ("FAB221", "late"): Case(
        BACKEND,
        lambda d: _marking(d, 9_040_000, 9_100_000),
        [
            "intent.yaml:21:10: warning[FAB221]: fabric 'backend': sn5600 leaves, 400G at 5 m: expected "
            "Kmin of at most the XOFF threshold less the bytes in flight (9,043,546 - 16,082 = 9,027,464 "
            "bytes), got 9,040,000"
        ],
    ),
    ("FAB221", "after PAUSE"): Case(
        BACKEND,
        lambda d: _marking(d, 90_000_000, 91_000_000),
        [
            "intent.yaml:21:10: error[FAB221]: fabric 'backend': sn5600 leaves, 400G at 5 m: expected "
            "Kmin below the XOFF threshold (9,043,546 bytes), got 90,000,000"
        ],
    ),
    ("FAB222", "too little"): Case(
        BACKEND,
        lambda d: _port(d, "leaf", SERVER, xoff_bytes=20_000),
        [
            "intent.yaml:15:23: error[FAB222]: fabric 'backend': sn5600 leaves, 400G at 5 m: expected a "
            "headroom of at least 234,496 bytes, got 20,000"
        ],
    ),
    ("FAB222", "no cable"): Case(
        BACKEND,
        ("server-leaf: 5", "server-leaf: 0"),
        ["intent.yaml:15:37: error[FAB222]: fabric 'backend': expected a server-leaf cable length above 0 m, got 0 m"],
    ),
    ("FAB243", "longer on the stated floor"): Case(
        BACKEND,
        ("fabrics:\n", "floor: {row_pitch_m: 60}\nfabrics:\n"),
        [
            "intent.yaml:16:52: error[FAB243]: fabric 'backend': expected cables of at most 40 m between a leaf and a spine, "
            "as PFC headroom assumes, got 32 longer on the floor plan, the longest 65.86 m\n    hint: set "
            "`cable_length_m: {leaf-spine: 100}`, or leave it out to follow the floor plan: too little headroom drops packets"
        ],
    ),
    ("FAB243", "silenced as a warning of the planner"): Case(
        BACKEND,
        ("fabrics:\n", "floor: {row_pitch_m: 60}\nchecks: {silence: {FAB192: measured on site}}\nfabrics:\n"),
        [],
    ),
    ("FAB223", "ports"): Case(
        BACKEND,
        lambda d: role(d, "leaf", counts={SERVER: 4, (400, 40): 8}),
        [
            "intent.yaml:10:7: error[FAB223]: fabric 'backend': sn5600 leaves: expected at most 4 "
            "lossless 400G ports with 5 m cables, got 8 on backend-leaf001"
        ],
    ),
    ("FAB223", "reserved"): Case(
        BACKEND,
        lambda d: role(d, "spine", buffer={"reserved_bytes": 1_000_000}),
        [
            "intent.yaml:15:23: error[FAB223]: fabric 'backend': sn5600 spines: expected at least "
            "2,457,600 bytes of reserved headroom, got 1,000,000"
        ],
    ),
    ("FAB223", "full"): Case(
        BACKEND,
        lambda d: role(d, "spine", buffer={"total_bytes": 2_460_000}),
        [
            "intent.yaml:15:23: error[FAB223]: fabric 'backend': sn5600 spines: 2,457,600 bytes of "
            "headroom leave no shared space in the 2,460,000-byte buffer"
        ],
    ),
    ("FAB223", "switch"): Case(BACKEND, _switch(""), []),
    ("FAB223", "switch without"): Case(BACKEND, _switch(", lossless: false"), []),
    ("FAB224", "off"): Case(
        BACKEND,
        ("qos: {}", "qos: {pfc_watchdog: false}"),
        [
            "intent.yaml:21:25: warning[FAB224]: fabric 'backend': sn5600 leaves: the PFC watchdog is disabled",
            "intent.yaml:21:25: warning[FAB224]: fabric 'backend': sn5600 spines: the PFC watchdog is disabled",
        ],
    ),
    ("FAB226", "flow"): Case(
        SPREAD,
        ("mode: dynamic", "mode: flow"),
        [
            "intent.yaml:16:32: note[FAB226]: fabric 'backend': sn5600 leaves support load-aware path "
            "selection, but `mode: flow` selects a static hash"
        ],
    ),
    ("FAB226", "auto"): Case(
        SPREAD,
        ("mode: dynamic", "mode: auto"),
        [
            "intent.yaml:16:32: note[FAB226]: fabric 'backend': sn5600 leaves support load-aware path "
            "selection, but `mode: auto` selects a static hash"
        ],
    ),
    ("FAB226", "cannot"): Case(BACKEND, ("nos: sonic\n", "nos: frr\n"), []),
    ("FAB226", "links too fast"): Case(SPREAD.replace("speed_gbps: 400", "speed_gbps: 800"), ("dynamic", "auto"), []),
    ("FAB227", "front end"): Case(
        FRONT,
        ("    overlay", "    qos: {enabled: true}\n    overlay"),
        [
            "intent.yaml:14:20: warning[FAB227]: fabric 'front': lossless class on a fabric with "
            "`purpose: frontend`, which carries no RoCE"
        ],
    ),
    ("FAB228", "one tier"): Case(
        BACKEND,
        ("nos: sonic", "nos: {leaf: sonic, spine: frr}"),
        [
            "intent.yaml:10:15: warning[FAB228]: fabric 'backend': sn5600 spines: FRR on Linux does not "
            "support PFC and ECN, which RoCE needs"
        ],
    ),
    ("FAB228", "both tiers"): Case(
        BACKEND,
        ("nos: sonic\n", "nos: frr\n"),
        [
            "intent.yaml:10:15: warning[FAB228]: fabric 'backend': sn5600 leaves and spines: FRR on Linux "
            "does not support PFC and ECN, which RoCE needs"
        ],
    ),
    ("FAB228", "not lossless"): Case(BACKEND.replace("qos: {}", "qos: {enabled: false}"), ("nos: sonic\n", "nos: frr\n"), []),
}
