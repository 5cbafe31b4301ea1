"""What a checkpoint costs: its size, the time to write and read it, and the interval between two."""

from __future__ import annotations

from dataclasses import dataclass

from fabric.solver.goodput.sections import WRITERS, Checkpoint
from fabric.solver.training.job import TrainingJob
from fabric.solver.training.memory import STATE_BYTES


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """Bytes and times of a checkpoint, in GB and seconds."""

    size_GB: float
    read_GB: float
    write_s: float
    stall_s: float  # of the job
    read_s: float
    local_read_s: float  # from the disks of the servers; 0 without local disks

    @property
    def least_interval_s(self) -> float:
        """One is written before the next begins."""
        return max(self.write_s - self.stall_s, 0.0)


@dataclass(frozen=True, kw_only=True)
class Saving:
    """A checkpoint, in seconds and GB."""

    size_GB: float
    write_s: float
    stall_s: float  # of the job
    restart_s: float  # from the failure to the first new step: the sum of the next four, in the mean over the failures
    detection_s: float
    start_s: float
    load_s: float
    repeated_s: float  # steps since the checkpoint before the last one, which was not whole yet
    interval_s: float  # of useful time
    best_s: float
    young_s: float
    daly_s: float
    curve: tuple[tuple[float, float], ...]  # (interval, useful share)


def sizes(job: TrainingJob, checkpoint: Checkpoint, server_gpus: int) -> Sizes:
    """Of one checkpoint of a job on servers of `server_gpus` GPUs; the rates are known."""
    parameter = job.bytes.parameter
    per_parameter = checkpoint.bytes_per_parameter or parameter + STATE_BYTES
    count = job.model.parameters / 1e9
    size_GB = count * per_parameter
    read_GB = size_GB + (_further_copies(job) * min(parameter, per_parameter) if checkpoint.read_replicas else 0.0)
    write_s = size_GB / checkpoint.write_GBps
    servers = len(writers(job, checkpoint.writers, server_gpus))
    local_s = size_GB / (checkpoint.local_GBps_per_server * servers) if checkpoint.local_GBps_per_server else 0.0
    stall_s = local_s or write_s
    if checkpoint.asynchronous:
        stall_s = size_GB / (checkpoint.copy_GBps_per_gpu * job.gpus)
    read_s = read_GB / checkpoint.read_GBps
    return Sizes(size_GB=size_GB, read_GB=read_GB, write_s=write_s, stall_s=stall_s, read_s=read_s, local_read_s=local_s)


def _further_copies(job: TrainingJob) -> float:
    """10⁹ parameters that replicas read beside the first one: none where they are sharded. Experts have fewer replicas."""
    if job.parallel.sharding == "full":
        return 0.0
    model, parallel = job.model, job.parallel
    dense = model.parameters - model.expert_parameters
    return (dense * (parallel.data - 1) + model.expert_parameters * (parallel.data / parallel.expert - 1)) / 1e9


def writers(job: TrainingJob, who: str, server_gpus: int) -> list[int]:
    """Servers that write, by number within the job: all, or those of the first replica of the model.

    Ranks are laid out tensor, context, data, pipeline from the innermost, so a replica has the first tensor x context GPUs of
    each pipeline stage.
    """
    each = max(1, server_gpus)
    if who == WRITERS[0]:
        return list(range(-(-job.gpus // each)))
    held = job.parallel.tensor * job.parallel.context
    stages = range(0, job.gpus, held * job.parallel.data)
    return sorted({(start + gpu) // each for start in stages for gpu in range(held)})
