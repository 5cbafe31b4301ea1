"""Makes the nodes of a lab and the wires between them; daemons come later."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from fabric.base.grouping import grouped
from fabric.lab.blueprint import SWITCH, Blueprint, End, Names, Wire
from fabric.lab.machine import namespaces
from fabric.lab.machine.host import Kernel
from fabric.lab.machine.namespaces import at_once
from fabric.lab.machine.nodes import Spaces, dressed, ip

FIRST_NUMBER = 10_000  # of the first end of a wire; kernels count interfaces of a namespace from 1 on


class Wiring(Spaces):
    """The lab of one site on one kernel."""

    def __init__(self, lab: Blueprint, kernel: Kernel) -> None:
        lab = buildable(lab, kernel)
        super().__init__(Names(lab.site), kernel, lab.bfd)
        self.lab = lab
        self.interfaces = {End(node.name, own.name): own for node in lab.nodes.values() for own in node.interfaces}
        self.far = {end: wire.other(end.node) for wire in lab.wires for end in (wire.a, wire.b)}

    def build(self) -> None:
        """Everything but the daemons; cables between switches are still down. Raises LabError."""
        spaces = [space for node in self.lab.nodes.values() for space in self.spaces(node)]
        namespaces.create(spaces)
        at_once(self.settings, self.lab.nodes.values())
        ip("", self._wires(self.lab.wires, FIRST_NUMBER))
        at_once(self.devices, self.lab.nodes.values())

    def raise_links(self) -> None:
        """Brings every port up that its file does not keep down. The last step: daemons then see each link once."""
        at_once(self.raise_ports, self.lab.nodes.values())

    # --- steps --------------------------------------------------------------------------------------------------

    def lay(self, wires: Iterable[Wire]) -> None:
        """Lays cables in a lab that is up; their ports get what their files say, and come up."""
        wires = list(wires)
        ip("", self._wires(wires))
        for end in (end for wire in wires for end in (wire.a, wire.b)):
            own, space = self.interfaces[end], self.namespace(end.node, self.interfaces[end].vrf)
            ip(space, [*dressed([own], self.kernel), *([f"link set {own.name} up"] if own.up else [])])

    def make(self, wires: Iterable[Wire]) -> None:
        """Wires alone, their ends as they are born."""
        ip("", self._wires(wires))

    def elect(self, pulled: Collection[End]) -> None:
        """Bridges of switches below others get the first port of each bond whose cable is not pulled, as a bond would.

        Args:
            pulled: ports that are down at the other end.
        """
        for node in (node for node in self.lab.nodes.values() if node.kind == SWITCH):
            bonds = grouped((own.bond, own) for own in node.interfaces if own.bond and own.bridge)
            for own in bonds.values():
                living = [item for item in own if self.far[End(node.name, item.name)] not in pulled]
                used = min((item.standby for item in living), default=0)
                for item in sorted(own, key=lambda item: item.standby == used):  # none has two ports at any moment
                    master = f"master {item.bridge}" if item.standby == used else "nomaster"
                    ip(self.namespace(node.name, item.vrf), [f"link set {item.name} {master}"])

    def _wires(self, wires: Iterable[Wire], first: int = 0) -> Iterator[str]:
        """A veth pair per wire, each end born where it belongs: nothing is ever in the machine's own namespace.

        Args:
            first: number of the first end, others count on. A kernel reports a link at once where the numbers of both ends
                differ, else up to a second later (net/core/link_watch.c). 0: the kernel numbers them.
        """
        for number, wire in enumerate(wires, first):
            ends = []
            for end in (wire.a, wire.b):
                own = self.interfaces[end]
                words = f"name {own.name} netns {self.namespace(end.node, own.vrf)}"
                words += f" address {own.mac}" if own.mac else ""
                ends.append(words + (f" mtu {own.mtu}" if own.mtu else ""))
            yield f"link add {ends[0]} {f'index {number} ' if first else ''}type veth peer {ends[1]}"


def buildable(lab: Blueprint, kernel: Kernel) -> Blueprint:
    """A lab without what this kernel cannot do; each node that wants it says so in `lacks`."""
    if "filter" in kernel.can or not any(node.filters for node in lab.nodes.values()):
        return lab
    words = "packet filters of nftables.conf, as nft has no family inet here"
    nodes = {
        name: replace(node, filters="", lacks=(*node.lacks, words)) if node.filters else node
        for name, node in lab.nodes.items()
    }
    return replace(lab, nodes=nodes)
