"""Every reader of input by name, from the registries of the program, with texts that it reads.

A reader of a further network OS, or a further file of one, is in the list without a change here.
"""

from __future__ import annotations

import json
from atexit import register
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

from fabric.nos.target import Target, targets
from tests import ROOT


@dataclass(frozen=True)
class Reading:
    """One reader: its name, what it does with a text, and texts that it reads."""

    name: str
    read: Callable[[str], object]
    samples: tuple[str, ...]


@cache
def readings() -> dict[str, Reading]:
    """All readers by name."""
    found = [*_configs(), *_states(), *_lldp(), *_runs(), *_lists()]
    return {one.name: one for one in found}


# --- configs ------------------------------------------------------------------------------------------------------


def _configs() -> Iterator[Reading]:
    """The files of each network OS: as facts, as statements, without what a planned file has in the same words."""
    from fabric.audit.checks.statements import syntax_of
    from fabric.nos.reading.readers import recognize
    from fabric.nos.statements.syntax import PartText

    for nos, target in targets().items():
        if target.reader is None:
            continue
        syntax = syntax_of(nos)
        for part, samples in _generated(target).items():
            path = f"d/{part}"
            yield Reading(f"facts {nos} {part}", partial(_facts, nos, path), samples)
            if part in syntax.parts:
                yield Reading(f"statements {nos} {part}", partial(_statements, nos, part), samples)
                planned = [PartText(part, part, samples[0])]
                yield Reading(f"equal {nos} {part}", partial(_equal, nos, planned), samples)
            yield Reading(f"recognize {nos} {part}", partial(recognize, path), samples)


def _facts(nos: str, path: str, text: str) -> object:
    from fabric.nos.reading import read_device

    return read_device("x", nos, {path: text})


def _statements(nos: str, part: str, text: str) -> object:
    from fabric.audit.checks.statements import syntax_of
    from fabric.nos.statements.syntax import PartText

    return syntax_of(nos).read_texts([PartText(part, part, text)])


def _equal(nos: str, planned: list[object], text: str) -> object:
    from fabric.audit.checks.statements import syntax_of

    (one,) = planned
    return syntax_of(nos).without_equal([one], [one._replace(text=text)])  # type: ignore[attr-defined, list-item]


def _generated(target: Target) -> dict[str, tuple[str, ...]]:
    """File of a switch → texts of it, of the generated examples."""
    from tests.fuzz.files import SMALL, tree

    found: dict[str, list[str]] = {}
    for site in SMALL:
        for name, data in tree(site):
            found.setdefault(name.partition("/")[2], [])
            if _is_of(target, site):
                found[name.partition("/")[2]].append(data.decode())
    return {name: tuple(sorted(texts, key=len)[-2:]) for name, texts in sorted(found.items()) if texts}


@cache
def _nos_of(site: str) -> frozenset[str]:
    from fabric import pipeline

    made = pipeline.plan(pipeline.load(ROOT / "intent" / f"{site}.yaml"))
    return frozenset(device.nos for fabric in made.fabrics.values() for device in fabric.switches)


def _is_of(target: Target, site: str) -> bool:
    return _nos_of(site) == {target.name}


# --- outputs of switches --------------------------------------------------------------------------------------------


def _states() -> Iterator[Reading]:
    from fabric.audit.verify.files import of_switch

    yield Reading("state", lambda text: of_switch({"x": text}), _state_samples())


def _state_samples() -> tuple[str, ...]:
    """The outputs of the tests of the readers of state."""
    from tests.audit.verify import test_multihoming, test_readers

    values = [
        value
        for module in (test_readers, test_multihoming)
        for name, value in vars(module).items()
        if name.isupper() and isinstance(value, dict)
    ]
    return tuple(text for value in values if (text := _json_text(value)))


def _json_text(value: object) -> str:
    """ "" for what is no output."""
    try:
        return json.dumps(value, indent=1)
    except TypeError:
        return ""


def _lldp() -> Iterator[Reading]:
    from fabric.audit.cabling.outputs import outputs
    from tests.audit.cabling.lldp_writers import WRITERS
    from tests.fuzz.files import lldp_outputs

    for writer in sorted(WRITERS):
        samples = tuple(data.decode() for _, data in lldp_outputs(writer)[:2])
        yield Reading(f"lldp {writer}", lambda text: outputs(text, "x"), samples)


# --- measured runs --------------------------------------------------------------------------------------------------


def _runs() -> Iterator[Reading]:
    from fabric.solver.measured import output, output as raw, tables
    from tests.fuzz.files import NCCL, measured

    yield Reading("table text", lambda text: raw.is_raw(text) and raw.read_text(text, "x"), (NCCL.decode(),))
    yield Reading("table yaml", lambda text: tables.read_yaml(text, "x"), tuple(data.decode() for data in measured()[:3]))
    yield Reading("table json", lambda text: output.read_json(text, "x"), JSON_TABLES)
    yield Reading("log", _log, (*LOGS, NCCL.decode()))


