"""A training step from a YAML file; every mistake with its place. docs/training.md names the keys."""

from __future__ import annotations

from pathlib import Path

from fabric.diagnostics import Place, Report, nearest
from fabric.solver import Fields, parse, read_text
from fabric.solver.training.step import CODE, OVERLAPS, SHARDINGS, Sharding, Step, check

WHAT = "a training step"
_SHAPE = "a step has `model`, `batch`, `parallel`, `compute`, and may have `bytes` and `overlap`"
_MODEL = ("parameters", "layers", "hidden", "sequence", "expert_parameters", "experts", "top_k", "moe_layers")
_BATCH = ("micro_batch", "micro_batches")
_PARALLEL = ("data", "tensor", "pipeline", "expert", "interleave", "sequence_parallel", "sharding")
_BYTES = ("gradient", "parameter", "activation")
_COMPUTE = ("ms", "tflops_per_gpu", "utilisation")
_SECTIONS = {
    "model": _MODEL,
    "batch": _BATCH,
    "parallel": _PARALLEL,
    "compute": _COMPUTE,
    "bytes": _BYTES,
    "overlap": OVERLAPS,
}
_MOST = 1_000_000


def read(path: Path, gpus: int | None = None, shown: str | None = None) -> Step:
    """A step file. `gpus` of the job: `data` may then be left out. Raises InputError with every mistake of the file."""
    return read_yaml(read_text(path, WHAT, shown), shown or str(path), gpus)


def read_yaml(text: str, name: str, gpus: int | None = None) -> Step:
    """As `read`, from a text."""
    report = Report()
    top = Fields(parse(text, name, WHAT, _SHAPE), name, report, CODE)
    top.refuse_unknown(tuple(_SECTIONS))
    for key in ("model", "parallel", "compute"):
        if key not in top:
            top.missing(key, _SHAPE)
    sections = {key: _section(top, key, known) for key, known in _SECTIONS.items()}
    report.raise_errors()
    step = _step(sections, gpus)
    report.raise_errors()
    for key, message, hint in check(step, gpus):
        report.error(CODE, _place(sections, key, name), f"{key}: {message}", hint)
    report.raise_errors()
    return step


def _section(top: Fields, key: str, known: tuple[str, ...]) -> Fields:
    """A part of the file, an empty one where it is not written."""
    found = top.section(key) or Fields(parse("{}", top.file, WHAT, _SHAPE), top.file, top.report, CODE, key)
    found.refuse_unknown(known)
    return found


def _step(sections: dict[str, Fields], gpus: int | None) -> Step:
    model, batch, parallel, sizes = (sections[key] for key in ("model", "batch", "parallel", "bytes"))
    compute, overlap = sections["compute"], sections["overlap"]
    for key in ("parameters", "layers", "hidden", "sequence"):
        if key not in model:
            model.missing(key, f"a model has {', '.join(_MODEL[:4])}")
    if gpus is None and "data" not in parallel:
        parallel.missing("data", "how many replicas of the model train together")
    if ("ms" in compute) == ("tflops_per_gpu" in compute):
        got = "got both" if "ms" in compute else "got neither"
        compute.error("ms", f"expected one of ms and tflops_per_gpu, {got}", nearest("", _COMPUTE))
    layers = model.whole("layers", 1, 1, 100_000)
    experts = model.whole("experts", 0, 0, 100_000)
    tensor = parallel.whole("tensor", 1, 1, _MOST)
    pipeline = parallel.whole("pipeline", 1, 1, _MOST)
    replicas = max(1, gpus // (tensor * pipeline)) if gpus else 1
    word = parallel.choice("sharding", SHARDINGS, "none")
    sharding: Sharding = next(item for item in SHARDINGS if item == word)
    return Step(
        parameters=model.number("parameters", 1, 1, 1e18),
        layers=layers,
        hidden=model.whole("hidden", 1, 1, 10_000_000),
        sequence=model.whole("sequence", 1, 1, 1_000_000_000),
        micro_batch=batch.whole("micro_batch", 1, 1, _MOST),
        micro_batches=batch.whole("micro_batches", 1, 1, _MOST),
        data=parallel.whole("data", replicas, 1, _MOST),
        tensor=tensor,
        pipeline=pipeline,
        expert=parallel.whole("expert", 1, 1, _MOST),
        interleave=parallel.whole("interleave", 1, 1, 1000),
        sequence_parallel=parallel.flag("sequence_parallel", False),
        sharding=sharding,
        expert_parameters=model.number("expert_parameters", 0, 0, 1e18),
        experts=experts,
        top_k=model.whole("top_k", 1, 1, 100_000),
        moe_layers=model.whole("moe_layers", layers if experts else 0, 0, 100_000),
        gradient_bytes=sizes.number("gradient", 2, 0.125, 16),
        parameter_bytes=sizes.number("parameter", 2, 0.125, 16),
        activation_bytes=sizes.number("activation", 2, 0.125, 16),
        compute_ms=compute.number("ms", 0, 1e-6, 1e9),
        tflops_per_gpu=compute.number("tflops_per_gpu", 0, 1e-3, 1e6),
        utilisation=compute.number("utilisation", 0.5, 1e-3, 1),
        overlap={key: overlap.number(key, 0, 0, 1) for key in OVERLAPS},
    )


def _place(sections: dict[str, Fields], key: str, name: str) -> Place:
    """Where a key of a step stands; the section that it would stand in, or the file."""
    if key in sections:
        return sections[key].place()
    home = next((section for section in sections.values() if key in section), None)
    return home.place(key) if home is not None else Place(name, 1, 1)
