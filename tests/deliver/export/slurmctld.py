"""A Slurm controller of its own, without munge, slurmd and host names that resolve."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from tests.waiting import wait_for

# AuthType none and nodes of a cloud, whose addresses no one asks for: no munge, no slurmd, no host names that resolve.
SLURM_CONF = """\
ClusterName=test
SlurmctldHost=localhost
SlurmctldPort={port}
SlurmctldPidFile={folder}/slurmctld.pid
StateSaveLocation={folder}
SlurmUser=root
AuthType=auth/none
CredType=cred/none
MpiDefault=none
ProctrackType=proctrack/linuxproc
TopologyPlugin=topology/tree
NodeName={nodes} CPUs={cpus} State=CLOUD
PartitionName=all Nodes=ALL Default=YES State=UP
"""


def require() -> None:
    """Skips a test where no controller can run."""
    if shutil.which("slurmctld") is None or shutil.which("scontrol") is None:
        pytest.skip("slurmctld and slurm-client are not installed")
    if os.geteuid():
        pytest.skip("this slurmctld runs as root")


def _shown(daemon: subprocess.Popen[bytes], environment: dict[str, str]) -> subprocess.CompletedProcess[str] | None:
    """What `scontrol` prints as soon as the daemon answers, or has ended."""
    asked = subprocess.run(["scontrol", "show", "topology"], capture_output=True, text=True, env=environment, check=False)
    return asked if asked.returncode == 0 or daemon.poll() is not None else None


@contextmanager
def slurmctld(topology: str, nodes: str, folder: Path, cpus: int = 1) -> Iterator[tuple[str, dict[str, str]]]:
    """A controller of these nodes: (`scontrol show topology`, environment of its clients)."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    conf = SLURM_CONF.format(port=port, folder=folder, nodes=nodes, cpus=cpus)
    (folder / "slurm.conf").write_text(conf if topology else conf.replace("TopologyPlugin=topology/tree\n", ""))
    if topology:
        (folder / "topology.conf").write_text(topology)
    environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf")}
    log = folder / "log"
    with log.open("wb") as out:
        daemon = subprocess.Popen(["slurmctld", "-D", "-c", "-i", "-v"], stdout=out, stderr=out, env=environment)
    try:
        asked = wait_for(partial(_shown, daemon, environment), every_s=0.2)
        assert asked.returncode == 0, log.read_text()[-3000:]
        yield asked.stdout, environment
    finally:
        daemon.kill()
        daemon.wait()
