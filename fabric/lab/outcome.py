"""What `fabric lab test` found: one result a proof or scenario, as plain values for every report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fabric.audit.checks import ERROR, Finding
from fabric.base.formats import yaml

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


NOT_EMULATED = tuple(
    NotEmulated(row["what"], row["why"], tuple(row["covered_by"]))
    for row in yaml.read(Path(__file__).parent / "not_emulated.yaml")
)
