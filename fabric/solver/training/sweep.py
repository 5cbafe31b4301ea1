"""Variants of a training job: every combination of other values of its keys, the fastest first."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fabric.base.diagnostics import Diagnostic, InputError, Place, Report, nearest, show
from fabric.base.inputs import InputFile
from fabric.base.schemas.models import Amount, Document, Share, document, json_key
from fabric.base.source import Node
from fabric.base.text import aligned, counted, duration, percent
from fabric.solver.reach import Measure
from fabric.solver.training import file as training_file
from fabric.solver.training.step import StepTime

OPTION = Place("--vary")
VALUE = InputFile(dict, "a value", "such as parallel.tensor=4,8", "FAB102")
MAX_VARIANTS = 20_000  # variants
SHOWN = 20
DATA = "parallel.data"
RANGE = re.compile(r"(\d{1,12})\.\.(\d{1,12})(?:/(\d{1,12}))?")
_FIXED = ("parallel.gpus_per_domain", "parallel.stages")  # one changes the placement, the other is a list


MEASURES = {
    "step": Measure(" s", is_more_better=False),
    "tokens-per-second": Measure("", is_more_better=True),
}


def measured(step: StepTime, name: str) -> float:
    """The answer that a goal is stated of."""
    return step.step_ms / 1e3 if name == "step" else step.tokens_per_second


@dataclass(frozen=True)
class Variant:
    """One combination of values."""

    values: tuple[Any, ...]  # in the order of the sweep's keys
    step: StepTime | None  # None: the values do not fit together
    why_not: str = ""
    hint: str = ""


@dataclass(frozen=True)
class StepSweep:
    """Every variant, the fastest first, those that do not fit last."""

    keys: tuple[str, ...]
    variants: tuple[Variant, ...]

    def as_dict(self) -> dict[str, Any]:
        """The JSON document."""
        return document(self, SweepDocument)

    def lines(self) -> list[str]:
        """One row per variant: the step, its band, what the network costs, and the values, which may fold."""
        fit = [item for item in self.variants if item.step]
        head = ("step", "p10 to p90", "tokens/s", "to network", "memory", *_titles(self.keys))
        rows = [(*_cells(item.step), *map(_word, item.values)) for item in fit[:SHOWN] if item.step]
        out = aligned(rows, ">" * len(head), head=head) if rows else []
        if len(fit) > SHOWN:
            out += ["", f"{SHOWN} of {counted(len(fit), 'variant')}; --json prints all"]
        misfits = [item for item in self.variants if not item.step]
        if misfits:
            first = zip(_titles(self.keys), map(_word, misfits[0].values), strict=True)
            shown = ", ".join(f"{title} {value}" for title, value in first)
            out += ["", f"{counted(len(misfits), 'variant')} not possible, such as {shown}:", f"  {misfits[0].why_not}"]
            out += [f"  hint: {misfits[0].hint}"] if misfits[0].hint else []
        return out


def _titles(keys: Sequence[str]) -> list[str]:
    """Keys without their section, where that tells them apart."""
    names = [key.partition(".")[2] for key in keys]
    return [name if names.count(name) == 1 else key for name, key in zip(names, keys, strict=True)]


class VariantDocument(Document):
    values: list[Any] = json_key("in the order of the keys")
    step_ms: Amount = json_key(of="step.step_ms", default=None)
    p10_ms: Amount = json_key(of="step.p10_ms", default=None)
    p90_ms: Amount = json_key(of="step.p90_ms", default=None)
    tokens_per_second: Amount = json_key(of="step.tokens_per_second", default=None)
    lost_to_network: Share = json_key(of="step.lost_to_network", default=None)
    memory_GB: Amount = json_key("of the fullest GPU", "step.memory.total_GB", default=None)
    reason: str = json_key("of a variant that is not possible", "why_not", default="")


class SweepDocument(Document):
    keys: list[str] = json_key("varied keys of the JOB file")
    variants: list[VariantDocument] = json_key("the fastest first, those that are not possible last")


def _cells(step: StepTime) -> tuple[str, str, str, str, str]:
    band = f"{duration(step.p10_ms)} to {duration(step.p90_ms)}"
    held = f"{step.memory.total_GB:,.0f} GB"
    return duration(step.step_ms), band, f"{step.tokens_per_second:,.0f}", percent(step.lost_to_network), held


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def choices(options: Sequence[str], more: Iterable[str] = ()) -> dict[str, list[Node]]:
    """Dotted key to values, of texts such as `parallel.tensor=4,8`, `checkpoint.write_GBps=10..400` or `…=0..3600/60`.

    Args:
        options: the texts.
        more: keys of other sections that may vary.

    Raises:
        InputError: every mistake.
    """
    report, words = Report(), dict[str, list[Sequence[int] | Sequence[str]]]()
    keys = [key for key in (*training_file.all_keys(), *more) if key not in _FIXED]
    for text in options:
        key, sign, values = text.partition("=")
        if not sign or not values:
            report.error("FAB102", OPTION, f"expected KEY=VALUE,VALUE, got {show(text)}", "such as parallel.tensor=4,8")
        elif key not in keys:
            report.error("FAB102", OPTION, f"expected a key of the JOB file, got {show(key)}", nearest(key, keys))
        elif key in words:
            report.error("FAB102", OPTION, f"expected each key once, got {key} twice", "separate values by commas")
        else:
            words[key] = [_words(text.strip()) for text in values.split(",")]
    report.raise_errors()
    count = math.prod(sum(map(len, its)) for its in words.values())
    if count > MAX_VARIANTS:
        report.error("FAB102", OPTION, f"expected at most {MAX_VARIANTS:,} variants, got {count:,}", "vary fewer keys")
        report.raise_errors()
    return {key: [_node(str(word)) for each in its for word in each] for key, its in words.items()}


def _words(text: str) -> Sequence[int] | Sequence[str]:
    """The numbers of a range such as 10..400 or 0..3600/60, or the text itself."""
    bounds = RANGE.fullmatch(text)
    first, last, by = (int(bounds[n] or 1) for n in (1, 2, 3)) if bounds else (1, 0, 1)
    return range(first, last + 1, by) if first <= last and by else (text,)


def _node(word: str) -> Node:
    """A value as YAML reads it."""
    node = VALUE.parse(f"value: {word}" if word else "value:", OPTION.file).at(("value",))
    assert node is not None
    return node


def sweep(root: Node, varied: Mapping[str, Sequence[Node]], time: Callable[[Node], StepTime]) -> StepSweep:
    """Times of every combination; `time` gives the step of a changed JOB tree. Raises InputError where none is possible."""
    done = tuple(_variants(root, varied, time))
    if not any(item.step for item in done):
        hint = done[0].hint or "vary other values"
        raise InputError([Diagnostic("FAB173", OPTION, f"no variant is possible: {done[0].why_not}", hint)])
    fit = sorted((item for item in done if item.step), key=lambda item: -item.step.tokens_per_second if item.step else 0)
    return StepSweep(tuple(varied), (*fit, *(item for item in done if not item.step)))


def _variants(root: Node, varied: Mapping[str, Sequence[Node]], time: Callable[[Node], StepTime]) -> Iterator[Variant]:
    combination: Iterable[Node]
    for combination in itertools.product(*varied.values()):
        nodes = dict(zip(varied, combination, strict=True))
        values = tuple(node.plain() for node in nodes.values())
        try:
            step = time(training_file.with_values(root, nodes))
        except InputError as error:
            why_not = error.diagnostics[0].message
            yield Variant(values, None, why_not, _hint(root, varied, why_not))
            continue
        held = step.memory
        room = f"expected at most {held.available_GB:,.1f} GB per GPU, got {held.total_GB:,.1f}"
        yield Variant(values, step) if held.fits else Variant(values, None, f"{room}, activations {held.activations_GB:,.1f}")


def _hint(root: Node, varied: Mapping[str, Sequence[Node]], why_not: str) -> str:
    """Ranks of the other dimensions change what is left for data, so a stated number of its ranks seldom fits."""
    if not why_not.startswith(f"{DATA}: data x "):
        return ""
    if DATA in varied:
        return f"leave out `--vary {DATA}`: each variant then has as many data ranks as the GPUs allow"
    parallel = root.items.get("parallel") if isinstance(root.items, dict) else None
    stated = parallel is not None and isinstance(parallel.items, dict) and "data" in parallel.items
    return f"remove `{DATA}` from JOB: each variant then has as many data ranks as the GPUs allow" if stated else ""
