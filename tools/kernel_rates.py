"""Rates of kernels from measured ones: `python -m tools.kernel_rates tests/reference/kernels` prints the content of
fabric/solver/training/data/kernels.yaml.

Matrix products by the logarithm of their multiplications: the median of those within three quarters of an octave, so that no
single shape decides. The core of the attention by the logarithm of its scores times the head dimension.
"""

from __future__ import annotations

import csv
import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

WITHIN = 0.75  # octaves
PASSES = ("fwd_us", "dgrad_us", "wgrad_us")
Row = Mapping[str, str]

HEAD = """\
# Rates of kernels that were measured on one GPU, TFLOP/s, as `python -m tools.kernel_rates` makes them of the rows in
# tests/reference/kernels; the README there says how they were measured.
# products: log2 of tokens x k x n → forward, input gradient, weight gradient. attention: log2 of batch x heads x sequence^2 x
# head dimension → forward, backward of a causal mask, by head dimension (cuDNN; half of the square is counted).
# sustained: rate of ten seconds of one product over that of a short run: the power limit.
"""
MACHINES = {
    "h100": {"memory_GBps": 3006, "launch_us": 7.4, "graph_us": 1.0},
    "h200": {"memory_GBps": 4247, "launch_us": 10.4, "graph_us": 0.9},
}
"""Copy of 1 GiB, read and written; a small kernel back to back from PyTorch, and in a CUDA graph."""
TEN_SECONDS = {"h100": 683.5, "h200": 671.0}
"""TFLOP/s of a square product of 8,192 in BF16, over and over."""
SQUARE = 39  # log2 of its multiplications


def rows(path: Path) -> list[Row]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def octaves(row: Row) -> float:
    """log2 of the multiplications of a matrix product."""
    return math.log2(int(row["tokens"]) * int(row["k"]) * int(row["n"]))


def products(measured: Sequence[Row]) -> dict[int, list[float]]:
    """log2 of multiplications → TFLOP/s of the three passes, from sizes with a measured product."""
    sizes = [octaves(row) for row in measured]
    table = {}
    for size in range(math.floor(min(sizes)), math.ceil(max(sizes)) + 1):
        near = [row for row, its in zip(measured, sizes, strict=True) if abs(its - size) <= WITHIN]
        if near:
            table[size] = [median(2 * 2 ** octaves(row) / float(row[key]) / 1e6 for row in near) for key in PASSES]
    return table


def attention(measured: Sequence[Row], head_dim: str) -> dict[float, list[float]]:
    """log2 of scores x head dimension → TFLOP/s forward and backward; of equal sizes the mean."""
    found: dict[float, list[list[float]]] = {}
    for row in (row for row in measured if row["head_dim"] == head_dim):
        work = int(row["batch"]) * int(row["heads"]) * int(row["sequence"]) ** 2 * int(row["head_dim"])
        rates = [2 * work / float(row["fwd_us"]) / 1e6, 5 * work / float(row["bwd_us"]) / 1e6]
        found.setdefault(round(math.log2(work), 2), []).append(rates)
    return {size: [sum(column) / len(column) for column in zip(*its, strict=True)] for size, its in sorted(found.items())}


def table(folder: Path, leave_out: str = "") -> dict[str, dict[str, object]]:
    """GPU model → its rates, without the products of one model."""
    measured = [row for row in rows(folder / "products.csv") if not leave_out or not row["model"].startswith(leave_out)]
    cores = [row for row in rows(folder / "attention.csv") if row["backend"] == "cudnn"]
    found: dict[str, dict[str, object]] = {}
    for gpu, machine in MACHINES.items():
        of_gpu = [row for row in measured if row["gpu"] == gpu]
        precisions = {
            precision: products([row for row in of_gpu if row["precision"] == precision]) for precision in ("bf16", "fp8")
        }
        found[gpu] = {
            **machine,
            "sustained": round(TEN_SECONDS[gpu] / precisions["bf16"][SQUARE][0], 3),
            "products": precisions,
            "attention": {
                int(dim): attention([row for row in cores if row["gpu"] == gpu], dim)
                for dim in sorted({row["head_dim"] for row in cores})
            },
        }
    return found


def text(found: Mapping[str, Mapping[str, object]]) -> str:
    """As YAML, one size a line."""
    lines = [HEAD.rstrip()]
    for gpu, its in found.items():
        lines.append(f"{gpu}:")
        lines += [f"  {key}: {value}" for key, value in its.items() if not isinstance(value, dict)]
        for kind, tables in ((key, value) for key, value in its.items() if isinstance(value, dict)):
            lines.append(f"  {kind}:")
            for name, sizes in tables.items():
                lines.append(f"    {name}:")
                lines += [f"      {size}: [{', '.join(f'{rate:.0f}' for rate in rates)}]" for size, rates in sizes.items()]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(text(table(Path(sys.argv[1]))), end="")
