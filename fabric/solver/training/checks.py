"""What does not fit together in a training job, each with the key that is wrong."""

from __future__ import annotations

from fabric.solver.training.job import ORDERS, OVERLAP_WORDS, OVERLAPS, Model, TrainingJob
from fabric.solver.training.memory import memory


def check(job: TrainingJob, gpus: int | None = None) -> list[tuple[str, str, str]]:
    """(dotted key, message, hint) of everything that does not fit together; `gpus` are those of the job."""
    mistakes = _below_one(job)
    if not mistakes:
        mistakes = [*_model(job.model), *_cut(job), *_computing(job)]
        if gpus is not None and job.gpus != gpus:
            message = f"data x tensor x context x pipeline = {job.gpus} GPUs, the job has {gpus}"
            mistakes.append(("parallel.data", message, _fitting(job, gpus)))
    return mistakes


def _fitting(job: TrainingJob, gpus: int) -> str:
    """What makes the ranks fit so many GPUs: other data ranks, or a job on as many GPUs as there are ranks."""
    held = job.gpus // job.parallel.data
    ranks = gpus // held
    changes = [f"`--gpus {job.gpus}`"] if job.gpus < gpus else []
    if ranks and ranks != job.parallel.data:
        changes.append(f"data: {ranks} makes {ranks * held}")
    return ", or ".join(changes) or "use smaller groups"


def _below_one(job: TrainingJob) -> list[tuple[str, str, str]]:
    counts = {
        "model": ("layers", "hidden", "sequence", "top_k"),
        "batch": ("micro_batch", "micro_batches"),
        "parallel": ("data", "tensor", "context", "pipeline", "expert", "interleave"),
    }
    return [
        (f"{section}.{key}", f"expected at least 1, got {value}", "1: the dimension is not used")
        for section, keys in counts.items()
        for key in keys
        if (value := getattr(getattr(job, section), key)) < 1
    ]


def _model(model: Model) -> list[tuple[str, str, str]]:
    mistakes = []
    if model.parameters <= 0:
        mistakes.append(("model.parameters", f"expected more than 0, got {model.parameters:g}", "70e9 for 70 billion"))
    if model.heads and model.kv_heads and model.heads % model.kv_heads:
        message = f"expected a divisor of the {model.heads} heads, got {model.kv_heads}"
        mistakes.append(("model.kv_heads", message, ""))
    if model.experts and model.top_k > model.experts:
        mistakes.append(("model.top_k", f"expected at most the {model.experts} experts, got {model.top_k}", ""))
    if model.moe_layers > model.layers:
        mistakes.append(("model.moe_layers", f"expected at most the {model.layers} layers, got {model.moe_layers}", ""))
    if not 0 <= model.expert_parameters <= model.parameters:
        message = f"expected a part of the {model.parameters:g} parameters, got {model.expert_parameters:g}"
        mistakes.append(("model.expert_parameters", message, "`parameters` includes those of the experts"))
    return mistakes


def _cut(job: TrainingJob) -> list[tuple[str, str, str]]:
    """What the ranks of a dimension must divide."""
    model, parallel = job.model, job.parallel
    stage = parallel.tensor * parallel.context * parallel.data
    mistakes = []
    for key, whole, part, of in (
        ("model.hidden", model.hidden, parallel.tensor, "tensor"),
        ("model.sequence", model.sequence, parallel.context, "context"),
        *(
            (
                ("parallel.tensor", parallel.tensor, parallel.expert_tensor, "expert_tensor"),
                ("parallel.data", stage, parallel.expert_tensor * parallel.expert, "expert_tensor x expert"),
            )
            if parallel.expert_tensor
            else (("parallel.data", parallel.data, parallel.expert, "expert"),)
        ),
        ("model.experts", model.experts, parallel.expert, "expert"),
    ):
        if whole % part:
            hint = f"{of} divides {whole}: {divisors(whole, part)}"
            mistakes.append((key, f"expected a multiple of {of}, {part}, got {whole}", hint))
    chunks = parallel.pipeline * parallel.interleave
    if parallel.stages:
        if len(parallel.stages) not in (parallel.pipeline, chunks):
            either = f"{parallel.pipeline} (stages)" + (f" or {chunks} (chunks)" if parallel.interleave > 1 else "")
            mistakes.append(("parallel.stages", f"expected {either} numbers of layers, got {len(parallel.stages)}", ""))
        elif sum(parallel.stages) != model.layers:
            message = f"expected {model.layers} layers in all, got {sum(parallel.stages)}"
            mistakes.append(("parallel.stages", message, "change `layers` or `stages`"))
    elif model.layers < chunks:
        message = f"expected at least pipeline x interleave = {chunks}, got {model.layers}"
        mistakes.append(("model.layers", message, "use fewer stages or chunks"))
    if parallel.expert > 1 and not model.moe_layers:
        hint = "set `experts` and `moe_layers` of the model"
        mistakes.append(("parallel.expert", "expected layers with experts, got none", hint))
    if parallel.expert > 1 and parallel.order != ORDERS[0]:
        message = f"expected {ORDERS[0]} with expert above 1, got {parallel.order}"
        mistakes.append(("parallel.order", message, "experts lie inside data, which is inside pipeline then"))
    if parallel.interleave > 1 and parallel.pipeline == 1:
        message = f"expected 1 without a pipeline, got {parallel.interleave}"
        mistakes.append(("parallel.interleave", message, ""))
    if parallel.schedule != "1f1b" and parallel.interleave > 1:
        message = f"expected 1 with schedule {parallel.schedule}, got {parallel.interleave}"
        mistakes.append(("parallel.interleave", message, "chunks belong to schedule 1f1b"))
    return mistakes


def _computing(job: TrainingJob) -> list[tuple[str, str, str]]:
    compute, mistakes = job.compute, []
    if compute.ms <= 0 and (compute.tflops_per_gpu <= 0 or not 0 < compute.utilisation <= 1):
        hint = "give `ms`, or `tflops_per_gpu` and `utilisation` (0 to 1)"
        mistakes.append(("compute", "expected a compute time above 0", hint))
    states_GB, available_GB = memory(job).states_GB, memory(job).available_GB
    if available_GB and states_GB > available_GB:
        most = f"expected at most {available_GB:,.1f} GB of parameters, gradients and optimizer states per GPU"
        message = f"{most}, got {states_GB:,.1f}"
        mistakes.append(("compute.memory_GB", message, "increase tensor or pipeline, or set `sharding`"))
    for key, share in job.overlap.items():
        word = share == OVERLAP_WORDS.get(key)
        if key not in OVERLAPS or not (word or (not isinstance(share, str) and 0 <= share <= 1)):
            message = f"expected shares from 0 to 1 of {', '.join(OVERLAPS)}, got {key}: {share}"
            mistakes.append(("overlap", message, "`data: bucket` and `tensor: chunk` are valid as well"))
    return mistakes


def divisors(whole: int, near: int) -> str:
    """Divisors of a number, the three below and above `near`."""
    every = [number for number in range(1, min(whole, 100_000) + 1) if whole % number == 0]
    split = sum(number < near for number in every)
    return ", ".join(map(str, every[max(0, split - 3) : split + 3]))
