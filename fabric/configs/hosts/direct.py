"""Servers that are cabled to each other: the far end of every cable, and the routes over other servers.

Each cable is a subnet of its own, so the next hop of a cable's far end follows from its address and needs no table of the
port. A server has one address more, on a bridge without ports, which all others reach over whichever of their cables is up:
first over the shortest way. The routes are static: a server does not see a cable that fails between two others.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from fabric.base.text import address
from fabric.configs.hosts.facts import ServerLink
from fabric.model.plan import FabricPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class _End:
    """A cable as one of its servers sees it."""

    link: int
    peer: int
    nic: int
    port: int
    near: int  # first address of this end
    far: int


def _ends(fabric: FabricPlan) -> dict[int, list[_End]]:
    """Cables of every server in the order of its ports."""
    links = fabric.links.lists()
    found: dict[int, list[_End]] = {device.index: [] for device in fabric.devices}
    for link, low in enumerate(fabric.subnet.tolist()):
        a, b = links["a"][link], links["b"][link]
        nics, ports = ([links[f"{end}_{part}"][link] for end in "ab"] for part in ("cage", "sub"))
        found[a].append(_End(link=link, peer=b, nic=nics[0], port=ports[0], near=low, far=low + 1))
        found[b].append(_End(link=link, peer=a, nic=nics[1], port=ports[1], near=low + 1, far=low))
    return {server: sorted(ends, key=lambda end: (end.nic, end.port)) for server, ends in found.items()}


def _hops(ends: dict[int, list[_End]], target: int) -> dict[int, int]:
    """Cables from every server to a target over the shortest way."""
    hops, queue = {target: 0}, deque([target])
    while queue:
        server = queue.popleft()
        for end in ends[server]:
            if end.peer not in hops:
                hops[end.peer] = hops[server] + 1
                queue.append(end.peer)
    return hops


def own_address(fabric: FabricPlan, server: int) -> str:
    """The address of a server that does not belong to a cable, with its length."""
    if fabric.subnet_length == 127:
        return f"{address(int(fabric.loopback6[server]))}/128"
    return f"{address(int(fabric.loopback[server]))}/32"


def server_links(fabric: FabricPlan) -> Iterator[ServerLink]:
    """Every end of a cable by server, NIC and port, with its ways to other servers; one more for a port's second function."""
    ends = _ends(fabric)
    functions = {group.name: group.nic.functions for group in fabric.spec.groups}
    away = {target: _hops(ends, target) for target in ends}
    for server, cables in ends.items():
        routes: dict[int, list[tuple[str, int]]] = {end.link: [] for end in cables}
        for target in sorted(ends.keys() - {server}):
            for metric, end in enumerate(sorted(cables, key=lambda end: (away[target][end.peer], end.nic, end.port))):
                routes[end.link].append((own_address(fabric, target), metric))
        for end in cables:
            own = ServerLink(
                server=server,
                nic=end.nic,
                port=end.port,
                leaf=end.peer,
                speed_gbps=int(fabric.links.speed_gbps[end.link]),
                address=f"{address(end.near)}/{fabric.subnet_length}",
                gateway=address(end.far),
                link=end.link,
                ways=tuple(routes[end.link]),
            )
            yield own
            if functions[fabric.devices[server].group] > 1:
                second = f"{address(end.near + 2)}/{fabric.subnet_length}"
                yield own._replace(address=second, gateway=None, ways=(), function=1)
