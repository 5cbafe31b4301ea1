"""Whether a cluster says of the network what the leaves and the servers say: objects against those of the plan."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from ipaddress import IPv4Network
from typing import Any

from fabric.base.text import listed
from fabric.configs.cluster import kinds
from fabric.configs.cluster.objects import objects
from fabric.configs.cluster.profile import faults
from fabric.configs.cluster.rails import Cluster, Rail, ServerPort, node_name
from fabric.configs.cluster.read import Thing
from fabric.configs.hosts.facts import facts_of

INVALID, ADDRESSES, NAMES, MTU, CLASSES, PLANES, SETTINGS = (
    "FAB460", "FAB461", "FAB462", "FAB463", "FAB464", "FAB465", "FAB466"
)  # fmt: skip
LACKING = {
    "CIDRPool": ADDRESSES,
    "NicInterfaceNameTemplate": NAMES,
    "NicConfigurationTemplate": PLANES,
    "SpectrumXRailPoolConfig": PLANES,
}
Path_ = tuple[str | int, ...]
Spec = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that the cluster says otherwise."""

    code: str
    device: str  # a server, "" for several
    file: str
    line: int
    message: str


# Fields of a kind that are compared as they are: path → code; what is left out follows from others.
FIELDS: Mapping[str, Mapping[Path_, str]] = {
    "CIDRPool": {("perNodeNetworkPrefix",): ADDRESSES},
    "NicInterfaceNameTemplate": {
        ("netDevicePrefix",): NAMES,
        ("rdmaDevicePrefix",): NAMES,
        ("railPciAddresses",): NAMES,
        ("pfsPerNic",): PLANES,
    },
    "NicConfigurationTemplate": {
        ("nicSelector", "nicType"): NAMES,
        ("template", "spectrumXOptimized", "multiplaneMode"): PLANES,
        ("template", "spectrumXOptimized", "numberOfPlanes"): PLANES,
        ("template", "spectrumXOptimized", "enabled"): CLASSES,
        ("template", "spectrumXOptimized", "version"): SETTINGS,
        ("template", "spectrumXOptimized", "overlay"): SETTINGS,
    },
    "SpectrumXRailPoolConfig": {("numVfs",): SETTINGS, ("draEnabled",): SETTINGS, ("networkNamespace",): SETTINGS},
}
DEFAULTS: Mapping[str, Any] = {"multiplaneMode": "none", "numberOfPlanes": 1, "overlay": "none", "draEnabled": True}


def differences(cluster: Cluster, found: Sequence[Thing]) -> list[Difference]:
    """Everything that objects say otherwise than the leaves and servers of a fabric; of an invalid one only why it is."""
    run = _Run(cluster, [thing for thing in found if thing.kind in kinds.SPECS and _in_namespace(cluster, thing)])
    profiles = [thing for thing in found if (thing.kind, thing.name) == ("ConfigMap", cluster.operator.profile)]
    return [*run.all(), *_of_profiles(cluster, profiles)]


def _in_namespace(cluster: Cluster, thing: Thing) -> bool:
    metadata = thing.data.get("metadata")
    return (
        not isinstance(metadata, Mapping)
        or metadata.get("namespace", cluster.operator.namespace) == cluster.operator.namespace
    )


def _of_profiles(cluster: Cluster, profiles: Sequence[Thing]) -> Iterator[Difference]:
    qos = facts_of(cluster.fabric).qos
    for thing in profiles:
        for fault in faults(thing.data, qos):
            yield Difference(CLASSES, "", thing.source.file, thing.line("data", "profile"), f"{thing}: {fault}")


