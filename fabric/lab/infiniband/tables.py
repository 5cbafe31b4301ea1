"""Tables as they are on the switches, read back by their LIDs."""

from __future__ import annotations

import re

import numpy as np

from fabric.configs.infiniband.files import Managed
from fabric.lab.infiniband.predicted import graph
from fabric.lab.infiniband.simulator import Simulator
from fabric.lab.machine.namespaces import LabError
from fabric.solver.infiniband.subnet_graph import NO_PORT, SubnetGraph, Table

_SWITCH = re.compile(r"^Unicast lids .* guid 0x([0-9a-fA-F]+)")
_ROUTE = re.compile(r"^0x([0-9a-fA-F]+) (\d+)\b")
_CABLE = re.compile(r'^\[\d+\]\s+"(H-[0-9a-f]+)"\[1\].*\blid (\d+)\b')


def lids(text: str, managed: Managed) -> dict[int, int]:
    """LID → column of the tables, of what ibnetdiscover prints: a cable of a switch names the LID of its far end."""
    found: dict[int, int] = {}
    ids = {f"H-{guid.node:016x}": at for at, guid in enumerate(managed.guids.of)}
    ends = graph(managed).ends
    columns = {int(node): column for column, node in enumerate(ends.node)}
    for line in text.splitlines():
        match = _CABLE.match(line)
        if match and match[1] in ids and ids[match[1]] in columns:
            found[int(match[2])] = columns[ids[match[1]]]
    return found


def tables(simulator: Simulator, its: SubnetGraph, managed: Managed) -> Table:
    """The tables of all switches.

    dump_fts 44.0 leaves the highest LID out where it begins a block of 64: that one is of the manager's own dump.
    """
    of_lid = lids(simulator.ask("ibnetdiscover"), managed)
    table = read_back(simulator.ask("dump_fts", "-n"), of_lid, its, managed)
    lost = of_lid.get(max(of_lid, default=0))
    if lost is not None and not table[:, lost].any():
        table[:, lost] = read_back(simulator.log("opensm-lfts.dump"), of_lid, its, managed)[:, lost]
    return table


def read_back(text: str, of_lid: dict[int, int], its: SubnetGraph, managed: Managed) -> Table:
    """The output of dump_fts, or what the manager dumps, as a table."""
    table = np.full((its.switches, len(its.ends)), NO_PORT, dtype=np.int16)
    switches = {guid.node: at for at, guid in enumerate(managed.guids.of) if managed.subnet.nodes[at].switch}
    row = None
    for line in text.splitlines():
        if head := _SWITCH.match(line):
            row = switches.get(int(head[1], 16))
        elif row is not None and (route := _ROUTE.match(line)) and (column := of_lid.get(int(route[1], 16))) is not None:
            table[row, column] = int(route[2])
    if not table.any():
        raise LabError(f"subnet {managed.subnet.name}: no forwarding table could be read")
    return table
