"""The acceptance tests of one fabric as records, and their file `gates.json`, which `fabric acceptance judge` reads again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Annotated

from fabric.base.diagnostics import Diagnostic, InputError, Place
from fabric.base.formats import json_text, model_of, yaml
from fabric.base.inputs import InputFile, Section, Within
from fabric.hardware.catalog.models import Record

NAME = "gates.json"
CODE = "FAB172"
VERSION = 1
MAX_GBPS = 1e6
CABLING, PERFTEST_STEP = "cabling", "perftest"  # steps without nccl-tests
PERFTEST = "ib_write_bw"


class StepText(Record):
    """What a step is for."""

    what: str
    proves: str
    fails: str
    collectives: tuple[str, ...]


@cache
def step_texts() -> dict[str, StepText]:
    """Every step by its name, in the order in which they run."""
    return {name: model_of(StepText, row) for name, row in yaml.read(Path(__file__).parent / "steps.yaml").items()}


@dataclass(frozen=True, kw_only=True)
class Gate(Section):
    """One size of a program. Bandwidth in GB/s: busbw of nccl-tests, or what a port of perftest carries."""

    bytes: Annotated[int, Within(0, 1 << 50)]
    expected_GBps: Annotated[float, Within(0, MAX_GBPS)]
    pass_GBps: Annotated[float, Within(0, MAX_GBPS)]


@dataclass(frozen=True, kw_only=True)
class Program(Section):
    """A program of nccl-tests by its collective, or ib_write_bw, with its gates by size."""

    collective: str
    gates: tuple[Gate, ...]

    def gate(self, size: int) -> Gate | None:
        """The gate of a size: of one between two gates that of the smaller; None below the first."""
        return next((gate for gate in reversed(self.gates) if gate.bytes <= size), None)


@dataclass(frozen=True, kw_only=True)
class Run(Section):
    """Servers that run the programs of their group together."""

    name: str
    servers: tuple[str, ...]
    leaves: tuple[str, ...] = ()
    gpu_ids: tuple[int, ...] = ()  # of each server, from 0; empty: all


@dataclass(frozen=True, kw_only=True)
class Group(Section):
    """Runs that are equal by design, so that they share their gates and can be compared with each other."""

    model: str
    generation: str  # of the GPUs, as of collectives
    group: str  # of servers, in the intent: its NCCL environment
    max_bytes: int  # of a program: four buffers fit the memory of a GPU
    gpus_per_server: int
    runs: tuple[Run, ...]
    programs: tuple[Program, ...]
    devices: tuple[str, ...] = ()  # RDMA devices of the fabric, for perftest


@dataclass(frozen=True, kw_only=True)
class Step(Section):
    step: str
    groups: tuple[Group, ...] = ()

    @property
    def text(self) -> StepText:
        return step_texts()[self.step]


@dataclass(frozen=True, kw_only=True)
class Gates(Section):
    """All acceptance tests of a fabric, smallest first."""

    version: int
    site: str
    fabric: str
    steps: tuple[Step, ...]
    notes: tuple[str, ...] = ()

    def every_run(self) -> Iterator[tuple[Step, Group, Run]]:
        for step in self.steps:
            for group in step.groups:
                for run in group.runs:
                    yield step, group, run

    def text(self) -> str:
        return json_text(asdict(self)) + "\n"


FILE = InputFile(Gates, "the gates of an acceptance test", "`fabric acceptance INTENT -o DIR` writes it", CODE)


def read(folder: Path) -> Gates:
    """The gates of a folder that `fabric acceptance` has written. Raises InputError."""
    path = folder / NAME if folder.is_dir() else folder
    reading = FILE.read(path)
    gates = reading.checked(reading.model())
    unknown = sorted({step.step for step in gates.steps} - set(step_texts()))
    if gates.version != VERSION or unknown:
        what = f"unknown step {unknown[0]}" if unknown else f"version {gates.version}, this release reads {VERSION}"
        raise InputError([Diagnostic(CODE, Place(str(path)), what, "write the folder again with this release")])
    return gates
