"""A subnet as other tools read it: names by GUID, a topology file, and the network that ibnetdiscover prints and ibsim runs.

Sources: ibnetdiscover(8), opensm(8) for names; the topology file of ibutils, which UFM keeps as master.topo and the cable
validation tool reads (docs.nvidia.com, Cable Validation Tool, topo file); ibsim's net-examples.
"""

from __future__ import annotations

from collections.abc import Iterator

from fabric.base.grouping import grouped
from fabric.configs.infiniband.guids import Guids
from fabric.model.plan.subnets import Cable, Node, Subnet

LANES = 4


def name_map(subnet: Subnet, its: Guids) -> str:
    """A line for each node: its GUID, and its name in quotes."""
    lines = []
    for at, node in enumerate(subnet.nodes):
        chips = its.nodes(at)
        for plane, guid in enumerate(chips, 1):
            name = f"{node.name} plane{plane}" if len(chips) > 1 else node.name
            lines.append(f'{guid.node:#018x} "{name}"')
    return "\n".join(lines) + "\n"


# --- topology file ---------------------------------------------------------------------------------------------


def topo(subnet: Subnet) -> str:
    """A block for each switch: its cables, those between switches at their lower end alone."""
    cables = grouped(pair for cable in subnet.cables for pair in _listed(subnet, cable))
    return "\n".join("\n".join(_block(subnet, at, cables.get(at, []))) for at, node in enumerate(subnet.nodes) if node.switch)


def _listed(subnet: Subnet, cable: Cable) -> Iterator[tuple[int, tuple[int, int, int, int]]]:
    """Switch, and the rest of a cable that is listed there: its port, the far node and port, speed."""
    if subnet.nodes[cable.a].switch:
        yield cable.a, (cable.a_port, cable.b, cable.b_port, cable.speed_gbps)
    else:
        yield cable.b, (cable.b_port, cable.a, cable.a_port, cable.speed_gbps)


def _block(subnet: Subnet, at: int, cables: list[tuple[int, int, int, int]]) -> Iterator[str]:
    yield f"{_type(subnet.nodes[at])} {subnet.nodes[at].name}"
    for port, far, far_port, speed in sorted(cables):
        yield f"   P{port} -{LANES}x-{speed / LANES:g}G-> {_far(subnet.nodes[far], far_port)}"
    yield ""


def _type(node: Node) -> str:
    return f"M{node.device.model.upper()}" if node.device.model.startswith("q") else node.device.model.upper()


def _far(node: Node, port: int) -> str:
    if node.switch:
        return f"{_type(node)} {node.name} P{port}"
    adapter = node.name.removeprefix(f"{node.device.name} ")
    return f"HCA_{adapter} {node.device.name} {adapter}/P{port}"


# --- the network of ibnetdiscover ------------------------------------------------------------------------------


def manager_at(subnet: Subnet) -> int:
    """Place of the port that a simulated manager is plugged in at: of an attachment, else of the first server."""
    ports = [at for at, node in enumerate(subnet.nodes) if not node.switch]
    return next((at for at in ports if not subnet.nodes[at].purpose), ports[0] if ports else 0)


def netlist(subnet: Subnet, its: Guids, fastest_gbps: int = 800) -> str:
    """Nodes with their cabled ports, at both ends of every cable. The first node is where a simulator attaches.

    Args:
        fastest_gbps: speed of ports that are faster, for a simulator that knows none above.
    """
    ends: dict[int, list[tuple[int, int, int, int]]] = {}
    for cable in subnet.cables:
        speed = min(cable.speed_gbps, fastest_gbps)
        ends.setdefault(cable.a, []).append((cable.a_port, cable.b, cable.b_port, speed))
        ends.setdefault(cable.b, []).append((cable.b_port, cable.a, cable.a_port, speed))
    first = manager_at(subnet)
    order = sorted(range(len(subnet.nodes)), key=lambda at: (at != first, subnet.nodes[at].switch, at))
    return "\n".join("\n".join(_node(subnet, its, at, ends.get(at, []))) for at in order)


def _node(subnet: Subnet, its: Guids, at: int, cables: list[tuple[int, int, int, int]]) -> Iterator[str]:
    node, guid = subnet.nodes[at], its.of[at].node
    yield "vendid=0x2c9"
    yield f"devid={'0xd2f2' if node.switch else '0x1021'}"
    yield f"sysimgguid={guid:#x}"
    yield f"{'switchguid' if node.switch else 'caguid'}={guid:#x}"
    if node.switch:
        yield f'Switch\t{node.ports} "{_id(node, guid)}"\t\t# "{node.name}" enhanced port 0 lid 0 lmc 0'
    else:
        yield f'Ca\t{node.ports} "{_id(node, guid)}"\t\t# "{node.name}"'
    for port, far, far_port, speed in sorted(cables):
        other = subnet.nodes[far]
        what = f"{LANES}x{_lane(speed)}"
        yield f'[{port}]\t"{_id(other, its.of[far].node)}"[{far_port}]\t\t# "{other.name}" lid 0 {what}'
    yield ""


def _id(node: Node, guid: int) -> str:
    return f"{'S' if node.switch else 'H'}-{guid:016x}"


def _lane(gbps: int) -> str:
    return {10: "SDR", 20: "DDR", 40: "QDR", 56: "FDR", 100: "EDR", 200: "HDR", 400: "NDR", 800: "XDR"}.get(gbps, "SDR")
