"""Drift in the lab: in sync after every start, every change by hand is found, and its commands undo it.

python -m tests.system.live_lab --starts 10 --changes 60 --seed 1 intent/evpn-lab.yaml
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from fabric import pipeline
from fabric.audit.checks import statement_differences
from fabric.lab.collect import running, save
from fabric.lab.lab import Lab
from fabric.lab.live import Live
from fabric.lab.machine.host import require
from tests.system.live_commands import Daemons, back
from tests.system.operator_changes import changes


def main(arguments: Sequence[str]) -> int:
    """See the head of the file."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--starts", type=int, default=10)
    parser.add_argument("--changes", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("intent", type=Path)
    asked = parser.parse_args(arguments)
    intent = pipeline.load(asked.intent)
    findings = found = restored = 0
    for start in range(asked.starts):
        lab = pipeline.lab(intent)
        lab.up()
        try:
            findings += sum(1 for line in _drifted(asked.intent, lab) if print(f"start {start}: {line}") is None)
            for at in range(start, asked.changes, asked.starts):
                wrong = list(_change(lab, random.Random(f"{asked.seed} {at}")))
                found += not any(line.startswith("not found") for line in wrong)
                restored += not wrong
                print("\n  ".join(wrong) if wrong else "", end="\n" if wrong else "", flush=True)
        finally:
            lab.down()
    print(f"{asked.starts} starts: {findings} findings; {asked.changes} changes: {found} found, {restored} restored")
    return bool(findings) or restored < asked.changes


def _drifted(path: Path, lab: Lab) -> list[str]:
    """What `fabric drift` reports of the running configs."""
    with TemporaryDirectory() as folder:
        save(lab.running(), Path(folder) / "running")
        intent = pipeline.load(path)
        site = pipeline.drift(intent, Path(folder) / "running")
        return [f"{device.device}: {device.state}" for device in site.devices if device.state != "in sync" or device.findings]


def _change(lab: Lab, chance: random.Random) -> Iterator[str]:
    """One change of a switch that has an effect; what is wrong with its finding or its commands."""
    name = chance.choice(sorted(lab.blueprint.views))
    nos = lab.blueprint.views[name].device.nos
    planned = lab.blueprint.nodes[name].frr_conf
    daemons = Daemons(lab.names.home(name))
    live = Live(lab.blueprint, require(overlay=False))
    before = running(live)[f"{name}/frr.conf"]
    while True:
        typed = changes(before, chance)
        daemons.enter(typed)
        after = running(live)[f"{name}/frr.conf"]
        if after != before:
            break
    if not statement_differences(nos, {"frr.conf": planned}, {"frr.conf": after}):
        yield "not found: " + " / ".join(typed)
    commands = back(nos, planned, after)
    refused = daemons.enter(commands)
    now = running(live)[f"{name}/frr.conf"]
    rest = statement_differences(nos, {"frr.conf": planned}, {"frr.conf": now})
    if refused or rest:
        yield f"{name}: " + "\n  ".join([*typed, "commands", *commands, "wrong", *refused, *map(str, rest)])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
