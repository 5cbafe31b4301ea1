"""Commands typed at running daemons: drift undoes what an operator changed, diff makes one design of another.

    python -m tests.system.live_commands --changes 500 --seed 1   # random changes of every design, and back
    python -m tests.system.live_commands --every --only evpn      # every line taken back, every known line added, one by one
    python -m tests.system.live_commands --pairs 40 --seed 1      # one design to another by `fabric diff`, and back

The daemons of a switch are started once. A change is typed, read, undone by the commands that drift prints, and read again.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from fabric.audit.checks import statement_differences
from fabric.audit.diff import remedy
from fabric.audit.drift.devices import commands_back
from tests.system.frr_daemons import NAMESPACES, NOTICES, PREPARE, devices, lines
from tests.system.operator_changes import PORTS, all_changes, changes

HOME = Path("/var/tmp/live")
WAIT = "! wait a second"
HEADER = "Current configuration:\n"
ADVICE = "Please be aware that removing the password is a security risk"


@dataclass(frozen=True, slots=True)
class Outcome:
    """One change: what was typed, the commands back, what is wrong afterwards."""

    number: int
    typed: list[str]
    commands: list[str]
    wrong: list[str]


class Daemons:
    """The daemons of one switch, with their sockets in a folder."""

    def __init__(self, home: Path = HOME) -> None:
        self.home = home

    def running(self) -> str:
        """The running config of all of them, "" where one has ended."""
        return "" if self.dead() else self._vtysh("-c", "show running-config").stdout.partition(HEADER)[2]

    def enter(self, commands: Sequence[str]) -> list[str]:
        """Types commands, with the wait that a comment asks for; what the daemons print against them."""
        parts: list[list[str]] = [[]]
        for line in commands:
            if line.startswith(WAIT):
                parts.append([])
            parts[-1].append(line)
        return [line for part in parts for line in self._enter(part)] + self.dead()

    def _enter(self, commands: Sequence[str]) -> list[str]:
        if any(line.startswith(WAIT) for line in commands):
            time.sleep(1)
        path = self.home / "typed"
        path.write_text("".join(f"{line}\n" for line in commands), encoding="utf-8")
        done = self._vtysh("-f", str(path))
        output = [line.strip() for line in (done.stdout + done.stderr).splitlines()]
        output = [line for line in output if line and not NOTICES.fullmatch(line) and not line.startswith(ADVICE)]
        return output or ([f"exit {done.returncode}"] if done.returncode else [])

    def dead(self) -> list[str]:
        """Daemons that have ended."""
        return [f"{path.stem} has ended" for path in sorted(self.home.glob("*.pid")) if not _lives(path)]

    def _vtysh(self, *words: str) -> subprocess.CompletedProcess[str]:
        command = ["vtysh", "--vty_socket", str(self.home), "--config_dir", str(self.home), *words]
        return subprocess.run(command, capture_output=True, text=True, check=False)


def _lives(pid_file: Path) -> bool:
    return Path(f"/proc/{pid_file.read_text(encoding='ascii').strip()}/root").exists()


# --- inside the namespaces of a switch ------------------------------------------------------------------------


def undone(nos: str, planned: str, first: int, count: int, seed: int | None) -> Iterator[Outcome]:
    """Changes of a switch, one after the other; ends when one cannot be undone.

    Args:
        nos: network OS whose commands are tried.
        planned: its frr.conf.
        first: number of the first change.
        count: of changes that have an effect.
        seed: of random changes; None for all changes of one line.
    """
    daemons = Daemons()
    daemons.enter(planned.splitlines())
    before = daemons.running()
    listed = all_changes(before) if seed is None else []
    for number in itertools.count(first) if seed is not None else range(first, len(listed)):
        typed = changes(before, random.Random(f"{seed} {number}")) if seed is not None else listed[number]
        daemons.enter(typed)
        running = daemons.running()
        if running == before:  # the daemons refuse it, or it says what is there
            continue
        commands = back(nos, planned, running)
        wrong = [*daemons.enter(commands), *different(nos, planned, before, daemons.running())]
        yield Outcome(number, typed, commands, wrong)
        count -= 1
        if wrong or not count:
            return


def back(nos: str, planned: str, running: str) -> list[str]:
    """The commands of drift."""
    sides = {"frr.conf": planned}, {"frr.conf": running}
    return [line for change in commands_back(nos, *sides, statement_differences(nos, *sides)) for line in change.lines]


def different(nos: str, planned: str, before: str, after: str) -> list[str]:
    """Lines that went and came. A route distinguisher that bgpd has derived may be printed or not."""
    first, second = (Counter(lines(text)) for text in (before, after))
    gone = first - second
    if gone and not statement_differences(nos, {"frr.conf": planned}, {"frr.conf": after}):
        gone = Counter(line for line in gone.elements() if not line[1].startswith("rd "))
    found = [("-", line) for line in gone.elements()] + [("+", line) for line in (second - first).elements()]
    return [f"{sign} {' / '.join((*blocks, line))}" for sign, (blocks, line) in found]


def moved(nos: str, old: str, new: str) -> Mapping[str, object]:
    """The running config of one design, and what `fabric diff` makes of it."""
    daemons = Daemons()
    daemons.enter(old.splitlines())
    before = daemons.running()
    commands = remedy.commands(nos, old, new)
    return {"before": before, "wrong": daemons.enter(commands), "after": daemons.running(), "commands": commands}


# --- outside --------------------------------------------------------------------------------------------------


def inside(name: str, texts: Sequence[str], *arguments: object) -> list[dict[str, object]]:
    """This program with daemons in namespaces of their own; the lines of JSON that it prints."""
    with TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{number}.conf" for number in range(len(texts))]
        for path, text in zip(paths, texts, strict=True):
            path.write_text(text, encoding="utf-8")
        links = Path(folder) / "links"
        wanted = dict.fromkeys([*(line for text in texts for line in devices(text)), *PORTS])
        links.write_text("".join(f"{line}\n" for line in wanted), encoding="utf-8")
        own = [sys.executable, "-m", "tests.system.live_commands", *map(str, arguments), "--inside", *map(str, paths)]
        script = PREPARE + 'shift 3\nexec "$@"\n'
        command = [*NAMESPACES, "sh", "-c", script, "sh", str(paths[0]), name, str(links), *own]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def run(nos: str, name: str, planned: str, count: int, seed: int | None) -> list[Outcome]:
    """Changes of one switch; its daemons start again where one cannot be undone."""
    outcomes: list[Outcome] = []
    first = 0
    while len(outcomes) < count:
        asked = ["--nos", nos, "--from", first, "--changes", count - len(outcomes)]
        asked += ["--every"] if seed is None else ["--seed", seed]
        more = [Outcome(**row) for row in inside(name, [planned], *asked)]  # type: ignore[arg-type]
        outcomes += more
        if not more or not more[-1].wrong:
            break
        first = more[-1].number + 1
    return outcomes


def run_pair(nos: str, name: str, old: str, new: str) -> list[str]:
    """What is wrong with the commands from one design to another, and with those back."""
    there, back_again = (inside(name, pair, "--nos", nos, "--pairs", 1)[0] for pair in ((old, new), (new, old)))
    wrong = [*there["wrong"], *back_again["wrong"]]  # type: ignore[misc]
    wrong += different(nos, new, str(back_again["before"]), str(there["after"]))
    return wrong + different(nos, old, str(there["before"]), str(back_again["after"]))


@cache
def designs() -> tuple[tuple[str, str, str, str], ...]:
    """(network OS, title, name, frr.conf) of the switches of every shape, the first of each role."""
    from tests.audit.checks.shapes import SHAPES, samples

    return tuple(
        (nos, f"{nos} {shape} {switch.view.device.name}", switch.view.device.name, text)
        for nos in ("frr", "sonic")
        for shape in SHAPES
        for switch in samples(nos, shape)
        for file, text in switch.files.items()
        if file.endswith("frr.conf")
    )


def main(arguments: Sequence[str]) -> int:
    """See the head of the file."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--changes", type=int, default=500)
    parser.add_argument("--pairs", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--every", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--nos", default="")
    parser.add_argument("--from", dest="first", type=int, default=0)
    parser.add_argument("--inside", nargs="+", type=Path)
    asked = parser.parse_args(arguments)
    seed = None if asked.every else asked.seed
    if asked.inside:
        texts = [path.read_text(encoding="utf-8") for path in asked.inside]
        if asked.pairs:
            print(json.dumps(moved(asked.nos, *texts)))
        else:
            for outcome in undone(asked.nos, *texts, asked.first, asked.changes, seed):
                print(json.dumps(asdict(outcome)), flush=True)
        return 0
    todo = [design for design in designs() if asked.only in design[1]]
    return _pairs(todo, asked.pairs, asked.seed) if asked.pairs else _changes(todo, asked.changes, seed)


