"""Runs the fuzz for as many cases as are asked for: `python -m tests.fuzz --cases 20000 --kind plan`."""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections import Counter
from pathlib import Path

from tests.fuzz.case import Case, Outcome
from tests.fuzz.guard import CPU_S, PEAK_MB, Guard
from tests.fuzz.kinds import KINDS, choose


def main() -> int:
    """Exit code 1 when a case failed."""
    asked = _arguments()
    print(f"seed {asked.seed}", flush=True)
    failures: Counter[str] = Counter()
    ends: Counter[object] = Counter()
    slowest, largest, start = 0.0, 0.0, time.monotonic()
    with Guard(asked.seconds) as guard:
        for number in range(asked.first, asked.first + asked.cases):
            case = choose(asked.kind, asked.seed, number)
            outcome = guard.run(case)
            ends[outcome.code] += 1
            slowest, largest = max(slowest, outcome.cpu_s), max(largest, outcome.peak_mb)
            if why := outcome.failure(asked.seconds, asked.megabytes):
                failures[why if why[0].isalpha() else why.split()[-1]] += 1
                folder = _keep(asked.keep, case, outcome, why, asked.seed)
                print(f"{case.kind} {number}: {why}: {case.command}    ({folder})", flush=True)
            done = number - asked.first + 1
            if done % 500 == 0:
                print(f"{done} cases, {sum(failures.values())} failed, {time.monotonic() - start:.0f} s", flush=True)
    codes = ", ".join(f"{count} x {code}" for code, count in sorted(ends.items(), key=str))
    print(f"{asked.cases} cases in {time.monotonic() - start:.0f} s; exit codes {codes}")
    print(f"slowest {slowest:.1f} s CPU, largest {largest:.0f} MB; failed: {dict(failures) or 'none'}")
    return 1 if failures else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--seed", type=int, default=None, help="default: a new one each run")
    parser.add_argument("--kind", default="all", choices=("all", *KINDS), help="kind of cases; all, in turn")
    parser.add_argument("--keep", type=Path, default=Path("fuzz-failures"), help="folder for the cases that fail")
    parser.add_argument("--seconds", type=float, default=CPU_S, help="CPU time that a case may take")
    parser.add_argument("--megabytes", type=float, default=PEAK_MB, help="memory that a case may take")
    asked = parser.parse_args()
    asked.seed = random.SystemRandom().randrange(10**6) if asked.seed is None else asked.seed
    return asked


def _keep(folder: Path, case: Case, outcome: Outcome, why: str, seed: int) -> Path:
    """The files of a case that failed, what it printed, and how to run it again."""
    home = folder / f"{case.kind}-{seed}-{case.number}"
    case.write(home)
    again = f"python -m tests.fuzz --kind {case.kind} --seed {seed} --first {case.number} --cases 1"
    text = f"# {why}\n# the same case: {again}\ncd {home.resolve()} && {case.command}\n"
    (home / "command.txt").write_text(text, encoding="utf-8")
    (home / "outcome.json").write_text(json.dumps(vars(outcome) if hasattr(outcome, "__dict__") else {}, indent=1), "utf-8")
    (home / "traceback.txt").write_text(outcome.trace, encoding="utf-8")
    (home / "output.txt").write_text(f"{outcome.out}\n---\n{outcome.err}\n", encoding="utf-8", errors="replace")
    return home


if __name__ == "__main__":
    sys.exit(main())
