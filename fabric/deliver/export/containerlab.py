"""A containerlab topology: every switch as the kind that runs its network OS, every server and attachment as Linux.

Sources: https://containerlab.dev (kinds: interface naming, startup configuration; network: management addresses;
config-mgmt: environment variables in startup configurations) and schemas/clab.schema.json of srl-labs/containerlab. Paths of
configs are those below `generated/SITE/`: put the file there.

The management network of the lab is the planned one, with the planned addresses, so that the management lines of the startup
configurations apply. The first lines of the file state the exceptions of each kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from ipaddress import IPv4Network, ip_address, ip_network
from itertools import zip_longest

from fabric.base.formats import json_line, json_text
from fabric.base.grouping import grouped
from fabric.configs.port_names import PortNames
from fabric.model.plan import SWITCH_ROLES, Device, FabricPlan, Plan
from fabric.nos.target import ANY_NAME, Kind, installed

WARN_NODES = 100
NAMED = 3  # switches that a comment names
GRAPH_LEVEL = {"core": 1, "spine": 2, "leaf": 3, "attached": 3, "server": 4}


HOST = Kind(name="linux", image="ghcr.io/srl-labs/network-multitool:latest", own=ANY_NAME, endpoint="{own}")


def containerlab(plan: Plan) -> str:
    """The whole site as one lab, a server of several fabrics once."""
    return _topology(plan, _Endpoints(plan))


def containerlab_files(plan: Plan) -> Mapping[str, str]:
    """The lab with the files that name the interfaces of nodes which take one: path → text."""
    endpoints = _Endpoints(plan, mapped=True)
    files = {f"{plan.site}.clab.yml": _topology(plan, endpoints)}
    for name, ports in endpoints.mapping.items():
        mapping = {"ManagementIntf": {"eth0": endpoints.kinds[name].mapped_management}, "EthernetIntf": ports}
        files[f"clab/{name}.json"] = json_text(mapping) + "\n"
    return files


def _topology(plan: Plan, endpoints: _Endpoints) -> str:
    devices: dict[str, Device] = {}
    for fabric in plan.fabrics.values():
        for device in fabric.devices:
            devices.setdefault(device.name, fabric.leaves_below.get(device.name, device))
    management = ManagementNet.of(plan)
    links = [line for fabric in plan.fabrics.values() for line in _links(fabric, endpoints)]
    lines = [*_head(plan, devices, endpoints, management), f"name: {json_line(plan.site)}", *management.lines(plan.site)]
    lines += ["topology:", "  kinds:"]
    kinds = {kind_of(device).name: kind_of(device) for device in devices.values()}
    for kind in sorted(kinds.values(), key=lambda kind: kind.name):
        lines += [f"    {kind.name}:", f"      image: {kind.image}"] if kind.name != "linux" else []
        lines += ["      enforce-startup-config: true"] if kind.startup else []
    if lines[-1] == "  kinds:":
        lines.pop()
    nodes = (line for device in devices.values() for line in _node(device, management, endpoints))
    lines += ["  nodes:", *nodes, "  links:", *links]
    return "\n".join(lines) + "\n"


@cache
def _kind(nos: str) -> Kind:
    known = installed(nos)
    return HOST if known is None or known.containerlab is None else known.containerlab


def kind_of(device: Device) -> Kind:
    """The kind of a device; plain Linux where containerlab has none (InfiniBand, a further network OS)."""
    return _kind(device.nos) if device.role in SWITCH_ROLES else HOST


@dataclass(frozen=True)
class ManagementNet:
    """The planned out-of-band network as the lab's, where it is one; switches have their planned addresses in it."""

    subnet: str = ""  # "172.16.0.0/22"; "": the plan has none, or several
    gateway: str = ""
    spare: str = ""  # half of the subnet without a planned address, for what is no switch
    addresses: Mapping[str, str] = field(default_factory=dict)  # device → address

    @classmethod
    def of(cls, plan: Plan) -> ManagementNet:
        """Of all fabrics together."""
        prefixes = {prefix for fabric in plan.fabrics.values() for prefix in fabric.prefixes.get("management", ())}
        addresses = {
            device.name: ip_address(int(fabric.management[device.index]))
            for fabric in plan.fabrics.values()
            for device in fabric.devices
            if int(fabric.management[device.index]) > 0
        }
        net = ip_network(next(iter(prefixes))) if len(prefixes) == 1 else None
        if (
            not isinstance(net, IPv4Network)
            or net.prefixlen > 29
            or not all(address in net for address in addresses.values())
        ):
            return cls()
        halves = list(net.subnets(1))
        spare = next((str(half) for half in reversed(halves) if not any(one in half for one in addresses.values())), "")
        stated = plan.settings.management.gateway
        gateway = stated if stated and ip_address(stated) in net else str(net[1])
        return cls(str(net), gateway, spare, {name: str(address) for name, address in addresses.items()})

    def lines(self, site: str) -> Iterator[str]:
        if self.subnet:
            yield "mgmt:"
            yield f"  network: {json_line(f'{site}-mgmt')}"
            yield f"  ipv4-subnet: {self.subnet}"
            yield f"  ipv4-gw: {self.gateway}"
            if self.spare:
                yield f"  ipv4-range: {self.spare}"


