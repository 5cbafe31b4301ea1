"""Cabling as the boxes hear it, against the plan.

files ──outputs──▶ JSON values and text lines ──readers──▶ neighbours and port states of each box
plan ──planned──▶ every end under each name a box may call it
wires: names looked up, both ends' words joined ──mending──▶ chains and rings of wrong cables, the fewest moves
compare ──▶ Verdict ──reports──▶ text, JSON, CSV of moves, JUnit
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from fabric.cabling.verify import files
from fabric.cabling.verify.compare import compare
from fabric.cabling.verify.finding import Verdict
from fabric.cabling.verify.places import places
from fabric.cabling.verify.planned import planned
from fabric.diagnostics import Diagnostic
from fabric.plan import Plan


def verify(
    plan: Plan, paths: Sequence[Path], stated: Mapping[Path, str] | None = None, form: str = ""
) -> tuple[Verdict, tuple[Diagnostic, ...]]:
    """What is wrong with the cables, and warnings about files that were passed over. Raises InputError.

    Args:
        paths: files or folders of what boxes print.
        stated: file → device, where neither content nor name of the file tells.
        form: read the files as this network OS's, "" tells by content.
    """
    wanted = planned(plan)
    collected = files.read(paths, stated or {}, wanted.hosts, form)
    return compare(wanted, collected, places(plan), plan.site), collected.unknown
