"""What the tests of the Batfish side share: rendered sites, damage to their files, and answers that were recorded.

The recordings are a real server's rows about the small site below, taken with `record`, and cut to what the checks read: the
steps of a trace are left out, but for those of filters.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fabric import pipeline
from fabric.audit.checks.batfish import prepare
from fabric.audit.checks.batfish.client import Answers, Flow, Rows, Unanswered
from fabric.audit.checks.batfish.configs import Configs, configs_of
from fabric.audit.checks.batfish.snapshot import Snapshot
from fabric.model.plan import Device, Plan
from fabric.nos.reading import Device as Config
from tests import ROOT

RECORDED = Path(__file__).parent / "recorded"

SMALL = """\
version: 1
site: small
catalog:
  servers:
    node: {gpus: 2, nics: {compute: {count: 2, speed_gbps: 400}}}
fabrics:
  backend:
    nos: eos
    servers: {model: node, count: 4, name: gpu}
    topology: {switch: 7060x6-32pe, rails: 1, unit: {servers: 2}, leaf: {uplinks: {count: 2}}}
    overlay: {kind: evpn-vxlan}
    tenants:
      - {name: red, servers: gpu-0001..0003}
      - {name: blue, servers: gpu-0004}
"""


@dataclass(frozen=True)
class Site:
    """A plan and the files of its switches."""

    plan: Plan
    texts: dict[str, dict[str, str]]  # switch → path → text

    def files(self, device: Device) -> Mapping[str, str]:
        return self.texts[device.name]

    def snapshot(self) -> Snapshot:
        return prepare(self.plan, self.files)

    def configs(self) -> Configs:
        """The same files without the plan."""
        kinds = {device.name: device.nos for fabric in self.plan.fabrics.values() for device in fabric.switches}
        devices = [Config(name, kinds[name], dict(files)) for name, files in self.texts.items()]
        return configs_of((device, device.facts) for device in devices)

    def damaged(self, device: str, pattern: str, new: str) -> tuple[Site, int]:
        """A copy with the first match in the files of a switch replaced, and the line that it is on."""
        for path, text in self.texts[device].items():
            changed, count = re.subn(pattern, new, text, count=1, flags=re.MULTILINE)
            if count:
                lines = zip(text.splitlines(), changed.splitlines(), strict=False)
                line = next(number for number, (old, now) in enumerate(lines, 1) if old != now)
                return Site(self.plan, {**self.texts, device: {**self.texts[device], path: changed}}), line
        raise AssertionError(f"{device}: nothing matches {pattern}")


def site(path: Path, output: Path) -> Site:
    """An intent file, planned and rendered."""
    intent = pipeline.load(path, output)
    plan = pipeline.plan(intent)
    renderer = pipeline.render(plan, intent)
    jobs = renderer.jobs(lambda name: True)
    return Site(plan, {job.device.name: {path: data.decode() for path, data in renderer.files(job)} for job in jobs})


def example(name: str, output: Path) -> Site:
    return site(ROOT / "intent" / f"{name}.yaml", output)


SWITCHES = {
    "cumulus": "sn5600",
    "eos": "7060x6-32pe",
    "frr": "8x400g",
    "junos": "qfx5240-64od",
    "nxos": "n9364d-gx2a",
    "sonic": "sn5600",
}
OVERLAY, TENANTS = "    overlay: {kind: evpn-vxlan}\n", SMALL[SMALL.index("    tenants:") :]
DESIGNS = {  # what stands behind the topology
    "evpn": OVERLAY + TENANTS,
    "vrf-lite": "    overlay: {isolation: vrf-lite}\n" + TENANTS,
    "acl": "    overlay: {isolation: acl}\n" + TENANTS,
    "unnumbered": "    underlay: {addressing: unnumbered}\n",
    "ipv6": "    underlay: {addressing: ipv6}\n",
}


def small(folder: Path, nos: str = "eos", design: str = "evpn") -> Site:
    """The small site, on another network OS or of another design perhaps."""
    return site(small_intent(folder / "small.yaml", nos, design), folder)


def small_intent(path: Path, nos: str, design: str) -> Path:
    """Writes the intent of the small site."""
    text = SMALL.replace(OVERLAY + TENANTS, DESIGNS[design])
    path.write_text(text.replace("nos: eos", f"nos: {nos}").replace("7060x6-32pe", SWITCHES[nos]), encoding="utf-8")
    return path


@dataclass
class Recorded:
    """Answers by question; a question that was not recorded has none."""

    rows: dict[str, Rows] = field(default_factory=dict)

    def file_status(self) -> Rows:
        return self._of("file_status")

    def init_issues(self) -> Rows:
        return self._of("init_issues")

    def undefined(self) -> Rows:
        return self._of("undefined")

    def owners(self) -> Rows:
        return self._of("owners")

    def sessions(self) -> Rows:
        return self._of("sessions")

    def compatibility(self) -> Rows:
        return self._of("compatibility")

    def routes(self, nodes: Sequence[str]) -> Rows:
        return self._of(f"routes {' '.join(nodes)}")

    def reachability(self, start: str, sources: str, targets: str) -> Rows:
        return self._of(f"reachability {start} {sources} {targets}")

    def lost(self, start: str, sources: str, targets: str) -> Rows:
        return self._of(f"lost {start} {sources} {targets}")

    def differential(self, node: str, start: str, sources: str, targets: str) -> Rows:
        return self._of(f"differential {node} {start} {sources} {targets}")

    def loops(self) -> Rows:
        return self._of("loops")

    def every_route(self, nodes: Sequence[str]) -> Rows:
        return self._of(f"every_route {' '.join(nodes)}")

    def filters(self, nodes: Sequence[str]) -> Rows:
        return self._of(f"filters {' '.join(nodes)}")

    def filtered(self, node: str, name: str, action: str, flow: Flow) -> Rows:
        return self._of(f"filtered {node} {name} {action} {flow}")

    def _of(self, question: str) -> Rows:
        if question not in self.rows:
            raise Unanswered(f"not recorded: {question}")
        return self.rows[question]


def recorded(name: str) -> Recorded:
    return Recorded(json.loads((RECORDED / f"{name}.json").read_text(encoding="utf-8")))


class Recorder:
    """Passes questions on to a server and keeps the rows."""

    def __init__(self, answers: Answers) -> None:
        self.answers, self.rows = answers, dict[str, Rows]()

    def __getattr__(self, question: str) -> Any:
        def ask(*arguments: Any) -> Rows:
            words = [" ".join(item) if isinstance(item, list) else str(item) for item in arguments]
            rows: Rows = getattr(self.answers, question)(*arguments)
            self.rows[" ".join([question, *words])] = [without_steps(row) for row in rows]
            return rows

        return ask


def without_steps(value: Any) -> Any:
    """A row without the steps of its traces, but for those of a filter."""
    if isinstance(value, dict):
        kept = {key: without_steps(item) for key, item in value.items() if key != "steps"}
        steps = [step for step in value.get("steps") or () if (step.get("detail") or {}).get("filter")]
        return kept | ({"steps": steps} if steps else {})
    return [without_steps(item) for item in value] if isinstance(value, list) else value


def write_recording(name: str, rows: Mapping[str, Iterable[Any]]) -> None:
    """One row per line, so that a change shows."""
    parts = []
    for question in sorted(rows):
        lines = ",\n".join(json.dumps(row, sort_keys=True) for row in rows[question])
        parts.append(f"{json.dumps(question)}: [\n{lines}\n]" if lines else f"{json.dumps(question)}: []")
    RECORDED.mkdir(exist_ok=True)
    (RECORDED / f"{name}.json").write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")
