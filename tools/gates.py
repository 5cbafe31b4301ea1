"""How well the least bandwidth of a healthy run separates healthy from slow ones: `python -m tools.gates FOLDER…`.

Each source is left out in turn, as in `tools.docs.accuracy`; its rows are judged by a fit and a band that did not see it. A
measured row should pass, the same row made SLOWER should not. Beside it one floor for each GPU model, from the bandwidths of
the other sources alone, as a hand-set limit has it, and the edge after a calibration with three rows of the same table, as
for a cluster that was accepted before. Prints Markdown tables. Takes about ten minutes of CPU.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from fabric import pipeline
from fabric.solver import Bools, Floats
from fabric.solver.collective import COLLECTIVES
from fabric.solver.collectives.band import GATES, percentile, within
from fabric.solver.collectives.validation import Predicted, weight_of_rows
from fabric.solver.collectives.validation_report import banded
from fabric.solver.measured.tables import read

SHARES = (0.90, 0.95, 0.975, 0.99)  # percentiles of the errors, or of the bandwidths, that an edge stands at
LARGE = (">= 64 MiB", ">= 1 GiB")
SLOWER = 1.15  # factor on the time of a run that should not pass
RANGES = {"< 64 MiB": (0, 1 << 26), ">= 64 MiB": (1 << 26, np.inf), ">= 1 GiB": (1 << 30, np.inf)}  # bytes, below

Judged = tuple[Predicted, Floats]  # rows, and the most µs of each that pass


def by_estimate(found: Sequence[Predicted], errors: Sequence[Predicted], share: float) -> list[Judged]:
    """Rows with the edge of the estimate's band."""
    return [(part.item, part.item.time_us * part.slow) for part in banded(found, errors, dict.fromkeys(GATES, share))]


def by_model(found: Sequence[Predicted], share: float) -> Iterator[Judged]:
    """Rows of large sizes with one floor for each GPU model: what that share of the rows of other sources reaches."""
    for item in found:
        others = [other for other in found if other.source != item.source and _model(other) == _model(item)]
        if others:
            busbw, weight = np.concatenate([_busbw(other) for other in others]), weight_of_rows(others)
            large = np.concatenate([within(other.bytes, ">=64M") for other in others])
            floor_GBps = percentile(busbw[large], weight[large], 1 - share)
            yield item, _work(item) / max(floor_GBps, 1e-9)


def by_calibration(found: Sequence[Predicted], share: float) -> Iterator[Judged]:
    """Rows of the split `points`: an edge above the estimate as wide as that share of the errors of other sources."""
    for item in found:
        others = [other for other in found if other.source != item.source]
        error = np.log(np.concatenate([other.measured_us / other.time_us for other in others]))
        weight, sizes = weight_of_rows(others), np.concatenate([other.bytes for other in others])
        edge = np.ones(len(item.bytes))
        for name in GATES:
            seen, mine = within(sizes, name), within(item.bytes, name)
            edge[mine] = np.exp(max(percentile(error[seen], weight[seen], share), 0.0))
        yield item, item.time_us * edge


def _model(item: Predicted) -> tuple[str, bool]:
    return item.table.platform.gpu, item.table.platform.crosses_network


def _work(item: Predicted) -> Floats:
    """busbw in GB/s times µs."""
    return np.asarray(item.bytes * COLLECTIVES[item.table.collective].busbw(item.table.platform.ranks) / 1e3)


def _busbw(item: Predicted) -> Floats:
    return np.asarray(_work(item) / item.measured_us)


def shares(judged: Sequence[Judged], sizes: str, slower: float = 1.0) -> tuple[int, float]:
    """(rows, share of them that pass) of a range of RANGES, made slower by a factor; no source has more than a tenth."""
    least, most = RANGES[sizes]
    if not judged:
        return 0, 0.0
    mask: Bools = np.concatenate([(item.bytes >= least) & (item.bytes < most) for item, _ in judged])
    passes = np.concatenate([item.measured_us * slower <= most_us for item, most_us in judged])
    weight = weight_of_rows([item for item, _ in judged])
    return int(mask.sum()), float(np.average(passes[mask], weights=weight[mask])) if mask.any() else 0.0


def lines(
    title: str, groups: dict[str, Callable[[Judged], bool]], judge: Callable[[float], list[Judged]], ranges: Sequence[str]
) -> list[str]:
    """A row of a Markdown table for each percentile and group; of each range the rows, the share of healthy ones that pass,
    and of ones made slower that fail."""
    heads = [f"rows {name} | healthy pass | 15 % slower fail" for name in ranges]
    out = [f"**{title}**", "", f"| percentile | rows of | {' | '.join(heads)} |", "|--:|---|" + "--:|--:|--:|" * len(ranges)]
    for share in SHARES:
        every = judge(share)
        for name, belongs in groups.items():
            judged = [part for part in every if belongs(part)]
            cells = [f"{100 * share:g}", name]
            for sizes in ranges:
                rows, passed = shares(judged, sizes)
                cells += [f"{rows:,}", f"{passed:.1%}", f"{1 - shares(judged, sizes, SLOWER)[1]:.1%}"]
            out.append(f"| {' | '.join(cells)} |".replace("%", " %"))
    return [*out, ""]


def page(found: Sequence[Predicted], errors: Sequence[Predicted], calibrated: Sequence[Predicted]) -> str:
    """All tables."""
    every: dict[str, Callable[[Judged], bool]] = {
        "all": lambda part: True,
        "known platforms": lambda part: part[0].is_known,
        "other platforms": lambda part: not part[0].is_known,
        "known platforms, over the network": lambda part: part[0].is_known and part[0].kind.transport != "none",
        "known platforms, one NVLink domain": lambda part: part[0].is_known and part[0].kind.transport == "none",
        "known platforms, without Slingshot": lambda part: part[0].is_known and part[0].kind.transport != "slingshot",
    }
    models: dict[str, Callable[[Judged], bool]] = {
        name: every[name] for name in ("all", "known platforms, without Slingshot")
    }
    return "\n".join(
        [
            *lines("Edge of the estimate's band", every, lambda share: by_estimate(found, errors, share), tuple(RANGES)),
            *lines("One floor for each GPU model", models, lambda share: list(by_model(found, share)), LARGE),
            *lines(
                "After a calibration with three rows", models, lambda share: list(by_calibration(calibrated, share)), LARGE
            ),
        ]
    )


def main() -> None:
    """Prints the tables of measured tables in some folders."""
    tables = [table for name in sys.argv[1:] for path in sorted(Path(name).glob("*.yaml")) for table in read(path)]
    scored = [table for table in tables if table.scored_rows]
    made, after = (pipeline.cross_validate(scored, (), split, lambda name: None) for split in ("source", "points"))
    print(page(made.found, made.errors, after.found))


if __name__ == "__main__":
    main()
