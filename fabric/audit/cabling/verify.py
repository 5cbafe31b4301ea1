"""Compares the cabling reported by LLDP with the plan.

files ──outputs──▶ JSON values and text lines ──readers──▶ neighbors and port states of each device
plan ──planned──▶ every end under each name that a device may report
wires: names looked up, reports of both ends joined ──moves──▶ chains and rings of wrong cables, the fewest moves
compare ──▶ Verdict ──reports──▶ text, JSON, CSV of moves, JUnit
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from fabric.audit.cabling import files
from fabric.audit.cabling.compare import compare
from fabric.audit.cabling.finding import Verdict
from fabric.audit.cabling.places import places
from fabric.audit.cabling.planned import planned
from fabric.base.diagnostics import Diagnostic
from fabric.model.plan import Plan


def verify(
    plan: Plan, paths: Sequence[Path], stated: Mapping[Path, str] | None = None, form: str = ""
) -> tuple[Verdict, tuple[Diagnostic, ...]]:
    """The findings on the cabling, warnings about ignored files, and errors about unread ones. Raises InputError.

    Args:
        paths: files or folders with the output of devices.
        stated: file → device, where neither content nor name of the file identifies it.
        form: read the files as this network OS's, "": determined from the content.
    """
    cabling = planned(plan)
    collected = files.read(paths, stated or {}, cabling.hosts, form)
    return compare(cabling, collected, places(plan), plan.site), collected.unknown
