"""A network in memory: switches that have the files of a moment of a change, and fail where a test says so.

The state that it shows follows from what its switches really have, so a wave that is half done shows it.
"""

from __future__ import annotations

import difflib
import random
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from fabric import pipeline
from fabric.audit.verify.site import Site, Switch
from fabric.deliver.change.apply.connection import Answer, ByHandError, UnreachableError
from fabric.deliver.change.apply.folder import Work
from fabric.deliver.change.apply.judging import compared
from fabric.deliver.change.apply.moments import Moment, Part
from fabric.deliver.change.apply.records import Options
from fabric.deliver.change.files import DRAINED, REBOOTED, UNDRAINED, inverse_lines
from fabric.deliver.change.records import ChangeRequest, Wave
from fabric.nos.change import drained as lead_of, procedure
from fabric.solver.estimate.request import EstimateRequest
from tests.audit.verify.eos_state import outputs, text

CALL = EstimateRequest(sizes=(1 << 20,), routing="", queue_pairs=0)
QUICK = Options(limit_s=0.0, every_s=0.0, back_s=0.0, workers=4)
WHOLE = "drain"  # of a whole switch, not of links: files of both have one name
Fault = Callable[[str, str], str]
"""(device, what is typed) → "" or what goes wrong: `unreachable`, `refused`, `lost`, `half`, `late`, `dead`."""


class KilledError(BaseException):
    """`kill -9`: nothing of the program runs any more."""


def no_fault(device: str, name: str) -> str:
    return ""


@dataclass
class Device:
    """A switch: the files that it runs, and what becomes of them if nothing is confirmed."""

    files: dict[str, str]
    pending: dict[str, str] | None = None
    drained: bool = False
    up: bool = True


