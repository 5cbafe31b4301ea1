"""What `fabric lab test` found: one result a proof or scenario, as plain values for every report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fabric.audit.checks import ERROR, Finding

PASS, FAIL, SKIP = "pass", "fail", "skip"
Measure = float | int | str


def finding(device: str, message: str) -> Finding:
    """One thing that is not as planned.

    Args:
        device: the switch or server to look at, "" for the fabric as a whole.
        message: what was expected, what came, and the reason where one is known.
    """
    return Finding(id="", severity=ERROR, device=device, file="", line=0, message=message)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One proof, or one scenario."""

    id: str  # "sessions", "link-down"
    kind: str  # "proof" | "scenario"
    title: str  # "BGP sessions"
    status: str  # PASS, FAIL or SKIP
    summary: str  # "48 of 48 established"; of what is skipped, why
    faults: tuple[Finding, ...] = ()
    measured: Mapping[str, Measure] = field(default_factory=dict)  # {"fib_repair_ms": 12.5, "longest_gap_ms": 40.0}
    seconds: float = 0.0  # that it took


@dataclass(frozen=True, slots=True)
class NotEmulated:
    """What namespaces cannot stand in for, and which check looks at it instead."""

    what: str  # "priority flow control"
    why: str
    covered_by: tuple[str, ...]  # ids of checks, () where nothing does


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A whole run of `test`."""

    site: str
    shape: str  # "2 spines, 4 leaves, 8 servers, 48 cables"
    frr: str  # "8.4.4"
    kernel: str  # "6.1.0-18-amd64"
    vrfs: str  # "devices" or "namespaces": how tenants are kept apart
    results: tuple[Result, ...]
    not_emulated: tuple[NotEmulated, ...]
    seconds: float
    intent: str = ""  # its file

    @property
    def failed(self) -> tuple[Result, ...]:
        return tuple(result for result in self.results if result.status == FAIL)


# --- limits of emulation --------------------------------------------------------------------------------------
# What a lab of namespaces does not show, and the checks that look at the plan and the files instead.

NOT_EMULATED = (
    NotEmulated(
        "PFC",
        "A veth pair has no priorities and obeys no PAUSE frame: nothing is ever held back.",
        ("FAB218", "FAB219", "FAB272", "FAB273", "FAB454"),
    ),
    NotEmulated("PFC watchdog", "Without PAUSE no queue can stay paused for too long.", ("FAB224", "FAB276")),
    NotEmulated("ETS scheduling", "A veth pair has no line rate, so classes never compete for it.", ("FAB278", "FAB456")),
    NotEmulated(
        "ECN marking and buffer thresholds",
        "A veth pair has no switch buffer that could fill: nothing is marked, and no headroom is used.",
        ("FAB221", "FAB222", "FAB223", "FAB274", "FAB275"),
    ),
    NotEmulated("DCBX", "The driver of veth has no DCB settings that two ends could agree on.", ("FAB454", "FAB456")),
    NotEmulated(
        "RoCE transport",
        "RDMA, its retransmission and DCQCN are the adapter's, and a veth end is no RDMA adapter.",
        ("FAB220", "FAB451", "FAB453", "FAB455", "FAB457"),
    ),
    NotEmulated(
        "hash function of the ASIC, adaptive routing",
        "The kernel spreads flows by a hash of its own and never by load. It shows that all equal paths are used, not which "
        "one an ASIC takes.",
        ("FAB226", "FAB277"),
    ),
    NotEmulated(
        "link speed, FEC and optics",
        "A veth pair copies packets in memory: it has no lanes, no FEC and no optic, and comes up at any speed.",
        ("FAB232", "FAB233", "FAB271", "FAB295"),
    ),
    NotEmulated(
        "LACP bonds over two leaves",
        "FRR tells which leaf forwards a broadcast and which one must not send it back, but the kernel filters by neither, "
        "so servers would receive it twice.",
        ("FAB216", "FAB268", "FAB270"),
    ),
    NotEmulated(
        "management services (SSH, SNMP, AAA)",
        "The network OS's own daemons do not run here, only those of routing and, for one proof, LLDP.",
        ("FAB238", "FAB240", "FAB283", "FAB285", "FAB288", "FAB295"),
    ),
    NotEmulated(
        "SONiC's orchagent, syncd and loading of config_db.json",
        "They program an ASIC and run in SONiC's own containers; here FRR runs without them and the kernel forwards.",
        ("FAB250", "FAB251", "FAB281", "FAB290", "FAB292", "FAB294"),
    ),
    NotEmulated(
        "packet filters in SONiC's ASIC",
        "SONiC's ACL tables for IPv4 and IPv6 are filled by orchagent; neither it nor the ASIC is here.",
        ("FAB270", "FAB281", "FAB282", "FAB284", "FAB307"),
    ),
    NotEmulated(
        "timing and performance",
        "Times measured here are those of the kernel, on cores that all nodes share: an ASIC takes other times to repair its "
        "tables, and forwards at line rate.",
        ("FAB206", "FAB236", "FAB237", "FAB259"),
    ),
)
