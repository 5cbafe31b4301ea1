"""The folder of an acceptance test: a page to read, scripts, jobs for Slurm and Kubernetes, gates for other tools.

Sources: nccl-tests README (one process for each GPU); kubeflow.org/v2beta1 MPIJob (kubeflow/mpi-operator, deploy/v2beta1);
Azure/azurehpc-health-checks, conf/ (`check_nccl_allreduce BUSBW REPEATS SIZE`, `check_ib_bw_gdr GBPS`); SuperBench, data
diagnosis (rules and baseline of `nccl-bw`). The scripts are the text files beside.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import Any

from fabric.base.formats import json_text, yaml
from fabric.base.text import plural, wrapped
from fabric.configs.cluster.rails import node_name
from fabric.deliver.acceptance.gates import CABLING, NAME, PERFTEST_STEP, Gates, Group, Program, Run, Step
from fabric.deliver.export.kubernetes import HOSTNAME

HERE = Path(__file__).parent
IMAGE = "nvcr.io/nvidia/pytorch:26.01-py3"  # has /usr/local/bin/all_reduce_perf_mpi, by NVIDIA Cluster Readiness Engine
AMD = "cdna"
OPERATIONS = {"all_reduce": "allreduce", "all_gather": "allgather", "reduce_scatter": "reducescatter"}  # in SuperBench
NONE = "-"
BENCHMARK = "nccl-bw:nvlink"  # of SuperBench's own configs
WIDTH = 100
ORDER = (
    "Run the steps in this order: each adds one part of the design to those before it. Repair what fails before the next "
    f"step, as larger runs fail with it. Gates are bus bandwidths at the largest size; `{NAME}` has those of all sizes."
)
RUN_LABEL = "acceptance-run"
VISIBLE = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES")


def files(gates: Gates, intent: str, environments: Mapping[str, str], image: str = "") -> dict[str, str]:
    """Every file by its path in the folder.

    Args:
        gates: of the fabric.
        intent: the file, for commands.
        environments: group of servers → NCCL's variables, as a file for a shell.
        image: of containers with nccl-tests; "" for NVIDIA's PyTorch, and no jobs for Kubernetes on other GPUs.
    """
    made = {
        NAME: gates.text(),
        "README.md": _page(gates, intent),
        "runs.tsv": "".join(_row(step, group, run) for step, group, run in gates.every_run()),
        "run.sh": (HERE / "run_shell.txt").read_text(encoding="utf-8"),
        "step.sh": (HERE / "step_shell.txt").read_text(encoding="utf-8"),
    }
    made |= {f"env/{group}.env": text for group, text in environments.items()}
    for at, step in enumerate(gates.steps):
        jobs = [job for group in step.groups for job in _jobs(step, group, environments, image)]
        if jobs:
            made[f"kubernetes/{at}0-{step.step}.yaml"] = yaml.dump_all(jobs)
    return made | _for_other_tools(gates)


def _row(step: Step, group: Group, run: Run) -> str:
    ids = ",".join(map(str, run.gpu_ids)) or NONE
    programs = ",".join(program.collective for program in group.programs)
    devices = ",".join(group.devices) or NONE
    cells = (step.step, run.name, group.group, f"{group.gpus_per_server}", f"{group.max_bytes}", ids, programs, devices)
    return "\t".join((*cells, ",".join(run.servers))) + "\n"


# --- the page -------------------------------------------------------------------------------------------------


def _page(gates: Gates, intent: str) -> str:
    """Steps with their gates, what a failure means, and the commands."""
    lines = [f"# Acceptance test of {gates.site}, fabric {gates.fabric}", ""]
    lines += [*wrapped(ORDER, WIDTH), ""]
    lines += _table([COLUMNS, *gate_rows(gates)])
    for at, step in enumerate(gates.steps, 1):
        text = step.text
        lines += ["", f"## {at}. {step.step}: {text.what}", "", f"Proves: {text.proves}.", f"A failure: {text.fails}.", ""]
        lines += _commands(step, intent)
    lines += ["", "## Verdict", "", "```", f"fabric acceptance judge . results/ --intent {quote(intent)}", "```"]
    if gates.notes:
        lines += ["", "## How sure the gates are", "", *(f"* {note}" for note in gates.notes)]
    return "\n".join(lines) + "\n"


COLUMNS = ("step", "runs", "program", "expected", "pass from")


def gate_rows(gates: Gates) -> Iterator[tuple[str, ...]]:
    """(step, runs, program, expected, gate) at the largest size."""
    for step in gates.steps:
        for group in step.groups:
            for program in group.programs:
                last = program.gates[-1]
                figures = (f"{last.expected_GBps:g} GB/s", f"{last.pass_GBps:g} GB/s")
                yield step.step, f"{len(group.runs):,}", program.collective, *figures


def _commands(step: Step, intent: str) -> list[str]:
    if step.step == CABLING:
        return ["```", f"fabric cabling verify {quote(intent)} lldp/ --format text --format json=results/cabling.json", "```"]
    runs = plural(sum(len(group.runs) for group in step.groups), "run")
    return ["```", f"bash step.sh {step.step}    # {runs}; SLURM=1 in front submits them", "```"]


def _table(rows: Sequence[tuple[str, ...]]) -> list[str]:
    head, *body = rows
    return [f"| {' | '.join(row)} |" for row in (head, tuple("---" for _ in head), *body)]


# --- Kubernetes: an MPIJob for each run -----------------------------------------------------------------------

SEARCH = 'for name in "$1_perf_mpi" "$1_perf"; do command -v "$name" && break; done'


def _jobs(step: Step, group: Group, environments: Mapping[str, str], image: str) -> Iterator[dict[str, Any]]:
    """Jobs of a group of runs; none for perftest, and for GPUs that no known image is made for."""
    amd = group.generation.startswith(AMD)
    if step.step == PERFTEST_STEP or (amd and not image):
        return
    variables = _variables(environments.get(group.group, ""))
    for run in group.runs:
        resources = {"limits": {f"{'amd' if amd else 'nvidia'}.com/gpu": group.gpus_per_server}}
        shared = {"hostNetwork": True, "dnsPolicy": "ClusterFirstWithHostNet", "affinity": _affinity(run)}
        worker = {"name": "worker", "image": image or IMAGE, "resources": resources, **_privileges()}
        launcher = {"name": "launcher", "image": image or IMAGE, "command": ["bash", "-c", _launch(group, run, variables)]}
        shared_memory = {"volumes": [{"name": "shm", "emptyDir": {"medium": "Memory"}}]}
        yield {
            "apiVersion": "kubeflow.org/v2beta1",
            "kind": "MPIJob",
            "metadata": {"name": node_name(run.name)[:63].strip("-.")},
            "spec": {
                "slotsPerWorker": group.gpus_per_server,
                "runPolicy": {"cleanPodPolicy": "Running"},
                "mpiReplicaSpecs": {
                    "Launcher": {
                        "replicas": 1,
                        "restartPolicy": "Never",
                        "template": {"spec": {"containers": [launcher], "restartPolicy": "Never"}},
                    },
                    "Worker": {
                        "replicas": len(run.servers),
                        "template": {
                            "metadata": {"labels": {RUN_LABEL: node_name(run.name)[:63].strip("-.")}},
                            "spec": {**shared, **shared_memory, "containers": [worker]},
                        },
                    },
                },
            },
        }


def _launch(group: Group, run: Run, variables: Mapping[str, str]) -> str:
    """What the launcher runs: each program behind the line that names its run."""
    exports = [f"-x {quote(f'{name}={value}')}" for name, value in variables.items()]
    if run.gpu_ids:
        exports += [f"-x {name}={','.join(map(str, run.gpu_ids))}" for name in VISIBLE]
    ranks = len(run.servers) * group.gpus_per_server
    lines = [f"find() {{ {SEARCH}; }}"]
    for program in group.programs:
        lines.append(f"echo '#### fabric acceptance: {run.name} {program.collective}'")
        words = ["mpirun --allow-run-as-root", f"-np {ranks}", f"--map-by ppr:{group.gpus_per_server}:node", *exports]
        lines.append(f'{" ".join(words)} "$(find {program.collective})" -b 1K -e {group.max_bytes} -f 2 -g 1 -n 20')
    return "\n".join(lines) + "\n"


def _affinity(run: Run) -> dict[str, Any]:
    """These servers, one worker on each."""
    names = [node_name(server) for server in run.servers]
    term = {"matchExpressions": [{"key": HOSTNAME, "operator": "In", "values": names}]}
    alike = {"labelSelector": {"matchLabels": {RUN_LABEL: node_name(run.name)[:63].strip("-.")}}, "topologyKey": HOSTNAME}
    return {
        "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}},
        "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [alike]},
    }


def _privileges() -> dict[str, Any]:
    """Memory that RDMA may pin, and shared memory for NCCL."""
    return {
        "securityContext": {"capabilities": {"add": ["IPC_LOCK"]}},
        "volumeMounts": [{"name": "shm", "mountPath": "/dev/shm"}],
    }


def _variables(text: str) -> dict[str, str]:
    """`NAME=value` of each line that sets one."""
    rows = (line.partition("=") for line in text.splitlines() if re.match(r"[A-Z]\w*=", line))
    return {name: value for name, _, value in rows}


# --- gates for other tools ------------------------------------------------------------------------------------


def _for_other_tools(gates: Gates) -> dict[str, str]:
    """Gates of one server for AzureHPC node health checks, of all-server runs for SuperBench."""
    made = dict[str, str]()
    ports = {group.group: group for step in gates.steps if step.step == PERFTEST_STEP for group in step.groups}
    for step in gates.steps:
        for group in step.groups if step.step == "server" else ():
            made[f"nhc/{group.group}.conf"] = _health_checks(group, ports.get(group.group))
            made[f"superbench/{group.group}-baseline.json"] = json_text(_baseline(group)) + "\n"
            made[f"superbench/{group.group}-rules.yaml"] = yaml.dump_all([_rules(group)])
    return made


def _health_checks(group: Group, ports: Group | None) -> str:
    check = "check_rccl_allreduce" if group.generation.startswith(AMD) else "check_nccl_allreduce"
    gate = group.programs[0].gates[-1]
    lines = [f"# Servers of group {group.group} ({group.model}): gates of AzureHPC Node Health Check"]
    lines.append(f"* || {check} {gate.pass_GBps:g} 1 {gate.bytes >> 30}G")
    if ports is not None:
        lines.append(f"* || check_ib_bw_gdr {ports.programs[0].gates[0].pass_GBps * 8:g}")
    return "\n".join(lines) + "\n"


def _operations(group: Group) -> dict[str, Program]:
    """Programs by SuperBench's names."""
    return {OPERATIONS.get(program.collective, program.collective): program for program in group.programs}


def _baseline(group: Group) -> dict[str, float]:
    """Gates in GB/s by metric."""
    rows = ((name, gate) for name, program in _operations(group).items() for gate in program.gates)
    gates = {f"{BENCHMARK}/{name}_{gate.bytes}_busbw:0": gate.pass_GBps for name, gate in rows}
    return {f"{BENCHMARK}/return_code": 0, **gates}


def _rules(group: Group) -> dict[str, Any]:
    """A server is defective where a metric is below its gate, or where the benchmark has failed."""
    failed = {
        "function": "failure_check",
        "criteria": "lambda x:x>0",
        "categories": "Failed",
        "metrics": [f"{BENCHMARK}/return_code"],
    }
    below = {
        "function": "variance",
        "criteria": "lambda x:x<0",
        "categories": "NCCL",
        "metrics": [f"{BENCHMARK}/{name}_.*_busbw" for name in _operations(group)],
    }
    return {"version": "v0.12", "superbench": {"rules": {"failure-rule": failed, "gates": below}}}
