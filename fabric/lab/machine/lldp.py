"""lldpd in every namespace of a lab, and what each of them hears.

Where a VRF is a namespace its ports are heard by an lldpd of its own, under the same system name.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabric.lab.blueprint import End, Node
from fabric.lab.machine.namespaces import NETNS
from fabric.lab.machine.run import at_once, run

if TYPE_CHECKING:
    from fabric.lab.live import Live

# $1 home of the namespace's lldpd, $2 system name. It keeps a folder under /run, which must be nobody else's.
_SCRIPT = """
set -e
mount --bind "$1" /mnt
mount -t tmpfs none /run
mkdir -p /run/lldpd
hostname "$2"
lldpd -u /mnt/lldpd.sock -O /mnt/lldpd.conf -S "$2"
"""


def missing() -> str:
    """Why there is no LLDP here, "" where there is."""
    lost = [name for name in ("lldpd", "lldpcli") if shutil.which(name) is None]
    return f"{lost[0]} is not installed (Debian package lldpd)" if lost else ""


class Lldp:
    """The lldpds of a lab, from `start` until the lab goes."""

    def __init__(self, live: Live) -> None:
        self.live = live
        self.homes = {space: (node.name, home) for node in live.lab.nodes.values() for space, home in _homes(live, node)}

    def start(self) -> None:
        """Starts what does not run yet."""
        at_once(self._start, [space for space, (_, home) in self.homes.items() if not (home / "lldpd.sock").exists()])

    def _start(self, space: str) -> None:
        name, home = self.homes[space]
        home.mkdir(parents=True, exist_ok=True)
        own = self.live.lab.nodes[name].lldp or f"configure system hostname {name}\nconfigure lldp portidsubtype ifname\n"
        (home / "lldpd.conf").write_text(own, encoding="utf-8")
        command = ["nsenter", f"--net={NETNS / space}", "unshare", "--mount", "--uts", "--propagation", "private"]
        run(*command, "sh", "-c", _SCRIPT, "sh", str(home), name)

    def announce(self) -> None:
        """Has every port tell about itself now."""
        at_once(lambda own: run("lldpcli", "-u", str(own[1] / "lldpd.sock"), "update", check=False), self.homes.values())

    def heard(self) -> dict[End, list[End]]:
        """Port → ends that it hears of. A namespace without ports hears nothing."""
        found: dict[End, list[End]] = {}
        for part in at_once(self._heard, self.homes):
            for here, there in part:
                found.setdefault(here, []).append(there)
        return found

    def _heard(self, space: str) -> list[tuple[End, End]]:
        name, home = self.homes[space]
        text = run("lldpcli", "-u", str(home / "lldpd.sock"), "-f", "json0", "show", "neighbors", check=False).stdout
        try:
            said = json.loads(text)
        except ValueError:
            return []
        return list(_neighbors(name, said))

    def wait(self, wanted: dict[End, End], patience_s: float) -> dict[End, list[End]]:
        """What is heard, as soon as it is all that is wanted, else at the end of patience.

        Who starts early speaks before others listen, and again only after 30 s: so all are asked to speak up.
        """
        deadline = time.monotonic() + patience_s
        while True:
            found = self.heard()
            right = all(found.get(here) == [there] for here, there in wanted.items())
            if right or time.monotonic() > deadline:
                return found
            self.announce()
            time.sleep(0.5)


def _homes(live: Live, node: Node) -> Iterator[tuple[str, Path]]:
    for number, space in enumerate(live.wiring.spaces(node)):
        yield space, live.names.home(node.name) / f"lldp{number}"


def _neighbors(name: str, said: Any) -> Iterator[tuple[End, End]]:
    """json0 has lists everywhere, whatever their length."""
    for block in said.get("lldp", ()):
        for row in block.get("interface", ()):
            chassis, port = row.get("chassis", [{}])[0], row.get("port", [{}])[0]
            system = chassis.get("name", [{}])[0].get("value", "")
            identity = port.get("id", [{}])[0].get("value", "")
            yield End(name, row["name"]), End(system, identity)
