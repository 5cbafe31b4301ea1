"""docs/accuracy.md: accuracy of the estimate for each table and each split, and every parameter.

    python -m tools.docs.accuracy [--fit DATA] FOLDER… > docs/accuracy.md

Takes about ten minutes of CPU: the parameters are fitted once for each source, kind, scale and pair of groups of sources that
is left out. `--fit` writes the fitted parameters (`platform.yaml`) and the band (`band.yaml`) to the folder DATA first.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import yaml

from fabric import pipeline
from fabric.solver.collectives import physics
from fabric.solver.collectives.calibrate import document, from_physics
from fabric.solver.collectives.physics import Physics, meanings, parameters, shipped
from fabric.solver.collectives.score import Score, score
from fabric.solver.collectives.validation import (
    SPLITS,
    Predicted,
    total_line,
    twins,
)
from fabric.solver.collectives.validation_report import Validation, fitted_band
from fabric.solver.measured.tables import Table, read
from tools.docs.ending import ending
from tools.docs.tuner_score import tuner_predictions

HEAD = """\
# Accuracy of the estimate

Error = estimated / measured time - 1: +10 % is 10 % too slow. Measured is the better of in place and out of place; rows below
8 bytes are ignored. In totals every row counts alike, but no source has more than a tenth of the weight. A *known kind* has
another source with the same GPU generation, transport and collective together.

{totals}

Published errors of others on their own choice of tables: NCCL's tuner, re-implemented here from its tables, has the error
above on the same rows; on a set of 103 rows of H100 systems, SimGrid's ring has a median of 16.5 %, ASTRA-sim 24.6 % with its
best settings and 48.5 % with its defaults.
"""
END = ending(
    "make accuracy",
    "[estimate.md](estimate.md#what-should-i-measure-first): narrow the estimate with a measurement of your own.",
    "[collectives.md](collectives.md): the model and its parameters.",
    "[doctor.md](doctor.md): why a measurement is slower than estimated.",
)
SOURCE = """\
## Without the source

For each source (a thread, a repository, a report) the parameters are fitted without its tables, from their initial values,
and its tables are predicted. `fabric model score {folders} --cross-validate` prints:
"""
KIND = """\
## Without the kind

Each GPU generation, transport, and number of GPUs per server is left out in turn. `fabric model score {folders}
--cross-validate --leave-out kind` prints:
"""
SCALE = """\
## Without the scale

Tables above 128 GPUs, predicted with the others. `fabric model score {folders} --cross-validate --leave-out scale` prints:
"""
POINTS = """\
## With three measured points

As without the source, then calibrated with three rows of each table (those nearest to 8 B, 8 MiB and 1 GiB); the other rows
are predicted. `fabric model score {folders} --cross-validate --leave-out points` ends with:
"""
SHIPPED = """\
## With the shipped parameters

The parameters are fitted to these tables: this is not a prediction. `fabric model score {folders}` ends with:
"""
TWINS = """\
## What two sources of one kind differ by

Rows for which another source has measured the same: GPU generation, transport, collective, ranks, NVLink domain, NICs and
settings. Predicted first from the median of the other sources' tables, then by the estimate, fitted without the source:

{lines}

Hosts, releases and settings that the tables do not state make this difference; an estimate from the stated platform alone
cannot be much better. Three measured points of the cluster itself are. Tried without gain, as the 90th percentile of known
kinds without the source, 40.4 % at that time: spreads of the parameters halved 42.1 %; rows with a third of their weight
40.8 %; a fit that starts with large errors in full 40.8 %; trees of two domains as NCCL's search would have them 41.6 %; a
curve of what the sources of a kind, a transport or a generation leave in common 40.6 to 44.2 %.
"""
LIMITS = """\
## What is not covered

* Slingshot between 64 KiB and 16 MiB, where NCCL keeps a protocol that is slow there, by up to ten times, at sizes that
  differ from site to site: up to 90 % too fast. Without Slingshot the figures are given above.
* One table above 1,024 GPUs with an all_reduce, none above 512 for the other collectives.
* PCIe servers: one table between two servers, none inside one. The parameters are initial values.
* Settings that a table does not state, such as the NCCL version or several GPUs per process.
"""
PARAMETERS = """\
## The parameters

A parameter applies to all platforms, to a GPU generation or to a transport. `first` is its initial value, `fitted` the
shipped value.

