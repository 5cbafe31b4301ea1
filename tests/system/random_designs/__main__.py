"""The long run: `python -m tests.system.random_designs --designs 2000 --seed 7`.

Prints how many designs could be planned, why others were refused, which keys of the language were used, and every
contradiction; the intents of those that failed are left in a folder, to be run again with `--only NUMBER`.

`--everyday` draws small designs of every kind (`everyday.py`) and grows each from size to size with its lock. Where SONiC's
models are installed (`SONIC_UPDATER`), they read the database of every SONiC switch. `--refusals FILE` keeps the text of
every refusal.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.nos.sonic.updater.process import RealUpdater, is_there
from tests.system.random_designs import keys
from tests.system.random_designs.drawing import CONVERGED, Design, draw
from tests.system.random_designs.everyday import draw_everyday
from tests.system.random_designs.trial import Models, Outcome, run, run_growing

WRITTEN = 5  # one of so many everyday designs is checked through files, and its largest size, too


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.system.random_designs", description=__doc__)
    parser.add_argument("--designs", type=int, default=100)
    parser.add_argument("--first", type=int, default=0, help="number of the first design")
    parser.add_argument("--seed", type=int, default=None, help="random unless stated")
    parser.add_argument("--only", type=int, default=None, metavar="NUMBER", help="run one design and keep its files")
    parser.add_argument("--converged", type=float, default=CONVERGED, metavar="SHARE", help="share of converged fabrics")
    parser.add_argument("--everyday", action="store_true", help="small designs of every kind, which grow")
    parser.add_argument("--refusals", type=Path, metavar="FILE", help="where the texts of refusals go")
    parser.add_argument("--in-memory", action="store_true", help="without files: twice as fast, sees less")
    parser.add_argument("--keep", type=Path, default=Path("failed-designs"), metavar="DIR", help="where failing intents go")
    asked = parser.parse_args()
    seed = random.SystemRandom().randrange(10**6) if asked.seed is None else asked.seed
    print(f"seed {seed}")
    numbers = [asked.only] if asked.only is not None else range(asked.first, asked.first + asked.designs)
    tally, models = Tally(), _models() if asked.everyday else None
    start = time.process_time()
    try:
        for number in numbers:
            design = draw_everyday(seed, number) if asked.everyday else draw(seed, number, asked.converged)
            with tempfile.TemporaryDirectory() as folder:
                if asked.everyday:
                    outcome = run_growing(design, Path(folder), models, written=number % WRITTEN == 0)
                else:
                    outcome = run(design, Path(folder), written=not asked.in_memory)
                if outcome.contradictions or outcome.crash or asked.only is not None:
                    keep(design, outcome, Path(folder), asked.keep)
            tally.add(design, outcome)
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
    if asked.refusals:
        asked.refusals.write_text("".join(f"{line}\n" for line in tally.refusals), encoding="utf-8")
    print(tally.text(time.process_time() - start))
    return 1 if tally.contradictory else 0


def _models() -> Models | None:
    """SONiC's models, where they are installed."""
    if not is_there():
        print("SONiC's models are not installed: its databases are not read by them", file=sys.stderr)
        return None
    updater = RealUpdater()
    return lambda tables: str(updater.ask(tables, validate=True)["error"])


def keep(design: Design, outcome: Outcome, folder: Path, where: Path) -> None:
    """Leaves the intent, what was generated, and what was found."""
    target = where / design.name
    shutil.copytree(folder, target, dirs_exist_ok=True)
    (target / "outcome.txt").write_text("\n".join((*outcome.contradictions, *outcome.refused, outcome.crash)) + "\n")
    print(f"{target}: {len(outcome.contradictions)} contradictions{', crashed' if outcome.crash else ''}", file=sys.stderr)


class Tally:
    """What came of all designs."""

    def __init__(self) -> None:
        self.designs = self.planned = self.contradictory = self.switches = 0
        self.sizes = self.announced = self.databases = 0
        self.kinds: Counter[str] = Counter()
        self.planned_kinds: Counter[str] = Counter()
        self.refusals: list[str] = []
        self.refused: Counter[str] = Counter()
        self.not_grown: Counter[str] = Counter()
        self.unsound: Counter[str] = Counter()
        self.contradictions: Counter[str] = Counter()
        self.crashes: Counter[str] = Counter()
        self.used: Counter[str] = Counter()

    def add(self, design: Design, outcome: Outcome) -> None:
        self.designs += 1
        self.contradictory += bool(outcome.contradictions or outcome.crash)
        self.kinds[design.kind] += 1
        self.refusals += [
            f"{design.name}, {design.kind or 'any'}: {line}" for line in (*outcome.refused, *outcome.grown.refused)
        ]
        self.not_grown.update({line.split()[2] for line in outcome.grown.refused})
        self.sizes += max(0, len(outcome.grown.sizes) - 1)
        self.announced += outcome.grown.announced
        self.databases += outcome.databases
        self.refused.update({line.split()[0] for line in outcome.refused})
        self.unsound.update({line.split()[1] for line in outcome.unsound})
        self.contradictions.update({line.partition(" ")[0] + " " + line.split()[2] for line in outcome.contradictions})
        if outcome.crash:
            self.crashes[outcome.crash.strip().splitlines()[-1][:120]] += 1
        if outcome.planned:
            self.planned += 1
            self.planned_kinds[design.kind] += 1
            self.switches += outcome.switches
            self.used.update(set(keys.used(design.intent)))

    def text(self, seconds: float) -> str:
        every = list(keys.paths())
        never = [path for path in every if not self.used[path]]
        return "\n".join(
            (
                f"{self.designs} designs, {self.planned} planned with {self.switches} switches, {seconds:.0f} s of CPU",
                *self._everyday(),
                f"refused by the planner: {_counts(self.refused)}",
                f"errors of checks of the design: {_counts(self.unsound)}",
                f"keys of the language used in planned designs: {len(every) - len(never)} of {len(every)}",
                *([] if any(self.kinds) else [f"never used: {', '.join(never) or 'none'}"]),
                f"crashes: {_counts(self.crashes)}",
                f"contradictions, in {self.contradictory} designs: {_counts(self.contradictions)}",
            )
        )

    def _everyday(self) -> list[str]:
        """Planned designs by kind, and what became of their growth."""
        if not any(self.kinds):
            return []
        kinds = ", ".join(f"{kind} {self.planned_kinds[kind]} of {count}" for kind, count in self.kinds.items())
        return [
            f"planned by kind: {kinds}",
            f"growth: {self.sizes:,} larger sizes planned, {self.announced:,} facts moved and were announced; "
            f"refused: {_counts(self.not_grown)}",
            f"databases valid under SONiC's models: {self.databases:,}",
        ]


def _counts(counter: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counter.most_common()) or "none"


if __name__ == "__main__":
    sys.exit(main())
