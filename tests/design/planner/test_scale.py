"""Sizes that a person waits for: a million GPUs counted, a hundred thousand wired."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fabric import pipeline
from tests.cost import calls

pytest.importorskip("resource")

INTENT = """
version: 1
site: large
fabrics:
  backend:
    servers: {{model: dgx-h100, count: {servers}}}
    topology: {{switch: {switch}, unit: {{servers: {unit}}}}}
"""

WIRE = """
import json, sys
from pathlib import Path
from fabric import pipeline
made = pipeline.plan(pipeline.load(Path(sys.argv[1])))
# ru_maxrss would be that of the process that started this one, where that was larger
peak_kb = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM:"))
links = len(made.fabrics["backend"].links)
print(json.dumps({"peak_mb": peak_kb / 1e3, "links": links}))
"""


def test_a_million_gpus_are_counted_at_once(tmp_path: Path) -> None:
    path = tmp_path / "large.yaml"
    path.write_text(INTENT.format(servers=125_000, switch="256x800g", unit=256))
    counts: dict[str, Any] = {}
    count = calls(lambda: counts.update(pipeline.summarize(pipeline.load(path))["fabrics"]["backend"]))
    assert count < 5_000_000  # 1.8 a GPU; wiring would make millions of links
    assert counts["gpus"] == 1_000_000
    assert counts["links"]["server-leaf"] == 1_000_000
    assert counts["tiers"] == 3


@pytest.mark.slow
def test_a_hundred_thousand_gpus_are_wired_in_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "large.yaml"
    path.write_text(INTENT.format(servers=12_500, switch="sn5600", unit=64))
    counts = pipeline.summarize(pipeline.load(path))["fabrics"]["backend"]
    done = subprocess.run([sys.executable, "-c", WIRE, str(path)], capture_output=True, text=True, check=True)
    configured = json.loads(done.stdout)
    assert configured["links"] == sum(counts["links"].values()) > 200_000
    assert configured["peak_mb"] < 400
