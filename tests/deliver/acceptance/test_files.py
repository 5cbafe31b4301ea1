"""The folder of an acceptance test, read by those who use it: bash, shellcheck, Slurm, and the schemas of jobs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from fabric import pipeline
from fabric.deliver.acceptance.gates import Gates
from fabric.deliver.export.locality import hostlist
from tests.deliver.acceptance.clusters import gates, log
from tests.deliver.export.plans import plan
from tests.deliver.export.slurmctld import require, slurmctld
from tests.goldens import golden


@cache
def made(design: str) -> dict[str, str]:
    return pipeline.acceptance_files(plan(design), gates(design), f"intent/{design}.yaml")


def written(design: str, folder: Path) -> Path:
    for name, text in made(design).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def bash(folder: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    variables = {**os.environ, **environment}
    return subprocess.run(["bash", *words], cwd=folder, env=variables, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", ["starter", "gb300-twin-plane"])
def test_golden(name: str) -> None:
    for file in ("README.md", "runs.tsv"):
        golden(f"acceptance/{name}/{file}", made(name)[file])


def test_scripts_have_nothing_that_shellcheck_finds(tmp_path: Path) -> None:
    if shutil.which("shellcheck") is None:
        pytest.skip("shellcheck is not installed")
    folder = written("one-unit", tmp_path)
    done = subprocess.run(["shellcheck", "run.sh", "step.sh"], cwd=folder, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


# --- scripts --------------------------------------------------------------------------------------------------

FAKE = """#!/bin/bash
echo "$@" >> "$CALLS"
cat "$OUTPUT"
"""


def fake(folder: Path, name: str) -> None:
    path = folder / "bin" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(FAKE)
    path.chmod(0o755)


def faked(folder: Path) -> dict[str, str]:
    """Variables with which the programs of `fake` are found, and print `out`."""
    return {"PATH": f"{folder}/bin:{os.environ['PATH']}", "CALLS": f"{folder}/calls", "OUTPUT": f"{folder}/out"}


def test_a_run_passes_its_servers_and_environment_and_is_judged(tmp_path: Path) -> None:
    folder, planned = written("one-unit", tmp_path), gates("one-unit")
    group, run = next((group, run) for step, group, run in planned.every_run() if step.step == "pair")
    for name in ("mpirun", "ssh"):
        fake(tmp_path, name)
    (tmp_path / "hosts.txt").write_text(f"{run.servers[1]} node-b.example.net\n")
    (tmp_path / "out").write_text(log(group, run, group.programs[0]))
    done = bash(folder, "run.sh", run.name, **faked(tmp_path))
    assert done.returncode == 0, done.stderr
    calls = (tmp_path / "calls").read_text().splitlines()
    assert len(calls) == len(group.programs)
    assert calls[0].startswith(f"-np 16 --host {run.servers[0]}:8,node-b.example.net:8 --map-by ppr:8:node -x NCCL_")
    assert calls[0].endswith("/opt/nccl-tests/build/all_reduce_perf -b 1K -e 17179869184 -f 2 -g 1 -n 20")
    judgment = pipeline.judge(planned, [folder / "results"], ["pair"])
    (item,) = [item for item in judgment.outcomes if (item.run, item.collective) == (run.name, "all_reduce")]
    assert item.state == "pass"


def test_a_rail_uses_one_gpu(tmp_path: Path) -> None:
    folder = written("one-unit", tmp_path)
    fake(tmp_path, "mpirun")
    (tmp_path / "out").write_text("")
    bash(folder, "run.sh", "rail-unit001-3", **faked(tmp_path))
    first = (tmp_path / "calls").read_text().splitlines()[0]
    assert first.startswith("-np 16 ")
    assert "-x CUDA_VISIBLE_DEVICES" in first


def test_perftest_runs_on_every_device(tmp_path: Path) -> None:
    folder, planned = written("one-unit", tmp_path), gates("one-unit")
    group, run = next((group, run) for step, group, run in planned.every_run() if step.step == "perftest")
    fake(tmp_path, "ssh")
    fake(tmp_path, "sleep")
    (tmp_path / "out").write_text(log(group, run, group.programs[0]))
    bash(folder, "run.sh", run.name, **faked(tmp_path))
    judgment = pipeline.judge(planned, [folder / "results"], ["perftest"])
    mine = [item for item in judgment.outcomes if item.run == run.name]
    assert {item.state for item in mine} == {"pass"}
    assert [item.device for item in mine] == list(group.devices)


@pytest.mark.parametrize(
    ("words", "message"),
    [(("run.sh", "x"), "no run x"), (("step.sh", "x"), "no runs of step x"), (("run.sh",), "usage")],
)
def test_wrong_words(words: tuple[str, ...], message: str, tmp_path: Path) -> None:
    done = bash(written("one-unit", tmp_path), *words)
    assert done.returncode != 0
    assert message in done.stderr


def test_slurm_takes_every_job(tmp_path: Path) -> None:
    require()
    folder, planned = written("one-unit", tmp_path), gates("one-unit")
    servers = sorted({server for _, _, run in planned.every_run() for server in run.servers})
    (tmp_path / "slurm").mkdir()
    with slurmctld("", hostlist(servers), tmp_path / "slurm", cpus=8) as (_, environment):
        for step in planned.steps[2:]:
            runs = [run for group in step.groups for run in group.runs]
            done = bash(folder, "step.sh", step.step, **{**environment, "SLURM": "1", "SBATCH_OPTIONS": "--hold"})
            assert (done.returncode, done.stdout.count("Submitted batch job")) == (0, len(runs)), done.stderr
        command = ["scontrol", "-o", "show", "job"]
        shown = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    rows = [dict(part.split("=", 1) for part in line.split() if "=" in part) for line in shown.splitlines()]
    jobs = {row["JobName"]: row for row in rows}
    for step, group, run in planned.every_run():
        if step.step not in ("cabling", "perftest"):
            job = jobs[run.name]
            assert (job["ReqNodeList"], job["NumNodes"].partition("-")[0]) == (hostlist(run.servers), f"{len(run.servers)}")
            assert job["NumTasks"] == f"{len(run.servers) * group.gpus_per_server}"


# --- jobs for Kubernetes --------------------------------------------------------------------------------------


def jobs(design: str) -> list[dict[str, Any]]:
    files = made(design)
    return [job for name in sorted(files) if name.startswith("kubernetes/") for job in yaml.safe_load_all(files[name])]


def test_a_job_for_every_run_on_its_nodes() -> None:
    """Source: kubeflow.org/v2beta1 MPIJob (deploy/v2beta1/mpi-operator.yaml)."""
    planned: Gates = gates("one-unit")
    runs = [(group, run) for step, group, run in planned.every_run() if step.step != "perftest"]
    assert len(jobs("one-unit")) == len(runs)
    for job, (group, run) in zip(jobs("one-unit"), runs, strict=True):
        assert (job["apiVersion"], job["kind"], set(job["spec"])) == (
            "kubeflow.org/v2beta1",
            "MPIJob",
            {"slotsPerWorker", "runPolicy", "mpiReplicaSpecs"},
        )
        worker = job["spec"]["mpiReplicaSpecs"]["Worker"]
        pod = worker["template"]["spec"]
        (term,) = pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
        assert worker["replicas"] == len(run.servers)
        assert term["matchExpressions"][0]["values"] == list(run.servers)
        assert pod["containers"][0]["resources"]["limits"] == {"nvidia.com/gpu": group.gpus_per_server}
        script = job["spec"]["mpiReplicaSpecs"]["Launcher"]["template"]["spec"]["containers"][0]["command"][2]
        assert subprocess.run(["bash", "-n", "-c", script], check=False).returncode == 0
        assert script.count("#### fabric acceptance: ") == len(group.programs)
        assert "-x NCCL_IB_HCA=" in script


def test_names_are_those_that_kubernetes_takes() -> None:
    for job in jobs("names"):
        assert job["metadata"]["name"] == job["metadata"]["name"].lower()
        assert len(job["metadata"]["name"]) <= 63
        assert "_" not in job["metadata"]["name"]


# --- other tools ----------------------------------------------------------------------------------------------


def test_gates_of_other_tools() -> None:
    files, planned = made("one-unit"), gates("one-unit")
    server = next(step for step in planned.steps if step.step == "server").groups[0]
    gate = server.programs[0].gates[-1]
    assert files["nhc/dgx-h100.conf"].splitlines()[1:] == [
        f"* || check_nccl_allreduce {gate.pass_GBps:g} 1 16G",
        "* || check_ib_bw_gdr 360",
    ]
    baseline = json.loads(files["superbench/dgx-h100-baseline.json"])
    assert baseline["nccl-bw:nvlink/allreduce_17179869184_busbw:0"] == gate.pass_GBps
    rules = yaml.safe_load(files["superbench/dgx-h100-rules.yaml"])["superbench"]["rules"]
    assert rules["gates"]["metrics"] == ["nccl-bw:nvlink/allreduce_.*_busbw", "nccl-bw:nvlink/alltoall_.*_busbw"]
    assert rules["failure-rule"]["metrics"] == ["nccl-bw:nvlink/return_code"]
