"""Brings a lab up and takes it down, whole or half built, with what is written down of it for the commands between."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from fabric.base.formats import json_text, write_file
from fabric.base.processes import held_back
from fabric.base.text import listed
from fabric.configs.infiniband.topology import netlist
from fabric.lab.blueprint import RUN, Blueprint, Names, Node
from fabric.lab.infiniband import simulator
from fabric.lab.machine import daemons, host, namespaces
from fabric.lab.machine.daemons import OWN_HOPS, Vty, needs_own_hops
from fabric.lab.machine.host import Kernel
from fabric.lab.machine.namespaces import LabError, at_once
from fabric.lab.machine.nodes import Spaces
from fabric.lab.machine.wiring import Wiring

# --- what is written down, so that another command, or one after an accident, can go on from it ---------------

VERSION = 1


@dataclass(frozen=True, slots=True)
class Choices:
    """How `up` was asked to build."""

    limit: str = ""
    scale_down: str = ""  # "2x4"
    as_nos: str = ""  # network OS in place of the planned ones
    servers: int = 2


@dataclass(frozen=True, slots=True)
class State:
    """A lab, from the first thing that `up` does to the last thing that `down` does."""

    intent: str  # absolute path
    choices: Choices
    digest: str  # of everything that was built
    ready: bool = False  # `up` came to its end

    def done(self) -> State:
        return replace(self, ready=True)


def read(names: Names) -> State | None:
    """The lab of a site, None when there is none."""
    try:
        data: dict[str, Any] = json.loads(names.state.read_text(encoding="utf-8"))
        if data.pop("version") != VERSION:
            return None
        return State(**{**data, "choices": Choices(**data["choices"])})
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write(names: Names, state: State) -> None:
    names.folder.mkdir(parents=True, exist_ok=True)
    write_file(names.state, f"{json_text({'version': VERSION, **asdict(state)})}\n".encode())


def sites() -> list[str]:
    """Sites that have a lab, or what is left of one."""
    return sorted(path.name for path in RUN.iterdir() if path.is_dir()) if RUN.is_dir() else []


@contextmanager
def only_one(names: Names) -> Iterator[None]:
    """Holds the lab of a site, so that no two commands change it at once. Raises LabError when another has it."""
    RUN.mkdir(parents=True, exist_ok=True)
    path = RUN / f"{names.site}.lock"
    with path.open("a+", encoding="ascii") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            handle.seek(0)
            holder = handle.read().strip() or "unknown"
            raise LabError(f"another `fabric lab` uses the lab of site '{names.site}' (process {holder})") from None
        handle.truncate(0)
        handle.write(str(os.getpid()))
        handle.flush()
        try:
            yield
        finally:
            _forget(path, names)


def _forget(path: Path, names: Names) -> None:
    """Where a lab is gone, its lock and the folder of all labs go too."""
    if names.folder.exists():
        return
    path.unlink(missing_ok=True)
    try:
        RUN.rmdir()
    except OSError:
        return  # another site has a lab


# --- What of a lab is there, without changing anything --------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """A lab as it lies there."""

    state: State | None
    namespaces: int
    nodes: int  # with daemons
    running: int  # daemons
    dead: tuple[str, ...]  # "backend-leaf001: bgpd" of daemons that were started and have ended
    memory_bytes: int  # proportional share of all processes

    @property
    def word(self) -> str:
        """`up`, `broken` or `none`."""
        if self.state is None and not self.namespaces:
            return "none"
        return "up" if self.state and self.state.ready and not self.dead and (self.namespaces or self.running) else "broken"


def status(names: Names) -> Status:
    """Looks at names, processes and the state file."""
    homes = sorted(path for path in (names.folder / "nodes").iterdir()) if (names.folder / "nodes").is_dir() else []
    spaces = namespaces.existing(names.prefix)
    dead, running = [], 0
    if (names.folder / "subnets").is_dir():
        for subnet in sorted(path.name for path in (names.folder / "subnets").iterdir()):
            lost = simulator.Simulator(names.site, names.folder, subnet).dead()
            dead += [f"{subnet}: {program}" for program in lost]
            running += 2 - len(lost)
    for home in homes:
        alive = daemons.alive(home)
        running += len(alive)
        dead += [f"{home.name}: {name}" for name in daemons.started(home) if name not in alive]
    memory = sum(map(_memory, namespaces.processes({namespaces.inode(name) for name in spaces})))
    return Status(
        state=read(names), namespaces=len(spaces), nodes=len(homes), running=running, dead=tuple(dead), memory_bytes=memory
    )


def _memory(process: int) -> int:
    """What a process takes, pages that it shares counted by its share."""
    try:
        for line in Path(f"/proc/{process}/smaps_rollup").read_text(encoding="ascii").splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return 0


# --- down -----------------------------------------------------------------------------------------------------
# Takes a lab down, whole or half built: processes, namespaces, files, and the limits that were raised for it.
#
# Nothing is trusted but names: whatever runs in a namespace with the lab's prefix is the lab's, also after a kill -9 of `up`.


def take_down(names: Names) -> int:
    """Leaves nothing behind; returns how many namespaces there were. Raises LabError for processes that will not end."""
    spaces = namespaces.existing(names.prefix)
    simulated = simulator.stop(names.site)
    namespaces.end_processes({namespaces.inode(name) for name in spaces})
    namespaces.delete(spaces)
    if left := namespaces.existing(names.prefix):
        raise LabError(f"namespaces that could not be deleted: {listed(left, 5)}")
    shutil.rmtree(names.folder, ignore_errors=True)
    host.restore_limits(needed=lambda: bool(sites()))
    return len(spaces) + simulated


# --- up -------------------------------------------------------------------------------------------------------
# Brings a lab up: draw, wire, start the daemons, load the generated files unchanged, raise the links.

Say = Callable[[str], None]


def bring_up(lab: Blueprint, kernel: Kernel, lab_state: State, say: Say) -> tuple[str, ...]:
    """Builds a lab, over the remains of an earlier one; returns messages of the daemons about the files they loaded.

    Raises LabError; what was built so far is taken down again.
    """
    names = Names(lab.site)
    try:
        take_down(names)
        write(names, lab_state)
        notes = _build(lab, kernel, names, say)
        write(names, replace(lab_state, ready=True))
    except BaseException:  # also Ctrl-C and SIGTERM: no half-built lab stays
        with held_back():
            take_down(names)
        raise
    return notes


def _build(lab: Blueprint, kernel: Kernel, names: Names, say: Say) -> tuple[str, ...]:
    host.raise_limits()
    wiring = Wiring(lab, kernel)
    say(f"building {lab.shape}")
    wiring.build()
    routed = [node for node in lab.nodes.values() if node.routed]
    if routed:
        say(f"starting FRR {daemons.version()} on {len(routed)} nodes")
    at_once(lambda node: start(node, wiring), routed)
    say("loading the generated files")
    refused = at_once(lambda node: [f"{node.name}: {line}" for line in daemons.load(names.home(node.name))], routed)
    wiring.raise_links()
    for managed in lab.subnets:
        name = managed.subnet.name
        say(f"starting ibsim and opensm {simulator.version()} for subnet {name}")
        files = lab.subnet_files[name]
        network = netlist(managed.subnet, managed.guids, simulator.FASTEST_GBPS)
        switches = len(managed.subnet.switches)
        nodes = len(managed.subnet.nodes)
        its = simulator.Subnetwork(name, network, files, nodes, switches)
        simulator.Simulator(lab.site, names.folder, name, nodes).start(its)
    return tuple(line for lines in refused for line in lines)


def start(node: Node, spaces: Spaces, bfd: bool | None = None) -> None:
    """The daemons of one node, with nothing loaded yet.

    Args:
        bfd: bfdd is one of them; None: where the config asks for it.
    """
    home = spaces.names.home(node.name)
    daemons.prepare(home, node.frr_conf)
    vrfs = spaces.vrf_namespaces(node)
    detect = spaces.bfd and (daemons.asks_for_bfd(node.frr_conf) if bfd is None else bfd)
    commands = daemons.command_lines(home, node.frr_conf, namespaces=bool(vrfs), bfd=detect)
    daemons.start(node.name, spaces.namespace(node.name), home, vrfs, commands)
    if needs_own_hops(node.frr_conf):
        with Vty(home, "zebra") as vty:
            vty.configure(OWN_HOPS)


def digest(lab: Blueprint) -> str:
    """Of all that is built, so that a later command knows whether the files have changed since."""
    text = repr((sorted(lab.nodes.items()), lab.wires, lab.bfd, sorted(lab.subnet_files.items())))
    return hashlib.sha256(text.encode()).hexdigest()
