"""How far measured tables of the same kind differ: what no model that knows only the stated platform can be better than.

Each row is predicted from the tables of other sources with the same GPU generation, transport, collective, ranks, NVLink
domains, NICs and settings: their median, interpolated between sizes on logarithmic axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fabric.solver import Floats
from fabric.solver.collectives.validation import Predicted


def twins(predictions: Sequence[Predicted]) -> tuple[list[Predicted], list[Predicted]]:
    """(rows that have a twin, predicted from their twins; the same rows as they were predicted)."""
    of_setting: dict[Any, list[Predicted]] = {}
    for item in predictions:
        of_setting.setdefault(_setting(item), []).append(item)
    by_twin, as_predicted = [], []
    for item in predictions:
        others = [other for other in of_setting[_setting(item)] if other.source != item.source]
        expected = _median(others, item.bytes)
        has_twin = ~np.isnan(expected)
        if has_twin.any():
            rows = replace(
                item, bytes=item.bytes[has_twin], time_us=item.time_us[has_twin], measured_us=item.measured_us[has_twin]
            )
            as_predicted.append(rows)
            by_twin.append(replace(rows, time_us=expected[has_twin]))
    return by_twin, as_predicted


def _setting(item: Predicted) -> Any:
    """What two tables must share to be twins."""
    stated = item.table.platform
    nics = stated.nics_per_node * stated.nic_gbps if stated.crosses_network else 0
    one_process = stated.processes.startswith("one for all")
    return item.kind, item.table.collective, stated.ranks, stated.domain_ranks, nics, stated.algorithm, one_process


def _median(others: Sequence[Predicted], sizes: Floats) -> Floats:
    """µs by the other sources, each counted once; not a number for sizes that none of them has measured."""
    by_source: dict[str, list[Floats]] = {}
    for other in others:
        at = np.interp(np.log(sizes), np.log(other.bytes), np.log(other.measured_us), left=np.nan, right=np.nan)
        by_source.setdefault(other.source, []).append(at)
    if not by_source:
        return np.full(len(sizes), np.nan)
    each = np.stack([_mean(np.stack(parts)) for parts in by_source.values()])
    some = ~np.isnan(each).all(axis=0)
    median_us = np.full(len(sizes), np.nan)
    median_us[some] = np.exp(np.nanmedian(each[:, some], axis=0))
    return median_us


def _mean(values: Floats) -> Floats:
    count = (~np.isnan(values)).sum(axis=0)
    mean: Floats = np.where(count > 0, np.nansum(values, axis=0) / np.maximum(count, 1), np.nan)
    return mean