def _head(plan: Plan, devices: Mapping[str, Device], endpoints: _Endpoints, management: ManagementNet) -> Iterator[str]:
    yield "# In the folder generated/SITE: containerlab deploy -t FILE. Images are named as containerlab's pages build them."
    if len(devices) > WARN_NODES:
        yield f"# {len(devices)} nodes are more than one machine runs: --fabric NAME, a smaller count, or clabernetes."
    kinds = {kind_of(device).name: kind_of(device) for device in devices.values() if device.role in SWITCH_ROLES}
    if any(kind.startup for kind in kinds.values()):
        yield f"# Startup configurations refer to {', '.join(_secrets(plan))}: containerlab puts in what the environment has:"
        yield f"#   export {_secrets(plan)[0]}=$(openssl passwd -6 admin); sudo -E containerlab deploy -t FILE"
    for _, kind in sorted(kinds.items()):
        if kind.note and not (endpoints.mapping and kind.mapping):
            yield f"# {kind.name}: {kind.note}."
    yield from _without_kind(devices)
    if not management.subnet:
        yield "# The plan has no single IPv4 management network: nodes have addresses of the lab, not those of their files."
    yield "# Not deployed by us: lines of hardware (QoS, buffers, breakouts, FEC) may be refused by a virtual switch."
    for name in sorted(endpoints.without):
        yield f"# {name} has no names for all these ports (split cages, or its own numbering): they are ethN in port order."


def _secrets(plan: Plan) -> list[str]:
    """Names of the variables that configurations refer to, that of the administrator first."""
    managed = [fabric.spec.management for fabric in plan.fabrics.values()]
    names = [
        (
            one.secrets.admin,
            *((one.secrets.snmp_auth, one.secrets.snmp_priv) if one.snmp_user else ()),
            *(one.aaa.secrets if one.aaa else ()),
        )
        for one in managed
    ]
    return list(dict.fromkeys(name for some in zip_longest(*names) for name in some if name))


def _without_kind(devices: Mapping[str, Device]) -> Iterator[str]:
    """Switches that no kind runs: a Linux node stands in their place, without their configuration."""
    found = grouped(
        (device.nos or "InfiniBand", device.name)
        for device in devices.values()
        if device.role in SWITCH_ROLES and kind_of(device) is HOST
    )
    for nos, names in sorted(found.items()):
        named = ", ".join(names[:NAMED]) + (", …" if len(names) > NAMED else "")
        yield f"# No kind runs {nos}: plain Linux without a configuration stands for {len(names)} switches: {named}"


