"""Section of a change: its waves, what each leaves, and what the floor does not allow."""

from __future__ import annotations

from fabric.base.text import duration, listed, percent, plural
from fabric.deliver.change.records import Change
from fabric.deliver.report.assets import Grid, grid

TITLES = ("#wave", "fabric", "what", "switches", "#cables", "#capacity", "#all-reduce", "#ports down", "safe to stop")
MAX_NAMES = 4


def sentence(change: Change) -> str:
    """The change in a line."""
    count = plural(len(change.waves), "wave")
    return f"{change.title}: {count}, each of which leaves at least {percent(change.floor)} of the capacity."


def waves_grid(change: Change) -> Grid:
    """A row per wave."""
    rows = [
        (
            wave.number,
            wave.fabric,
            wave.title,
            listed([task.device for task in wave.tasks], MAX_NAMES),
            len(wave.moves) or "",
            percent(wave.left.capacity),
            "" if wave.left.all_reduce_ms is None else duration(wave.left.all_reduce_ms),
            f"{wave.left.ports_down:,}",
            wave.stop,
        )
        for wave in change.waves
    ]
    return grid("Waves", TITLES, rows, note="`fabric change` has the conditions and the files of each.")


def refused_grid(change: Change) -> Grid:
    """What is not planned, with the number."""
    rows = [(entry.fabric, listed(entry.devices, MAX_NAMES), entry.reason) for entry in change.refused]
    return grid("Not planned, for the floor", ("fabric", "switches", "reason"), rows)
