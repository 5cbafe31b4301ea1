"""Random changes of config_db.json on every board: the switch takes every step and ends as planned.

    python -m tests.nos.sonic.updater [--cases 2000] [--seed 1] [--real]

Half of the changes lead from one random design to another (`fabric diff`), half from random edits by hand back to the plan
(`fabric drift --commands`). `--real` gives every patch to SONiC's own updater as well, see `process.py`.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter

from tests.nos.sonic.updater import designs
from tests.nos.sonic.updater.cases import cases, judged
from tests.nos.sonic.updater.process import RealUpdater


def main() -> int:
    """Prints the figures; 1 if a case failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--real", action="store_true")
    parser.add_argument("--board", action="append")
    parser.add_argument("--seconds", type=int, help="stop after so many")
    options = parser.parse_args()
    boards = options.board or designs.boards()
    real = RealUpdater() if options.real else None
    counts: Counter[str] = Counter()
    failed: list[str] = []
    start = time.monotonic()
    for case in cases(boards, options.cases, options.seed):
        if options.seconds and time.monotonic() - start > options.seconds:
            break
        counts["cases"] += 1
        error = judged(case, counts, real)
        if real and counts["cases"] % 20 == 0:
            print(f"{counts['cases']} cases, {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)
        if error:
            failed.append(f"{case.title}: {error}")
            print(failed[-1], file=sys.stderr, flush=True)
    seconds = time.monotonic() - start
    print(", ".join(f"{number:,} {what}" for what, number in sorted(counts.items())))
    print(f"{len(boards)} boards, seed {options.seed}, {seconds:.0f} s: {len(failed)} failed")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
