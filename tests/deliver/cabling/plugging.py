"""Whether every cable of a run list can be plugged in: a judge that knows cages, plugs and parts, and nothing of how they are
chosen.

It reads the rows of `fabric cabling list` and asks of each cage: does it hold one optic or one plug of a cable; does each
connector of the optic hold one cable; are the connectors of cable and optic of one type; do both ends understand each other?

`python -m tests.deliver.cabling.plugging --designs 500 --seed 7` judges the examples and random designs, each again with
all cables of 1 m, where copper is chosen wherever it can be. A design that is an error is counted, not judged.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from fabric import pipeline
from fabric.base.diagnostics import InputError
from fabric.base.formats import yaml
from fabric.deliver.cabling import tables
from fabric.deliver.cabling.runs import Runs, lengths, runs
from fabric.design.floor.floor import Floor, floor
from fabric.hardware.catalog import media
from fabric.model.plan import SERVER, SWITCH_ROLES, FabricPlan, Plan
from tests import ROOT
from tests.system.random_designs.drawing import draw

PARTS = {name: yaml.read(media.FOLDER / f"{name}.yaml") for name in ("cables", "fibres", "optics")}
TWIN_SWITCHES = ("qm9700", "qm9790", "q3400-ra")  # two ports of the plan in each cage
ONE_CAGE_NICS = re.compile(r"connectx-?8(?! ?c82)", re.IGNORECASE)  # however many ports they run as
LETTERS_OFF = re.compile(r"[A-Z-]+")

Row = Mapping[str, Any]


class Socket(NamedTuple):
    """Where a port is: its cage, which of the ports in it, and how many these are (0: unknown)."""

    cage: str
    place: int
    ports: int


def sockets(plan: Plan) -> dict[tuple[str, str], Socket]:
    """Device and port of servers → the socket, by what catalog or intent say of the NICs."""
    found = {}
    for fabric in plan.fabrics.values():
        groups = {group.name: group for group in fabric.spec.groups}
        for device in fabric.devices:
            if device.role != SERVER:
                continue
            for use in groups[device.group].uses:
                nic, total = use.nic, use.nic.count * use.nic.ports
                cages = nic.cages or (nic.count if ONE_CAGE_NICS.search(nic.model) else total)
                for at in range(total):
                    number, port = divmod(at, nic.ports)
                    label = f"{use.nics}{number + 1}" + (f"p{port + 1}" if nic.ports > 1 else "")
                    if isinstance(cages, int):
                        share = total // cages
                        socket = Socket(f"{use.nics} {at // share + 1}", at % share, share)
                    else:
                        cage, place = LETTERS_OFF.sub("", cages[at].rpartition("P")[0]), int(cages[at][-1]) - 1
                        ports = total // len({text.rpartition("P")[0] for text in cages})
                        socket = Socket(f"{use.nics} {cage}", place, ports)
                    found[device.name, label] = socket
    return found


class Judge:
    """One run list. `faults` says what cannot be plugged in."""

    def __init__(self, plan: Plan) -> None:
        self.servers = sockets(plan)
        self.models = {
            device.name: device.model
            for fabric in plan.fabrics.values()
            for device in fabric.devices
            if device.role in SWITCH_ROLES
        }
        self.paneled = {
            device.name for fabric in plan.fabrics.values() if fabric.spec.leaf.model.panel for device in fabric.switches
        }
        patched = (fabric.patching for fabric in plan.fabrics.values() if fabric.patching)
        self.panels = {panel.name for its in patched for panel in its.panels}
        self.faults: list[str] = []

    def sockets(self, device: str, port: str) -> list[Socket]:
        """The sockets of a leg's ports: the first and the last of several."""
        if (device, port) in self.servers:
            return [self.servers[device, port]]
        for dash in re.finditer("-", port):
            ends = (device, port[: dash.start()]), (device, port[dash.end() :])
            if all(end in self.servers for end in ends):
                return [self.servers[end] for end in ends]
        if self.models.get(device) in TWIN_SWITCHES and (half := re.fullmatch(r"(\d+)/(\d)(?:/\d+)?(?:-(\d))?", port)):
            return [Socket(half[1], int(place) - 1, 2) for place in (half[2], half[3]) if place]
        if device in self.paneled:  # a switch of the site: each port has a module of its own
            return [Socket(port, 0, 0)]
        match = re.fullmatch(r"(\d+)(?:/\d+)?(?:-(\d+))?", port)
        if device not in self.models or match is None:
            return [Socket(port, 0, 1)]
        cages = [int(match[1])] if "/" in port or not match[2] else [int(match[1]), int(match[2])]
        return [Socket(str(cage), 0, 0) for cage in cages]

    def rows(self, rows: Iterable[Row]) -> dict[str, int]:
        """Judges all rows; optics in the cages, by name."""
        held: dict[tuple[str, str], set[str]] = defaultdict(set)
        speed: Counter[tuple[str, str]] = Counter()
        connectors: dict[tuple[str, str, str], set[str]] = defaultdict(set)
        kinds: dict[tuple[str, str], set[bool]] = defaultdict(set)
        cables: dict[str, list[Row]] = defaultdict(list)
        at_panel: dict[tuple[str, str], list[Row]] = defaultdict(list)
        for row in rows:
            cables[row["cable"]].append(row)
            for end in "ab":
                device, optic = row[f"{end}_device"], row[f"{end}_optic"]
                if device in self.panels:
                    at_panel[device, row[f"{end}_port"]].append({"cable": row["cable"], "plug": row[f"{end}_plug"]})
                    continue
                found = self.sockets(device, row[f"{end}_port"])
                if len({socket.cage for socket in found}) != 1:
                    self.faults.append(f"{row['cable']}: one leg in several cages of {device}: {row[f'{end}_port']}")
                    continue
                cage = (device, found[0].cage)
                held[cage].add(optic or f"the plug of {row['cable']}")
                speed[cage] += row["speed_gbps"]
                if optic:
                    fibre = PARTS["fibres"][row["medium"]]
                    kinds[cage].add(fibre.get("ends", 1) > 1 or fibre.get("panel", False))
                    for connector in self._connectors(row, end, found):
                        connectors[*cage, connector].add("a harness to a panel" if fibre.get("panel") else row["cable"])
        for cage, what in held.items():
            optic = next(iter(what))
            if len(what) > 1:
                self.faults.append(f"{cage}: expected one optic or plug, got {sorted(what)}")
            elif optic in PARTS["optics"] and speed[cage] > PARTS["optics"][optic]["speed_gbps"]:
                self.faults.append(f"{cage}: {speed[cage]}G in {optic}")
            if len(kinds[cage]) > 1:
                self.faults.append(f"{cage}: a straight and a split fibre in one optic")
        for connector, names in connectors.items():
            if len(names) > 1:
                self.faults.append(f"{connector}: expected one cable in the connector, got {sorted(names)}")
        for port, found_there in at_panel.items():
            if len({its["cable"] for its in found_there}) != 2 or len({its["plug"] for its in found_there}) != 1:
                self.faults.append(f"{port}: expected a trunk and a jumper of one connector, got {found_there}")
        for name, legs in cables.items():
            self._cable(name, legs)
        optics = [optic for what in held.values() for optic in what if optic in PARTS["optics"]]
        return dict(Counter(optics))

    def _connectors(self, row: Row, end: str, found: list[Socket]) -> list[str]:
        """The connectors of the optic that a leg takes; those of a shared cage belong to its ports."""
        optic = PARTS["optics"][row[f"{end}_optic"]]
        match = re.search(rf"{re.escape(optic['connector'])}(?: ([0-9+]+))?$", row[f"{end}_plug"])
        ports = optic.get("ports", 1)
        if match is None or (ports > 1) != bool(match[1]):
            self.faults.append(f"{row['cable']}: {row[f'{end}_plug']} is no connector of {row[f'{end}_optic']}")
            return []
        taken = match[1].split("+") if match[1] else ["1"]
        if found[0].ports == ports == 2 and taken != [str(socket.place + 1) for socket in found]:
            self.faults.append(f"{row['cable']}: {row[f'{end}_port']} at connector {taken}, place {found[0].place + 1}")
        return taken

    def _cable(self, name: str, legs: list[Row]) -> None:
        """What one cable joins, and whether its ends fit."""
        medium = legs[0]["medium"]
        if {leg["medium"] for leg in legs} != {medium}:
            self.faults.append(f"{name}: legs of several media")
        fixed = medium in PARTS["cables"]
        part = PARTS["cables"][medium] if fixed else PARTS["fibres"][medium]
        ends = {}
        for end in "ab":
            ends[end] = {
                (leg[f"{end}_device"], socket.cage, "" if fixed else leg[f"{end}_plug"]): socket
                for leg in legs
                for socket in self.sockets(leg[f"{end}_device"], leg[f"{end}_port"])[:1]
            }
        few, many = sorted((len(ends["a"]), len(ends["b"])))
        if not part.get("panel") and (few != 1 or many > part.get("ends", 1)):
            self.faults.append(f"{name}: {medium} joins {len(ends['a'])} and {len(ends['b'])} plugs")
        if fixed:
            self._copper(name, part, ends, legs)
            return
        types = {end: {_connector(leg, end) for leg in legs} for end in "ab"}
        hub, far = ("a", "b") if len(ends["a"]) <= len(ends["b"]) else ("b", "a")
        expected = ({part["connector"]}, {part["far_connector"]})
        either = len(ends["a"]) == len(ends["b"])
        if (types[hub], types[far]) != expected and not (either and (types[far], types[hub]) == expected):
            self.faults.append(f"{name}: {medium} between {types[hub]} and {types[far]}")
        light = {PARTS["optics"][optic]["light"] for leg in legs for end in "ab" if (optic := leg[f"{end}_optic"])}
        if len(light) > 1:
            self.faults.append(f"{name}: optics of {sorted(light)}")

    def _copper(self, name: str, part: Row, ends: Mapping[str, Mapping[Any, Socket]], legs: list[Row]) -> None:
        """A cable with plugs: straight in every lane, and a plug of a splitter in no shared cage."""
        if part.get("ends", 1) > 1:
            far = max(ends.values(), key=len)
            if len(far) > 1 and any(socket.ports > 1 for socket in far.values()):
                self.faults.append(f"{name}: the end of a splitter in a shared cage")
            return
        for leg in legs:
            first = [leg[f"{end}_lanes"].partition("-")[0] for end in "ab"]
            if first[0] != first[1] and len(leg["a_lanes"]) == len(leg["b_lanes"]):
                self.faults.append(f"{name}: lane {first[0]} leads to lane {first[1]}")


