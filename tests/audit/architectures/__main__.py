"""Compares the examples with a checkout of the published repository: links by group, and statements of every switch.

    git clone https://github.com/NVIDIA/enterprise-ras && git -C enterprise-ras checkout 6c19a59
    python -m tests.audit.architectures --published enterprise-ras [--forms]
    python -m tests.audit.architectures --published enterprise-ras --page > docs/architectures.md

With `--forms` every form that differs, with the reason. Exits with 1 if links differ or a statement has no reason.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

from tests.audit.architectures import MAX_LINES, links
from tests.audit.architectures.compare import Compared, by_reason, reasons, switches
from tests.audit.architectures.page import page
from tests.examples import folder

SIDES = ("published", "planned")


def of_links(name: str, published: Path, planned: Path) -> bool:
    """Prints the groups that differ; whether none does."""
    theirs, ours = links.published(published), links.planned(planned / "links.csv")
    rows = links.differences(theirs, ours)
    print(f"{name}: {theirs.total()} links in {len(theirs)} groups, {ours.total()} in the plan")
    for row in rows:
        print(f"  {row}")
    return not rows and theirs == links.PUBLISHED[name]


def of_switch(name: str, compared: Compared, shown: bool) -> bool:
    """Prints one switch; whether every difference has a reason."""
    counts = [compared.published.total(), compared.planned.total(), compared.shared]
    print(f"{name} {compared.switch}: {counts[0]:,} statements published, {counts[1]:,} planned, {counts[2]:,} in both")
    rows = by_reason(compared)
    for reason in (*(reason.name for reason in reasons()), ""):
        more = [rows[reason, side] for side in SIDES]
        if any(more):
            print(f"  {more[0]:6} {more[1]:6}  {reason or 'NO REASON'}")
    for difference in compared.differences() if shown else ():
        why = difference.reason.name if difference.reason else "NO REASON"
        print(f"    {difference.published:4} {difference.planned:4}  {difference.form}  ({why})")
    return not any(rows["", side] for side in SIDES)


def main() -> int:
    """Returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.audit.architectures", description=__doc__)
    parser.add_argument("--published", type=Path, required=True, help="checkout of NVIDIA/enterprise-ras")
    parser.add_argument("--forms", action="store_true", help="every form that differs")
    parser.add_argument("--page", action="store_true", help="docs/architectures.md")
    options = parser.parse_args()
    if options.page:
        root = options.published / "spectrum-era"
        compared = {name: list(switches(root / name, folder(f"era-{name}"))) for name in links.PUBLISHED}
        print(page(compared, MAX_LINES), end="")
        return 0
    good = True
    total: Counter[str] = Counter()
    for name in links.PUBLISHED:
        published, planned = options.published / "spectrum-era" / name, folder(f"era-{name}")
        good &= of_links(name, published, planned)
        for compared in switches(published, planned):
            good &= of_switch(name, compared, options.forms)
            total += Counter(published=compared.published.total(), both=compared.shared)
    print(f"{total['published']:,} statements published, {total['both']:,} of them planned")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