@dataclass
class Bench:
    """The switches of a change in memory; EOS, whose sessions are atomic, and any other where a fault makes them half."""

    work: Work
    fault: Fault = no_fault
    hands: Callable[[Wave], None] = lambda wave: None
    devices: dict[str, Device] = field(default_factory=dict)
    typed: list[tuple[str, str]] = field(default_factory=list)
    broken: set[str] = field(default_factory=set)  # switches whose sessions are down
    plan: Moment | None = None  # with the cables as they are
    draw: random.Random = field(default_factory=lambda: random.Random(1))
    guard: threading.RLock = field(default_factory=threading.RLock)

    def __post_init__(self) -> None:
        for stage in self.work.stages:
            for name in stage.before.switches:
                self.devices.setdefault(name, Device(stage.before.files(name), drained=name in stage.before.drained))
        self.plan = self.work.stages[0].before if self.work.stages else None

    # --- Network ------------------------------------------------------------------------------------------------------

    def connect(self, device: str) -> Session:
        if self.fault(device, "connect") or not self.devices[device].up:
            raise UnreachableError(f"{device} does not answer")
        return Session(self, device)

    def state(self, devices: Collection[str]) -> Mapping[str, str]:
        with self.guard:
            moment = self.moment()
            plan, views = moment.expected
            site = Site(plan, {}, views)
            found: dict[str, str] = {}
            for name in devices:
                if not self.devices[name].up:
                    raise UnreachableError(f"{name} does not answer")
                for file, value in outputs(site, site.switches[name], routes=True).items():
                    if file == "bgp-summary" and name in self.broken:
                        for vrf in value["vrfs"].values():
                            for peer in vrf["peers"].values():
                                peer["peerState"] = "Active"
                    if file == "routes":
                        self._led_away(site.switches[name], value)
                    found[f"{name}/{file}.json"] = text(value)
            return found

    def _led_away(self, switch: Switch, value: Any) -> None:
        """Routes through a drained switch are the last choice."""
        nodes = {end.peer: end.peer_node for end in switch.sessions}
        nodes |= {end.interface: end.peer_node for end in switch.sessions if end.interface}
        for vrf in value["vrfs"].values():
            for route in vrf["routes"].values():
                vias = route.get("vias", [])
                far = [nodes.get(via.get("nexthopAddr")) or nodes.get(via.get("interface"), "") for via in vias]
                best = [via for via, node in zip(vias, far, strict=True) if not (node and self.devices[node].drained)]
                route["vias"] = best or vias

    def by_hand(self, wave: Wave) -> None:
        self.hands(wave)
        back = wave.title.startswith("take back")
        stage = next(stage for stage in self.work.stages if stage.wave.number == wave.number)
        self.plan = stage.before if back else stage.after
        for name in stage.after.switches:
            self.devices.setdefault(name, Device(stage.after.files(name)))

    @property
    def parts(self) -> list[Part]:
        return [part for stage in self.work.stages for part in stage.parts]

    # --- what is there ------------------------------------------------------------------------------------------------

    def moment(self) -> Moment:
        """The moment that the switches are really in."""
        assert self.plan is not None
        moments = [moment for part in self.parts for moment in (part.before, part.after)]
        configs = dict(self.plan.configs)
        for name in configs:
            own = self.devices[name].files
            configs[name] = next(
                (moment.configs[name] for moment in moments if name in moment.configs and moment.files(name) == own),
                configs[name],
            )
        return replace(self.plan, configs=configs)

    def running(self, device: str) -> dict[str, str]:
        own = self.devices[device]
        extra = "maintenance\n   unit System\n      quiesce\n" if own.drained else ""
        return {path: text + extra for path, text in own.files.items()}

    def expire(self) -> None:
        """The time of every change that is not confirmed is up."""
        for device in self.devices.values():
            if device.pending is not None:
                device.files, device.pending = device.pending, None

    # --- what is typed ------------------------------------------------------------------------------------------------

    def type(self, device: str, lines: Sequence[str]) -> Answer:
        with self.guard:
            part, name = self._named(device, list(lines))
            self.typed.append((device, name))
            fault = self.fault(device, name)
            count = len(lines)
            if fault == "killed":
                self._effect(device, name, part, self.draw.random() < 0.5)
                raise KilledError
            if fault == "refused":
                return Answer(text="% Invalid input", typed=count // 2, refused=f"{lines[count // 2]}: % Invalid input")
            if fault == "lost":  # before the last line, which commits
                self._effect(device, name, part, self.draw.random() < 0.5)
                return Answer(text="", typed=count // 2, dropped=True)
            if fault == "half":
                self._half(device, part)
                return Answer(text="", typed=count // 2, dropped=True)
            if fault == "dead":
                self.devices[device].up = False
                return Answer(text="", typed=count // 2, dropped=True)
            if fault == "late":
                self.expire()
                return Answer(text="% No session", typed=0, refused=f"{lines[0]}: % No session")
            self._effect(device, name, part, True)
            if name == REBOOTED:
                return Answer(text="", typed=count, dropped=True)
            return Answer(text=f"{name} of {device}", typed=count)

    def _effect(self, device: str, name: str, part: Part, done: bool) -> None:
        own = self.devices[device]
        if not done:
            return
        if name == part.names.apply:
            own.pending, own.files = own.files, part.after.files(device)
        elif name == part.names.confirm:
            own.pending = None
        elif name == part.names.abort and own.pending is not None:
            own.files, own.pending = own.pending, None
        elif name == part.names.undo:
            own.files, own.pending = part.before.files(device), None
        elif name in (WHOLE, UNDRAINED):
            own.drained = name == WHOLE

    def _half(self, device: str, part: Part) -> None:
        """Some of the lines that differ: a switch without sessions. No timer takes them back."""
        own, after = self.devices[device], part.after.files(device)
        own.files = {path: _some(text, after.get(path, text), self.draw) for path, text in own.files.items()}

    def _named(self, device: str, lines: list[str]) -> tuple[Part, str]:
        """The file of a part of a wave that lines are of."""
        for stage in self.work.stages:
            task = next((task for task in stage.wave.tasks if task.device == device), None)
            if task is None or device not in stage.before.switches or not lines:
                continue
            how = procedure(task.nos)
            assert how is not None
            for part in reversed(stage.parts):
                its = part.names
                for name in (its.tried, its.apply, its.confirm, its.abort, UNDRAINED, its.undo, REBOOTED):
                    if self.work.lines(stage.wave.number, device, task.nos, name) == lines:
                        return part, WHOLE if name == DRAINED and task.drained else name
                changes = compared(part.before, device, self.devices[device].files).commands
                if changes and lines == inverse_lines(how, self.work.site, stage.wave.number, changes, its.mark):
                    return part, its.undo
            lead = lead_of(how, stage.before.files(device))
            if lines in (list(lead.apply), list(lead.undo)):
                return stage.parts[0], WHOLE if lines == list(lead.apply) else UNDRAINED
        raise AssertionError(f"{device}: lines of no file: {lines[:20]}")


def _some(old: str, new: str, draw: random.Random) -> str:
    """A text with some of the changes between two."""
    a, b = old.splitlines(keepends=True), new.splitlines(keepends=True)
    out: list[str] = []
    codes = difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes()
    changed = [at for at, code in enumerate(codes) if code[0] != "equal"]
    taken = set(draw.sample(changed, max(0, len(changed) - 1))) if changed else set()
    for at, (_, i, j, k, m) in enumerate(codes):
        out += b[k:m] if at in taken else a[i:j]
    return "".join(out)


@dataclass(frozen=True)
class Session:
    bench: Bench
    device: str

    def type(self, lines: Sequence[str]) -> Answer:
        return self.bench.type(self.device, lines)

    def running(self) -> Mapping[str, str]:
        if self.bench.fault(self.device, "running"):
            raise UnreachableError(f"{self.device}: the session ended")
        return self.bench.running(self.device)

    def close(self) -> None:
        pass


# --- changes to carry out ---------------------------------------------------------------------------------------------


def written(folder: Path, old: str, new: str, floor: float = 0.0) -> Path:
    """The folder of a change from one intent to another."""
    for side, text_ in (("old", old), ("new", new)):
        (folder / f"{side}.yaml").write_text(text_, encoding="utf-8")
    sides = str(folder / "old.yaml"), str(folder / "new.yaml")
    _, texts = pipeline.redesign(*sides, ChangeRequest(floor=floor), CALL, files=True, jobs=1)
    return lay(folder / "work", texts)


def lay(folder: Path, texts: Mapping[str, str]) -> Path:
    for path, text_ in texts.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text_, encoding="utf-8")
    return folder


@contextmanager
def opened(folder: Path) -> Iterator[Work]:
    with pipeline.change_work(folder, secrets=SECRETS, jobs=1) as work:
        yield work


class _AnySecret(dict[str, str]):
    def get(self, key: str, default: object = None) -> str:  # type: ignore[override]
        return f"secret-of-{key}"

    def __getitem__(self, key: str) -> str:
        return f"secret-of-{key}"


SECRETS = _AnySecret()


def by_person(wave: Wave) -> None:
    raise ByHandError(f"{len(wave.moves)} cables of wave {wave.number}")
