"""Edits of a change typed at live FRR daemons: the commands give the new running config, the inverse gives the old one.

    python -m tests.deliver.change.live [--os frr] [--changes 500] [--seed 1] [--first 0]

needs FRR and root; the daemons are in namespaces of their own. Without `--changes`: the edits of `PAIRS`, in every wave.
With it: of the random pairs of `pairs.py`, frr.conf of FRR's own switches or, with `--os sonic`, of SONiC's.
"""

from __future__ import annotations

import argparse
import difflib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from fabric.audit.diff.configs import FileChange, changes_of_files
from fabric.deliver.change import edits as module
from fabric.nos.dialect import COMMANDS
from tests import ROOT
from tests.cli.diff_sites import EVPN, RED, RED_BLUE, fabric, site
from tests.deliver.change.pairs import pairs
from tests.deliver.change.test_files import plan_change, wide
from tests.nos.frr_edits import Daemons, running_config

INSIDE = "FABRIC_CHANGE_INSIDE"
FILE = "frr.conf"
BFD = "underlay: {bfd: {interval_ms: 500}}"
PAIRS = (
    (site(fabric("frr", 2)), site(fabric("frr", 3))),
    (site(fabric("frr", 2, EVPN, RED)), site(fabric("frr", 2, EVPN, RED_BLUE))),
    (site(wide("frr", 2)), site(wide("frr", 4))),
    (site(fabric("frr", 2)), site(fabric("frr", 2, BFD))),
)
Call = tuple[dict[str, str], dict[str, str], tuple[FileChange, ...]]

TRIES = 40


def recorded(folder: Path) -> Iterator[tuple[Call, Call]]:
    """Every edit, there and back."""
    calls: list[Call] = []
    original = vars(module)["changes_of_files"]

    def record(nos: str, before: dict[str, str], after: dict[str, str]) -> tuple[FileChange, ...]:
        calls.append((before, after, original(nos, before, after)))
        return calls[-1][2]

    vars(module)["changes_of_files"] = record
    for old, new in PAIRS:
        plan_change(old, new, folder)
    yield from zip(calls[::2], calls[1::2], strict=True)


def drawn(nos: str, seed: int, first: int) -> Iterator[tuple[str, tuple[Call, Call]]]:
    """(what it is, edit there and back) of a switch of each random pair whose frr.conf is another, without end."""
    for found in pairs(nos, seed, first):
        for edit in found.edits[: 1 + found.number % 2]:
            before, after = ({FILE: files[FILE]} if FILE in files else {} for files in (edit.before, edit.after))
            there, back = changes_of_files(nos, before, after), changes_of_files(nos, after, before)
            if commands(there) and commands(back):
                title = f"{nos} {found.number} {edit.device} ({', '.join(found.kinds)})"
                yield title, ((before, after, there), (after, before, back))


def commands(changes: Sequence[FileChange]) -> list[str]:
    return [line for change in changes if change.path == FILE and change.form is COMMANDS for line in change.lines]


def type_(lines: Sequence[str], folder: Path, wanted: str, planned: str) -> str:
    """The running config after commands, as wanted or after some tries; what vtysh reports where it refuses any."""
    file = folder / "change.conf"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    for words in (["vtysh", "-C", "-f", str(file)], ["vtysh", "-f", str(file)]):
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode:
            return f"{' '.join(words)}: {done.stdout}{done.stderr}"
    for _ in range(TRIES):
        if statements(shown := running_config(), planned) == statements(wanted, planned):
            break
        time.sleep(0.25)  # daemons take commands at their own pace
    return shown


def statements(text: str, planned: str = "") -> list[str]:
    """Without route distinguishers as planned: where bgpd derives the same, it prints them or not, by the order of events."""
    lines = (line.rstrip() for line in text.splitlines() if line.strip() not in ("!", "exit", "end", ""))
    hidden = {line for line in planned.splitlines() if line.startswith("  rd ")}
    return sorted(line for line in lines if line not in hidden)


def lines_amiss(daemons: Daemons, edit: tuple[Call, Call], folder: Path) -> list[str]:
    """What differs after the commands and after their inverse, as lines of a diff."""
    (before, after, there), (_, _, back) = edit
    new, old = after[FILE], before[FILE]
    wanted, loaded = daemons.load(new)[0], daemons.load(old)[0]
    changed, restored = type_(commands(there), folder, wanted, new), type_(commands(back), folder, loaded, old)
    pairs = (new, wanted, changed), (old, loaded, restored)
    texts = [(statements(one, planned), statements(other, planned)) for planned, one, other in pairs]
    return [line for a, b in texts for line in difflib.unified_diff(a, b, "file", "live", n=0, lineterm="")]


def main() -> int:
    """Prints how many edits are right in both directions, and every one that is not in two trials."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--os", choices=("frr", "sonic"), default="frr")
    parser.add_argument("--changes", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first pair")
    asked = parser.parse_args()
    right = tried = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        daemons = Daemons(folder)
        edits = drawn(asked.os, asked.seed, asked.first) if asked.changes else (("", edit) for edit in recorded(folder))
        for title, edit in islice(edits, asked.changes or None):
            if not commands(edit[0][2]):
                continue
            tried += 1
            amiss = lines_amiss(daemons, edit, folder)
            if amiss:  # once more from new daemons: a fault of the commands shows again
                amiss = lines_amiss(daemons, edit, folder)
            right += not amiss
            print(*([title, *amiss] if amiss else ()), sep="\n", end="\n" * bool(amiss), flush=True)
        daemons.stop()
    print(f"{right} of {tried} edits right in both directions")
    return 0 if right == tried else 1


if __name__ == "__main__":
    if INSIDE in os.environ:
        sys.exit(main())
    # A zebra that finds the namespaces of a lab in /run/netns takes them for VRFs, and deletes their routes.
    inside = 'mount -t tmpfs none /run && mkdir /run/frr && chown frr:frr /run/frr && ip link set lo up && exec "$@"'
    namespaces = ["unshare", "-m", "-n", "--propagation", "private", "sh", "-c", inside, "sh"]
    command = [*namespaces, sys.executable, "-m", "tests.deliver.change.live", *sys.argv[1:]]
    sys.exit(subprocess.run(command, cwd=ROOT, env={**os.environ, INSIDE: "1"}, check=False).returncode)