def _connector(leg: Row, end: str) -> str:
    """Of the optic at an end; of a patch panel what is plugged in there."""
    optic = leg[f"{end}_optic"]
    return str(PARTS["optics"][optic]["connector"] if optic else leg[f"{end}_plug"])


def planned(path: Path, text: str) -> Plan | None:
    """The plan of an intent; None where it is an error."""
    path.write_text(text, encoding="utf-8")
    try:
        return pipeline.plan(pipeline.load(path))
    except InputError:
        return None


def judged(plan: Plan, *, short: bool = False) -> tuple[list[str], Runs] | None:
    """What cannot be plugged in of a plan, and its cables; None where these are an error. `short`: every cable has 1 m."""
    try:
        with patch(f"{runs.__module__}.lengths", _one_metre if short else lengths):
            found = runs(plan, floor(plan))
    except InputError:
        return None
    if found.errors:
        return None
    judge = Judge(plan)
    optics = judge.rows(rows_of(found))
    bought: Counter[str] = Counter()
    for end in "ab":
        for name, count in zip(getattr(found, f"{end}_optic"), getattr(found, f"{end}_optics").tolist(), strict=True):
            bought[name] += count if name else 0
    if +bought != Counter(optics):
        judge.faults.append(f"optics: {dict(+bought)} are ordered, the cages hold {optics}")
    return judge.faults, found


