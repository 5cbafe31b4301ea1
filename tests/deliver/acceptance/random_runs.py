"""Acceptance tests of random designs: python -m tests.deliver.acceptance.random_runs --seed 1 --designs 200

Every server with several GPUs runs alone once, names are unique, gates lie below what is expected, a healthy cluster passes
without an outlier, and a run at 40 % of its bandwidth fails, and it alone.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml

from fabric import pipeline
from fabric.base.diagnostics import InputError
from fabric.deliver.acceptance.gates import Gates
from fabric.model.plan import SERVER, FabricPlan
from fabric.solver.estimate.request import EstimateRequest
from tests.deliver.acceptance.clusters import logs
from tests.system.random_designs.drawing import draw
from tests.system.random_designs.everyday import draw_everyday

CABLED = {"site": "x", "findings": [], "notes": [], "summary": {}}
JUDGED = ("server", "pair", "rail", "whole")  # steps of which a run is made slow


def tried(seed: int, number: int, count: Counter[str]) -> Iterator[str]:
    """What is wrong with the acceptance tests of a random design; `count` is of what was tried."""
    design = (draw if number % 2 else draw_everyday)(seed, number)
    with TemporaryDirectory() as folder:
        file = Path(folder) / "intent.yaml"
        file.write_text(yaml.safe_dump(design.intent, sort_keys=False, allow_unicode=True), encoding="utf-8")
        try:
            site = pipeline.plan(pipeline.load(file))
        except InputError:
            count["refused by the planner"] += 1
            return
        for fabric in site.fabrics.values():
            if fabric.spec.purpose == "compute" and fabric.sizing.gpus > 1:
                gates = pipeline.acceptance(site, fabric, EstimateRequest(routing="", queue_pairs=0))
                assert pipeline.acceptance_files(site, gates, "intent.yaml")
                count["fabrics"] += 1
                yield from planned(fabric, gates)
                yield from judged(gates, Path(folder), random.Random(seed + number))


def planned(fabric: FabricPlan, gates: Gates) -> Iterator[str]:
    groups = {group.name: group for group in fabric.spec.groups}
    several = {item.name for item in fabric.devices if item.role == SERVER and groups[item.group].server.gpus > 1}
    alone = [run.servers for step, _, run in gates.every_run() if step.step == "server"]
    if sorted(several) != sorted(server for servers in alone for server in servers):
        yield "not every server runs alone once"
    names = Counter(run.name for _, _, run in gates.every_run())
    if names and max(names.values()) > 1:
        yield "two runs of one name"
    every = (gate for step in gates.steps for group in step.groups for program in group.programs for gate in program.gates)
    if not all(0 < gate.pass_GBps < gate.expected_GBps for gate in every):
        yield "a gate above what is expected"


def judged(gates: Gates, folder: Path, dice: random.Random) -> Iterator[str]:
    home = folder / gates.fabric
    home.mkdir()
    (home / "cabling.json").write_text(json.dumps(CABLED), encoding="utf-8")
    for name, text in logs(gates).items():
        (home / f"{name}.log").write_text(text, encoding="utf-8")
    healthy = pipeline.judge(gates, [home])
    if healthy.state != "pass" or healthy.outliers:
        yield f"a healthy cluster is {healthy.state}"
    if runs := [(step.step, run.name) for step, _, run in gates.every_run() if step.step in JUDGED]:
        step, name = dice.choice(runs)
        slow = logs(gates, {name: lambda _: 0.4}, steps=[step])[name]
        (home / f"{name}.log").write_text(slow, encoding="utf-8")
        failed = {item.run for item in pipeline.judge(gates, [home]).outcomes if item.state == "fail"}
        if failed != {name}:
            yield f"{name} is slow, failed: {', '.join(sorted(failed)) or 'none'}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.deliver.acceptance.random_runs", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--designs", type=int, default=200)
    options = parser.parse_args()
    count, wrong = Counter[str](), 0
    for number in range(options.designs):
        for text in tried(options.seed, number, count):
            wrong += 1
            print(f"design {number}: {text}")
    print(f"{options.designs} designs, {dict(count)}, {wrong} wrong")


if __name__ == "__main__":
    main()
