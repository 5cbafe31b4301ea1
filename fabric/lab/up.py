"""Brings a lab up: draw, wire, start the daemons, load the generated files unchanged, raise the links."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace

from fabric.base.processes import held_back
from fabric.lab import state
from fabric.lab.blueprint import Blueprint, Node
from fabric.lab.down import take_down
from fabric.lab.frr_defects import OWN_HOPS, needs_own_hops
from fabric.lab.machine import daemons, limits
from fabric.lab.machine.kernel import Kernel
from fabric.lab.machine.run import at_once
from fabric.lab.machine.vty import Vty
from fabric.lab.machine.wiring import Wiring
from fabric.lab.names import Names
from fabric.lab.state import State

Say = Callable[[str], None]


def bring_up(lab: Blueprint, kernel: Kernel, lab_state: State, say: Say) -> tuple[str, ...]:
    """Builds a lab, over the remains of an earlier one; returns messages of the daemons about the files they loaded.

    Raises LabError; what was built so far is taken down again.
    """
    names = Names(lab.site)
    try:
        take_down(names)
        state.write(names, lab_state)
        notes = _build(lab, kernel, names, say)
        state.write(names, replace(lab_state, ready=True))
    except BaseException:  # also Ctrl-C and SIGTERM: no half-built lab stays
        with held_back():
            take_down(names)
        raise
    return notes


def _build(lab: Blueprint, kernel: Kernel, names: Names, say: Say) -> tuple[str, ...]:
    limits.raise_limits()
    wiring = Wiring(lab, kernel)
    say(f"building {lab.shape}")
    wiring.build()
    routed = [node for node in lab.nodes.values() if node.routed]
    say(f"starting FRR {daemons.version()} on {len(routed)} nodes")
    at_once(lambda node: start(node, wiring), routed)
    say("loading the generated files")
    refused = at_once(lambda node: [f"{node.name}: {line}" for line in daemons.load(names.home(node.name))], routed)
    wiring.raise_links()
    return tuple(line for lines in refused for line in lines)


def start(node: Node, wiring: Wiring) -> None:
    """The daemons of one node, with nothing loaded yet."""
    home = wiring.names.home(node.name)
    daemons.prepare(home, node.frr_conf)
    vrfs = wiring.vrf_namespaces(node)
    commands = daemons.command_lines(home, node.frr_conf, namespaces=bool(vrfs), detect=wiring.lab.bfd)
    daemons.start(node.name, wiring.namespace(node.name), home, vrfs, commands)
    if needs_own_hops(node.frr_conf):
        with Vty(home, "zebra") as vty:
            vty.configure(OWN_HOPS)


def digest(lab: Blueprint) -> str:
    """Of all that is built, so that a later command knows whether the files have changed since."""
    text = repr((sorted(lab.nodes.items()), lab.wires, lab.bfd))
    return hashlib.sha256(text.encode()).hexdigest()
