"""Text for a terminal: one line per result, the differences from the plan, the parts not tested, the summary."""

from __future__ import annotations

from collections.abc import Iterator

from fabric.base.text import aligned, and_more, printable, style
from fabric.lab.outcome import NotEmulated, Outcome, Result
from fabric.lab.reports.words import NOTHING, by_kind, fault_text, folded, table, verdict

MAX_FAULTS = 20  # of one result that are shown


def report(outcome: Outcome) -> str:
    """Blocks with an empty line between them."""
    blocks = [
        [
            printable(f"site {outcome.site}: {outcome.shape}"),
            printable(f"FRR {outcome.frr}, kernel {outcome.kernel}, VRFs as {outcome.vrfs}"),
        ],
        *(_results(*table(kind, results)) for kind, results in by_kind(outcome).items()),
        *(list(_faults(result)) for result in outcome.results if result.faults),
        list(_not_emulated(outcome.not_emulated)),
        [verdict(outcome)],
    ]
    return "\n\n".join("\n".join(line.rstrip() for line in block) for block in blocks if block) + "\n"


def _results(head: list[str], *rows: list[str]) -> list[str]:
    """The first cell of a row is the mark of its result."""
    return aligned([[style(mark.lower(), mark), *rest] for mark, *rest in rows], head=head)


def _faults(result: Result) -> Iterator[str]:
    yield style("fail", f"{printable(result.title)}:")
    faults = folded(result.faults)
    yield from (f"    {fault_text(fault)}" for fault in faults[:MAX_FAULTS])
    if len(faults) > MAX_FAULTS:
        yield f"    {and_more(len(faults) - MAX_FAULTS, see='`--json`')}"


def _not_emulated(limits: tuple[NotEmulated, ...]) -> Iterator[str]:
    """Their reasons are in the other formats."""
    if not limits:
        return
    yield "not emulated, and the checks that cover it instead:"
    rows = [[printable(limit.what), printable(", ".join(limit.covered_by)) or NOTHING] for limit in limits]
    yield from aligned(rows, indent="    ")
