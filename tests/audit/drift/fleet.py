"""A fleet of 5,040 switches with 50 drifted ones: what is found, and the cost of a switch in sync.

The running configs are the rendered ones with a random damaged line on 50 switches (`tests.audit.checks.damage`). The cost is
that of `fabric drift` beyond planning and rendering, user and system seconds of this process and its workers.

    python -m tests.audit.drift.fleet [NOS]
"""

from __future__ import annotations

import random
import re
import resource
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fabric import pipeline
from fabric.audit.drift.devices import DRIFTED, IN_SYNC
from fabric.base.processes import in_chunks
from fabric.configs import Job, Renderer
from fabric.model.plan import SwitchView
from tests.audit.checks.damage import damages
from tests.audit.checks.every_line import FOUND, Judge
from tests.audit.checks.shapes import Switch

MODELS = {
    "eos": "7060dx5-64s",
    "sonic": "sn5400",
    "cumulus": "sn5400",
    "nxos": "n9364d-gx2a",
    "junos": "qfx5230-64cd",
    "frr": "64x400g",
}
INTENT = """\
version: 1
site: fleet
catalog: {{servers: {{server: {{gpus: 8, nics: {{compute: {{count: 8, speed_gbps: 400}}}}}}}}}}
fabrics:
  backend:
    nos: {nos}
    servers: {{model: server, count: {servers}}}
    topology: {{switch: {model}, tiers: 3, unit: {{servers: 32}}}}
"""
SERVERS, DRIFTED_SWITCHES, SEED = 8000, 50, 1


def seconds() -> float:
    """User and system seconds of this process and its finished workers."""
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def timed(run: Callable[[], Any]) -> tuple[float, Any]:
    """(seconds, result)."""
    start = seconds()
    result = run()
    return seconds() - start, result


def rendered(file: Path) -> Renderer:
    """A planned site with all its files rendered, in as many processes as `fabric drift` uses."""
    intent = pipeline.load(file)
    renderer = pipeline.render(pipeline.plan(intent), intent)

    def sizes(job: Job) -> int:
        return sum(len(data) for _, data in renderer.files(job))

    for _ in in_chunks(sizes, renderer.jobs(lambda name: True)):
        pass
    return renderer


def pull(renderer: Renderer, nos: str, folder: Path, chance: random.Random) -> dict[str, str]:
    """Writes a folder of running configs; returns switch → what was damaged."""
    jobs = renderer.jobs(lambda name: True)
    damaged = {job.device.name for job in chance.sample(jobs, DRIFTED_SWITCHES)}
    drifted: dict[str, str] = {}
    for job in jobs:
        name, files = job.device.name, {path: data.decode() for path, data in renderer.files(job)}
        if name in damaged:
            drifted[name] = _damage(renderer.views[job.fabric].of(job.device), files, chance)
        for path, text in files.items():
            target = folder / name / Path(path).name
            target.parent.mkdir(exist_ok=True)
            target.write_text(_as_shown(nos, text), encoding="utf-8")
    return drifted


def _as_shown(nos: str, text: str) -> str:
    """The order and the header of a running config of EOS or NX-OS: no port is in its planned place."""
    if nos not in ("eos", "nxos"):
        return text
    ports = re.findall(r"^interface Ethernet.*(?:\n .*)*", text, re.MULTILINE)
    others = re.sub(r"^interface Ethernet.*(?:\n .*)*\n", "", text, flags=re.MULTILINE)
    head, _, others = others.partition("\n")  # the model and the release
    return "\n".join(["! Command: show running-config", head, *reversed(ports), others])


def _damage(view: SwitchView, files: dict[str, str], chance: random.Random) -> str:
    """Damages a random line with effect, and keeps the name of the switch."""
    switch = Switch(view.device.nos, "fleet", view, dict(files))
    judge, every = Judge(switch), [damage for damage in damages(switch) if "hostname" not in damage.what]
    chosen = next(damage for damage in chance.sample(every, len(every)) if judge.outcome(damage) == FOUND)
    files[chosen.file] = chosen.text
    return f"{chosen.file}:{chosen.line + 1} {chosen.kind}: {chosen.what.strip()}"


def main() -> None:
    """Prints what was found and the cost."""
    nos = sys.argv[1] if len(sys.argv) > 1 else "eos"
    with TemporaryDirectory() as scratch:
        file, folder = Path(scratch) / "fleet.yaml", Path(scratch) / "running"
        file.write_text(INTENT.format(nos=nos, servers=SERVERS, model=MODELS[nos]), encoding="utf-8")
        folder.mkdir()
        planning, renderer = timed(lambda: rendered(file))
        drifted = pull(renderer, nos, folder, random.Random(SEED))
        del renderer
        whole, site = timed(lambda: pipeline.drift(pipeline.load(file), folder))
    found = {device.device for device in site.devices if device.state == DRIFTED}
    hits, others = found & drifted.keys(), found - drifted.keys()
    cost_ms = (whole - planning) / site.count(IN_SYNC) * 1000
    print(
        f"{len(site.devices):,} switches, {nos}: {len(hits)} of {len(drifted)} drifted found, {len(others)} others reported"
    )
    print(f"planning and rendering {planning:.1f} s, drift {whole:.1f} s: {cost_ms:.2f} ms per switch in sync")
    for name in sorted(drifted.keys() - found):
        print(f"  not found: {name} {drifted[name]}")


if __name__ == "__main__":
    main()
