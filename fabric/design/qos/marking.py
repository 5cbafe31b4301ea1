"""ECN thresholds: named rules with their sources, and what the intent states."""

from __future__ import annotations

from dataclasses import dataclass

from fabric.model.plan import Marking
from fabric.model.settings.services import Ecn

KIB = 1024


@dataclass(frozen=True, slots=True)
class Rule:
    """Thresholds as fixed bytes, or as bytes per Gb/s of the port."""

    kmin_bytes: int
    kmax_bytes: int
    pmax_percent: int
    source: str
    per_gbps: bool = False


# What others run. The linear rule is that of the HPCC authors for DCQCN: 100 and 400 KB at 25G, 400 and 1600 KB at 100G.
RULES = {
    "linear": Rule(
        4_000, 16_000, 20, "alibaba-edu/High-Precision-Congestion-Control@9f4be2a simulation/mix/config.txt", per_gbps=True
    ),
    "nvidia": Rule(150_000, 1_500_000, 100, "Cumulus Linux `nv set qos roce`, docs.nvidia.com, RoCE, lossless mode"),
    "azure": Rule(
        1_048_576, 2_097_152, 5, "sonic-net/sonic-buildimage@086b03bd70f9 files/build_templates/qos_config.j2, AZURE_LOSSLESS"
    ),
    "cisco": Rule(150_000, 3_000_000, 7, "Cisco data center networking blueprint for AI/ML applications, queuing policy"),
}


def choose(ecn: Ecn, speed_gbps: int, trigger_bytes: int | None) -> Marking:
    """Thresholds of a port.

    Args:
        trigger_bytes: fill at which a priority group sends PAUSE while all ports are congested, None when unknown.

    The linear rule stays below the trigger: Kmin at half of it at most, Kmax at the trigger at most, so that senders slow
    down before PFC stops them. Fixed rules and stated values are taken as they are; the planner compares them.
    """
    rule = RULES[ecn.rule]
    scale = speed_gbps if rule.per_gbps else 1
    kmin, kmax = rule.kmin_bytes * scale, rule.kmax_bytes * scale
    if rule.per_gbps and trigger_bytes is not None:
        kmin, kmax = min(kmin, trigger_bytes // 2), min(kmax, trigger_bytes)
    if rule.per_gbps:
        kmin, kmax = kmin // KIB * KIB or KIB, kmax // KIB * KIB or 2 * KIB
    stated = ecn.kmin_bytes is not None or ecn.kmax_bytes is not None or ecn.pmax_percent is not None
    if ecn.kmax_bytes is not None:
        kmax = ecn.kmax_bytes
        if kmin >= kmax:  # marking begins below it, at the rule's part of it
            kmin = max(1, kmax * rule.kmin_bytes // rule.kmax_bytes)
    if ecn.kmin_bytes is not None:
        kmin = ecn.kmin_bytes
        if ecn.kmax_bytes is None and kmin >= kmax:  # marking is certain above it, as far above as in the rule
            kmax = kmin * rule.kmax_bytes // rule.kmin_bytes
    return Marking(kmin, kmax, ecn.pmax_percent or rule.pmax_percent, "stated" if stated else ecn.rule)