def _changes(todo: Sequence[tuple[str, str, str, str]], count: int, seed: int | None) -> int:
    total = bad = 0
    for at, (nos, title, name, text) in enumerate(todo):
        share = len(range(at, count, len(todo))) if seed is not None else sys.maxsize
        for outcome in run(nos, name, text, share, seed) if share else ():
            total += 1
            if outcome.wrong:
                bad += 1
                print("\n  ".join([f"{title}: typed", *outcome.typed]))
                print("\n  ".join([" commands", *outcome.commands]))
                print("\n  ".join([" wrong", *outcome.wrong]), flush=True)
    print(f"{total} changes of {len(todo)} switches: {total - bad} restored, {bad} not")
    return bool(bad)


def _pairs(todo: Sequence[tuple[str, str, str, str]], count: int, seed: int) -> int:
    possible = [(one, two) for one, two in itertools.combinations(todo, 2) if one[0] == two[0]]
    chosen = random.Random(seed).sample(possible, min(count, len(possible)))
    bad = 0
    for one, two in chosen:
        if wrong := run_pair(one[0], one[2], one[3], two[3]):
            bad += 1
            print("\n  ".join([f"{one[1]} to {two[1]}", *wrong]), flush=True)
    print(f"{len(chosen)} pairs of designs, there and back: {len(chosen) - bad} as planned, {bad} not")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