def _node(device: Device, management: ManagementNet, endpoints: _Endpoints) -> Iterator[str]:
    kind = kind_of(device)
    yield f"    {json_line(device.name)}:"
    yield f"      kind: {kind.name}"
    if kind.name == "linux":
        yield f"      image: {kind.image}"
    yield f"      group: {device.role}"
    yield f'      labels: {{graph-level: "{GRAPH_LEVEL[device.role]}"}}'
    if device.name in management.addresses:
        yield f"      mgmt-ipv4: {management.addresses[device.name]}"
    if kind.startup:
        yield f"      startup-config: configs/{device.name}/{kind.startup}"
    binds = [f"configs/{device.name}/{file}:{place}" for file, place in kind.binds.items()]
    if device.name in endpoints.mapping:
        binds.append(f"clab/{device.name}.json:{kind.mapping}:ro")
    if binds:
        yield "      binds:"
        yield from (f"        - {bind}" for bind in binds)


def _links(fabric: FabricPlan, endpoints: _Endpoints) -> Iterator[str]:
    devices, columns = fabric.devices, fabric.links.lists()
    for at, (a, b) in enumerate(zip(columns["a"], columns["b"], strict=True)):
        ends = [f"{devices[index].name}:{endpoints.name(fabric.name, end, at)}" for end, index in (("a", a), ("b", b))]
        yield f"    - endpoints: {json_line(ends)}"


class _Endpoints:
    """The name of every end as its kind knows it; what has none takes the lowest free ethN, in port order."""

    def __init__(self, plan: Plan, mapped: bool = False) -> None:
        """`mapped`: ports of kinds that take a file of names are ethN, and `mapping` has the names, as that file does."""
        self.without: set[str] = set()  # kinds
        self.mapping: dict[str, dict[str, str]] = {}  # node → ethN → its own name
        self.kinds: dict[str, Kind] = {}  # of the nodes in it
        self._mapped = mapped
        self._names: dict[tuple[str, str, int], str] = {}
        self._taken: dict[str, set[int]] = {}  # device → the N of its ethN
        nameless: list[tuple[str, Kind, str, tuple[str, str, int]]] = []
        for fabric in plan.fabrics.values():
            names = PortNames(fabric)
            port_names = {end: names.columns(end)[1].tolist() for end in "ab"}
            for device in fabric.devices:
                kind = kind_of(fabric.leaves_below.get(device.name, device))
                for link, side in fabric.links.of(device.index):
                    end = "ab"[side]
                    place = (fabric.name, end, link)
                    if not self._take(device.name, kind, port_names[end][link], place):
                        nameless.append((device.name, kind, port_names[end][link], place))
        self._number(nameless)

    def name(self, fabric: str, end: str, link: int) -> str:
        return self._names[fabric, end, link]

    def _take(self, device: str, kind: Kind, own: str, place: tuple[str, str, int]) -> bool:
        """Names an end as its network OS does, where the kind has that name."""
        found = re.fullmatch(kind.own, own) if kind.own and own and not (self._mapped and kind.mapping) else None
        if found is None:
            return False
        self._names[place] = kind.endpoint.format(*(part.replace("/", "_") for part in found.groups()), own=own)
        if number := re.fullmatch(r"(?:eth)?([0-9]+)", found[1] if found.groups() else own):
            self._taken.setdefault(device, set()).add(int(number[1]) - kind.zero + kind.first_eth)
        return True

    def _number(self, nameless: list[tuple[str, Kind, str, tuple[str, str, int]]]) -> None:
        next_of: dict[str, int] = {}
        for device, kind, interface, place in nameless:
            number, taken = next_of.get(device, kind.first_eth), self._taken.get(device, set())
            while number in taken:
                number += 1
            self._names[place], next_of[device] = f"eth{number}", number + 1
            if self._mapped and kind.mapping:
                self.kinds[device] = kind
                self.mapping.setdefault(device, {})[f"eth{number}"] = interface
            elif kind is not HOST:
                self.without.add(kind.name)
