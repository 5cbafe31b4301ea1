"""Two real lldpds in network namespaces: what lldpctl prints in each of its formats is read to the same neighbors."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from fabric.audit.cabling.outputs import outputs
from tests.waiting import wait_for

PORTS = (("swp1", "swp9"), ("swp2s0", "swp10"))
START = (  # lldpd keeps a folder under /run and looks up its own name; both are given it apart from the machine's
    'mount --bind "$1" /mnt && mount -t tmpfs none /run && mkdir -p /run/lldpd && hostname "$2" && '
    'mount --bind /mnt/hosts /etc/hosts && lldpd -u /mnt/s -O /mnt/lldpd.conf -S "$2"'
)


def sh(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def leaf() -> Iterator[Path]:
    """The socket of the lldpd of a leaf with two cables to a spine."""
    if os.geteuid() != 0 or not all(map(shutil.which, ("lldpd", "lldpcli", "ip", "nsenter", "unshare"))):
        pytest.skip("needs root and lldpd (Debian package lldpd)")
    spaces = {f"fcv{os.getpid()}{side}": name for side, name in (("a", "leaf001"), ("b", "spine001.dc1.example"))}
    a, b = spaces
    home = Path(tempfile.mkdtemp())  # lldpctl gives up root before it goes there, so it must be open to all
    home.chmod(0o755)
    try:
        try:
            sh("ip", "netns", "add", a)
            sh("ip", "netns", "add", b)
            for mine, theirs in PORTS:
                sh("ip", "link", "add", mine, "netns", a, "type", "veth", "peer", "name", theirs, "netns", b)
                sh("ip", "-n", a, "link", "set", mine, "up")
                sh("ip", "-n", b, "link", "set", theirs, "up")
            for space, name in spaces.items():
                _start(home / space, space, name)
        except subprocess.CalledProcessError as error:
            pytest.skip(f"no lldpd can run in a namespace here: {error.stderr}")
        yield home / a / "s"
    finally:
        for space in spaces:
            found = subprocess.run(["ip", "netns", "pids", space], capture_output=True, text=True, check=False).stdout
            for process in found.split():
                os.kill(int(process), signal.SIGKILL)
            subprocess.run(["ip", "netns", "del", space], capture_output=True, check=False)
        shutil.rmtree(home, ignore_errors=True)


def _start(home: Path, space: str, name: str) -> None:
    home.mkdir()
    (home / "hosts").write_text(f"127.0.0.1 {name}\n")
    (home / "lldpd.conf").write_text(
        f"configure system hostname {name}\nconfigure lldp portidsubtype ifname\nconfigure lldp tx-interval 1\n"
    )
    inside = ["nsenter", f"--net=/run/netns/{space}", "unshare", "--mount", "--uts", "--propagation", "private"]
    sh(*inside, "sh", "-c", START, "sh", str(home), name)


def ask(*command: str) -> str:
    """What a daemon answers, "" as long as it does not."""
    return subprocess.run(command, check=False, capture_output=True, text=True).stdout


def test_every_format(leaf: Path) -> None:
    wanted = [(mine, "spine001.dc1.example", theirs) for mine, theirs in PORTS]

    def neighbors(form: str) -> list[tuple[str, str, str]]:
        text = ask("lldpctl", "-u", str(leaf), "-f", form)
        found, _ = outputs(text, form) if "spine001" in text else ([], "")
        here = sorted((n.port, n.system, n.far_port) for output in found for n in output.part.neighbors)
        return here if len(here) >= len(PORTS) else []  # a neighbor is named several times, and the second comes later

    for form in ("json", "json0", "plain"):
        assert wait_for(partial(neighbors, form), every_s=0.2) == sorted(wanted), form
    one, _ = outputs(sh("lldpcli", "-u", str(leaf), "-f", "json", "show", "neighbors", "ports", "swp1", "details"), "one")
    assert [n.port for n in one[0].part.neighbors] == ["swp1"]
    port_name, _ = outputs(sh("lldpcli", "-u", str(leaf), "-f", "json0", "show", "chassis"), "own")
    assert port_name[0].part.host == "leaf001"
