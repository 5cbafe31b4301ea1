"""Commands back to the plan, typed at running daemons: what an operator changed is gone, and no line is refused.

`python -m tests.system.live_commands --changes 500 --seed 1` does it many times. The daemons of one switch are started once; a
change is read, undone by the commands that drift prints, and read again.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.system.frr_daemons import NAMESPACES, NOTICES, PREPARE, devices, lines
from tests.system.operator_changes import all_changes, changes

HEADER = "Current configuration:\n"
SPARE = ("link add swp9 type veth peer name far-swp9", "link add eth9 type veth peer name far-eth9")  # ports that the plan leaves alone
ADVICE = "Please be aware that removing the password is a security risk"


@dataclass(frozen=True, slots=True)
class Outcome:
    """One change: what was typed, what was wrong with the way back, "" for nothing."""

    number: int
    typed: list[str]
    commands: list[str]
    wrong: list[str]


class Daemons:
    """The daemons of one switch, with their sockets in a folder."""

    def __init__(self, home: Path) -> None:
        self.home = home

    def running(self) -> str:
        shown = self._vtysh("-c", "show running-config")
        return shown.stdout.partition(HEADER)[2]

    def enter(self, text: str) -> list[str]:
        """Types commands; the lines of output that a clean entry does not have."""
        path = self.home / "typed"
        path.write_text(text + "\n", encoding="utf-8")
        done = self._vtysh("-f", str(path))
        said = [line.strip() for line in (done.stdout + done.stderr).splitlines()]
        said = [line for line in said if line and not NOTICES.fullmatch(line) and not line.startswith(ADVICE)]
        return said or ([f"exit {done.returncode}"] if done.returncode else [])

    def dead(self) -> list[str]:
        """Daemons that have ended."""
        return [f"{path.stem} has ended" for path in sorted(self.home.glob("*.pid")) if not _lives(path)]

    def _vtysh(self, *words: str) -> subprocess.CompletedProcess[str]:
        command = ["vtysh", "--vty_socket", str(self.home), "--config_dir", str(self.home), *words]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def _lives(pid_file: Path) -> bool:
    return Path(f"/proc/{pid_file.read_text().strip()}/root").exists()


def inside(nos: str, planned: str, home: Path, first: int, count: int, seed: int | None) -> Iterator[Outcome]:
    """Changes of a switch whose daemons are up, one after the other; ends when one cannot be undone.

    Args:
        nos: network OS whose commands are tried.
        planned: its frr.conf.
        home: folder of the sockets.
        first: number of the first change.
        count: of changes that have an effect.
        seed: of random changes; None for every line taken back and every line added, one by one.
    """
    daemons = Daemons(home)
    daemons.enter(planned)
    before = daemons.running()
    listed = all_changes(before) if seed is None else None
    numbers = itertools.count(first) if listed is None else range(first, len(listed))
    for number in numbers:
        typed = listed[number] if listed is not None else changes(before, random.Random(f"{seed} {number}"))
        daemons.enter("\n".join(typed))
        running = daemons.running()
        if running == before:  # the daemons refuse it, or it says what is there
            continue
        commands, wrong = ([], ["before the commands"]) if daemons.dead() else _back(nos, planned, running)
        wrong += daemons.enter("\n".join(commands)) if commands else []
        wrong += daemons.dead() or different(before, daemons.running())
        yield Outcome(number, typed, commands, wrong)
        count -= 1
        if wrong or not count:
            return


def _back(nos: str, planned: str, running: str) -> tuple[list[str], list[str]]:
    """The commands of drift, and nothing that is wrong yet."""
    from fabric.checks import statement_differences
    from fabric.drift.commands import commands_back

    sides = {"frr.conf": planned}, {"frr.conf": running}
    return [line for change in commands_back(nos, *sides, statement_differences(nos, *sides)) for line in change.lines], []


def different(before: str, after: str) -> list[str]:
    first, second = (Counter(lines(text)) for text in (before, after))
    return [f"- {' / '.join((*blocks, line))}" for blocks, line in first - second] + [
        f"+ {' / '.join((*blocks, line))}" for blocks, line in second - first
    ]


def run(nos: str, name: str, planned: str, count: int, seed: int | None) -> list[Outcome]:
    """Changes of one switch in namespaces of their own, in several lives where one cannot be undone."""
    outcomes: list[Outcome] = []
    first = 0
    while len(outcomes) < count:
        with TemporaryDirectory() as folder:
            path, links = Path(folder) / "frr.conf", Path(folder) / "links"
            path.write_text(planned, encoding="utf-8")
            links.write_text("".join(f"{line}\n" for line in [*devices(planned), *SPARE]), encoding="utf-8")
            own = [sys.executable, "-m", "tests.system.live_commands", "--inside", nos, str(path)]
            own += ["--from", str(first), "--changes", str(count - len(outcomes)), "--seed", str(seed)]
            command = [*NAMESPACES, "sh", "-c", PREPARE + 'shift 3\nexec "$@"\n', "sh", str(path), name, str(links), *own]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
        more = [Outcome(**json.loads(line)) for line in done.stdout.splitlines()]
        outcomes += more
        if not more or not more[-1].wrong:
            break
        first = more[-1].number + 1
    return outcomes


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--changes", type=int, default=500)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--only", default="")
    parser.add_argument("--from", dest="first", type=int, default=0)
    parser.add_argument("--every", action="store_true")
    parser.add_argument("--inside", nargs=2)
    asked = parser.parse_args(arguments)
    if asked.inside:
        nos, path = asked.inside
        seed = None if asked.seed == "None" else int(asked.seed)
        for outcome in inside(nos, Path(path).read_text(encoding="utf-8"), Path("/var/tmp/live"), asked.first, asked.changes, seed):
            print(json.dumps(asdict(outcome)), flush=True)
        return 0
    from tests.checks.shapes import SHAPES, samples

    todo = []
    for nos in ("frr", "sonic"):
        for shape in SHAPES:
            for switch in samples(nos, shape):
                text = next(text for file, text in switch.files.items() if file.endswith("frr.conf"))
                title = f"{nos} {shape} {switch.view.device.name}"
                if asked.only in title:
                    todo.append((nos, title, switch.view.device.name, text))
    share = max(1, asked.changes // len(todo))
    total = bad = 0
    for nos, title, name, text in todo:
        outcomes = run(nos, name, text, 100_000 if asked.every else share, None if asked.every else int(asked.seed))
        total += len(outcomes)
        for outcome in outcomes:
            if outcome.wrong:
                bad += 1
                print(f"--- {title}\ntyped:\n  " + "\n  ".join(outcome.typed))
                print("commands:\n  " + "\n  ".join(outcome.commands))
                print("wrong:\n  " + "\n  ".join(outcome.wrong), flush=True)
    print(f"{total} changes, {total - bad} restored, {bad} not")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
