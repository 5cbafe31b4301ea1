"""docs/accuracy.md: what the estimate is worth, table by table, and every parameter.

    python -m tools.docs.accuracy tests/reference/collectives tests/reference/collectives-more > docs/accuracy.md

Takes some minutes: it fits the parameters again without each source.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from fabric.solver.collectives.calibrate import left_out
from fabric.solver.collectives.fitting import beside_weights
from fabric.solver.collectives.physics import Physics, meanings, parameters, shipped
from fabric.solver.collectives.score import Score, score
from fabric.solver.measured.tables import Table, read

HEAD = """\
# What the estimate is worth

This page is generated: `make accuracy`. Errors are estimated over measured time, less 1: +10 % is estimated 10 % too slow.
Measured is the better of in place and out of place; rows below 8 bytes are left out.

## With every source left out

The parameters are fitted again without each source (a thread, a repository, a report), from their first values, and what was
left out is predicted. A table has a like where its GPU generation, its transport and its family of collectives each appear
among the other reference tables. `fabric score tests/reference/collectives --cross-validate --beside
tests/reference/collectives-more` prints:
"""
SHIPPED = """\
## With the shipped parameters

They are fitted to these tables, and to those of the next section with less weight, so this is no prediction.
`fabric score tests/reference/collectives` prints:
"""
MORE = """\
## Further tables

Found in public repositories; of many, part of the platform is assumed (their files say which part), so they count for less in
the fit. Slingshot's steps between 4 KiB and 2 MiB, where its rendezvous protocol begins, have no term in the model.
`fabric score tests/reference/collectives-more` prints:
"""
PARAMETERS = """\
## The parameters

One value for all, a GPU generation or a transport. `first` is what it is before any table was seen, `fitted` what is shipped.

| parameter | of | first | fitted | what it is | where its first value comes from |
|---|---|--:|--:|---|---|
"""


def page(references: Sequence[Table], more: Sequence[Table]) -> str:
    """The whole page."""
    weights = beside_weights(more)
    found = {table.id: table for _, tables in left_out(references, more, weights) for table in tables}
    ordered = tuple(found[table.id] for table in references if table.id in found)
    reasons = {table.id: table.why_not for table in references if not table.scored_rows}
    crossed = Score(ordered, reasons)
    return "\n".join(
        [
            HEAD,
            _block(crossed.lines()),
            SHIPPED,
            _block(score(references, shipped()).lines()),
            MORE,
            _block(score(more, shipped()).lines()),
            PARAMETERS + "\n".join(_parameters(shipped())),
            "",
        ]
    )


def _block(lines: Sequence[str]) -> str:
    return "\n".join(["```console", *(line.rstrip() for line in lines), "```", ""])


def _parameters(found: Physics) -> list[str]:
    known = meanings()
    rows = []
    for item in parameters():
        meaning, source = known[item.name]
        value = f"{found.values[item.key]:.4g}"
        if item.scope != "shared" and not found.measured.get(item.kind):
            value = "never measured"
        rows.append(f"| `{item.name}` | {item.kind or 'all'} | {item.first:g} | {value} | {meaning} | {source} |")
    return rows


def main() -> None:
    """Prints the page of the tables in two folders: references, and further ones."""
    folders = [[table for path in sorted(Path(name).glob("*.yaml")) for table in read(path)] for name in sys.argv[1:3]]
    print(page(*folders), end="")


if __name__ == "__main__":
    main()