JSON_TABLES = (
    '[{"name": "AllReduce", "nodes": 1, "ranks": 8, "size": 1048576, "type": "float", "redop": "sum", "inPlace": 0,'
    ' "time": 25.1, "algBw": 41.8, "busBw": 73.1, "wrong": 0}]',
)
LOGS = (
    "gpu-0001:1:2 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_1:1/RoCE [RO]; OOB eth0:10.0.0.1<0>\n"
    "gpu-0001:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 8[0] [send] via NET/IB/0(1)/GDRDMA(PCI)/Shared\n"
    "gpu-0001:1:2 [0] NCCL INFO GPU Direct RDMA Disabled for GPU 1b000 / HCA 3 (distance 8 > 5)\n"
    "gpu-0001:1:2 [0] NCCL INFO 16 coll channels, 0 nvls channels, 16 p2p channels, 2 p2p channels per peer\n"
    "gpu-0001:1:2 [0] NCCL INFO Pattern 4, crossNic 0, nChannels 8, bw 40.000000/40.000000, type NVL/PIX\n"
    "gpu-0001:1:2 [0] NCCL INFO NCCL_IB_HCA set by environment to mlx5_0\n"
    "NCCL version 2.21.5+cuda12.4\n",
    "CA 'mlx5_0'\n\tCA type: MT4129\n\tPort 1:\n\t\tState: Active\n\t\tRate: 400\n",
    "\tGPU0\tGPU1\tNIC0\tNIC1\nGPU0\t X \tNV18\tPIX\tSYS\nGPU1\tNV18\t X \tSYS\tPIX\n",
    "                    RDMA_Write BW Test\n#bytes #iterations BW peak[Gb/sec] BW average[Gb/sec] MsgRate[Mpps]\n"
    " 65536      5000             0.00               388.10                 0.740231\n",
)


def _log(text: str) -> object:
    """As `fabric doctor` looks at it."""
    from fabric.solver.doctor.causes import causes, checks
    from fabric.solver.doctor.evidence import Design, Evidence, is_known_output, log_findings, output_findings

    evidence = Evidence(text)
    found = [
        is_known_output(text),
        output_findings(text, 8, 400, True),
        log_findings(text, Design(8, 400, True, True)),
    ]
    found += [evidence.environment, evidence.release, evidence.nics_with(True), evidence.whole]
    found += [evidence.points_to(cause) for cause in causes()] + [evidence.excludes(cause) for cause in causes()]
    return found + [bool(check.given and check.given.search(text)) for check in checks()]


# --- lists that people write ------------------------------------------------------------------------------------------


def _lists() -> Iterator[Reading]:
    from fabric.base import source
    from fabric.base.output import site_folder
    from fabric.deliver.bom import prices
    from fabric.model.plan import lock_file
    from fabric.solver.estimate import platform
    from fabric.solver.training import file as job_file, ladder
    from fabric.solver.utilisation import jobs
    from tests.fuzz.files import SMALL, tree
    from tests.solver.utilisation.slurm import slurm

    docs = ROOT / "docs"
    intents = tuple(path.read_text() for path in sorted((ROOT / "intent").glob("*.yaml"))[:3])
    locks = tuple(dict(tree(site, "."))["lock.yaml"].decode() for site in SMALL[:2])
    manifests = tuple(dict(tree(site, "."))["manifest.txt"].decode() for site in SMALL[:2])
    yield Reading("intent", lambda text: source.parse(text, "x"), intents)
    yield Reading("prices", lambda text: prices.read_yaml(text, "x", {}), ((docs / "prices-example.yaml").read_text(),))
    yield Reading("job", lambda text: job_file.read_yaml(text, "x", 64), ((docs / "step-70b.yaml").read_text(),))
    yield Reading("lock", lambda text: lock_file.parse(text, "x"), locks)
    yield Reading("manifest", lambda text: site_folder.parse(text.encode(), "x"), manifests)
    yield Reading("sacct", by_path(jobs.read), (slurm([(8, 0, 60), (64, 5, 90)]), slurm([(8, 0, 60)], objects=True)))
    yield Reading("sizes of jobs", by_path(jobs.read), ("jobs: [{gpus: 64, hours: 12, count: 3}, {gpus: 8, hours: 1}]\n",))
    yield Reading("platform", by_path(platform.read), (PLATFORM,))
    yield Reading("ladder", by_path(ladder.read), (LADDER,))
    yield from _of_first_days()


def _of_first_days() -> Iterator[Reading]:
    """What comes back from a new cluster: who is which switch, and the runs that prove it."""
    from fabric.base.diagnostics import Report
    from fabric.deliver.acceptance import gates, logs
    from fabric.deliver.day_zero import inventory
    from tests.deliver.acceptance import clusters

    planned = clusters.gates("starter")
    machines = "switch,mac,serial\nleaf1,52:54:00:ab:00:01,JPE1\nleaf2,5254.00ab.0002,\n"
    found = tuple(clusters.logs(planned, release=release)["server-dgx-h100-0001"] for release in ("2.10", "2.17"))
    yield Reading("inventory", by_path(lambda path: inventory.read(path, ("leaf1", "leaf2"), Report())), (machines,))
    yield Reading(
        "gates", by_path(gates.read), (planned.text()[:4000], '{"version": 1, "site": "a", "fabric": "b", "steps": []}')
    )
    yield Reading("acceptance", by_path(lambda path: logs.read(planned, [path])), found)


PLATFORM = "about: x\ngeneration:\n  hopper:\n    nvlink_efficiency: 0.8\ntransport:\n  roce: {}\nshared: {}\n"
LADDER = """\
source: x
ladders:
  - name: a
    intent: a.yaml
    job: b.yaml
    rows:
      - {gpus: 64, seconds: 1.5}
      - {gpus: 128, seconds: 1.6, routing: ecmp, fail: [a, b]}
"""


def by_path(read: Callable[[Path], object]) -> Callable[[str], object]:
    """A reader of a file as one of a text."""

    def of_text(text: str) -> object:
        path = _scratch() / "x"
        path.write_text(text, "utf-8", errors="replace", newline="")
        return read(path)

    return of_text


@cache
def _scratch() -> Path:
    folder = Path(mkdtemp(prefix="fabric-readers-"))
    register(rmtree, folder, ignore_errors=True)
    return folder
