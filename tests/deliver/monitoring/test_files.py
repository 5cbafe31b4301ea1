"""What is exported: complete, bounded, the same bytes every time, and safe from names."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from fabric import pipeline
from fabric.deliver.monitoring.exporters import SIGNALS, exporters
from fabric.deliver.monitoring.prometheus import prometheus
from fabric.model.plan import SWITCH_ROLES
from fabric.nos.target import target, target_names
from tests.cost import calls
from tests.deliver.monitoring.plans import DESIGNS, HEAD, files_of, plan_of, written
from tests.goldens import golden

LINE = re.compile(r"(fabric_\w+)\{(.*)\} 1")
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
LARGE = (
    "f: {nos: sonic, servers: {model: dgx-h100, count: 2048},"
    " topology: {switch: sn5400, unit: {servers: 32}, pods: {units: 4}}}"
)


def facts(text: str) -> list[tuple[str, dict[str, str]]]:
    rows = [LINE.fullmatch(line) for line in text.splitlines() if not line.startswith("#")]
    return [(row[1], dict(LABEL.findall(row[2]))) for row in rows if row is not None]


@pytest.mark.parametrize("design", [design for design in DESIGNS if design != "infiniband"])
def test_every_cabled_switch_port_has_its_far_end(design: str) -> None:
    for name, fabric in plan_of(design).fabrics.items():
        rows = facts(files_of(design)[f"facts/{name}.prom"])
        ends = {(row["device"], row["interface"]): row for kind, row in rows if kind == "fabric_link_info"}
        switch = [device.role in SWITCH_ROLES for device in fabric.devices]
        pairs = list(zip(fabric.links.a.tolist(), fabric.links.b.tolist(), strict=True))
        assert len(ends) == sum(switch[a] + switch[b] for a, b in pairs)
        expected = Counter(
            (fabric.devices[one].name, fabric.devices[far].name)
            for a, b in pairs
            for one, far in ((a, b), (b, a))
            if switch[one]
        )
        assert Counter((row["device"], row["peer_device"]) for row in ends.values()) == expected
        for (device, interface), row in ends.items():
            if row["peer_role"] in SWITCH_ROLES:
                far = ends[row["peer_device"], row["peer_interface"]]
                assert (far["peer_device"], far["peer_interface"]) == (device, interface)
                assert {row["view"], far["view"]} == {"primary", "secondary"}
        assert sum(kind == "fabric_switch_info" for kind, _ in rows) == len(fabric.switches)


@pytest.mark.parametrize("design", ["sonic", "three-tiers", "attached", "collapsed"])
def test_planned_sessions_are_those_of_the_plan(design: str) -> None:
    plan = plan_of(design)
    rows = [row for kind, row in facts(files_of(design)["facts/f.prom"]) if kind == "fabric_bgp_session_info"]
    between = [kind in (1, 2, 3) for kind in plan.fabrics["f"].links.kind.tolist()]
    assert len(rows) == 2 * sum(between)
    assert len({(row["device"], row["bgp_peer"]) for row in rows}) == len(rows)


@pytest.mark.parametrize("design", DESIGNS)
def test_every_switch_is_a_target_with_its_place(design: str) -> None:
    files = files_of(design)
    targets = [row for name, text in files.items() if name.startswith("targets/") for row in json.loads(text)]
    switches = {device.name for fabric in plan_of(design).fabrics.values() for device in fabric.switches}
    found = {row["labels"]["device"]: row["labels"] for row in targets if "device" in row["labels"]}
    assert set(found) <= switches
    assert set(found) == switches or "targets/gnmic.json" in files
    for labels in found.values():
        assert set(labels) >= {"site", "fabric", "role", "device", "rack"}


def test_thresholds_are_the_plan_s() -> None:
    """Other speeds, other thresholds: none of them is a literal of the rules."""
    recorded = {}
    for design in ("sonic", "unnumbered-planes"):
        groups = yaml.safe_load(files_of(design)["rules/f-recording.yaml"])["groups"]
        rows = next(group["rules"] for group in groups if group["name"].endswith("/plan"))
        recorded[design] = {(row["record"], row["labels"].get("port_class")): row["expr"] for row in rows}
    fabric = plan_of("sonic").fabrics["f"]
    assert fabric.lossless is not None
    port = fabric.lossless.of("leaf", "dgx-h100").ports
    (speed, metres), lossless = next((key, port[key]) for key in sorted(port) if key[0] == 400)
    name = f"leaf-{speed}g-{metres}m"
    assert recorded["sonic"]["fabric:port_class_headroom_bytes:planned", name] == f"vector({lossless.xoff_bytes})"
    assert recorded["sonic"]["fabric:port_class_ecn_marked:limit", name] == f"vector({lossless.marking.pmax_percent / 100:g})"
    assert recorded["sonic"]["fabric:port_class_speed_bits:planned", name] == "vector(400000000000)"
    speeds = {expr for (record, _), expr in recorded["unnumbered-planes"].items() if record.endswith("speed_bits:planned")}
    assert "vector(200000000000)" in speeds


@pytest.mark.slow
def test_1280_switches_are_as_many_rules_as_four(tmp_path: Path) -> None:
    path = tmp_path / "intent.yaml"
    path.write_text(f"{HEAD}  {LARGE}\n")
    plan = pipeline.plan(pipeline.load(path))
    assert len(plan.fabrics["f"].switches) == 1280
    files: dict[str, str] = {}
    links = len(plan.fabrics["f"].links)
    assert calls(lambda: files.update(prometheus(plan))) < 500 * links  # 130 of each link
    small = files_of("sonic")
    assert len(files["rules/f-recording.yaml"]) < 2 * len(small["rules/f-recording.yaml"])
    assert len(files["rules/f-alerts.yaml"]) == pytest.approx(len(small["rules/f-alerts.yaml"]), rel=0.02)
    assert len(files["tests/f.yaml"]) < 400_000
    lines = files["facts/f.prom"].count("\nfabric_link_info{")
    assert lines == 2 * links - 8 * 2048


def test_the_same_bytes_every_time() -> None:
    assert prometheus(plan_of("two-fabrics")) == files_of("two-fabrics")


def test_hostile_names_stay_labels(tmp_path: Path) -> None:
    """Names that an intent would refuse: they end up quoted in every syntax, and in no path."""
    bad = 'x"} or vector(1) #{{ $value }}\n- alert: {a: [\\'
    plan = plan_of("sonic")
    fabric = plan.fabrics["f"]
    devices = tuple(replace(device, name=f"{device.name}{bad}") for device in fabric.devices)
    made = replace(plan, fabrics={f"f{bad}": replace(fabric, name=f"f{bad}", devices=devices)})
    files = prometheus(made)
    assert all(re.fullmatch(r"[A-Za-z0-9._/-]+", name) and ".." not in name for name in files)
    for name, text in files.items():
        if name.endswith(".yaml"):
            assert yaml.safe_load(text) is not None
    rows = facts(next(text for name, text in files.items() if name.endswith(".prom")))
    assert {row["device"] for _, row in rows} == {
        device.name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        for device in devices
        if device.role in SWITCH_ROLES
    }
    if shutil.which("promtool") is None:
        pytest.skip("promtool is not installed (Debian: prometheus)")
    written(files, tmp_path)
    done = subprocess.run(
        ["promtool", "check", "config", "prometheus.yaml"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_exporters_are_complete_data() -> None:
    for exporter in exporters().values():
        assert exporter.source
        assert set(exporter.metrics) <= set(SIGNALS)
        assert exporter.interface != "device"  # a target's own label wins over it
    assert all(target(nos).exporters for nos in target_names())


@pytest.mark.parametrize(
    "name", ["rules/f-recording.yaml", "rules/f-alerts.yaml", "alertmanager-inhibit.yaml", "prometheus.yaml"]
)
def test_golden(name: str) -> None:
    golden(f"monitoring/{name.rpartition('/')[2]}", files_of("sonic")[name])
