"""Measured training steps at several sizes or on several designs, and how far the prediction is from them.

A ladder is scored by one fitted value: the utilisation of its first row. A contrast has none: ratios to the first row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any, Literal

from fabric.base.inputs import LIST, LOWER, TEXT, InputFile, Section, Within, means
from fabric.base.schemas.models import Amount, Document, Number, Positive, document, json_key
from fabric.base.source import Node, Path_
from fabric.base.text import aligned, duration, percent
from fabric.solver.routing import MODES
from fabric.solver.training.file import all_keys
from fabric.solver.training.job import CODE
from fabric.solver.training.step import StepTime

UTILISATION, MEASURED_ON = "compute.utilisation", "compute.measured_on"


@dataclass(frozen=True, kw_only=True)
class Row:
    """One measured step."""

    name: str
    intent: Path
    job: Path
    seconds: float  # in a contrast only its ratio to the first row counts
    gpus: int | None = None  # None: all of the fabric
    placement: str = "packed"
    gpus_per_domain: int | None = None
    fail: tuple[str, ...] = ()
    routing: str = ""  # "": as in the plan
    queue_pairs: int = 0  # 0: as in the plan
    values: Mapping[str, Node] = field(default_factory=dict)  # of dotted keys of the JOB file

    def with_values(self, values: Mapping[str, float | str]) -> dict[str, Node]:
        """The row's values and others, such as a fitted utilisation."""
        return {**self.values, **{key: Node(line=1, column=1, value=value) for key, value in values.items()}}


@dataclass(frozen=True)
class Ladder:
    """Rows that share a utilisation."""

    name: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, kw_only=True)
class _Shared(Section):
    """What a ladder says for those of its rows that do not say it; None: not stated."""

    name: Annotated[str, TEXT] = ""
    intent: Annotated[str | None, TEXT, means("intent of the design, relative to this file")] = None
    job: Annotated[str | None, TEXT, means("JOB file, relative to this file")] = None
    placement: Annotated[str | None, TEXT, means("placement of the job: packed, spread, random:SEED")] = None
    gpus_per_domain: Annotated[int | None, Within(1, 1_000_000, "GPUs of each NVLink domain that the job uses")] = None
    fail: Annotated[tuple[Annotated[str, TEXT], ...] | None, LIST, means("what has failed")] = None
    routing: Annotated[Literal[tuple(MODES)] | None, LOWER, means("routing, if not that of the plan")] = None  # type: ignore[valid-type]
    queue_pairs: Annotated[int | None, Within(1, 128, "queue pairs of a connection, if not those of the plan")] = None


@dataclass(frozen=True, kw_only=True)
class _Row(_Shared):
    gpus: Annotated[int | None, Within(1, 10_000_000, "GPUs of the job; default: all of the fabric")] = None
    seconds: Annotated[float, Within(1e-9, 1e9, "measured time of a step")]
    set: Annotated[dict[str, Any], means("other values of keys of the JOB file, such as `batch.sequences: 768`")] = field(
        default_factory=dict
    )


@dataclass(frozen=True, kw_only=True)
class _Ladder(_Shared):
    rows: Annotated[tuple[_Row, ...], means("measured steps: the first one is fitted, the others are scored", min_length=2)]


@dataclass(frozen=True, kw_only=True)
class _File(Section):
    ladders: tuple[_Ladder, ...]
    source: Any = None


FILE = InputFile(
    _File,
    "measured training steps",
    "write `ladders:` with `- name`, `intent`, `job` and `rows`; docs/training.md has one",
    CODE,
)


@dataclass(frozen=True, kw_only=True)
class RowScore:
    """A row and its prediction, both in seconds, or both as a ratio to the first row."""

    ladder: str
    name: str
    gpus: int
    measured: float
    predicted: float
    low: float
    high: float
    spread: float  # that is in the band beside the network's
    transferred: bool  # the utilisation is that of another GPU model
    first: bool  # the row of the fit, or that others are compared with

    @property
    def error(self) -> float:
        return self.predicted / self.measured - 1


class RowDocument(Document):
    ladder: str
    row: str = json_key(of="name")
    gpus: Positive
    measured: Amount
    predicted: Amount
    p10: Amount = json_key(of="low")
    p90: Amount = json_key(of="high")
    error: Number = json_key("as a share of the measured value")
    fitted: bool = json_key("the first row of a ladder", "first")


class StepScoreDocument(Document):
    contrast: bool = json_key("values are ratios to the first row of a ladder, else seconds")
    rows: list[RowDocument]


