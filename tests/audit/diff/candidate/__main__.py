"""The long run: `python -m tests.audit.diff.candidate --nos nxos --pairs 1000 --seed 1`.

Half of the pairs are switches of random designs: of one design and of its changed version, or two of one design; their
commands are typed both ways. The other half are planned configs and what operators made of them, with the commands of
drift. Prints what a switch refused, what differed afterwards, and leaves the first case of each in a folder.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

from tests.audit.diff.candidate.facts import table
from tests.audit.diff.candidate.trial import Case, cases, failures, load


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.audit.diff.candidate", description=__doc__)
    parser.add_argument("--nos", choices=("eos", "nxos"), required=True)
    parser.add_argument("--pairs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, default=Path("failed-commands"), metavar="DIR", help="where failing cases go")
    parser.add_argument("--facts", action="store_true", help="print the facts of the model, for the page of the network OS")
    asked = parser.parse_args()
    if asked.facts:
        print(table(load(asked.nos)), end="")
        return 0
    start, tally, kinds, lines = time.process_time(), Counter[str](), Counter[str](), 0
    for case in cases(asked.nos, asked.seed, asked.pairs):
        kinds[case.kind] += 1
        lines += len(case.commands)
        for problem in failures(asked.nos, case)[:1]:
            tally[problem] += 1
            keep(case, problem, asked.keep / f"{asked.nos}-{len(tally)}")
    of_kinds = ", ".join(f"{number} {kind}" for kind, number in sorted(kinds.items()))
    print(f"{asked.nos}, seed {asked.seed}: {of_kinds}; {lines} commands,")
    print(f"{sum(tally.values())} cases with a fault, {time.process_time() - start:.0f} s of CPU")
    for problem, number in tally.most_common():
        print(f"{number:5} {problem}")
    return 1 if tally else 0


def keep(case: Case, problem: str, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "running").write_text(case.running)
    (folder / "intended").write_text(case.intended)
    (folder / "commands").write_text("".join(f"{line}\n" for line in (f"! {problem}", *case.commands)))


if __name__ == "__main__":
    sys.exit(main())
