"""The intents that come with the project: their rules are read by promtool, and hold what their designs have and no more."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import yaml

from fabric import pipeline
from fabric.deliver.monitoring.prometheus import prometheus
from tests import ROOT
from tests.deliver.monitoring.plans import written

INTENTS = ROOT / "intent"
SHIPPED = ("starter", "ai-sonic", "gb300-twin-plane", "h100-4su")
HEAD = "version: 1\nsite: dc1\nfabrics:\n"
OTHERS = {
    "infiniband": "servers: {model: dgx-h100, count: 64}, topology: {switch: qm9700, unit: {servers: 32}}",
    "oob": "purpose: oob, servers: {model: dgx-h100, count: 16, per_rack: 4}, topology: {switch: sn2201}",
}
REACHABILITY = {"ManagementNetworkDown", "FabricFactsMissing", "SwitchDown", "SwitchNotMonitored"}
ROCE = {"PfcStorm", "PfcReceivedHigh", "PfcWatchdogFired", "EcnMarkedHigh", "HeadroomNearlyUsed", "LosslessDrops"}
needs_promtool = pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not installed (Debian: prometheus)")


@cache
def files_of(name: str) -> Mapping[str, str]:
    """The export of a shipped intent, or of a fabric of OTHERS."""
    if name in SHIPPED:
        return prometheus(pipeline.plan(pipeline.load(INTENTS / f"{name}.yaml")))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "intent.yaml"
        path.write_text(f"{HEAD}  f: {{{OTHERS[name]}}}\n", encoding="utf-8")
        return prometheus(pipeline.plan(pipeline.load(path)))


def alerting(text: str) -> dict[str, str]:
    """Alert → its expression."""
    return {rule["alert"]: rule["expr"] for group in yaml.safe_load(text)["groups"] for rule in group["rules"]}


def promtool(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["promtool", *arguments], cwd=folder, capture_output=True, text=True, check=False)


@needs_promtool
@pytest.mark.parametrize("name", [*SHIPPED, *OTHERS])
def test_promtool_reads_every_rule(name: str, tmp_path: Path) -> None:
    files = files_of(name)
    written(files, tmp_path)
    rules = sorted(path for path in files if path.startswith("rules/"))
    done = promtool(tmp_path, "check", "rules", *rules)
    assert done.returncode == 0, done.stdout + done.stderr
    groups = [group for path in rules for group in yaml.safe_load(files[path])["groups"]]
    counts = [int(line.split()[1]) for line in done.stdout.splitlines() if line.strip().startswith("SUCCESS:")]
    assert sum(counts) == sum(len(group["rules"]) for group in groups)


def test_without_roce_and_bgp_are_no_such_alerts() -> None:
    assert set(alerting(files_of("infiniband")["rules/f-alerts.yaml"])) == REACHABILITY
    oob = set(alerting(files_of("oob")["rules/f-alerts.yaml"]))
    assert oob >= REACHABILITY
    assert not oob & ROCE
    starter = set(alerting(files_of("starter")["rules/backend-alerts.yaml"]))
    assert starter >= REACHABILITY | ROCE | {"BgpSessionDown", "UplinkImbalance"}


@pytest.mark.parametrize("name", [*SHIPPED, *OTHERS])
def test_a_rule_asks_only_for_its_own_fabric(name: str) -> None:
    """Series of another fabric of the site never meet in an expression; sites share one Prometheus."""
    files = files_of(name)
    for path in sorted(path for path in files if path.endswith("-alerts.yaml")):
        fabric = path.removeprefix("rules/").removesuffix("-alerts.yaml")
        for alert, expr in alerting(files[path]).items():
            assert expr.count("{") == expr.count(f'fabric="{fabric}"') == expr.count('site="'), alert


@pytest.mark.parametrize("name", [*SHIPPED, *OTHERS])
def test_what_a_rule_reads_is_recorded(name: str) -> None:
    """An alert on a series that no one records would never fire, and no one would know."""
    files = files_of(name)
    for path in sorted(path for path in files if path.endswith("-alerts.yaml")):
        groups = yaml.safe_load(files[path.replace("-alerts", "-recording")])["groups"]
        known = {rule["record"] for group in groups for rule in group["rules"]}
        for alert, expr in alerting(files[path]).items():
            assert set(re.findall(r"fabric:[\w:]+", expr)) <= known, alert
