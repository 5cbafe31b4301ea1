"""Alerting rules of a fabric, and which alert explains which others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Template
from typing import Any

from fabric.base.formats import yaml
from fabric.deliver.monitoring.watch import Watch

DATA = Path(__file__).parent / "data" / "alerts.yaml"

_SWITCH = ("site", "fabric", "device")
_PORT = (*_SWITCH, "interface")
_FAR = ("site", "fabric", "peer_device")
_OF_A_LINK = ("FabricLinkDown", "ServerLinkDown", "LinkFlapping", "LinkErrors", "FecUncorrectable", "FecNearLimit")
_OF_A_NEIGHBOR = (*_OF_A_LINK, "OpticRxPowerLow", "PfcStorm", "PfcReceivedHigh", "BgpSessionDown", "BgpSessionMissing")
_AFTER_A_LINK = ("BgpSessionDown", "LinkFlapping", "LinkErrors", "FecUncorrectable", "FecNearLimit", "OpticRxPowerLow")


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """An alert as data/alerts.yaml has it."""

    name: str
    severity: str
    lasts: str
    needs: frozenset[str]
    expr: str
    summary: str
    runbook: str
    limit: float | None = None
    why: str = ""  # the limit is what it is

    def rule(self, watch: Watch) -> dict[str, Any]:
        expr = Template(self.expr).substitute(scope=watch.scope, limit="" if self.limit is None else f"{self.limit:g}")
        return {
            "alert": self.name,
            "expr": expr,
            "for": self.lasts,
            "labels": {"severity": self.severity},
            "annotations": {"summary": self.summary, "runbook": self.runbook},
        }


@cache
def alerts() -> Mapping[str, Alert]:
    """Every alert by name, in the order of the file."""
    data: dict[str, dict[str, Any]] = yaml.read(DATA)
    found = {}
    for name, entry in data.items():
        rest = {key: value for key, value in entry.items() if key not in ("for", "needs")}
        found[name] = Alert(name=name, lasts=entry["for"], needs=frozenset(entry["needs"]), **rest)
    return found


def alerts_of(watch: Watch) -> list[Alert]:
    """The alerts that can fire in a fabric: its collectors report what they need."""
    missing = set() if watch.imbalance else {"UplinkImbalance"}
    return [alert for alert in alerts().values() if alert.needs <= watch.signals and alert.name not in missing]


def group(watch: Watch, interval: str) -> dict[str, Any]:
    name = f"{watch.site}/{watch.fabric.name}/alerts"
    return {"name": name, "interval": interval, "rules": [alert.rule(watch) for alert in alerts_of(watch)]}


def inhibit_rules() -> list[dict[str, Any]]:
    """What an alert explains, by labels alone, so these rules are the same for every fabric and every size of it.

    An alert of a neighbor names the failed device in `peer_device`; SwitchDown has its own name there too.
    """
    everything = "|".join(name for name in alerts() if name not in ("ManagementNetworkDown", "SwitchDown"))
    return [
        _held(("ManagementNetworkDown",), ("SwitchDown", "SwitchUnreachable"), ("site", "fabric")),
        _held(("SwitchDown",), everything.split("|"), _SWITCH),
        _held(("SwitchDown", "ServerDown"), _OF_A_NEIGHBOR, _FAR),
        _held(("BgpSessionsDown",), ("BgpSessionDown", "BgpSessionMissing"), _SWITCH),
        _held(("FabricLinkDown", "ServerLinkDown"), _AFTER_A_LINK, _PORT),
        _held(("FecUncorrectable",), ("FecNearLimit", "LinkErrors"), _PORT),
        _held(("PfcWatchdogFired", "PfcStorm"), ("PfcReceivedHigh", "EcnMarkedHigh", "HeadroomNearlyUsed"), _PORT),
        _held(("LosslessDrops",), ("HeadroomNearlyUsed", "QueueDrops"), _PORT),
    ]


def _held(source: tuple[str, ...], target: tuple[str, ...] | list[str], equal: tuple[str, ...]) -> dict[str, Any]:
    return {
        "source_matchers": [f'alertname=~"{"|".join(source)}"'],
        "target_matchers": [f'alertname=~"{"|".join(target)}"'],
        "equal": list(equal),
    }
