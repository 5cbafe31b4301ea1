"""The sections `checkpoint` and `failures` of a JOB file, and failure rates of parts. docs/goodput.md names the keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np

from fabric.base.diagnostics import Place, Report, show
from fabric.base.formats import yaml
from fabric.base.source import Node
from fabric.solver import Fields, Floats
from fabric.solver.goodput.storage import StorageRequest
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

KEYS: dict[str, tuple[str, ...]] = {
    "checkpoint": (
        *("write_GBps", "read_GBps", "fabric", "targets", "jobs", "system_write_GBps", "system_read_GBps"),
        *("bytes_per_parameter", "writers", "read_replicas", "interval_s"),
        *("asynchronous", "copy_GBps_per_gpu", "local_GBps_per_server"),
    ),
    "failures": (
        "detection_s",
        "restart_s",
        "repair_hours",
        "spare_servers",
        "server_repair_hours",
        "hot_standby_servers",
        "standby_restart_s",
        *("power_domain_servers", "power_hours", "cooling_domain_servers", "cooling_hours"),
        "per_1000_node_days",
        *(f"{kind}_per_year" for kind in rates()),
    ),
}
WRITERS = ("all", "replica")
_OF_PLAN = ("fabric", "targets", "jobs", "system_write_GBps", "system_read_GBps")  # of the storage of the plan
_EXAMPLE = (
    "write `checkpoint: {}` for the storage of the plan, or `checkpoint: {write_GBps: 100}`, its rate for the whole job"
)


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """How a job saves its state. Rates in GB/s of the whole job unless the name says otherwise."""

    write_GBps: float = 0.0  # 0: that of the storage of the plan
    read_GBps: float = 0.0
    bytes_per_parameter: float = 0.0  # 0: parameters, FP32 copies and moments as `bytes.parameter` and Adam have them
    interval_s: float = 0.0  # of useful time between two checkpoints; 0: the best
    asynchronous: bool = False  # the job goes on once its state is copied to host memory
    copy_GBps_per_gpu: float = 0.0
    local_GBps_per_server: float = 0.0  # the job goes on once its state is on disks of its servers; 0: no such stage
    writers: str = WRITERS[0]  # servers that write: all of the job, or those of one replica of the model
    read_replicas: bool = False  # every replica reads its own copy; else one reads, and passes it on
    storage: StorageRequest = field(default_factory=StorageRequest)

    @property
    def background(self) -> bool:
        """Whether the job runs on while its state is written."""
        return self.asynchronous or self.local_GBps_per_server > 0


@dataclass(frozen=True, kw_only=True)
class Failures:
    """How a job comes back."""

    detection_s: float = 600.0  # MegaScale, NSDI'24: under 10 min
    restart_s: float = 900.0  # the same: caught up in under 15 min
    repair_hours: float = 24.0  # of a link or switch
    spare_servers: int | None = None  # beyond those of the job; None: one is always left
    server_repair_hours: float = 24.0
    hot_standby_servers: int = 0  # spares that run and wait: they take over in `standby_restart_s`
    standby_restart_s: float = 0.0
    power_domain_servers: int = 0  # servers on one power distribution unit; 0: its failures are left out
    power_hours: float = 6.0  # until power is back: Dean, Google I/O 2008
    cooling_domain_servers: int = 0  # servers in one cooling zone; 0: likewise
    cooling_hours: float = 36.0  # the same: 1 to 2 days
    per_1000_node_days: float = 0.0  # of a whole server with its GPUs and NICs; 0: by part
    per_year: Mapping[str, float] = field(default_factory=dict)  # stated rates by kind of part

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


def read(root: Node, name: str) -> Sections:
    """The sections of a JOB file. Raises InputError with every mistake in them."""
    report = Report()
    top = Fields(root, name, report, CODE)
    if "checkpoint" not in top:
        top.missing("checkpoint", _EXAMPLE)
    by_key = {key: top.section(key) for key in KEYS}
    for key, section in by_key.items():
        if section:
            section.refuse_unknown(KEYS[key])
    checkpoint, failures = by_key["checkpoint"], by_key["failures"]
    sections = Sections(
        _checkpoint(checkpoint) if checkpoint else Checkpoint(write_GBps=1, read_GBps=1),
        _failures(failures) if failures else Failures(),
        top.place("checkpoint"),
    )
    report.raise_errors()
    return sections


def _checkpoint(fields: Fields) -> Checkpoint:
    write = fields.number("write_GBps", 0, 1e-3, 1e6)
    asynchronous = fields.flag("asynchronous", False)
    if asynchronous and "copy_GBps_per_gpu" not in fields:
        fields.missing(
            "copy_GBps_per_gpu", "an asynchronous checkpoint stops the job while a GPU copies its state to the host"
        )
    if asynchronous and "local_GBps_per_server" in fields:
        message = "expected one of this and asynchronous, got both"
        fields.error(
            "local_GBps_per_server", message, "the job waits for host memory or for local disks: remove one of the two"
        )
    if "write_GBps" in fields:
        for key in [key for key in _OF_PLAN if key in fields]:
            fields.error(key, "expected one of this and write_GBps, got both", "remove one of the two")
    elif "read_GBps" in fields:
        fields.missing("write_GBps", "state both rates, or none for the storage of the plan")
    return Checkpoint(
        write_GBps=write,
        read_GBps=fields.number("read_GBps", write, 1e-3, 1e6),
        bytes_per_parameter=fields.number("bytes_per_parameter", 0, 0.125, 64),
        interval_s=fields.number("interval_s", 0, 1, 1e7),
        asynchronous=asynchronous,
        copy_GBps_per_gpu=fields.number("copy_GBps_per_gpu", 0, 1e-3, 1e4),
        local_GBps_per_server=fields.number("local_GBps_per_server", 0, 1e-3, 1e4),
        writers=fields.choice("writers", WRITERS, WRITERS[0]),
        read_replicas=fields.flag("read_replicas", False),
        storage=StorageRequest(
            fabric=fields.text("fabric"),
            targets=_names(fields, "targets"),
            jobs=fields.whole("jobs", 1, 1, 10_000),
            system_write_GBps=fields.number("system_write_GBps", 0, 1e-3, 1e6),
            system_read_GBps=fields.number("system_read_GBps", 0, 1e-3, 1e6),
        ),
    )


def _names(fields: Fields, key: str) -> tuple[str, ...]:
    value = fields.value(key)
    names = value if isinstance(value, list) else [] if value is None else [value]
    if not all(isinstance(name, str) for name in names):
        fields.error(key, f"expected names, got {show(value)}", "write `targets: [nas, storage-0001]`")
        return ()
    return tuple(names)


def _failures(fields: Fields) -> Failures:
    stated_kinds = [kind for kind in rates() if f"{kind}_per_year" in fields]
    if "per_1000_node_days" in fields:
        for kind in {"gpu", "server", "nic"} & {*stated_kinds}:
            fields.error(f"{kind}_per_year", "expected one of this and per_1000_node_days, got both", "remove one of the two")
    if "server_repair_hours" in fields and not {"spare_servers", "hot_standby_servers"} & {*fields}:
        fields.missing("spare_servers", "`spare_servers: 2`: servers that take the place of failed ones during their repair")
    if "hot_standby_servers" in fields and "standby_restart_s" not in fields:
        hint = "time to start and warm up on servers that already run: measure it, or state `restart_s` of the job"
        fields.missing("standby_restart_s", hint)
    for kind in ("power", "cooling"):
        for key in (f"{kind}_hours", f"{kind}_per_year"):
            if key in fields and f"{kind}_domain_servers" not in fields:
                fields.missing(f"{kind}_domain_servers", f"state how many servers one {kind} failure takes down")
    return Failures(
        detection_s=fields.number("detection_s", Failures.detection_s, 0, 1e7),
        restart_s=fields.number("restart_s", Failures.restart_s, 0, 1e7),
        repair_hours=fields.number("repair_hours", Failures.repair_hours, 0, 1e5),
        spare_servers=fields.whole("spare_servers", 0, 0, 10_000) if "spare_servers" in fields else None,
        server_repair_hours=fields.number("server_repair_hours", Failures.server_repair_hours, 0, 1e5),
        hot_standby_servers=fields.whole("hot_standby_servers", 0, 0, 10_000),
        standby_restart_s=fields.number("standby_restart_s", 0, 0, 1e7),
        power_domain_servers=fields.whole("power_domain_servers", 0, 1, 1_000_000),
        power_hours=fields.number("power_hours", Failures.power_hours, 0, 1e5),
        cooling_domain_servers=fields.whole("cooling_domain_servers", 0, 1, 1_000_000),
        cooling_hours=fields.number("cooling_hours", Failures.cooling_hours, 0, 1e5),
        per_1000_node_days=fields.number("per_1000_node_days", 0, 1e-6, 1e6),
        per_year={kind: float(fields.number(f"{kind}_per_year", 0, 0, 1e4)) for kind in stated_kinds},
    )
