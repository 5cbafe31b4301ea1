"""The sections `checkpoint` and `failures` of a JOB file, and failure rates of parts. docs/goodput.md names the keys."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np

from fabric.base.diagnostics import Place
from fabric.base.formats import yaml
from fabric.base.inputs import LOWER, InputFile, OpenSection, Reading, Section, Within, means, plain_schema
from fabric.base.source import Node
from fabric.solver import Floats
from fabric.solver.goodput.storage import StorageRequest
from fabric.solver.training.file import JOB
from fabric.solver.training.job import CODE

# --- failure rates of parts, as data with their sources -------------------------------------------------------

DATA = Path(__file__).parent / "data" / "rates.yaml"
HOURS_PER_YEAR = 8766.0
DAYS_PER_YEAR = HOURS_PER_YEAR / 24
STATED = "stated in JOB"


@dataclass(frozen=True)
class Rate:
    """Failures of one part in a year, with the range of the published values."""

    title: str
    low: float
    typical: float
    high: float
    source: str

    def at(self, quantile: Floats) -> Floats:
        """Rates by quantile: half of them between low and typical, half between typical and high, each half uniform."""
        return np.interp(quantile, [0.0, 0.5, 1.0], [self.low, self.typical, self.high])


@cache
def rates() -> dict[str, Rate]:
    """Rates of all kinds of parts."""
    return {kind: Rate(**entry) for kind, entry in yaml.read(DATA).items()}


def stated(title: str, per_year: float) -> Rate:
    """A rate without a range."""
    return Rate(title, per_year, per_year, per_year, STATED)


# --- sections of a JOB file -----------------------------------------------------------------------------------

WRITERS = ("all", "replica")
_OF_PLAN = ("fabric", "targets", "jobs", "system_write_GBps", "system_read_GBps")  # of the storage of the plan


@dataclass(frozen=True, kw_only=True)
class Checkpoint(StorageRequest):
    """How a job saves its state. Rates in GB/s of the whole job unless the name says otherwise."""

    write_GBps: Annotated[float, Within(1e-3, 1e6, "write rate of the whole job; default: by the plan's storage fabric")] = 0
    read_GBps: Annotated[float, Within(1e-3, 1e6, "read rate of the whole job; default: write_GBps")] = 0
    bytes_per_parameter: Annotated[
        float,
        Within(0.125, 64, "bytes of a checkpoint per parameter; default: parameters, FP32 copies and the moments of Adam"),
    ] = 0
    interval_s: Annotated[float, Within(1, 1e7, "useful time between two checkpoints; default: the best")] = 0
    asynchronous: Annotated[bool, means("the job continues once its state is copied to host memory")] = False
    copy_GBps_per_gpu: Annotated[float, Within(1e-3, 1e4, "copy rate from a GPU to host memory, if asynchronous")] = 0
    local_GBps_per_server: Annotated[
        float, Within(1e-3, 1e4, "write rate of the disks of a server: the job continues once its state is on them")
    ] = 0
    writers: Annotated[
        Literal["all", "replica"], LOWER, means("servers that write: all of the job, or those of one replica of the model")
    ] = "all"
    read_replicas: Annotated[bool, means("true: every replica reads its own copy; false: one reads and forwards it")] = False

    @property
    def background(self) -> bool:
        """Whether the job runs on while its state is written."""
        return self.asynchronous or self.local_GBps_per_server > 0


def _rate(part: str) -> Any:
    return Within(0, 1e4, f"failures of {part} per year; default: a published rate")


@dataclass(frozen=True, kw_only=True)
class Failures(Section):
    """How a job comes back, and failures of parts per year."""

    # MegaScale, NSDI'24: detected in under 10 min, caught up in under 15 min
    detection_s: Annotated[float, Within(0, 1e7, "time from a failure to the decision to restart")] = 600.0
    restart_s: Annotated[float, Within(0, 1e7, "time of scheduling, start and warm-up, without reading the checkpoint")] = (
        900.0
    )
    repair_hours: Annotated[float, Within(0, 1e5, "repair time of a link or switch")] = 24.0
    spare_servers: Annotated[
        int | None,
        Within(0, 10_000, "servers that replace failed ones during their repair; default: one is always available"),
    ] = None
    server_repair_hours: Annotated[float, Within(0, 1e5, "mean repair time of a server with its GPUs and NICs")] = 24.0
    hot_standby_servers: Annotated[int, Within(0, 10_000, "running spares, in addition to `spare_servers`")] = 0
    standby_restart_s: Annotated[float, Within(0, 1e7, "restart time with a hot standby, in place of restart_s")] = 0
    power_domain_servers: Annotated[
        int, Within(1, 1_000_000, "servers on one power distribution unit; default: no such failures")
    ] = 0
    power_hours: Annotated[float, Within(0, 1e5, "time until power is back")] = 6.0  # Dean, Google I/O 2008
    cooling_domain_servers: Annotated[int, Within(1, 1_000_000, "servers in one cooling zone; default: no such failures")] = 0
    cooling_hours: Annotated[float, Within(0, 1e5, "time until cooling is back")] = 36.0  # the same: 1 to 2 days
    per_1000_node_days: Annotated[float, Within(1e-6, 1e6, "failures of servers with GPUs and NICs; default: by part")] = 0
    gpu_per_year: Annotated[float | None, _rate("a GPU")] = None
    server_per_year: Annotated[float | None, _rate("a server without GPUs and NICs")] = None
    nic_per_year: Annotated[float | None, _rate("a NIC")] = None
    copper_per_year: Annotated[float | None, _rate("a copper cable")] = None
    optical_per_year: Annotated[float | None, _rate("an optical cable with its modules")] = None
    switch_per_year: Annotated[float | None, _rate("a switch")] = None
    power_per_year: Annotated[float | None, _rate("one power distribution unit")] = None
    cooling_per_year: Annotated[float | None, _rate("one cooling zone")] = None

    @property
    def per_year(self) -> dict[str, float]:
        """Stated rates by kind of part."""
        return {kind: float(rate) for kind in rates() if (rate := getattr(self, f"{kind}_per_year")) is not None}

    @property
    def spares(self) -> int | None:
        """Servers that take the place of failed ones, hot standby included; None: one is always left."""
        if self.spare_servers is None and not self.hot_standby_servers:
            return None
        return (self.spare_servers or 0) + self.hot_standby_servers


@dataclass(frozen=True)
class Sections:
    """Both sections."""

    checkpoint: Checkpoint
    failures: Failures
    place: Place = field(default_factory=lambda: Place("job"))  # of the section `checkpoint`


@dataclass(frozen=True, kw_only=True)
class _File(OpenSection):
    checkpoint: Checkpoint
    failures: Failures = Failures()


FILE = InputFile(
    _File,
    JOB.what,
    "write `checkpoint: {}` for the storage of the plan, or `checkpoint: {write_GBps: 100}`, its rate for the whole job",
    CODE,
)


def read(root: Node, name: str) -> Sections:
    """The sections of a JOB file. Raises InputError with every mistake in them."""
    text = Reading(FILE, name, root)
    file = text.model()
    if file is not None:
        _check_checkpoint(file.checkpoint, text)
        _check_failures(text)
    file = text.checked(file)
    read_GBps = file.checkpoint.read_GBps or file.checkpoint.write_GBps
    return Sections(replace(file.checkpoint, read_GBps=read_GBps), file.failures, text.place(("checkpoint",)))


def _check_checkpoint(checkpoint: Checkpoint, text: Reading[_File]) -> None:
    stated = text.written["checkpoint"]

    def wrong(key: str, message: str, hint: str) -> None:
        text.error(("checkpoint", key), message, hint)

    if checkpoint.asynchronous and "copy_GBps_per_gpu" not in stated:
        hint = "an asynchronous checkpoint stops the job while a GPU copies its state to the host"
        wrong("copy_GBps_per_gpu", "missing key", hint)
    if checkpoint.asynchronous and "local_GBps_per_server" in stated:
        hint = "the job waits for host memory or for local disks: remove one of the two"
        wrong("local_GBps_per_server", "expected one of this and asynchronous, got both", hint)
    if "write_GBps" in stated:
        for key in [key for key in _OF_PLAN if key in stated]:
            wrong(key, "expected one of this and write_GBps, got both", "remove one of the two")
    elif "read_GBps" in stated:
        wrong("write_GBps", "missing key", "state both rates, or none for the storage of the plan")


def _check_failures(text: Reading[_File]) -> None:
    stated = text.written.get("failures", {})

    def missing(key: str, hint: str) -> None:
        text.error(("failures", key), "missing key", hint)

    if "per_1000_node_days" in stated:
        for key in sorted({"gpu_per_year", "server_per_year", "nic_per_year"} & {*stated}):
            message = "expected one of this and per_1000_node_days, got both"
            text.error(("failures", key), message, "remove one of the two")
    if "server_repair_hours" in stated and not {"spare_servers", "hot_standby_servers"} & {*stated}:
        missing("spare_servers", "`spare_servers: 2`: servers that take the place of failed ones during their repair")
    if "hot_standby_servers" in stated and "standby_restart_s" not in stated:
        hint = "time to start and warm up on servers that already run: measure it, or state `restart_s` of the job"
        missing("standby_restart_s", hint)
    for kind in ("power", "cooling"):
        for key in (f"{kind}_hours", f"{kind}_per_year"):
            if key in stated and f"{kind}_domain_servers" not in stated:
                missing(f"{kind}_domain_servers", f"state how many servers one {kind} failure takes down")


def schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of a whole JOB file."""
    whole = plain_schema(JOB.schema, JOB.schema)
    whole["properties"] |= plain_schema(FILE.schema, FILE.schema)["properties"]
    whole["properties"]["compute"]["oneOf"] = [{"required": ["ms"]}, {"required": ["tflops_per_gpu"]}]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:fabricwright:job:1",
        "title": "JOB file of `fabric step`, version 1",
        **{key: whole[key] for key in ("type", "properties", "required", "additionalProperties")},
    }
