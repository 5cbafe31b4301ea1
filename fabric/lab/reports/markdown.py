"""A record to keep beside a design: what ran and how it ended, as GitHub and GitLab show it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from fabric.audit.diff.markdown import MENTION, SPECIAL
from fabric.base.text import printable
from fabric.lab.outcome import Outcome
from fabric.lab.reports.words import NOTHING, by_kind, folded, table, verdict

MORE_SPECIAL = re.compile(r"([&$])")  # begin entities and formulas


def report(outcome: Outcome) -> str:
    """Blocks with an empty line between them."""
    return "\n\n".join(_blocks(outcome)) + "\n"


def _blocks(outcome: Outcome) -> Iterator[str]:
    yield f"# Lab test of site {_text(outcome.site)}"
    yield f"**{verdict(outcome)}**"
    ran = {"Shape": outcome.shape, "FRR": outcome.frr, "Kernel": outcome.kernel, "VRFs": f"as {outcome.vrfs}"}
    yield _table(("What ran", ""), ran.items())
    for kind, results in by_kind(outcome).items():
        yield f"## {_text(kind.capitalize())}s"
        head, *rows = table(kind, results)
        yield _table(head, rows)
    broken = [result for result in outcome.results if result.faults]
    if broken:
        yield "## Faults"
    for result in broken:
        yield f"### {_text(result.title)}"
        yield _table(("device", "fault"), ((fault.device, fault.message) for fault in folded(result.faults)))
    if outcome.not_emulated:
        yield "## Not emulated"
        limits = ((limit.what, limit.why, ", ".join(limit.covered_by)) for limit in outcome.not_emulated)
        yield _table(("what", "why", "checks that look at it instead"), limits)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    cells = [[_text(cell) for cell in head], ["---"] * len(head)]
    cells += [[_text(cell) or NOTHING for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in cells)


def _text(words: str) -> str:
    """Words on one line that Markdown takes as they are."""
    escaped = SPECIAL.sub(r"\\\1", printable(words))
    return MORE_SPECIAL.sub(r"\\\1", escaped).replace("@", MENTION)