@dataclass(frozen=True)
class _Run:
    cluster: Cluster
    found: list[Thing]

    def all(self) -> Iterator[Difference]:
        for thing in self.found:
            for path, why in kinds.mistakes(thing.data):
                yield self._at(INVALID, thing, path, f"{'.'.join(map(str, path))}: {why}")
        for wanted in (thing for things in objects(self.cluster).values() for thing in things):
            yield from self._wanted(wanted)
        yield from self._unplanned()

    def _at(self, code: str, thing: Thing, path: Path_, text: str, device: str = "") -> Difference:
        return Difference(code, device, thing.source.file, thing.line(*path), f"{thing}: {text}")

    @cached_property
    def _valid(self) -> list[Thing]:
        return [thing for thing in self.found if not kinds.mistakes(thing.data)]

    def _wanted(self, wanted: Mapping[str, Any]) -> Iterator[Difference]:
        kind, name = wanted["kind"], wanted["metadata"]["name"]
        its = self._match(wanted)
        if not its:
            if not any(thing.kind == kind and thing.name == name for thing in self.found):  # an invalid one is reported
                file = self.found[0].source.file if self.found else ""
                yield Difference(LACKING[kind], "", file, 0, f"{kind} {name}: expected it, got none")
            return
        for thing in its:
            yield from self._fields(thing, wanted["spec"])
            yield from _MORE[kind](self, thing, wanted["spec"])

    def _match(self, wanted: Mapping[str, Any]) -> list[Thing]:
        """Pools go by name, as rails name them; others may have any name where the group of servers is the same."""
        alike = [thing for thing in self._valid if thing.kind == wanted["kind"]]
        named = [thing for thing in alike if thing.name == wanted["metadata"]["name"]]
        if named or wanted["kind"] == "CIDRPool":
            return named
        selector = wanted["spec"].get("nodeSelector", {})
        if len(self.cluster.groups) == 1:
            return alike
        return [thing for thing in alike if (thing.data["spec"].get("nodeSelector") or {}) == selector]

    def _fields(self, thing: Thing, wanted: Spec) -> Iterator[Difference]:
        for path, code in FIELDS[thing.kind].items():
            expected, got = _value(wanted, path), _value(thing.data["spec"], path)
            if expected != got:
                text = f"{path[-1]}: expected {_shown(expected)}, got {_shown(got)}"
                yield self._at(code, thing, ("spec", *path), text)

    # --- pools ------------------------------------------------------------------------------------------------

    def _pool(self, thing: Thing, wanted: Spec) -> Iterator[Difference]:
        rail = next(rail for rail in self.cluster.rails if rail.pool == thing.name)
        spec, where = thing.data["spec"], ("spec", "staticAllocations")
        ports = {node_name(port.server.name): port for port in self.cluster.rails[rail]}
        rows = {row.get("nodeName", ""): (at, row) for at, row in enumerate(spec.get("staticAllocations") or ())}
        for node, port in ports.items():
            at, row = rows.get(node, (0, None))
            if row is None:
                text = f"expected {port.prefix}, the port of {port.leaf.name}, got no allocation"
                yield self._at(ADDRESSES, thing, where, text, port.server.name)
                continue
            yield from self._allocation(thing, (*where, at), row, port)
        for node, (at, row) in rows.items():
            if node not in ports:
                text = f"{row['prefix']}: expected a node of the plan, got {node or 'none'}"
                yield self._at(ADDRESSES, thing, (*where, at), text)
        yield from self._around(thing, spec, wanted, rail)

    def _allocation(self, thing: Thing, where: Path_, row: Spec, port: ServerPort) -> Iterator[Difference]:
        for key, expected in (("prefix", port.prefix), ("gateway", port.gateway)):
            got = row.get(key) or ("" if key == "prefix" else self._computed(thing, row["prefix"]))
            if got != expected:
                where_on = f"{port.leaf.name} (plane {port.leaf.plane + 1})"
                text = f"{key}: expected {expected} as on {where_on}, got {got or 'none'}"
                yield self._at(ADDRESSES, thing, (*where, key), text, port.server.name)

    @staticmethod
    def _computed(thing: Thing, prefix: str) -> str:
        index = thing.data["spec"].get("gatewayIndex")
        return "" if index is None else str(IPv4Network(prefix)[index])

    def _around(self, thing: Thing, spec: Spec, wanted: Spec, rail: Rail) -> Iterator[Difference]:
        """Addresses that may be given out, and what is routed over the leaf."""
        leaf, host = wanted["gatewayIndex"], 1 - wanted["gatewayIndex"]
        excluded = [(row["startIndex"], row["endIndex"]) for row in spec.get("perNodeExclusions") or ()]
        if not any(first <= leaf <= last for first, last in excluded):
            text = f"perNodeExclusions: expected {leaf}, the address of the leaf, got {_shown(excluded)}"
            yield self._at(ADDRESSES, thing, ("spec", "perNodeExclusions"), text)
        if any(first <= host <= last for first, last in excluded):
            text = f"perNodeExclusions: expected {host}, the address of the server, to be free, got {_shown(excluded)}"
            yield self._at(ADDRESSES, thing, ("spec", "perNodeExclusions"), text)
        if not IPv4Network(wanted["cidr"]).subnet_of(IPv4Network(spec["cidr"])):
            text = f"cidr: expected {wanted['cidr']}, the block of the rail, got {spec['cidr']}"
            yield self._at(ADDRESSES, thing, ("spec", "cidr"), text)
        routes = [IPv4Network(row["dst"], strict=False) for row in spec.get("routes") or ()]
        lacking = [
            row["dst"] for row in wanted["routes"] if not any(IPv4Network(row["dst"]).subnet_of(net) for net in routes)
        ]
        if lacking and not spec.get("defaultGateway"):
            text = f"routes: expected {listed(lacking)} over the leaf, got {listed([str(net) for net in routes]) or 'none'}"
            yield self._at(ADDRESSES, thing, ("spec", "routes"), text)
        for at, net in enumerate(routes):
            if other := self._other_plane(net, rail):
                text = f"routes: expected what this plane reaches, got {net}, which is on plane {other.plane + 1}"
                yield self._at(PLANES, thing, ("spec", "routes", at), text)

    def _other_plane(self, net: IPv4Network, rail: Rail) -> Rail | None:
        for other, ports in self.cluster.rails.items():
            if -1 < other.plane != rail.plane and any(
                net.overlaps(IPv4Network(block)) for block in self.cluster.block(ports[0].leaf.index)
            ):
                return other
        return None

    # --- NICs and rails ---------------------------------------------------------------------------------------

    def _configuration(self, thing: Thing, wanted: Spec) -> Iterator[Difference]:
        spec = thing.data["spec"]
        expected, got = set(wanted["nicSelector"]["pciAddresses"]), spec["nicSelector"].get("pciAddresses") or ()
        if got and {address.lower() for address in got} != expected:
            lacking, more = expected - set(got), {address.lower() for address in got} - expected
            text = f"pciAddresses: expected {listed(sorted(lacking)) or 'no more'}, got {listed(sorted(more)) or 'fewer'}"
            yield self._at(NAMES, thing, ("spec", "nicSelector", "pciAddresses"), text)
        roce = spec["template"].get("roceOptimized") or {}
        if roce.get("enabled"):
            text = "roceOptimized: expected the classes of the Spectrum-X profile, got others"
            yield self._at(CLASSES, thing, ("spec", "template", "roceOptimized"), text)

    def _rails(self, thing: Thing, wanted: Spec) -> Iterator[Difference]:
        rows = thing.data["spec"]["railTopology"]
        by_pool = {row.get("cidrPoolRef", ""): (at, row) for at, row in enumerate(rows)}
        for expected in wanted["railTopology"]:
            at, row = by_pool.get(expected["cidrPoolRef"], (0, None))
            where = ("spec", "railTopology", at)
            if row is None:
                text = f"railTopology: expected pool {expected['cidrPoolRef']}, got none with it"
                yield self._at(PLANES, thing, where[:-1], text)
                continue
            if row["mtu"] != expected["mtu"]:
                text = f"{row['name']}: mtu: expected {expected['mtu']} as on the servers and their leaves, got {row['mtu']}"
                yield self._at(MTU, thing, (*where, "mtu"), text)
            names, its = row["nicSelector"]["pfNames"], expected["nicSelector"]["pfNames"]
            if sorted(names) != sorted(its):
                known = {name for other in wanted["railTopology"] for name in other["nicSelector"]["pfNames"]}
                code = PLANES if set(names) <= known else NAMES
                text = f"pool {expected['cidrPoolRef']}: pfNames: expected {listed(its)}, got {listed(names)}"
                yield self._at(code, thing, (*where, "nicSelector", "pfNames"), text)
        pools = {expected["cidrPoolRef"] for expected in wanted["railTopology"]}
        for pool, (at, row) in by_pool.items():
            if pool not in pools:
                text = f"{row['name']}: expected a pool of the plan, got {pool or 'none'}"
                yield self._at(PLANES, thing, ("spec", "railTopology", at), text)
        if len(by_pool) < len(rows):
            yield self._at(PLANES, thing, ("spec", "railTopology"), "railTopology: expected every pool once, got one twice")

    def _unplanned(self) -> Iterator[Difference]:
        """Pools that no rail has, but whose addresses are those of servers."""
        planned = {rail.pool for rail in self.cluster.rails}
        blocks = [
            IPv4Network(net) for ports in self.cluster.rails.values() for net in self.cluster.block(ports[0].leaf.index)
        ]
        for thing in self._valid:
            if thing.kind != "CIDRPool" or thing.name in planned:
                continue
            net = IPv4Network(thing.data["spec"]["cidr"]) if "." in thing.data["spec"]["cidr"] else None
            if net is not None and any(net.overlaps(block) for block in blocks):
                text = f"cidr: expected no addresses of servers, as no rail has this pool, got {net}"
                yield self._at(ADDRESSES, thing, ("spec", "cidr"), text)


_MORE: Mapping[str, Callable[[_Run, Thing, Spec], Iterator[Difference]]] = {
    "CIDRPool": _Run._pool,
    "NicInterfaceNameTemplate": lambda run, thing, wanted: iter(()),
    "NicConfigurationTemplate": _Run._configuration,
    "SpectrumXRailPoolConfig": _Run._rails,
}


def _value(spec: Spec, path: Path_) -> Any:
    value: Any = spec
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    if value is None:
        return DEFAULTS.get(str(path[-1]))
    return [[each.lower() for each in row] for row in value] if path == ("railPciAddresses",) else value


def _shown(value: Any) -> str:
    return "none" if value in (None, "", []) else str(value)