def _one_metre(fabric: FabricPlan, _: Floor) -> NDArray[np.float64]:
    return np.ones(len(fabric.links))


def rows_of(found: Runs) -> Iterable[Row]:
    """The rows of the run list as its documents have them."""
    chosen = tables.selected(found, "", "")
    return (dict(zip(tables.COLUMNS, row, strict=True)) for row in tables.rows(found, chosen))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.deliver.cabling.plugging", description=__doc__)
    parser.add_argument("--designs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=7)
    asked = parser.parse_args()
    tally: Counter[str] = Counter()
    with TemporaryDirectory() as name:
        folder = Path(name)
        for site, text in {**examples(), **random_designs(folder, asked.seed, range(asked.designs))}.items():
            plan = planned(folder / f"{site}.yaml", text)
            for short in (False, True):
                answer = judged(plan, short=short) if plan else None
                word = (
                    "refused" if plan is None else "no medium" if answer is None else "wrong" if answer[0] else "plugged in"
                )
                tally[f"{word}{', 1 m' if short else ''}"] += 1
                for fault in answer[0][:3] if answer else []:
                    print(f"{site}{', 1 m' if short else ''}: {fault}")
                if short and answer:
                    tally["copper cables"] += sum(name in PARTS["cables"] for name in answer[1].medium)
    print(", ".join(f"{count:,} {word}" for word, count in sorted(tally.items())))
    return int(any(word.startswith("wrong") for word in tally))


def examples() -> dict[str, str]:
    """The shipped examples."""
    paths = sorted((ROOT / "intent").glob("*.yaml"))
    return {path.stem: path.read_text(encoding="utf-8") for path in paths}


def random_designs(folder: Path, seed: int, numbers: Iterable[int]) -> dict[str, str]:
    """Intents of random designs, whose other files are written to the folder."""
    found = {}
    for number in numbers:
        design = draw(seed, number)
        found[design.name] = design.text
        for name, text in design.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
    return found


if __name__ == "__main__":
    raise SystemExit(main())
