"""Acceptance tests of small designs, and logs of runs on them in the formats of several releases."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache

from fabric import pipeline
from fabric.deliver.acceptance.gates import PERFTEST, Gates, Group, Program, Run
from fabric.solver.collective import COLLECTIVES
from fabric.solver.estimate.request import EstimateRequest
from tests.deliver.export.plans import plan

Factor = Callable[[int], float]  # bytes → measured bandwidth over the expected one


@cache
def gates(design: str) -> Gates:
    """The acceptance tests of a design's fabric with the most GPUs."""
    site = plan(design)
    fabric = max(site.fabrics.values(), key=lambda fabric: (fabric.spec.purpose == "compute", fabric.sizing.gpus))
    return pipeline.acceptance(site, fabric, EstimateRequest(routing="", queue_pairs=0))


# Releases of nccl-tests and of rccl-tests: the columns, what stands in front of them, and how a GPU is named.
_OLD = "time   algbw   busbw  error"
_SIDE = "time   algbw   busbw #wrong"
HEADS = {
    "2.10": f"#       size         count      type   redop     {_OLD}     {_OLD}",
    "2.13": f"#       size         count      type   redop    root     {_SIDE}     {_SIDE}",
    "2.17": f"#       size         count      type   redop    root     {_SIDE}     {_SIDE}",
    "rccl": f"#       size         count      type   redop    root     {_SIDE}     {_SIDE}",
}


def mark(run: Run, program: str, device: str = "") -> str:
    """The line that the scripts print."""
    return " ".join(filter(None, ("#### fabric acceptance:", run.name, program, device))) + "\n"


def log(group: Group, run: Run, program: Program, factor: Factor = lambda _: 1.0, release: str = "2.13") -> str:
    """What one program prints that reaches so much of the expected bandwidth at each size."""
    if program.collective == PERFTEST:
        return perftest(program.gates[0].expected_GBps * 8 * factor(program.gates[0].bytes))
    ranks = len(run.servers) * group.gpus_per_server
    lines = [
        f"# nThread 1 nGpus 1 minBytes 1024 maxBytes {program.gates[-1].bytes} step: 2(factor) warmup iters: 5 iters: 20"
    ]
    if release == "2.17":
        lines += [
            "# nccl-tests version 2.17.6 nccl-headers=22809 nccl-library=22809",
            f"# Collective test starting: {program.collective}_perf",
        ]
    lines += ["#", "# Using devices"]
    gpu = "AMD Instinct MI300X" if release == "rccl" else "NVIDIA H100 80GB HBM3"
    old = release in ("2.10", "rccl")
    for rank in range(ranks):
        host, slot = run.servers[rank // group.gpus_per_server], rank % group.gpus_per_server
        part = "" if old else "Group  0 "
        lines.append(f"#  Rank {rank:2} {part}Pid  {1000 + rank} on {host} device {slot:2} [0x1b] {gpu}")
    lines += [
        "#",
        HEADS[release],
        "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)",
    ]
    busbw = COLLECTIVES[program.collective].busbw(ranks)
    for gate in program.gates:
        measured = gate.expected_GBps * factor(gate.bytes)
        time = gate.bytes / 1e3 / (measured / busbw)
        side = f"{time:9.2f}  {measured / busbw:8.2f}  {measured:8.2f}  {0 if release != '2.10' else '0e+00'}"
        root = "" if release == "2.10" else "     -1"
        lines.append(f"{gate.bytes:13} {gate.bytes // 4:13}     float     sum{root}  {side}  {side}")
    return "\n".join([*lines, "# Out of bounds values : 0 OK", "# Avg bus bandwidth    : 100.0", ""])


def report(group: Group, run: Run, program: Program, factor: Factor = lambda _: 1.0) -> str:
    """The same as the JSON of `-J`."""
    ranks = len(run.servers) * group.gpus_per_server
    busbw = COLLECTIVES[program.collective].busbw(ranks)
    devices = [
        {
            "rank": rank,
            "group": 0,
            "pid": rank,
            "hostname": run.servers[rank // group.gpus_per_server],
            "device": rank % group.gpus_per_server,
            "device_info": "NVIDIA H100 80GB HBM3",
        }
        for rank in range(ranks)
    ]
    results = []
    for gate in program.gates:
        time = gate.bytes / 1e3 / (gate.expected_GBps * factor(gate.bytes) / busbw)
        side = {"time": time, "alg_bw": gate.bytes / time / 1e3, "bus_bw": gate.bytes / time / 1e3 * busbw, "nwrong": 0}
        results.append({"size": gate.bytes, "type": "float", "redop": "sum", "out_of_place": side, "in_place": side})
    config = {"nthreads": 1, "ngpus": 1, "devices": devices}
    return json.dumps({"version": 3, "args": [f"{program.collective}_perf"], "config": config, "results": results})


def perftest(gbps: float) -> str:
    """The client's side of ib_write_bw --report_gbits."""
    return f"""\
---------------------------------------------------------------------------------------
                    RDMA_Write BW Test
 Dual-port       : OFF          Device         : mlx5_0
 Number of qps   : 1            Transport type : IB
 Link type       : Ethernet
---------------------------------------------------------------------------------------
 #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]
 1048576    233650           0.00               {gbps:.2f}              0.046728
---------------------------------------------------------------------------------------
"""


def logs(
    gates: Gates, factors: Mapping[str, Factor] | None = None, release: str = "2.13", steps: Sequence[str] = ()
) -> dict[str, str]:
    """The log of every run, or of those of some steps, as run.sh keeps it; `factors` by run, all others as expected."""
    texts = {}
    for step, group, run in gates.every_run():
        if steps and step.step not in steps:
            continue
        factor = (factors or {}).get(run.name, lambda _: 1.0)
        parts = [
            mark(run, program.collective, device) + log(group, run, program, factor, release)
            for program in group.programs
            for device in group.devices or ("",)
        ]
        texts[run.name] = "".join(parts)
    return texts
