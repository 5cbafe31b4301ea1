"""Rules before their real consumer: promtool reads them, and the unit tests that come with them pass, and can fail."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from fabric.deliver.monitoring.prometheus import prometheus_snmp
from fabric.deliver.monitoring.rules import alerts
from tests.deliver.monitoring.plans import DESIGNS, files_of, plan_of, written

ALL = "every threshold"
PROMTOOL = shutil.which("promtool")
pytestmark = pytest.mark.skipif(PROMTOOL is None, reason="promtool is not installed (Debian: prometheus)")


def promtool(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["promtool", *arguments], cwd=folder, capture_output=True, text=True, check=False)


def only(text: str, *names: str) -> str:
    """The unit tests of these names alone."""
    document = yaml.safe_load(text)
    document["tests"] = [test for test in document["tests"] if test["name"] in names]
    assert len(document["tests"]) == len(names), names
    return yaml.safe_dump(document)


@pytest.mark.parametrize("design", DESIGNS)
def test_promtool_reads_rules_and_targets(design: str, tmp_path: Path) -> None:
    written(files_of(design), tmp_path)
    done = promtool(tmp_path, "check", "config", "prometheus.yaml")  # the rules that it names as well
    assert done.returncode == 0, done.stdout + done.stderr
    assert "FAILED" not in done.stdout


@pytest.mark.parametrize("design", ["sonic", "infiniband"])
def test_unit_tests_pass(design: str, tmp_path: Path) -> None:
    """A healthy fabric fires nothing, a dead spine and every other fault their own alerts and no others."""
    written(files_of(design), tmp_path)
    done = promtool(tmp_path, "test", "rules", "tests/f.yaml")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("design", ["unnumbered-planes", "three-tiers", "collapsed"])
def test_a_dead_spine_and_good_health_everywhere(design: str, tmp_path: Path) -> None:
    files = dict(files_of(design))
    files["tests/f.yaml"] = only(files["tests/f.yaml"], "a healthy fabric fires nothing", "an upper switch dies")
    written(files, tmp_path)
    done = promtool(tmp_path, "test", "rules", "tests/f.yaml")
    assert done.returncode == 0, done.stdout + done.stderr


def test_with_snmp_alone(tmp_path: Path) -> None:
    files = dict(prometheus_snmp(plan_of("attached")))
    assert list(yaml.safe_load(files["prometheus.yaml"])["scrape_configs"][1]["params"]["module"]) == ["if_mib"]
    files["tests/f.yaml"] = only(files["tests/f.yaml"], "a healthy fabric fires nothing", "an upper switch dies", ALL)
    written(files, tmp_path)
    assert promtool(tmp_path, "test", "rules", "tests/f.yaml").returncode == 0


@pytest.mark.parametrize(
    ("file", "pattern", "replacement", "test"),
    [
        ("alerts", r"(fabric:link_paused:ratio5m\{.*\}) > 0.5\b", r"\1 > 0.55", ALL),
        ("alerts", r"(fabric:link_paused:ratio5m\{.*\}) > 0.01\b", r"\1 > 0.009", "PfcReceivedHigh"),
        ("alerts", r"(fabric:lossless_drops:increase5m\{.*\}) > 0\b", r"\1 > 5", ALL),
        ("alerts", r"\[15m\]\) > 3", "[15m]) > 9", "LinkFlapping"),
        ("recording", r"(bgp_sessions_down:limit\n\s+expr: vector)\([0-9.]+\)", r"\1(1)", "BgpSessionsDown"),
        ("recording", r"(fabric:port_class_errors:limit\n\s+expr: vector)\(0.8\)", r"\1(0.7)", ALL),
        ("recording", r"(port_class_symbol_errors:limit\n\s+expr: vector)\(\d+\)", r"\1(1)", ALL),
        ("recording", r"(port_class_ecn_marked:limit\n\s+expr: vector)\([0-9.]+\)", r"\1(0.5)", ALL),
        ("recording", r"(headroom_bytes:planned\n\s+expr: vector)\((\d+)\)", r"\1(1\2)", ALL),
    ],
)
def test_a_threshold_that_moves_fails(file: str, pattern: str, replacement: str, test: str, tmp_path: Path) -> None:
    files = dict(files_of("sonic"))
    name = f"rules/f-{file}.yaml"
    files[name], count = re.subn(pattern, replacement, files[name])
    assert count
    files["tests/f.yaml"] = only(files["tests/f.yaml"], test)
    written(files, tmp_path)
    done = promtool(tmp_path, "test", "rules", "tests/f.yaml")
    assert done.returncode != 0
    assert "exp:" in done.stdout + done.stderr


def test_every_alert_is_tried_somewhere() -> None:
    """An alert that no unit test of any design fires is one that no one has seen work."""
    fired = set()
    for design in ("sonic", "unnumbered-planes", "attached"):
        for test in yaml.safe_load(files_of(design)["tests/f.yaml"])["tests"]:
            for check in test["promql_expr_test"]:
                fired |= set(re.findall(r'alertname="(\w+)"', str(check["exp_samples"])))
    assert set(alerts()) <= fired
