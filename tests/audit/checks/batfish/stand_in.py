"""A stand-in of a Batfish server: answers computed from rendered files, within what Batfish models of each network OS.

It is made of the project's readers and of `LIMITS`, and knows no plan: addresses, cables, sessions, filters and tables are
what the files say. So it is no second opinion about files; it shows what the checks make of answers with these limits, where
recordings of a server are of a single network OS. Packet filters of server ports and bridges are not computed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import IPv4Network, ip_address, ip_interface, ip_network

from fabric.audit.checks.batfish.client import Flow, Row, Rows
from fabric.audit.checks.batfish.snapshot import Texts
from fabric.audit.checks.files.fabric_ports import Probe, denying
from fabric.model.facts import Facts, Neighbor
from fabric.nos.reading import read_device

# What Batfish models, as docs/batfish.md lists it (upstream of 21 August 2026). `native`: an untagged routed port beside
# tagged ones is untagged; `relax`: paths over several neighbor ASes are used whatever `maximum-paths` says.
LIMITS: Mapping[str, frozenset[str]] = {
    "eos": frozenset({"vrf", "evpn", "type5", "unnumbered", "native"}),
    "nxos": frozenset({"vrf", "evpn", "type5", "native"}),
    "junos": frozenset({"vrf"}),
    "sonic": frozenset({"unnumbered", "native", "relax"}),
    "cumulus": frozenset({"vrf", "evpn", "unnumbered", "native", "relax"}),
    "frr": frozenset({"vrf", "evpn", "unnumbered", "native", "relax"}),
}
ARRIVED = ("ACCEPTED", "DELIVERED_TO_SUBNET")
MANAGEMENT = ("management", "mgmt", "MGMT", "mgmt_junos")
Table = tuple[str, str]  # node, VRF ("" for the default one)
Key = tuple[str, str, str]  # node, VRF, peer


@dataclass(frozen=True, slots=True)
class Port:
    """An interface with its addresses, as Batfish has it."""

    node: str
    name: str
    vrf: str
    addresses: tuple[str, ...]
    tag: int  # 0: untagged
    up: bool

    @property
    def cage(self) -> str:
        """The port of a subinterface."""
        return re.sub(r"\.\d+$", "", self.name)


@dataclass(slots=True)
class Session:
    """One configured end."""

    node: str
    vrf: str
    peer: str
    line: Neighbor
    asn: int
    far: Key | None = None  # the other end, where there is one that fits
    direct: bool = True
    up: bool = False

    @property
    def key(self) -> Key:
        return self.node, self.vrf, self.peer

    def carries(self, family: str) -> bool:
        return any(one.value == family for one in self.line.families)


@dataclass(frozen=True, slots=True)
class Path:
    """A route in a table: the AS path, and where packets go: (switch, its table)."""

    ases: tuple[int, ...] = ()
    hops: frozenset[tuple[str, Key]] = frozenset()  # (next switch, session); empty: connected
    vtep: str = ""  # switch at the end of the tunnel of a route of EVPN


@dataclass
class StandIn:
    """One snapshot, with some nodes taken down perhaps."""

    snapshot: Texts
    down: frozenset[str] = frozenset()
    facts: dict[str, Facts] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.facts:
            copies = self.snapshot.copies.items()
            self.facts = {name: read_device(name, one.nos, dict(one.files)) for name, one in copies}
        self.nodes = [name for name in self.facts if name not in self.down]

    def can(self, node: str, what: str) -> bool:
        return what in LIMITS[self.facts[node].nos]

    # --- interfaces and cables ----------------------------------------------------------------------------------

    @cached_property
    def ports(self) -> dict[tuple[str, str], Port]:
        found = {}
        for node in self.nodes:
            interfaces = self.facts[node].interfaces
            tagged = {name.rpartition(".")[0] for name, one in interfaces.items() if one.tag}
            for name, one in interfaces.items():
                vrf, tag = one.vrf.value if one.vrf else "", one.tag.value if one.tag else 0
                if vrf in MANAGEMENT or (vrf and not self.can(node, "vrf")):
                    continue
                if not tag and name in tagged and not self.can(node, "native"):
                    tag = -1  # its native VLAN, which its like alone has
                texts = tuple(a.value for a in (*one.addresses, *one.gateways) if ":" not in a.value)
                found[node, name] = Port(node, name, vrf, texts, tag, one.enabled is None or one.enabled.value)
        return found

    @cached_property
    def cables(self) -> dict[tuple[str, str], tuple[str, str]]:
        ends = [(_end(edge["node1"]), _end(edge["node2"])) for edge in self.snapshot.edges()]
        return dict(ends) | {b: a for a, b in ends}

    @cached_property
    def addresses(self) -> dict[str, list[Port]]:
        found: dict[str, list[Port]] = {}
        for port in self.ports.values():
            for address in port.addresses if port.up else ():
                found.setdefault(str(ip_interface(address).ip), []).append(port)
        return found

    def linked(self, one: Port, other: Port) -> bool:
        """Whether frames of one interface arrive at another."""
        cabled = self.cables.get((one.node, one.cage)) == (other.node, other.cage)
        return cabled and one.tag == other.tag and one.up and other.up

    # --- sessions -----------------------------------------------------------------------------------------------

    @cached_property
    def ends(self) -> dict[Key, Session]:
        """All configured ends that Batfish has, with their far ends."""
        found: dict[Key, Session] = {}
        for node in self.nodes:
            for vrf, process in self.facts[node].bgp.items():
                for line in process.neighbors.values() if not vrf or self.can(node, "vrf") else ():
                    evpn = [one.value for one in line.families] == ["evpn"]
                    if (evpn and not self.can(node, "evpn")) or line.dynamic or process.asn is None:
                        continue
                    if line.interface and not self.can(node, "unnumbered"):
                        continue
                    end = Session(node, vrf, line.peer, line, process.asn.value)
                    found[end.key] = end
        for end in found.values():
            end.far = next((key for key in self._far(end) if key in found and _agree(end, found[key])), None)
        return found

    def _far(self, end: Session) -> Iterator[Key]:
        """Where the far end of a session must be."""
        if end.line.interface:
            own = self.ports.get((end.node, end.peer))
            for other in self.ports.values() if own else ():
                if own and self.linked(own, other):
                    yield other.node, other.vrf, other.name
            return
        for far in self.addresses.get(end.peer, ()):
            for own in self.ports.values():
                if own.node != end.node or own.vrf != end.vrf:
                    continue
                for address in own.addresses:
                    local, net = str(ip_interface(address).ip), ip_interface(address).network
                    if ip_address(end.peer) in net and self.linked(own, far):
                        yield far.node, far.vrf, local
                    elif net.prefixlen == 32 and end.line.source is not None and far.vrf == end.vrf:
                        end.direct = False
                        yield far.node, far.vrf, local

    @cached_property
    def established(self) -> dict[Key, Session]:
        """Direct sessions first; then those between loopbacks that have a route in both directions."""
        direct = {key: end for key, end in self.ends.items() if end.far and end.direct}
        tables = self._spread(direct)
        found = dict(direct)
        for key, end in self.ends.items():
            if end.far and not end.direct and self._reaches(tables, end.node, end.peer):
                far = self.ends[end.far]
                if self._reaches(tables, far.node, far.peer):
                    found[key] = end
        return found

    def _reaches(self, tables: Mapping[Table, Mapping[str, Path]], node: str, address: str) -> bool:
        """Whether packets to a loopback get there: Batfish sends none over an EOS interface without an address."""
        path = tables.get((node, ""), {}).get(f"{address}/32")
        return path is not None and all(not self._stuck(node, key) for _, key in path.hops)

    def _stuck(self, node: str, key: Key) -> bool:
        return self.facts[node].nos == "eos" and self.ends[key].line.interface

    # --- routes -------------------------------------------------------------------------------------------------

    @cached_property
    def tables(self) -> dict[Table, dict[str, Path]]:
        tables = self._spread({key: end for key, end in self.established.items() if end.carries("ipv4")})
        self._overlay(tables)
        return tables

    def _spread(self, sessions: Mapping[Key, Session]) -> dict[Table, dict[str, Path]]:
        """Path vectors until nothing changes."""
        tables = {(node, vrf): dict(self._own(node, vrf)) for node in self.nodes for vrf in self.facts[node].bgp}
        own = {table: dict(routes) for table, routes in tables.items()}
        while True:
            new = {table: dict(routes) for table, routes in own.items()}
            offers: dict[tuple[Table, str], list[tuple[tuple[int, ...], tuple[str, Key]]]] = {}
            for end in sessions.values():
                assert end.far is not None
                far = self.ends[end.far]
                for prefix, path in tables.get((end.node, end.vrf), {}).items():
                    ases = (end.asn, *path.ases)
                    if far.asn in ases or not self._permits(end.node, end.line.export_filter, prefix):
                        continue
                    if self._permits(far.node, far.line.import_filter, prefix):
                        offers.setdefault(((far.node, far.vrf), prefix), []).append((ases, (end.node, far.key)))
            for (table, prefix), found in offers.items():
                if prefix in own[table] and not own[table][prefix].ases:
                    continue
                best = min(len(ases) for ases, _ in found)
                hops = sorted((ases, hop) for ases, hop in found if len(ases) == best)
                hops = hops if self._multipath(*table) else hops[:1]
                new[table][prefix] = Path(hops[0][0], frozenset(hop for _, hop in hops))
            if new == tables:
                return tables
            tables = new

    def _multipath(self, node: str, vrf: str) -> bool:
        process = self.facts[node].bgp[vrf]
        return self.can(node, "relax") or (process.max_paths is not None and process.max_paths.value > 1)

    def _own(self, node: str, vrf: str) -> Iterator[tuple[str, Path]]:
        """Connected prefixes that BGP takes, and aggregates of them."""
        if vrf and not self.can(node, "vrf"):
            return
        process = self.facts[node].bgp[vrf]
        connected = [
            str(ip_interface(address).network)
            for port in self.ports.values()
            if port.node == node and port.vrf == vrf and port.up
            for address in port.addresses
        ]
        policy = process.connected
        taken = [net for net in connected if policy is None or self._permits(node, policy, net)]
        yield from ((net, Path()) for net in taken)
        for aggregate in process.aggregates:
            if any(_within(net, aggregate.value) for net in connected):
                yield aggregate.value, Path()

    def _permits(self, node: str, policy: object, prefix: str) -> bool:
        """By the prefix lists that a policy permits, or a list of that name."""
        name = getattr(policy, "value", "")
        if not name:
            return True
        facts = self.facts[node]
        lists = [one.value for one in facts.policies.get(name, ())] or [name]
        return "any route" in lists or any(
            _matches(entry.value, prefix) for one in lists for entry in facts.prefixes.get(one, ())
        )

    def _overlay(self, tables: dict[Table, dict[str, Path]]) -> None:
        """Routes of type 5, over switches that pass them on, into tables that import their route target."""
        near: dict[str, set[str]] = {}
        for end in self.established.values():
            if end.carries("evpn") and end.far and self.can(end.node, "type5") and self.can(end.far[0], "type5"):
                near.setdefault(end.node, set()).add(end.far[0])
        for origin in self.nodes:
            for name, vrf in self.facts[origin].vrfs.items():
                if not vrf.vni or (origin, name) not in tables or not self.can(origin, "type5"):
                    continue
                exported = {one.value for one in vrf.exports}
                reached = {far for spine in near.get(origin, ()) for far in {spine, *near.get(spine, ())}} - {origin}
                for far in reached:
                    for other, target in self.facts[far].vrfs.items():
                        if (far, other) in tables and exported & {one.value for one in target.imports}:
                            for prefix, path in list(tables[origin, name].items()):
                                if not path.ases and not path.vtep:
                                    tables[far, other].setdefault(prefix, Path(vtep=origin, ases=(0,)))

    # --- packets ------------------------------------------------------------------------------------------------

    def walk(self, node: str, vrf: str, target: str) -> tuple[str, list[str]]:
        """(disposition, switches) of a packet to an address; over the first of equal paths."""
        nodes = [node]
        for _ in range(16):
            local = [port for port in self.addresses.get(target, ()) if port.node == node and port.vrf == vrf]
            if local:
                return "ACCEPTED", nodes
            if any(ip_address(target) in ip_network(net) for net in self._connected(node, vrf)):
                return "DELIVERED_TO_SUBNET", nodes
            found = [
                (ip_network(prefix).prefixlen, path)
                for prefix, path in self.tables.get((node, vrf), {}).items()
                if path.ases and ip_address(target) in ip_network(prefix)
            ]
            if not found:
                return "NO_ROUTE", nodes
            path = max(found, key=lambda one: one[0])[1]
            if path.vtep:
                numbers = {name: one.vni and one.vni.value for name, one in self.facts[path.vtep].vrfs.items()}
                vni = self.facts[node].vrfs[vrf].vni
                node, vrf = path.vtep, next(name for name, number in numbers.items() if vni and number == vni.value)
            else:
                far, key = min(path.hops)
                if self._stuck(node, key):
                    return "NEIGHBOR_UNREACHABLE", nodes
                end = self.ends[key]
                assert end.far is not None
                node, vrf = far, end.far[1]
            nodes.append(node)
        return "LOOP", nodes

    def _connected(self, node: str, vrf: str) -> Iterator[str]:
        for port in self.ports.values():
            if port.node == node and port.vrf == vrf and port.up:
                yield from (str(ip_interface(address).network) for address in port.addresses)

    def flows(self, start: str, targets: str) -> Iterator[tuple[Port, str, str, list[str]]]:
        """(where a packet starts, its target, disposition, switches) for the first host of every network of a question."""
        hosts = [_host(text) for text in _networks(targets)]
        for names, inside in re.findall(r"\^\(([^)]*)\)\$/\[@connectedTo\(([^)]*)\)\]", start):
            nets = [ip_network(text) for text in inside.split(", ")]
            for port in self.ports.values():
                if port.node not in names.split("|") or not port.up:
                    continue
                if any(ip_interface(address).ip in net for address in port.addresses for net in nets):
                    for host in hosts:
                        yield (port, host, *self.walk(port.node, port.vrf, host))

    # --- the questions ------------------------------------------------------------------------------------------

    def file_status(self) -> Rows:
        copies = [copy for one in self.snapshot.copies.values() for copy in one.copies]
        return [{"File_Name": copy.path, "File_Format": copy.format, "Status": "PASSED"} for copy in copies]

    def init_issues(self) -> Rows:
        return []

    def undefined(self) -> Rows:
        return []

    def loops(self) -> Rows:
        return []

    def owners(self) -> Rows:
        return [
            {"Node": {"name": port.node}, "VRF": port.vrf or "default", "Interface": port.name, "IP": address}
            for address, ports in self.addresses.items()
            if len(ports) > 1
            for port in ports
        ]

    def sessions(self) -> Rows:
        rows = [self._session(end) for end in self.ends.values()]
        return [*rows, *self._outside()]

    def _session(self, end: Session) -> Row:
        up = end.key in self.established
        status = "ESTABLISHED" if up else "NOT_ESTABLISHED" if end.far else "NOT_COMPATIBLE"
        return {
            "Node": {"name": end.node},
            "VRF": end.vrf or "default",
            "Remote_IP": None if end.line.interface else {"value": end.peer},
            "Local_Interface": {"interface": end.peer} if end.line.interface else None,
            "Remote_AS": str(end.line.remote_as.value if end.line.remote_as else ""),
            "Established_Status": status,
        }

    def _outside(self) -> Iterator[Row]:
        """Sessions with external routers are up where their copy has the address, the neighbor and the same tagging."""
        text = "\n".join(line for copy in self.snapshot.outside for line in copy.lines)
        for row in [self._session(end) for end in self.ends.values() if end.far is None]:
            peer = (row["Remote_IP"] or {}).get("value", "")
            if peer and re.search(rf"address {re.escape(peer)}/", text):
                here = [port for port in self.ports.values() if port.node == row["Node"]["name"]]
                own = next(port for port in here for address in port.addresses if _in(peer, address))
                yield {**row, "Established_Status": "ESTABLISHED" if own.tag >= 0 and own.up else "NOT_COMPATIBLE"}

    def compatibility(self) -> Rows:
        return []

    def routes(self, nodes: Sequence[str]) -> Rows:
        return [
            {"Node": {"name": node}, "VRF": vrf or "default", "Network": prefix, "Next_Hop": hop}
            for (node, vrf), table in self.tables.items()
            if node in nodes
            for prefix, path in table.items()
            if path.ases
            for hop in ([_next_hop(key) for _, key in sorted(path.hops)] or [{"type": "vtep", "node": path.vtep}])
        ]

    def every_route(self, nodes: Sequence[str]) -> Rows:
        """Connected prefixes as well; a port that is down has none."""
        connected = [
            {
                "Node": {"name": port.node},
                "VRF": port.vrf or "default",
                "Network": net,
                "Next_Hop": None,
                "Protocol": "connected",
            }
            for port in self.ports.values()
            if port.node in nodes and port.up
            for net in (str(ip_interface(address).network) for address in port.addresses)
        ]
        return [*connected, *({**row, "Protocol": "bgp"} for row in self.routes(nodes))]

    def filters(self, nodes: Sequence[str]) -> Rows:
        return [
            {
                "Interface": {"hostname": node, "interface": name},
                "Incoming_Filter_Name": next((fact.value for fact in port.filters), None),
                "Outgoing_Filter_Name": None,
            }
            for node in nodes
            for name, port in self.facts[node].interfaces.items()
        ]

    def filtered(self, node: str, name: str, action: str, flow: Flow) -> Rows:
        sources, targets = (tuple(map(IPv4Network, text.split(", "))) for text in (flow.sources, flow.targets))
        entry = denying(self.facts[node].packet_filters[name], Probe("", flow.protocol, sources, targets, flow.port))
        if (entry is None) != (action == "permit"):
            return []
        text = self.snapshot.copies[node].copies[0].lines[entry.line].strip() if entry and entry.line else "no-match"
        return [{"Node": {"name": node}, "Filter_Name": name, "Flow": {}, "Action": action.upper(), "Line_Content": text}]

    def reachability(self, start: str, sources: str, targets: str) -> Rows:
        return [_row(*flow) for flow in self.flows(start, targets) if flow[2] in ARRIVED]

    def lost(self, start: str, sources: str, targets: str) -> Rows:
        return [_row(*flow) for flow in self.flows(start, targets) if flow[2] not in ARRIVED]

    def differential(self, node: str, start: str, sources: str, targets: str) -> Rows:
        without = StandIn(self.snapshot, frozenset({node}), self.facts)
        lost = {(port, host) for port, host, what, _ in without.flows(start, targets) if what not in ARRIVED}
        found = [flow for flow in self.flows(start, targets) if flow[2] in ARRIVED]
        return [_row(*flow) for flow in found if (flow[0], flow[1]) in lost]


def _next_hop(key: Key) -> Mapping[str, str]:
    """By the address of the neighbor, or by the port of an unnumbered session."""
    peer = key[2]
    return {"type": "ip", "ip": peer} if peer[0].isdigit() else {"type": "interface", "interface": peer}


def _end(side: Mapping[str, str]) -> tuple[str, str]:
    return side["hostname"], side["interfaceName"]


def _agree(one: Session, other: Session) -> bool:
    """Whether two ends expect each other."""
    families = {family.value for family in one.line.families} & {family.value for family in other.line.families}
    return bool(families) and _expects(one, other) and _expects(other, one)


def _expects(one: Session, other: Session) -> bool:
    return one.line.remote_as is not None and one.line.remote_as.value in (other.asn, "external")


def _matches(entry: str, prefix: str) -> bool:
    """`10.0.0.0/15 ge 32 le 32` of a prefix list."""
    net, *words = entry.split()
    bounds = dict(zip(words[::2], map(int, words[1::2]), strict=True))
    outer, inner = ip_network(net), ip_network(prefix)
    low = bounds.get("ge", outer.prefixlen)
    high = bounds.get("le", 32 if "ge" in bounds else outer.prefixlen)
    return _within(prefix, net) and low <= inner.prefixlen <= high


def _within(inner: str, outer: str) -> bool:
    a, b = ip_network(inner), ip_network(outer)
    return isinstance(a, IPv4Network) and isinstance(b, IPv4Network) and a.subnet_of(b)


def _in(address: str, interface: str) -> bool:
    return ip_address(address) in ip_interface(interface).network


def _networks(text: str) -> Iterable[str]:
    """`10.0.0.1/32, (10.1.0.0/24 \\ (10.1.0.1))` → each network with its exceptions."""
    return re.findall(r"\(\S+ \\ \([^)]*\)\)|[\d./]+", text)


def _host(text: str) -> str:
    """The first address of a network that is no exception."""
    net, _, without = text.strip("()").partition(" \\ (")
    taken = set(without.replace(")", "").split(", "))
    return next(str(address) for address in ip_network(net) if str(address) not in taken)


def _row(port: Port, host: str, disposition: str, nodes: Iterable[str]) -> Row:
    flow = {
        "srcIp": str(ip_interface(port.addresses[0]).ip),
        "dstIp": host,
        "ingressNode": port.node,
        "ingressInterface": None if port.addresses[0].endswith("/32") else port.name,
    }
    return {"Flow": flow, "Traces": [{"disposition": disposition, "hops": [{"node": {"name": node}} for node in nodes]}]}
