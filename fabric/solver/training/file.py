"""A JOB file in YAML; every mistake with its place. docs/training.md names the keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from fabric.base.diagnostics import nearest
from fabric.base.formats import yaml
from fabric.base.inputs import InputFile, Reading, Section
from fabric.base.source import Node, Source
from fabric.solver.training.checks import check
from fabric.solver.training.job import (
    CODE,
    Batch,
    Bytes,
    Compute,
    Model,
    Overlap,
    Parallel,
    Software,
    TrainingJob,
    micro_batches_of,
)


@dataclass(frozen=True, kw_only=True)
class JobFile(Section):
    """The sections of a file. `checkpoint` and `failures` are of goodput, which reads them."""

    model: Model
    batch: Batch = field(default_factory=Batch)
    parallel: Parallel
    compute: Compute
    bytes: Bytes = field(default_factory=Bytes)
    overlap: Overlap = field(default_factory=Overlap)
    software: Software = field(default_factory=Software)
    checkpoint: Any = None
    failures: Any = None


_SECTIONS = (
    *(("model", Model), ("batch", Batch), ("parallel", Parallel), ("compute", Compute)),
    *(("bytes", Bytes), ("overlap", Overlap), ("software", Software)),
)
JOB = InputFile(
    JobFile,
    "a training job",
    "a job has `model`, `batch`, `parallel`, `compute`, "
    "and may have `bytes`, `overlap`, `software`, `checkpoint` and `failures`",
    CODE,
)


@dataclass(frozen=True)
class JobText:
    """A JOB file that was read: its text travels to other processes and machines."""

    name: str
    text: str

    @classmethod
    def of(cls, source: Path | JobText) -> JobText:
        """Of a path, read now. Raises InputError."""
        return source if isinstance(source, JobText) else cls(str(source), JOB.read_text(source))

    def with_values(self, values: Mapping[str, Node]) -> JobText:
        """The file with other values of dotted keys. Raises InputError where its text is no mapping."""
        return JobText(self.name, yaml.dump(with_values(tree(self.text, self.name), values).plain(), head=""))


def read(path: Path, gpus: int | None = None, shown: str | None = None) -> TrainingJob:
    """A JOB file. `gpus` of the job: `data` may then be left out. Raises InputError with every mistake of the file."""
    return read_yaml(JOB.read_text(path, shown), shown or str(path), gpus)


def read_yaml(text: str, name: str, gpus: int | None = None) -> TrainingJob:
    """As `read`, from a text."""
    return of_node(tree(text, name), name, gpus)


def tree(text: str, name: str) -> Node:
    """The YAML tree of a JOB file. Raises InputError where the text is no mapping."""
    return JOB.parse(text, name).root


def with_values(root: Node, values: Mapping[str, Node]) -> Node:
    """The tree with other values of dotted keys, such as `parallel.tensor`; each stands where its value was written.

    `batch.sequences` and `batch.micro_batches` exclude each other, so one takes the place of the other.
    """
    for dotted, value in values.items():
        section, _, key = dotted.partition(".")
        inner = dict(root.items) if isinstance(root.items, dict) else {}
        home = inner.get(section) or Node(line=value.line, column=value.column, items={})
        items = dict(home.items) if isinstance(home.items, dict) else {}
        items.pop({"sequences": "micro_batches", "micro_batches": "sequences"}.get(key, ""), None)
        place = (value.line, value.column)
        inner[section] = replace(home, items={**items, key: value}, keys={**home.keys, key: place})
        root = replace(root, items=inner, keys={**root.keys, section: root.keys.get(section, place)})
    return root


def all_keys() -> tuple[str, ...]:
    """Every dotted key of a JOB file."""
    return tuple(f"{section}.{key.name}" for section, kind in _SECTIONS for key in fields(kind))


def gpus_per_domain(root: Node, name: str) -> int | None:
    """GPUs of each NVLink domain that a job uses; None where it does not say so."""
    node = Source(name, root).at(("parallel", "gpus_per_domain"))
    return node.value if node is not None and isinstance(node.value, int) and node.value > 0 else None


def of_node(root: Node, name: str, gpus: int | None = None) -> TrainingJob:
    """As `read`, from a tree."""
    text = Reading(JOB, name, root)
    file = text.model()
    job = _job(file, text, gpus) if file is not None else None
    if job is not None and not text.report.errors:
        for key, message, hint in check(job, gpus):
            text.error(tuple(key.split(".")), message, hint)
    return text.checked(job)


def _job(file: JobFile, text: Reading[JobFile], gpus: int | None) -> TrainingJob:
    """The job of a file, with the values that follow from others."""
    data = text.written
    stated = frozenset(f"{section}.{key}" for section, _ in _SECTIONS for key in data.get(section, ()))
    model, parallel, batch, sizes = file.model, file.parallel, file.batch, file.bytes
    if model.experts and "model.moe_layers" not in stated:
        model = replace(model, moe_layers=model.layers)
    if "parallel.data" not in stated:
        if gpus is None:
            text.error(("parallel", "data"), "missing key", "number of replicas of the model")
        held = parallel.tensor * parallel.context * parallel.pipeline
        parallel = replace(parallel, data=max(1, gpus // held) if gpus else 1)
    if {"batch.sequences", "batch.micro_batches"} <= stated:
        text.error(("batch", "sequences"), "expected one of sequences and micro_batches, got both", "remove one of the two")
    if batch.sequences:
        each = parallel.data * batch.micro_batch
        if gpus in (None, parallel.gpus) and batch.sequences % each:  # else `check` reports the ranks first
            message = f"expected a multiple of data x micro_batch, {each}, got {batch.sequences}"
            text.error(("batch", "sequences"), message, "change `data`, `micro_batch` or `sequences`")
        batch = replace(batch, micro_batches=micro_batches_of(batch.sequences, parallel.data, batch.micro_batch))
    if ("compute.ms" in stated) == ("compute.tflops_per_gpu" in stated):
        got = "got both" if "compute.ms" in stated else "got neither"
        choices = nearest("", ("ms", "tflops_per_gpu"))
        text.error(("compute", "ms"), f"expected one of ms and tflops_per_gpu, {got}", choices)
    as_activation = {key: sizes.activation for key in ("dispatch", "combine") if f"bytes.{key}" not in stated}
    return TrainingJob(
        model=model,
        batch=batch,
        parallel=parallel,
        bytes=replace(sizes, **as_activation),
        compute=file.compute,
        software=file.software,
        overlap={key: share for key, share in vars(file.overlap).items() if share is not None},
        stated=stated,
    )