| parameter | applies to | first | fitted | meaning | source of the initial value |
|---|---|--:|--:|---|---|
"""


def page(tables: Sequence[Table], found: dict[str, list[Predicted]], fitted: Physics, folders: str) -> str:
    """The whole page."""
    reasons = {table.id: table.why_not for table in tables if not table.scored_rows}
    errors = tuple(found["pairs"])
    made = {split: Validation(split, tuple(found[split]), reasons, errors) for split in SPLITS if split != "pairs"}
    tuner = total_line("NCCL's tuner, all kinds", tuner_predictions(found["source"]))
    totals = [*_totals("without the source", found["source"]), *_totals("with three points", found["points"]), f"* {tuner}"]
    return "\n".join(
        [
            HEAD.format(totals="\n".join(totals)),
            SOURCE.format(folders=folders),
            _block(made["source"].lines()),
            KIND.format(folders=folders),
            _block(made["kind"].lines()),
            SCALE.format(folders=folders),
            _block(made["scale"].lines()),
            POINTS.format(folders=folders),
            _block(_end(made["points"].lines())),
            TWINS.format(lines="\n".join(_twin_lines(found["source"]))),
            SHIPPED.format(folders=folders),
            _block(_end(_fitted_lines(tables, fitted))),
            LIMITS,
            PARAMETERS + "\n".join(_parameters(fitted)),
            "",
            END,
        ]
    )


def _twin_lines(found: Sequence[Predicted]) -> list[str]:
    other_sources, estimate = twins(found)
    plain = [item for item in other_sources if item.kind.transport != "slingshot"]
    plain_estimate = [item for item in estimate if item.kind.transport != "slingshot"]
    groups = (
        ("from the other sources", other_sources),
        ("by the estimate", estimate),
        ("from the other sources, without Slingshot", plain),
        ("by the estimate, without Slingshot", plain_estimate),
    )
    return [f"* {total_line(title, group)}" for title, group in groups if group]


def _totals(title: str, found: Sequence[Predicted]) -> list[str]:
    known = [item for item in found if item.is_known]
    several = [item for item in known if item.kind.transport != "none"]
    single = [item for item in known if item.kind.transport == "none"]
    groups = [("known kinds", known), ("known kinds, over the network", several), ("known kinds, one NVLink domain", single)]
    for name, part in (("known kinds", known), ("all kinds", found)):
        groups.append((f"{name}, without Slingshot", [item for item in part if item.kind.transport != "slingshot"]))
    return [f"* {total_line(f'{title}, {name}', group)}" for name, group in (*groups, ("all kinds", found)) if group]


def _fitted_lines(tables: Sequence[Table], fitted: Physics) -> list[str]:
    made: Score = score(tables, fitted)
    return made.lines()


def _end(lines: Sequence[str]) -> list[str]:
    """The lines after the last empty one."""
    last = max(at for at, line in enumerate(lines) if not line.strip())
    return [line for line in lines[last + 1 :] if not line.startswith("not scored")]


def _block(lines: Sequence[str]) -> str:
    return "\n".join(["```console", *(line.rstrip() for line in lines), "```", ""])


def _parameters(fitted: Physics) -> list[str]:
    meaning_of = meanings()
    rows = []
    for item in parameters():
        meaning, source = meaning_of[item.name]
        value = f"{fitted.values[item.key]:.4g}"
        if item.scope != "shared" and not fitted.measured.get(item.kind):
            value = "never measured"
        rows.append(f"| `{item.name}` | {item.kind or 'all'} | {item.first:g} | {value} | {meaning} | {source} |")
    return rows


def write_data(folder: Path, tables: Sequence[Table], found: dict[str, list[Predicted]]) -> Physics:
    """Fits all parameters and the band, and writes both as the program ships them."""
    fitted = from_physics(tables)
    about = "Parameters of collective times, fitted from their first values.\nWritten by `make accuracy`."
    (folder / "platform.yaml").write_text(document(fitted, tables, about), encoding="utf-8")
    made = fitted_band(found["pairs"])
    head = "# The band of estimates (fabric/solver/collectives/band.py). Written by `make accuracy`.\n"
    (folder / "band.yaml").write_text(head + yaml.safe_dump(made.document(), sort_keys=False), encoding="utf-8")
    physics._read.cache_clear()
    shipped.cache_clear()
    return shipped()


def main() -> None:
    """Prints the page of the tables in some folders."""
    words = sys.argv[1:]
    data = Path(words.pop(words.index("--fit") + 1)) if "--fit" in words else None
    folders = [word for word in words if word != "--fit"]
    tables = [table for name in folders for path in sorted(Path(name).glob("*.yaml")) for table in read(path)]
    scored = [table for table in tables if table.scored_rows]
    found: dict[str, list[Predicted]] = {}
    for split in ("source", "kind", "scale", "points"):
        made = pipeline.cross_validate(scored, (), split, lambda name: None)
        found[split] = list(made.found)
        if made.errors:
            found["pairs"] = list(made.errors)
    fitted = write_data(data, scored, found) if data else shipped()
    print(page(tables, found, fitted, " ".join(folders)), end="")


if __name__ == "__main__":
    main()
