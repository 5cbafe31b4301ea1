"""A containerlab topology: every switch as the kind that runs its network OS, every server and attached box as Linux.

Sources: https://containerlab.dev (kinds: interface naming, startup configuration) and schemas/clab.schema.json of
srl-labs/containerlab. Paths of configs are those below `generated/SITE/`: put the file there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache

from fabric.export.port_names import PortNames
from fabric.plan.devices import SWITCH_ROLES, Device
from fabric.plan.plan import FabricPlan, Plan

MANY_NODES = 100
GRAPH_LEVEL = {"core": 1, "spine": 2, "leaf": 3, "attached": 3, "server": 4}
INTERFACE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:@-]{0,14}")  # what Linux takes, IFNAMSIZ less one


@dataclass(frozen=True)
class Kind:
    """How containerlab runs a network OS."""

    name: str
    image: str
    own: str = ""  # pattern of the box's own port names that this kind has; {0}, {1} below are its groups
    endpoint: str = ""  # the port as the kind names it; "": by position, eth1, eth2, …
    startup: str = ""  # file that it starts with
    binds: Mapping[str, str] = field(default_factory=dict)  # file → place in the container
    first_eth: int = 1  # N of the first data port's ethN …
    zero: int = 1  # … and its number in the box's own name


KINDS: Mapping[str, Kind] = {
    "sonic": Kind(
        "sonic-vs",
        "docker-sonic-vs:latest",
        binds={"config_db.json": "/etc/sonic/config_db.json", "frr.conf": "/etc/frr/frr.conf"},
    ),
    "eos": Kind("arista_ceos", "ceos:latest", r"Ethernet([0-9]+(?:/[0-9]+)*)", "eth{0}", startup="startup-config"),
    "nxos": Kind(
        "cisco_n9kv", "vrnetlab/cisco_n9kv:latest", r"Ethernet1/([0-9]+)", "Ethernet1/{0}", startup="startup-config"
    ),
    "junos": Kind(
        "juniper_cjunosevolved",
        "cjunosevolved:latest",
        r"et-0/0/([0-9]+)",
        "et-0/0/{0}",
        startup="juniper.conf",
        first_eth=4,
        zero=0,
    ),
    "cumulus": Kind("nvidia_cumulusvx", "vrnetlab/nvidia_cumulusvx:latest", r"swp([0-9]+)", "swp{0}"),
    "frr": Kind(
        "linux",
        "quay.io/frrouting/frr:10.2.1",
        INTERFACE.pattern,
        "{own}",
        binds={"frr.conf": "/etc/frr/frr.conf", "daemons": "/etc/frr/daemons"},
    ),
}
HOST = Kind("linux", "ghcr.io/srl-labs/network-multitool:latest", INTERFACE.pattern, "{own}")


def containerlab(plan: Plan) -> str:
    """The whole site as one lab, a server of several fabrics once."""
    boxes: dict[str, Device] = {}
    for fabric in plan.fabrics.values():
        for device in fabric.devices:
            boxes.setdefault(device.name, device)
    endpoints = _Endpoints(plan)
    links = [line for fabric in plan.fabrics.values() for line in _links(fabric, endpoints)]
    lines = [*_head(plan, boxes, endpoints), f"name: {json.dumps(plan.site)}", "topology:", "  kinds:"]
    kinds = {kind_of(device).name: kind_of(device) for device in boxes.values()}
    for kind in sorted(kinds.values(), key=lambda kind: kind.name):
        lines += [f"    {kind.name}:", f"      image: {kind.image}"] if kind.name != "linux" else []
    if lines[-1] == "  kinds:":
        lines.pop()
    lines += ["  nodes:", *(line for device in boxes.values() for line in _node(device)), "  links:", *links]
    return "\n".join(lines) + "\n"


@cache
def _kind(nos: str) -> Kind:
    return KINDS.get(nos, HOST)


def kind_of(device: Device) -> Kind:
    """The kind of a box; one that containerlab has none for (InfiniBand, a further network OS) is plain Linux."""
    return _kind(device.nos) if device.role in SWITCH_ROLES else HOST


def _head(plan: Plan, boxes: Mapping[str, Device], endpoints: _Endpoints) -> Iterator[str]:
    yield "# In the folder generated/SITE: containerlab deploy -t FILE. Images are named as containerlab's pages build them."
    if len(boxes) > MANY_NODES:
        yield f"# {len(boxes)} nodes are more than one machine runs: --fabric NAME, a smaller count, or clabernetes."
    for kind in sorted(endpoints.without):
        yield f"# {kind} has no names for all these ports (split cages, or its own numbering): they are ethN in port order."


def _node(device: Device) -> Iterator[str]:
    kind = kind_of(device)
    yield f"    {json.dumps(device.name)}:"
    yield f"      kind: {kind.name}"
    if kind.name == "linux":
        yield f"      image: {kind.image}"
    yield f"      group: {device.role}"
    yield f'      labels: {{graph-level: "{GRAPH_LEVEL[device.role]}"}}'
    if kind.startup:
        yield f"      startup-config: configs/{device.name}/{kind.startup}"
    if kind.binds:
        yield "      binds:"
        yield from (f"        - configs/{device.name}/{file}:{place}" for file, place in kind.binds.items())


def _links(fabric: FabricPlan, endpoints: _Endpoints) -> Iterator[str]:
    devices, columns = fabric.devices, fabric.links.lists()
    for at, (a, b) in enumerate(zip(columns["a"], columns["b"], strict=True)):
        ends = [f"{devices[index].name}:{endpoints.name(fabric.name, end, at)}" for end, index in (("a", a), ("b", b))]
        yield f"    - endpoints: {json.dumps(ends)}"


class _Endpoints:
    """The name of every end as its kind knows it; what has none takes the lowest free ethN, in port order."""

    def __init__(self, plan: Plan) -> None:
        self.without: set[str] = set()  # kinds
        self._names: dict[tuple[str, str, int], str] = {}
        self._taken: dict[str, set[int]] = {}  # box → the N of its ethN
        nameless: list[tuple[str, Kind, tuple[str, str, int]]] = []
        for fabric in plan.fabrics.values():
            names = PortNames(fabric)
            own = {end: names.columns(end)[1].tolist() for end in "ab"}
            for device in fabric.devices:
                kind = kind_of(device)
                for link, at in fabric.links.of(device.index):
                    end = "ab"[at]
                    place = (fabric.name, end, link)
                    if not self._take(device.name, kind, own[end][link], place):
                        nameless.append((device.name, kind, place))
        self._number(nameless)

    def name(self, fabric: str, end: str, link: int) -> str:
        return self._names[fabric, end, link]

    def _take(self, box: str, kind: Kind, own: str, place: tuple[str, str, int]) -> bool:
        """Gives an end the box's own name, where the kind has it."""
        found = re.fullmatch(kind.own, own) if kind.own and own else None
        if found is None:
            return False
        self._names[place] = kind.endpoint.format(*(part.replace("/", "_") for part in found.groups()), own=own)
        if number := re.fullmatch(r"(?:eth)?([0-9]+)", found[1] if found.groups() else own):
            self._taken.setdefault(box, set()).add(int(number[1]) - kind.zero + kind.first_eth)
        return True

    def _number(self, nameless: list[tuple[str, Kind, tuple[str, str, int]]]) -> None:
        next_of: dict[str, int] = {}
        for box, kind, place in nameless:
            number, taken = next_of.get(box, kind.first_eth), self._taken.get(box, set())
            while number in taken:
                number += 1
            self._names[place], next_of[box] = f"eth{number}", number + 1
            if kind is not HOST:
                self.without.add(kind.name)
