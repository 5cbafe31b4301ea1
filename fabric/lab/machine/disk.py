"""The disk of a switch in a lab: its own files where they are on a switch, and what programs of its shell need to know.

A lab has none of them before the first shell: its nodes are made from the generated files.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from fabric.base.formats import json_text
from fabric.lab.blueprint import Names, Node
from fabric.lab.devices import Chassis, switch
from fabric.lab.machine import daemons
from fabric.lab.machine.host import Kernel
from fabric.lab.machine.namespaces import LabError, run
from fabric.lab.machine.nodes import Spaces
from fabric.nos.reading import read_device
from fabric.nos.target import target

ETC = Path("/etc")
PACKAGE = Path(__file__).parents[3]
ROUTING_FILE, DAEMONS_FILE = "frr.conf", "daemons"
SHORT = {  # what is a line of a shell
    "sudo": 'while [ "${1#-}" != "$1" ]; do shift; done; exec "$@"',
    "vtysh": 'exec /usr/bin/vtysh --vty_socket "$FABRIC_HOME" "$@"',
}
PROGRAMS = ("apt-get", "ifreload", "nft", "sysctl", "systemctl", "systemd-run")  # see stand_ins.py


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """What a switch is, beside its files."""

    site: str
    chassis: Chassis
    kernel: Kernel
    bfd: bool
    minute_s: float  # of its timers


class Disk:
    """The disk of one switch."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.name = folder, folder.name
        self.etc, self.kept, self.root = folder / "etc", folder / "kept", folder / "root"
        self.timers, self.booting = folder / "timers", folder / "booting"

    @property
    def exists(self) -> bool:
        return (self.folder / "switch.json").exists()

    # --- what it is ---------------------------------------------------------------------------------------------

    @property
    def described(self) -> Described:
        data: dict[str, Any] = json.loads((self.folder / "switch.json").read_text(encoding="utf-8"))
        its = data["chassis"]
        above = {port: (bond, place) for port, (bond, place) in its["above"].items()}
        of = Chassis(**{**its, "ports": tuple(its["ports"]), "above": above})
        kernel = Kernel(data["kernel"]["release"], frozenset(data["kernel"]["can"]))
        return Described(site=data["site"], chassis=of, kernel=kernel, bfd=data["bfd"], minute_s=data["minute_s"])

    def describe(self, what: Described) -> None:
        data = asdict(what) | {"kernel": {"release": what.kernel.release, "can": sorted(what.kernel.can)}}
        (self.folder / "switch.json").write_text(json_text(data) + "\n", encoding="utf-8")

    @property
    def spaces(self) -> Spaces:
        what = self.described
        return Spaces(Names(what.site), what.kernel, what.bfd)

    @property
    def home(self) -> Path:
        """Of its daemons."""
        return Names(self.described.site).home(self.name)

    def create(self, what: Described, files: Mapping[str, str]) -> None:
        """A new disk with the files of a switch. Raises LabError for a network OS whose places of files are not known."""
        places = places_of(what.chassis.nos)
        if not places:
            raise LabError(f"{self.name}: no shell of {target(what.chassis.nos).title} in the lab")
        self.remove()
        for folder in (self.etc, self.kept, self.root, self.timers, self.folder / "host", self.folder / "bin"):
            folder.mkdir(parents=True)
        self.describe(what)
        for name, text in files.items():
            path = self.path(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        routing = self.path(ROUTING_FILE).parent
        (routing / "vtysh.conf").touch()
        for path in (routing, *routing.iterdir()):
            shutil.chown(path, daemons.USER, daemons.USER)
        own = {path.name for path in self.etc.iterdir()}
        for entry in ETC.iterdir():  # users, groups and libraries are those of the machine
            if entry.name not in own:
                (self.etc / entry.name).symlink_to(self.folder / "host" / entry.name)
        self._programs()
        self.keep(self.node())

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def _programs(self) -> None:
        """Stand-ins for what a namespace has not, and the vtysh of its own daemons."""
        python = f'exec env PYTHONPATH={PACKAGE} {sys.executable} -m fabric.lab.machine.stand_ins "{self.folder}" {{}} "$@"'
        for name, line in {**SHORT, **{name: python.format(name) for name in PROGRAMS}}.items():
            path = self.folder / "bin" / name
            path.write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
            path.chmod(0o755)

    # --- files --------------------------------------------------------------------------------------------------

    def path(self, name: str) -> Path:
        """Where a file is; one that has no place of its own in /etc is kept beside."""
        place = places_of(self.described.chassis.nos).get(name, "")
        if place.startswith(f"{ETC}/"):
            return self.etc / Path(place).relative_to(ETC)
        return self.folder / "other" / name

    @property
    def files(self) -> dict[str, str]:
        """Name → text, as the switch has them now."""
        places = places_of(self.described.chassis.nos)
        there = self.folder / "other"
        names = [*places, *(path.name for path in (there.iterdir() if there.is_dir() else ()))]
        return {
            name: path.read_text(encoding="utf-8", errors="replace")
            for name in sorted(names)
            if (path := self.path(name)).exists()
        }

    def running(self) -> str:
        """What the daemons have. Raises LabError where one has ended."""
        alive = daemons.alive(self.home)
        if ended := [name for name in daemons.started(self.home) if name not in alive]:
            raise LabError(f"{self.name}: {ended[0]} is not running")
        return daemons.running_config(self.home, self.path(ROUTING_FILE).read_text(encoding="utf-8"))

    def watch(self) -> None:
        """Where a daemon has ended, all start again with the config that is saved: a switch watches its daemons."""
        alive = daemons.alive(self.home)
        if any(name not in alive for name in daemons.started(self.home)):
            run(str(self.folder / "bin" / "systemctl"), "restart", ROUTING_FILE.partition(".")[0])

    def node(self, *, saved: bool = True) -> Node:
        """The switch by its files; `saved`: with the daemons' config as it is saved, not as it runs."""
        return self._drawn(self.files if saved else {**self.files, ROUTING_FILE: self.running()})

    # --- what was loaded last, as ifupdown2 keeps it -------------------------------------------------------------

    def keep(self, node: Node) -> None:
        """Remembers the files that the interfaces are made from."""
        files = {**self.files, ROUTING_FILE: node.frr_conf}
        shutil.rmtree(self.kept)
        self.kept.mkdir()
        for name, text in files.items():
            (self.kept / name).write_text(text, encoding="utf-8")

    @property
    def loaded(self) -> Node:
        """The switch by the files that its interfaces are made from, with the ports that are cabled now."""
        return self._drawn({path.name: path.read_text(encoding="utf-8") for path in self.kept.iterdir()})

    def _drawn(self, files: Mapping[str, str]) -> Node:
        """The switch; VRFs are those of its interfaces: daemons keep the name of one that is no more."""
        of = self.described.chassis
        node = switch(of, read_device(of.name, of.nos, files), files)
        made = read_device(of.name, of.nos, {name: text for name, text in files.items() if name != ROUTING_FILE}).vrfs
        return replace(node, vrfs=tuple(name for name in node.vrfs if name in made))


def places_of(nos: str) -> Mapping[str, str]:
    """File → where it is on a switch, of a network OS whose files are those of a Linux system."""
    first_boot = target(nos).day_zero
    return first_boot.get().places if first_boot is not None else {}
