"""What a sweep has found so far, in a file: an interrupted sweep goes on where it stopped."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path
from typing import Any

from fabric import __version__
from fabric.diagnostics import Place, Report
from fabric.explore.measure import Ask, Figures, Outcome
from fabric.explore.space import Base, Choice


def fingerprint(base: Base, ask: Ask) -> str:
    """Of all that outcomes depend on but the choice: designs may be added to a sweep, its question may not change."""
    return hashlib.sha256(repr((__version__, base, ask)).encode()).hexdigest()


class Journal:
    """JSON lines: what was asked, then an outcome a line, as they come. Raises InputError for a file of another sweep."""

    def __init__(self, path: Path, base: Base, ask: Ask) -> None:
        self.path = path
        self.mark = fingerprint(base, ask)
        self.known: dict[Choice, Outcome] = {}
        if path.exists() and path.stat().st_size:
            self._read()
        else:
            path.write_text(json.dumps({"sweep": self.mark}) + "\n", encoding="utf-8")

    def _read(self) -> None:
        report, shown = Report(), str(self.path)
        data = self.path.read_bytes()
        head, _, rest = data.partition(b"\n")
        if _object(head).get("sweep") != self.mark:
            message = "expected what this sweep found before, got something else"
            hint = "its question, intent or program differs: name another file, or remove this one"
            report.fail("FAB102", Place(shown, 1, 1), message, hint)
        whole = rest[: rest.rfind(b"\n") + 1]  # the last line of a sweep that was killed may be cut short
        for at, line in enumerate(whole.splitlines(), 2):
            found = _outcome(_object(line))
            if found is None:
                report.fail(
                    "FAB102", Place(shown, at, 1), "expected an outcome of this sweep", "remove the line, or the file"
                )
            self.known[found.choice] = found
        if len(whole) < len(rest):
            with self.path.open("r+b") as stream:
                stream.truncate(len(head) + 1 + len(whole))

    def add(self, outcomes: Iterable[Outcome]) -> None:
        with self.path.open("a", encoding="utf-8") as stream:
            stream.writelines(json.dumps(item.as_dict()) + "\n" for item in outcomes)
            stream.flush()
            os.fsync(stream.fileno())


def _object(line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _outcome(row: dict[str, Any]) -> Outcome | None:
    """The outcome that a line holds; None where it holds none."""
    choice = row.get("choice")
    if not isinstance(choice, dict):
        return None
    if "why" in row:
        return Outcome(tuple(choice.items()), why=str(row["why"]))
    try:
        return Outcome(tuple(choice.items()), Figures(**{item.name: row[item.name] for item in fields(Figures)}))
    except KeyError:
        return None
