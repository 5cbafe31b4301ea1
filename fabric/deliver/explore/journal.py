"""What a sweep has found so far, in a file: an interrupted sweep goes on where it stopped."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from fabric.base.diagnostics import Place, Report
from fabric.base.formats import json_line
from fabric.base.version import __version__
from fabric.deliver.explore.dimensions import Value
from fabric.deliver.explore.measure import DesignRequest, Figures, Outcome
from fabric.deliver.explore.space import Base, Choice


def fingerprint(base: Base, design: DesignRequest) -> str:
    """Of all that outcomes depend on but the choice: designs may be added to a sweep, its question may not change.

    Where the intent, the prices and the job lie is left out: the same sweep goes on from another folder.
    """
    prices = replace(design.prices, places={}) if design.prices else None
    job = replace(design.job, name="") if design.job else None
    platform = design.platform.read_bytes() if design.platform else b""
    question = replace(design, prices=prices, job=job, platform=None), platform
    return hashlib.sha256(repr((__version__, base.text, base.fabric, question)).encode()).hexdigest()


class Journal:
    """JSON lines: what was asked, then an outcome a line, as they come. Raises InputError for a file of another sweep."""

    def __init__(self, path: Path, base: Base, design: DesignRequest) -> None:
        self.path = path
        self.mark = fingerprint(base, design)
        self.known: dict[Choice, Outcome] = {}
        if path.exists() and path.stat().st_size:
            self._read()
        else:
            self._append([{"sweep": self.mark}])

    def _read(self) -> None:
        report, shown = Report(), str(self.path)
        data = self.path.read_bytes()
        head, _, rest = data.partition(b"\n")
        if _object(head).get("sweep") != self.mark:
            message = "the journal belongs to another sweep"
            hint = "options, intent or version differ: use another file, or remove this one"
            report.fail("FAB102", Place(shown, 1, 1), message, hint)
        whole = rest[: rest.rfind(b"\n") + 1]  # the last line of a sweep that was killed may be cut short
        for number, line in enumerate(whole.splitlines(), 2):
            outcome = _outcome(_object(line))
            if outcome is None:
                report.fail(
                    "FAB102",
                    Place(shown, number, 1),
                    "this line is not a result of this sweep",
                    "remove the line, or the file",
                )
            self.known[outcome.choice] = outcome
        if len(whole) < len(rest):
            with self.path.open("r+b") as stream:
                stream.truncate(len(head) + 1 + len(whole))

    def add(self, outcomes: Iterable[Outcome]) -> None:
        self._append([item.as_row() for item in outcomes])

    def _append(self, rows: Iterable[dict[str, Any]]) -> None:
        try:
            with self.path.open("a", encoding="utf-8") as stream:
                stream.writelines(json_line(row) + "\n" for row in rows)
                stream.flush()
                os.fsync(stream.fileno())
        except OSError as error:  # of a full disk it does not say which file
            raise OSError(error.errno, error.strerror, str(self.path)) from error


def _object(line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _outcome(row: dict[str, Any]) -> Outcome | None:
    """The outcome that a line holds; None where it holds none."""
    try:
        choice = tuple(_CHOICE.validate_python(row.get("choice"), strict=True).items())
        if "why" in row:
            return Outcome(choice, why=str(row["why"]))
        return Outcome(choice, _FIGURES.validate_python(row["figures"]))
    except (KeyError, ValidationError):
        return None


_CHOICE, _FIGURES = TypeAdapter(dict[str, Value]), TypeAdapter(Figures)
