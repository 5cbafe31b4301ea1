"""What tools report of an InfiniBand subnet, as neighbors of its switches: one file speaks for all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fabric.configs.infiniband.discovered import Discovered, End, FoundNode
from fabric.configs.infiniband.places import Located, locate
from fabric.model.plan.subnets import Subnet
from fabric.nos.lldp import LldpPart, LldpPort, Neighbor

SOURCE = "infiniband"  # of `--source`
COMMANDS = "ibnetdiscover, iblinkinfo, iblinkinfo -l, ports of UFM as JSON"


@dataclass(frozen=True)
class _Reported:
    """A file, and the subnet of the plan that it is of."""

    found: Discovered
    subnet: Subnet
    located: Located

    def device(self, guid: int) -> str:
        """The device of a node, else what the node calls itself."""
        at = self.located.nodes.get(guid)
        return self.subnet.nodes[at].device.name if at is not None else _own_name(self.found.nodes[guid])

    def port(self, end: End) -> str:
        """The label of a port in the plan; of an unknown node its number."""
        at = self.located.nodes.get(end[0])
        return self.subnet.port_label(at, end[1]) if at is not None else str(end[1])

    def neighbor(self, end: End, far: End) -> Neighbor:
        speed = self.found.speeds.get(far, 0)
        return Neighbor(port=self.port(end), system=self.device(far[0]), far_port=self.port(far), far_speed_gbps=speed)

    def state(self, end: End) -> LldpPort:
        return LldpPort(self.port(end), self.found.speeds.get(end, 0), up=end in self.found.peers)


def _own_name(node: FoundNode) -> str:
    return node.name.strip() or f"{node.guid:#018x}"


def parts(found: Discovered, subnets: Sequence[Subnet]) -> Iterator[tuple[str, LldpPart]]:
    """Switch → its neighbors and ports; nothing where no node is of the plan."""
    tried = [(locate(found, subnet), subnet) for subnet in subnets]
    located, subnet = max(tried, key=lambda pair: len(pair[0].nodes), default=(Located(), None))
    if subnet is None or not located.nodes:
        return
    reported = _Reported(found, subnet, located)
    for guid, at in sorted(located.nodes.items(), key=lambda pair: pair[1]):
        if not subnet.nodes[at].switch:
            continue
        ends = sorted(end for end in {*found.peers, *found.down} if end[0] == guid and 0 < end[1] <= subnet.nodes[at].ports)
        neighbors = tuple(reported.neighbor(end, found.peers[end]) for end in ends if end in found.peers)
        states = tuple(reported.state(end) for end in ends)
        yield subnet.nodes[at].device.name, LldpPart(subnet.nodes[at].device.name, "", neighbors, states, listens=True)