@dataclass(frozen=True)
class StepScore:
    """Every row of some ladders."""

    contrast: bool
    rows: tuple[RowScore, ...]

    @property
    def predictions(self) -> tuple[RowScore, ...]:
        """The rows that nothing was fitted to."""
        return tuple(row for row in self.rows if not row.first)

    def as_dict(self) -> dict[str, Any]:
        """The JSON document."""
        return document(self, StepScoreDocument)

    def lines(self) -> list[str]:
        """One row per measured step; the worst error, and the share inside the band."""
        head = ("ladder", "row", "GPUs", "measured", "predicted", "p10 to p90", "error")
        cells = [
            (
                row.ladder,
                row.name,
                f"{row.gpus:,}",
                self._value(row.measured),
                self._value(row.predicted),
                f"{self._value(row.low)} to {self._value(row.high)}",
                ("first" if self.contrast else "fitted") if row.first else f"{row.error:+.1%}",
            )
            for row in self.rows
        ]
        out = aligned(cells, "<<>>>>>", head=head)
        if self.predictions:
            worst = max(self.predictions, key=lambda row: abs(row.error))
            inside = sum(row.low <= row.measured <= row.high for row in self.predictions) / len(self.predictions)
            out += ["", f"worst error {worst.error:+.1%} ({worst.name}); {percent(inside)} of rows between p10 and p90"]
        return out

    def _value(self, value: float) -> str:
        return f"{value:.3f}" if self.contrast else f"{value:,.2f} s" if value >= 1 else duration(value * 1e3)


def read(path: Path, intent: Path | None = None) -> tuple[Ladder, ...]:
    """The ladders of a file. Paths in it are relative to it; `intent` takes the place of those that it names.

    Raises:
        InputError: every mistake of the file, with its place.
    """
    text = FILE.read(path)
    file = text.model()
    ladders = []
    for number, entry in enumerate(file.ladders if file else ()):
        rows = []
        for at, row in enumerate(entry.rows):
            where: Path_ = ("ladders", number, "rows", at)
            text.refuse_unknown((*where, "set"), all_keys())
            for key in ("job", *(() if intent else ("intent",))):
                if not (getattr(row, key) or getattr(entry, key)):
                    text.error((*where, key), "missing key", "state it in the row or in its ladder")
            values = {key: node for key in text.names((*where, "set")) if (node := text.at((*where, "set", key)))}
            rows.append(_row(row, entry, path.parent, intent, values))
        ladders.append(Ladder(entry.name, tuple(rows)))
    return text.checked(tuple(ladders))


def _row(row: _Row, ladder: _Ladder, folder: Path, intent: Path | None, values: Mapping[str, Node]) -> Row:
    """A row; what it does not state is that of its ladder."""
    shared = {key.name: getattr(row if getattr(row, key.name) is not None else ladder, key.name) for key in fields(_Shared)}
    shared |= {"intent": intent or folder / (shared["intent"] or ""), "job": folder / (shared["job"] or "")}
    stated = {key: value for key, value in shared.items() if value is not None}
    name = row.name or (f"{row.gpus:,} GPUs" if row.gpus else "all GPUs")
    return Row(**{**stated, "name": name, "seconds": row.seconds, "gpus": row.gpus, "values": values})


def score(
    ladders: tuple[Ladder, ...],
    contrast: bool,
    utilisation: Callable[[Row], float],
    gpu: Callable[[Row], str],
    step: Callable[[Row, Mapping[str, float | str]], StepTime],
) -> StepScore:
    """Rows of all ladders against predictions.

    Args:
        ladders: what was measured.
        contrast: compare ratios to the first row, with the utilisation of the JOB file.
        utilisation: the one that gives a row's measured time.
        gpu: the GPU model of a row.
        step: the step of a row with values of keys of its JOB file.
    """
    rows: list[RowScore] = []
    for ladder in ladders:
        first = ladder.rows[0]
        fit = {} if contrast else {UTILISATION: utilisation(first)}
        steps = [step(row, {MEASURED_ON: gpu(first), **fit}) for row in ladder.rows]
        unit = (first.seconds, steps[0].step_ms / 1e3) if contrast else (1.0, 1.0)
        for at, (row, time) in enumerate(zip(ladder.rows, steps, strict=True)):
            middle, low, high = (ms / 1e3 / unit[1] for ms in (time.step_ms, time.p10_ms, time.p90_ms))
            rows.append(
                RowScore(
                    ladder=ladder.name,
                    name=row.name,
                    gpus=time.gpus,
                    measured=row.seconds / unit[0],
                    predicted=middle,
                    low=low,
                    high=high,
                    spread=time.spread,
                    transferred=bool(time.measured_on),
                    first=at == 0,
                )
            )
    return StepScore(contrast, tuple(rows))
