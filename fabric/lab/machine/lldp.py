"""lldpd in every namespace of a lab, and the neighbors that each reports.

Where a VRF is a namespace it has an lldpd of its own, under the same system name. A tagged slice of a cable is silent:
LLDP is untagged on a switch, so a cable has one neighbor at each end however many VLANs it carries.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

from fabric.base.grouping import grouped
from fabric.lab.blueprint import PORT, SERVER, End, Node
from fabric.lab.machine import namespaces
from fabric.lab.machine.namespaces import NETNS, CommandError, at_once, processes, run

if TYPE_CHECKING:
    from fabric.lab.live import Live

# $1 home of the namespace's lldpd, $2 system name. It keeps a folder under /run, which it must not share, and looks up
# its own name first of all, which takes five seconds where no name server answers.
_SCRIPT = """
set -e
mount --bind "$1" /mnt
mount -t tmpfs none /run
mkdir -p /run/lldpd
hostname "$2"
mount --bind /mnt/hosts /etc/hosts
lldpd -u /mnt/lldpd.sock -O /mnt/lldpd.conf -S "$2"
"""


# A lab has no patience for the usual 30 s, nor for the two minutes that a neighbor is kept after its cable is gone.
_QUICK = "configure lldp tx-interval 1\nconfigure lldp tx-hold 4\n"


def missing() -> str:
    """Why there is no LLDP here, "" where there is."""
    lost = [name for name in ("lldpd", "lldpcli") if shutil.which(name) is None]
    return f"{lost[0]} is not installed (Debian package lldpd)" if lost else ""


ATTEMPTS = 3  # to start an lldpd: on a busy machine one can end without a message while it is being configured
SERVERS = 64  # servers that may speak; of more, their cables are left to the proof of reach


class Lldp:
    """The lldpds of a lab; a context that starts them and ends them."""

    def __init__(self, live: Live) -> None:
        self.live = live
        self.homes = {space: (node.name, home) for node in speakers(live) for space, home in _homes(live, node)}

    def follow(self) -> None:
        """Starts those that do not run yet; what runs goes on, as on a switch whose cables are moved."""
        inodes = {space: namespaces.inode(space) for space in self.homes}
        there = {_space_of(number) for number in processes(set(inodes.values())) if _program(number) == "lldpd"}
        at_once(self._start, [space for space in self.homes if inodes[space] not in there])

    def __enter__(self) -> Lldp:
        self.stop()
        at_once(self._start, self.homes)
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _start(self, space: str) -> None:
        name, home = self.homes[space]
        home.mkdir(parents=True, exist_ok=True)
        settings = (
            self.live.lab.nodes[name].lldp or f"configure system hostname {name}\nconfigure lldp portidsubtype ifname\n"
        )
        (home / "lldpd.conf").write_text(settings + _QUICK + self._silent(name), encoding="utf-8")
        (home / "hosts").write_text(f"127.0.0.1 localhost\n127.0.1.1 {name}\n", encoding="utf-8")
        command = ["nsenter", f"--net={NETNS / space}", "unshare", "--mount", "--uts", "--propagation", "private"]
        for left in reversed(range(ATTEMPTS)):
            try:
                run(*command, "sh", "-c", _SCRIPT, "sh", str(home), name)
                return
            except CommandError:
                if not left:
                    raise
                (home / "lldpd.sock").unlink(missing_ok=True)
                time.sleep(1)

    def _silent(self, name: str) -> str:
        slices = (own.name for own in self.live.lab.nodes[name].interfaces if _is_slice(self.live, name, own.name))
        return "".join(f"configure ports {port} lldp status disabled\n" for port in slices)

    def stop(self) -> None:
        """Ends them all."""
        for number in processes({namespaces.inode(space) for space in self.homes}):
            if _program(number) == "lldpd":
                os.kill(number, signal.SIGKILL)
        for _, home in self.homes.values():
            shutil.rmtree(home, ignore_errors=True)
            with suppress(OSError):  # a node with daemons keeps its folder
                home.parent.rmdir()

    def neighbors(self) -> dict[End, list[End]]:
        """Port → ends that it reports. A namespace without ports reports none."""
        return grouped((here, there) for part in at_once(self._reported, self.homes) for here, there in part)

    def _reported(self, space: str) -> list[tuple[End, End]]:
        name, home = self.homes[space]
        text = run("lldpcli", "-u", str(home / "lldpd.sock"), "-f", "json0", "show", "neighbors", check=False).stdout
        try:
            document = json.loads(text)
        except ValueError:
            return []
        return list(_neighbors(name, document))

    def wait(self, wanted: dict[End, End], patience_s: float) -> dict[End, list[End]]:
        """The reported neighbors, as soon as they match `wanted`, else after `patience_s`."""
        deadline = time.monotonic() + patience_s
        while True:
            found = self.neighbors()
            right = all(found.get(here) == [there] for here, there in wanted.items())
            if right or time.monotonic() > deadline:
                return found
            time.sleep(0.5)


def speakers(live: Live) -> list[Node]:
    """Nodes that run lldpd: switches, and servers unless there are many."""
    servers = live.lab.of(SERVER)
    return [node for node in live.lab.nodes.values() if node.kind != SERVER or len(servers) <= SERVERS]


def _program(process: int) -> str:
    try:
        return Path(f"/proc/{process}/comm").read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def _space_of(process: int) -> int:
    """The number of the namespace that a process is in."""
    try:
        return os.stat(f"/proc/{process}/ns/net").st_ino
    except OSError:
        return 0


def _homes(live: Live, node: Node) -> Iterator[tuple[str, Path]]:
    """Every namespace that has a whole cable."""
    cabled = {
        live.space(node.name, own.vrf)
        for own in node.interfaces
        if own.kind == PORT and not _is_slice(live, node.name, own.name)
    }
    for space in live.wiring.spaces(node):
        if space in cabled:  # a name of its own, which stays when VRFs come and go; the path of a socket is short
            yield space, live.names.home(node.name) / f"lldp{crc32(space.encode()):x}"


def _is_slice(live: Live, node: str, interface: str) -> bool:
    end = End(node, interface)
    return live.lab.port_of.get(end, end) != end


def _neighbors(name: str, document: Any) -> Iterator[tuple[End, End]]:
    """json0 has lists everywhere, whatever their length."""
    for block in document.get("lldp", ()):
        for row in block.get("interface", ()):
            chassis, port = row.get("chassis", [{}])[0], row.get("port", [{}])[0]
            system = chassis.get("name", [{}])[0].get("value", "")
            identity = port.get("id", [{}])[0].get("value", "")
            yield End(name, row["name"]), End(system, identity)
