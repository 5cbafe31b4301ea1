"""A change carried out on a lab by the engine of `fabric change apply`, for tests; faults where a test says so."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fabric import pipeline
from fabric.api.change import _sides, _untimed
from fabric.deliver.change.apply.connection import Answer
from fabric.deliver.change.apply.records import Options
from fabric.deliver.change.records import Wave
from fabric.lab.blueprint import Blueprint, Wire
from fabric.lab.change import Carried, carry_out, drawn
from fabric.lab.machine.host import kernel
from fabric.lab.network import LabConnection, LabNetwork
from fabric.lab.up_down import Choices, State, bring_up, digest

FABRIC = Path(sys.executable).parent / "fabric"
QUICK = Options(limit_s=60.0, every_s=0.5, back_s=90.0, workers=4)
APPLIES = "systemd-run"  # in the lines of `2-apply` alone
Fault = Callable[["Faulty", str], None]
"""Is called when the change of a switch has been typed."""


class _Connection(LabConnection):
    network: Faulty

    def type(self, lines: Sequence[str]) -> Answer:
        is_change = any(APPLIES in line for line in lines)
        half = len(lines) // 2 if is_change and self.network.half == self.device else len(lines)
        answer = super().type(lines[:half])
        if is_change and self.network.fault and self.device not in self.network.hit:
            self.network.hit.append(self.device)
            self.network.fault(self.network, self.device)
        return answer if half == len(lines) else super().type(lines[half:])


class Faulty(LabNetwork):
    """The lab, with a fault after the first time that the change of a switch is typed, or hands that confuse two jumpers."""

    swaps_jumpers = False
    fault: Fault | None = None
    half = ""  # the switch whose change is interrupted by the fault
    hit: list[str]
    session = _Connection

    def by_hand(self, wave: Wave) -> None:
        super().by_hand(wave)
        if self.swaps_jumpers and any(move.jumper for move in wave.moves) and not wave.title.startswith("take back"):
            in_place = self.in_place
            laid = sorted(set(in_place.new.wires) - set(in_place.old.wires), key=lambda wire: (wire.a, wire.b))
            first, second = laid[0], next(wire for wire in laid[1:] if not {wire.a.node, wire.b.node} & _nodes(laid[0]))
            in_place._pull({first, second})
            in_place._lay({replace(first, b=second.b), replace(second, b=first.b)})


def _nodes(wire: Wire) -> set[str]:
    return {wire.a.node, wire.b.node}


@dataclass(frozen=True)
class Change:
    """A planned change, its folder, and both designs."""

    folder: Path
    old: Blueprint
    new: Blueprint

    def network(self, minute_s: float = 60.0) -> Faulty:
        """The lab of the old design, brought up."""
        file = self.old.plan.settings.home.path.absolute()
        bring_up(self.old, kernel(), State(str(file), Choices(), digest(self.old)), lambda text: None)
        found = Faulty(self.old, self.new, kernel(), minute_s)
        found.hit = []
        return found

    def carry_out(self, network: LabNetwork, options: Options = QUICK, steps: list[str] | None = None) -> Carried:
        with pipeline.change_work(self.folder, {}, jobs=1) as work:
            return carry_out(work, network, options, (steps if steps is not None else []).append)


def plan(folder: Path, site: str, old: str, new: str, *words: str) -> Change:
    """A change from one text to another, or an operation: `new` is then the action, `words` its switches."""
    files = {}
    for name, text in (("old", old), ("new", new if "\n" in new else old)):
        files[name] = folder / name / f"{site}.yaml"
        files[name].parent.mkdir()
        files[name].write_text(text.replace("SITE", site), encoding="utf-8")
    target = [str(files["new"])] if "\n" in new else [new, *words]
    made = folder / "change"
    command = ["change", "plan", files["old"], *target, "--floor", "50%", "--files", made, "--jobs", "1"]
    called(*map(str, command))
    with _sides(str(files["old"]), str(files["new"]), _untimed) as sides:  # the new plan keeps the numbers of the old one
        return Change(made, drawn(sides.render(sides.old, True)), drawn(sides.render(sides.new, False)))


def called(*words: str) -> str:
    """What `fabric` says, which must be content."""
    done = subprocess.run([str(FABRIC), *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def running(network: LabNetwork) -> dict[str, str]:
    """The running config of every switch."""
    found: dict[str, str] = {}
    for device in network.in_place.now.views:
        connection = network.connect(device)
        found |= {f"{device}/{path}": text for path, text in connection.running().items()}
        connection.close()
    return found


def lines(texts: Mapping[str, str]) -> dict[str, list[str]]:
    """Statements of configs; daemons print lists of one name in the order in which they were made."""
    return {path: sorted(text.splitlines()) for path, text in texts.items()}
