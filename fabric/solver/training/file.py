"""A JOB file in YAML; every mistake with its place. docs/training.md names the keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from fabric.base.diagnostics import Place, Report, nearest, show
from fabric.base.source import Node
from fabric.solver import Fields, parse, read_text
from fabric.solver.collectives.physics import gpu_names
from fabric.solver.training.checks import check
from fabric.solver.training.job import (
    CODE,
    CUDA_GRAPHS,
    ORDERS,
    OVERLAP_WORDS,
    OVERLAPS,
    RECOMPUTE_PARTS,
    RECOMPUTES,
    SCHEDULES,
    SHARDINGS,
    VARIATION,
    Batch,
    Bytes,
    Compute,
    Model,
    Parallel,
    Recompute,
    Software,
    TrainingJob,
    micro_batches_of,
)
from fabric.solver.training.traffic import RELEASE

WHAT = "a training job"
_SHAPE = (
    "a job has `model`, `batch`, `parallel`, `compute`, "
    "and may have `bytes`, `overlap`, `software`, `checkpoint` and `failures`"
)
_SECTIONS: dict[str, tuple[str, ...]] = {
    "model": (
        *("parameters", "layers", "hidden", "sequence", "heads", "kv_heads", "head_dim", "vocabulary", "tied_embeddings"),
        *("expert_parameters", "experts", "top_k", "moe_layers", "expert_domains", "dropout"),
    ),
    "batch": ("micro_batch", "micro_batches", "sequences"),
    "parallel": (
        *("data", "tensor", "context", "pipeline", "expert", "interleave", "stages", "schedule", "order"),
        *("sequence_parallel", "sharding", "deduplicate", "gpus_per_domain"),
    ),
    "compute": (
        *("ms", "tflops_per_gpu", "attention_tflops_per_gpu", "utilisation", "measured_on", "recompute"),
        *("fused_attention", "variation", "memory_GBps", "memory_GB", "overhead_ms"),
    ),
    "bytes": ("gradient", "parameter", "activation", "dispatch", "combine", "saved"),
    "overlap": OVERLAPS,
    "software": ("nccl", "cuda_graph"),
}
BESIDE = ("checkpoint", "failures")  # sections of goodput, which reads them
_NEEDED = ("parameters", "layers", "hidden", "sequence")
_MAX_COUNT = 1_000_000
Word = TypeVar("Word", bound=str)


@dataclass(frozen=True)
class JobText:
    """A JOB file that was read: its text travels to other processes and machines."""

    name: str
    text: str

    @classmethod
    def of(cls, source: Path | JobText) -> JobText:
        """Of a path, read now. Raises InputError."""
        return source if isinstance(source, JobText) else cls(str(source), read_text(source, WHAT))


def read(path: Path, gpus: int | None = None, shown: str | None = None) -> TrainingJob:
    """A JOB file. `gpus` of the job: `data` may then be left out. Raises InputError with every mistake of the file."""
    return read_yaml(read_text(path, WHAT, shown), shown or str(path), gpus)


def read_yaml(text: str, name: str, gpus: int | None = None) -> TrainingJob:
    """As `read`, from a text."""
    return of_node(tree(text, name), name, gpus)


def tree(text: str, name: str) -> Node:
    """The YAML tree of a JOB file. Raises InputError where the text is no mapping."""
    return parse(text, name, WHAT, _SHAPE)


def of_node(root: Node, name: str, gpus: int | None = None) -> TrainingJob:
    """As `read`, from a tree."""
    report = Report()
    job = of_fields(Fields(root, name, report, CODE), gpus)
    report.raise_errors()
    return job


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
    return tuple(f"{section}.{key}" for section, names in _SECTIONS.items() for key in names)


def gpus_per_domain(root: Node, name: str) -> int | None:
    """GPUs of each NVLink domain that a job uses; None where it does not say so."""
    section = Fields(root, name, Report(), CODE).section("parallel")
    return section.whole("gpus_per_domain", 0, 1, _MAX_COUNT) or None if section else None


def of_fields(top: Fields, gpus: int | None) -> TrainingJob:
    """The job of a mapping; mistakes go to its report."""
    top.refuse_unknown((*_SECTIONS, *BESIDE))
    missing = [key for key in ("model", "parallel", "compute") if key not in top]
    for key in missing:
        top.missing(key, _SHAPE)
    sections = {key: _section(top, key, section_keys) for key, section_keys in _SECTIONS.items()}
    if missing:
        return TrainingJob(model=Model(parameters=1, layers=1, hidden=1, sequence=1))
    before = len(top.report.errors)
    job = _job(sections, gpus)
    if before == len(top.report.errors):
        for key, message, hint in check(job, gpus):
            top.report.error(CODE, _place(sections, key), f"{key}: {message}", hint)
    return job


def _section(top: Fields, key: str, known: tuple[str, ...]) -> Fields:
    """A part of the file, an empty one where it is not written."""
    fields = top.section(key) or Fields(parse("{}", top.file, WHAT, _SHAPE), top.file, top.report, CODE, key)
    fields.refuse_unknown(known)
    return fields


def _job(sections: dict[str, Fields], gpus: int | None) -> TrainingJob:
    parallel = _parallel(sections["parallel"], gpus)
    overlap = sections["overlap"]
    return TrainingJob(
        model=_model(sections["model"]),
        batch=_batch(sections["batch"], parallel.data, gpus in (None, parallel.gpus)),
        parallel=parallel,
        bytes=_bytes(sections["bytes"]),
        compute=_compute(sections["compute"]),
        software=_software(sections["software"]),
        overlap={key: _share(overlap, key) for key in OVERLAPS if key in overlap},
        stated=frozenset(f"{name}.{key}" for name, section in sections.items() for key in section if key in section),
    )


def _model(fields: Fields) -> Model:
    for key in _NEEDED:
        if key not in fields:
            fields.missing(key, f"a model has {', '.join(_NEEDED)}")
    layers = fields.whole("layers", 1, 1, 100_000)
    experts = fields.whole("experts", 0, 0, 100_000)
    return Model(
        parameters=fields.number("parameters", 1, 1, 1e18),
        layers=layers,
        hidden=fields.whole("hidden", 1, 1, 10_000_000),
        sequence=fields.whole("sequence", 1, 1, 1_000_000_000),
        heads=fields.whole("heads", 0, 1, 1_000_000),
        kv_heads=fields.whole("kv_heads", 0, 1, 1_000_000),
        head_dim=fields.number("head_dim", 0, 1, 1_000_000),
        vocabulary=fields.whole("vocabulary", 0, 1, 1_000_000_000),
        tied_embeddings=fields.flag("tied_embeddings", False),
        expert_parameters=fields.number("expert_parameters", 0, 0, 1e18),
        experts=experts,
        top_k=fields.whole("top_k", 1, 1, 100_000),
        moe_layers=fields.whole("moe_layers", layers if experts else 0, 0, 100_000),
        expert_domains=fields.whole("expert_domains", 0, 1, _MAX_COUNT),
        dropout=fields.flag("dropout", False),
    )


def _parallel(fields: Fields, gpus: int | None) -> Parallel:
    if gpus is None and "data" not in fields:
        fields.missing("data", "number of replicas of the model")
    ranks = {key: fields.whole(key, 1, 1, _MAX_COUNT) for key in ("tensor", "context", "pipeline", "expert")}
    held = ranks["tensor"] * ranks["context"] * ranks["pipeline"]
    domain = fields.whole("gpus_per_domain", 0, 1, _MAX_COUNT)
    return Parallel(
        data=fields.whole("data", max(1, gpus // held) if gpus else 1, 1, _MAX_COUNT),
        **ranks,
        interleave=fields.whole("interleave", 1, 1, 1000),
        stages=_stages(fields),
        schedule=_word(fields, "schedule", SCHEDULES, SCHEDULES[0]),
        order=_word(fields, "order", ORDERS, ORDERS[0]),
        sequence_parallel=fields.flag("sequence_parallel", False),
        sharding=_word(fields, "sharding", SHARDINGS, "none"),
        deduplicate=fields.flag("deduplicate", False),
        gpus_per_domain=domain or None,
    )


def _word(fields: Fields, key: str, words: tuple[Word, ...], default: Word) -> Word:
    word = fields.choice(key, words, default)
    return next(item for item in words if item == word)


def _stages(fields: Fields) -> tuple[int, ...]:
    if "stages" not in fields:
        return ()
    value = fields.value("stages")
    if not isinstance(value, list) or not all(isinstance(item, int) and 0 <= item <= 100_000 for item in value):
        fields.error("stages", "expected a list of numbers of layers", "write `stages: [7, 8, 8, 7]`")
        return ()
    return tuple(value)


def _batch(fields: Fields, data: int, ranks_known: bool) -> Batch:
    """`known`: the ranks are those of the job; else `check` reports them first, as sequences divide by them."""
    micro_batch = fields.whole("micro_batch", 1, 1, _MAX_COUNT)
    if "sequences" in fields and "micro_batches" in fields:
        fields.error("sequences", "expected one of sequences and micro_batches, got both", "remove one of the two")
    sequences = fields.whole("sequences", 0, 1, 1_000_000_000)
    if sequences:
        if ranks_known and sequences % (data * micro_batch):
            got = f"expected a multiple of data x micro_batch, {data * micro_batch}, got {sequences}"
            fields.error("sequences", got, "change `data`, `micro_batch` or `sequences`")
        return Batch(micro_batch, micro_batches_of(sequences, data, micro_batch))
    return Batch(micro_batch, fields.whole("micro_batches", 1, 1, _MAX_COUNT))


def _bytes(fields: Fields) -> Bytes:
    activation = fields.number("activation", 2, 0.125, 16)
    return Bytes(
        gradient=fields.number("gradient", 2, 0.125, 16),
        parameter=fields.number("parameter", 2, 0.125, 16),
        activation=activation,
        dispatch=fields.number("dispatch", activation, 0.125, 16),
        combine=fields.number("combine", activation, 0.125, 16),
        saved=fields.number("saved", 2, 0.125, 16),
    )


def _software(fields: Fields) -> Software:
    return Software(_release(fields, "nccl"), _word(fields, "cuda_graph", CUDA_GRAPHS, CUDA_GRAPHS[0]))


def _release(fields: Fields, key: str) -> str:
    """A release of three numbers; YAML takes one of two for a number, and 2.20 for 2.2."""
    release = fields.text(key)
    if release and not RELEASE.fullmatch(release):
        fields.error(key, f"expected a release of three numbers, got {show(fields.value(key))}", "such as 2.18.5")
        return ""
    return release


def _compute(fields: Fields) -> Compute:
    if ("ms" in fields) == ("tflops_per_gpu" in fields):
        got = "got both" if "ms" in fields else "got neither"
        fields.error("ms", f"expected one of ms and tflops_per_gpu, {got}", nearest("", ("ms", "tflops_per_gpu")))
    recompute, parts = _recompute(fields)
    return Compute(
        ms=fields.number("ms", 0, 1e-6, 1e9),
        tflops_per_gpu=fields.number("tflops_per_gpu", 0, 1e-3, 1e6),
        attention_tflops_per_gpu=fields.number("attention_tflops_per_gpu", 0, 1e-3, 1e6),
        utilisation=fields.number("utilisation", 0.5, 1e-3, 1),
        measured_on=_gpu(fields, "measured_on"),
        recompute=recompute,
        parts=parts,
        fused_attention=fields.flag("fused_attention", True),
        variation=fields.number("variation", VARIATION, 0, 0.5),
        memory_GBps=fields.number("memory_GBps", 0, 0, 1e6),
        memory_GB=fields.number("memory_GB", 0, 0, 1e6),
        overhead_ms=fields.number("overhead_ms", 0, 0, 1e9),
    )


def _gpu(fields: Fields, key: str) -> str:
    """The model of a GPU, "" where it is not stated."""
    name = fields.text(key).lower()
    if name and name not in gpu_names():
        fields.error(key, f"expected the model of a GPU, got {show(fields.value(key))}", nearest(name, gpu_names()))
        return ""
    return name


def _recompute(fields: Fields) -> tuple[Recompute, tuple[str, ...]]:
    """A word, or a list of parts of a layer; the core of the attention is what `selective` names."""
    value = fields.value("recompute")
    if not isinstance(value, list):
        return _word(fields, "recompute", RECOMPUTES, "none"), ()
    wrong = next((item for item in value if item not in RECOMPUTE_PARTS), None)
    if wrong is not None or not value:
        expected = f"expected a list of {', '.join(RECOMPUTE_PARTS)}, got {'none' if not value else show(str(wrong))}"
        fields.error("recompute", expected, nearest(str(wrong), RECOMPUTE_PARTS))
        return "none", ()
    parts = tuple(part for part in RECOMPUTE_PARTS if part in value and part != "attention")
    return "selective" if "attention" in value else "none", parts


def _share(fields: Fields, key: str) -> float | str:
    if fields.value(key) == OVERLAP_WORDS.get(key, ""):
        return OVERLAP_WORDS[key]
    return fields.number(key, 0, 0, 1)


def _place(sections: dict[str, Fields], key: str) -> Place:
    """Where a dotted key stands, or the section that it would stand in."""
    section, _, name = key.partition(".")
    return sections[section].place(name)
