"""Makes the namespaces of a lab, the devices in them and the wires between them; daemons come later."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from fabric.base.grouping import grouped
from fabric.lab.blueprint import BRIDGE, LOOPBACK, PORT, SWITCH, TUNNEL, Blueprint, End, Interface, Names, Node, Wire
from fabric.lab.devices import VXLAN_PORT
from fabric.lab.machine import namespaces
from fabric.lab.machine.host import Kernel
from fabric.lab.machine.namespaces import CommandError, LabError, at_once, run
from fabric.lab.machine.observer import FIRST_PORT

# The flows that scenarios send may end at a switch, which rightly drops unexpected traffic.
_OWN_FLOWS = f"insert rule inet control_plane input udp dport {FIRST_PORT}-{FIRST_PORT + 99} accept\n"
FIRST_TABLE = 1001  # of VRF devices; 253 to 255 are the kernel's own
LAST_METRIC = 4278198272  # as the kernel's documentation of VRFs has it
FIRST_NUMBER = 10_000  # of the first end of a wire; kernels count interfaces of a namespace from 1 on
LOCAL_RULE = 32765  # behind the rule of VRFs, 1000, and before that of the main table
# A port is pulled by setting it down, which takes its IPv6 addresses away for good; a cable that is pulled does not.
KEPT = (("net.ipv6.conf.all.keep_addr_on_down", "1"),)


class Wiring:
    """The lab of one site on one kernel."""

    def __init__(self, lab: Blueprint, kernel: Kernel) -> None:
        lab = buildable(lab, kernel)
        self.lab, self.kernel, self.names = lab, kernel, Names(lab.site)
        self.interfaces = {End(node.name, own.name): own for node in lab.nodes.values() for own in node.interfaces}
        self.far = {end: wire.other(end.node) for wire in lab.wires for end in (wire.a, wire.b)}

    def namespace(self, node: str, vrf: str = "") -> str:
        """Where the devices of a VRF are: in a namespace of its own where the kernel has no VRF devices."""
        return self.names.namespace(node, "" if self.kernel.vrf_devices else vrf)

    def vrf_namespaces(self, node: Node) -> dict[str, str]:
        """VRF → its namespace; {} where VRFs are devices."""
        return {} if self.kernel.vrf_devices else {vrf: self.namespace(node.name, vrf) for vrf in node.vrfs}

    def spaces(self, node: Node) -> list[str]:
        """Every namespace of a node."""
        return [self.namespace(node.name), *self.vrf_namespaces(node).values()]

    def build(self) -> None:
        """Everything but the daemons; cables between switches are still down. Raises LabError."""
        spaces = [space for node in self.lab.nodes.values() for space in self.spaces(node)]
        namespaces.create(spaces)
        at_once(self._settings, self.lab.nodes.values())
        _ip("", self._wires(self.lab.wires, FIRST_NUMBER))
        at_once(self._devices, self.lab.nodes.values())

    def raise_links(self) -> None:
        """Brings every port up that its file does not keep down. The last step: daemons then see each link once."""
        at_once(self._raise, self.lab.nodes.values())

    def forget(self, node: Node) -> None:
        """Drops what the kernel of a node has learned and a booting switch would not know: routes, neighbors, MACs."""
        for space, interfaces in _by_space(node, self):
            run("ip", "-n", space, "neigh", "flush", "all", check=False)
            for family in ("-4", "-6"):
                run("ip", family, "-n", space, "route", "flush", "table", "all", "proto", "bgp", check=False)
            virtual = [item for item in interfaces if item.kind in (BRIDGE, TUNNEL)]
            _ip(space, [f"link delete {item.name}" for item in virtual])
            _ip(space, _made(virtual, self.kernel, self.namespace(node.name), space))
            _ip(space, _dressed(virtual, self.kernel))
            _ip(
                space,
                [
                    f"link set {item.name} master {item.bridge}"
                    for item in interfaces
                    if item.kind == PORT and item.bridge and not item.standby
                ],
            )

    # --- steps --------------------------------------------------------------------------------------------------

    def _settings(self, node: Node) -> None:
        for space in self.spaces(node):
            namespaces.write_sysctls(space, (*KEPT, *node.sysctls))

    def lay(self, wires: Iterable[Wire]) -> None:
        """Lays cables in a lab that is up; their ports get what their files say, and come up."""
        wires = list(wires)
        _ip("", self._wires(wires))
        for end in (end for wire in wires for end in (wire.a, wire.b)):
            own, space = self.interfaces[end], self.namespace(end.node, self.interfaces[end].vrf)
            _ip(space, [*_dressed([own], self.kernel), *([f"link set {own.name} up"] if own.up else [])])

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
                    _ip(self.namespace(node.name, item.vrf), [f"link set {item.name} {master}"])

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

    def _devices(self, node: Node) -> None:
        home = self.namespace(node.name)
        if self.kernel.vrf_devices and node.vrfs:
            _ip(home, _vrf_devices(node))
            _ip(home, _local_last(), "-4")
            _ip(home, _local_last(), "-6")
        for space, interfaces in _by_space(node, self):
            _ip(space, _made(interfaces, self.kernel, home, space))
        for space, interfaces in _by_space(node, self):
            _ip(space, _dressed(interfaces, self.kernel))
        # A port on standby is silent: an address answers on the port that its host would answer by.
        silent = [(f"net/ipv4/conf/{own.name}/arp_filter", "1") for own in node.interfaces if own.bond]
        namespaces.write_sysctls(home, silent)
        if node.kind != SWITCH:
            self._raise(node)
        # Rules have no family of their own, and routes need their gateway on a link that is up.
        _ip(home, _routes(node, 4))
        _ip(home, _routes(node, 6), "-6")
        if node.filters:
            for space in self.spaces(node):
                self._filter(node, space)

    def _filter(self, node: Node, space: str) -> None:
        try:
            run("ip", "netns", "exec", space, "nft", "-f", "-", text=node.filters)
            run("ip", "netns", "exec", space, "nft", "-f", "-", text=_OWN_FLOWS, check=False)
        except CommandError as error:
            raise LabError(f"{node.name}: nftables.conf is rejected: {error.output.strip()[:300]}") from None

    def _raise(self, node: Node) -> None:
        for space, own in _by_space(node, self):
            _ip(space, [f"link set {item.name} up" for item in own if item.kind == PORT and item.up])


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


def _ip(space: str, lines: Iterable[str], family: str = "") -> None:
    text = "".join(f"{line}\n" for line in lines)
    if text:
        command = ["ip", *([family] if family else []), *(["-n", space] if space else []), "-batch", "-"]
        run(*command, text=text)


def _by_space(node: Node, wiring: Wiring) -> list[tuple[str, list[Interface]]]:
    found: dict[str, list[Interface]] = {wiring.namespace(node.name, vrf): [] for vrf in ("", *node.vrfs)}
    for own in node.interfaces:
        found.setdefault(wiring.namespace(node.name, own.vrf), []).append(own)
    return list(found.items())


def _vrf_devices(node: Node) -> Iterator[str]:
    """A table ends with a route to nothing, and comes before addresses of the default table: else tenants get out there."""
    for table, vrf in enumerate(node.vrfs, FIRST_TABLE):
        yield f"link add {vrf} up type vrf table {table}"
        for anywhere in ("0.0.0.0/0", "::/0"):
            yield f"route add vrf {vrf} unreachable {anywhere} metric {LAST_METRIC}"


def _local_last() -> Iterator[str]:
    """As ifupdown2 does it."""
    yield f"rule add table local priority {LOCAL_RULE}"
    yield "rule delete table local priority 0"


def _made(interfaces: Iterable[Interface], kernel: Kernel, home: str, space: str) -> Iterator[str]:
    """Devices that no wire makes. A tunnel is born where its packets leave, then moved to its tenant.

    A bridge does not learn from LLDP: every port of a bond sends it with the address of the bond.
    `tos inherit` does more than its name: without it the kernel looks up one path per tunnel and keeps it for all flows.
    """
    yield "link set lo up"
    for item in interfaces:
        if item.kind == BRIDGE:
            yield f"link add {item.name} type bridge stp_state 0 mcast_snooping 0 no_linklocal_learn 1"
        elif item.kind == TUNNEL:
            words = f"type vxlan id {item.vni} local {item.local} dstport {VXLAN_PORT} nolearning tos inherit"
            yield f"link add {item.name} link-netns {home} {words}" if space != home else f"link add {item.name} {words}"


def _dressed(interfaces: Iterable[Interface], kernel: Kernel) -> Iterator[str]:
    """Addresses, masters and sizes."""
    for item in interfaces:
        if item.kind != PORT and item.kind != LOOPBACK:
            words = f" address {item.mac}" if item.mac else ""
            words += f" mtu {item.mtu}" if item.mtu else ""
            if words:
                yield f"link set {item.name}{words}"
        if item.kind in (BRIDGE, TUNNEL) or item.bridge or item.bond:
            yield f"link set {item.name} addrgenmode none"
        if item.bridge and not item.standby:
            yield f"link set {item.name} master {item.bridge}"
            if item.kind == TUNNEL:
                suppress = " neigh_suppress on" if item.answers and "suppress" in kernel.can else ""
                yield f"link set {item.name} type bridge_slave learning off{suppress}"
        elif item.vrf and kernel.vrf_devices:
            yield f"link set {item.name} master {item.vrf}"
        for address in item.addresses:
            words = f" metric {item.standby}" if item.standby else ""
            yield f"address add {address} dev {item.name}{words}{' nodad' if ':' in address else ''}"
        if item.kind in (BRIDGE, TUNNEL) and item.up:
            yield f"link set {item.name} up"


def _routes(node: Node, version: int) -> Iterator[str]:
    """Of ports that are in the lab."""
    there = {interface.name for interface in node.interfaces}
    for route in node.routes:
        if (6 if ":" in route.via else 4) == version and route.interface in there:
            words = f" table {route.table}" if route.table else ""
            words += f" src {route.source}" if route.source else ""
            words += f" metric {route.metric}" if route.metric else ""
            yield f"route add {route.to} via {route.via} dev {route.interface}{words}"
    for rule in node.rules:
        if (6 if ":" in rule.source else 4) == version:
            yield f"rule add from {rule.source} table {rule.table} priority {rule.priority}"
