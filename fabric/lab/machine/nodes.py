"""The namespaces of a node, and the devices in them that no wire makes; what its files say of its ports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fabric.lab.blueprint import BRIDGE, LOOPBACK, PORT, SWITCH, TUNNEL, Interface, Names, Node
from fabric.lab.devices import VXLAN_PORT
from fabric.lab.machine import namespaces
from fabric.lab.machine.host import Kernel
from fabric.lab.machine.namespaces import CommandError, LabError, run
from fabric.lab.machine.observer import FIRST_PORT

# The flows that scenarios send may end at a switch, which rightly drops unexpected traffic.
_OWN_FLOWS = f"insert rule inet control_plane input udp dport {FIRST_PORT}-{FIRST_PORT + 99} accept\n"
FIRST_TABLE = 1001  # of VRF devices; 253 to 255 are the kernel's own
LAST_METRIC = 4278198272  # as the kernel's documentation of VRFs has it
LOCAL_RULE = 32765  # behind the rule of VRFs, 1000, and before that of the main table
# A port is pulled by setting it down, which takes its IPv6 addresses away for good; a cable that is pulled does not.
KEPT = (("net.ipv6.conf.all.keep_addr_on_down", "1"),)


class Spaces:
    """The namespaces of the nodes of one site on one kernel."""

    def __init__(self, names: Names, kernel: Kernel, bfd: bool = True) -> None:
        self.names, self.kernel, self.bfd = names, kernel, bfd

    def namespace(self, node: str, vrf: str = "") -> str:
        """Where the devices of a VRF are: in a namespace of its own where the kernel has no VRF devices."""
        return self.names.namespace(node, "" if self.kernel.vrf_devices else vrf)

    def vrf_namespaces(self, node: Node) -> dict[str, str]:
        """VRF → its namespace; {} where VRFs are devices."""
        return {} if self.kernel.vrf_devices else {vrf: self.namespace(node.name, vrf) for vrf in node.vrfs}

    def spaces(self, node: Node) -> list[str]:
        """Every namespace of a node."""
        return [self.namespace(node.name), *self.vrf_namespaces(node).values()]

    def forget(self, node: Node) -> None:
        """Drops what the kernel of a node has learned and a booting switch would not know: routes, neighbors, MACs."""
        for space, interfaces in by_space(node, self):
            run("ip", "-n", space, "neigh", "flush", "all", check=False)
            for family in ("-4", "-6"):
                run("ip", family, "-n", space, "route", "flush", "table", "all", "proto", "bgp", check=False)
            virtual = [item for item in interfaces if item.kind in (BRIDGE, TUNNEL)]
            ip(space, [f"link delete {item.name}" for item in virtual])
            ip(space, made(virtual, self.kernel, self.namespace(node.name), space))
            ip(space, dressed(virtual, self.kernel))
            ip(
                space,
                [
                    f"link set {item.name} master {item.bridge}"
                    for item in interfaces
                    if item.kind == PORT and item.bridge and not item.standby
                ],
            )

    def settings(self, node: Node) -> None:
        self.set_sysctls(node, self.spaces(node))

    def set_sysctls(self, node: Node, spaces: Iterable[str]) -> None:
        for space in spaces:
            namespaces.write_sysctls(space, (*KEPT, *node.sysctls))

    def devices(self, node: Node) -> None:
        home = self.namespace(node.name)
        if self.kernel.vrf_devices and node.vrfs:
            ip(home, vrf_devices(node.vrfs))
            ip(home, _local_last(), "-4")
            ip(home, _local_last(), "-6")
        for space, interfaces in by_space(node, self):
            ip(space, made(interfaces, self.kernel, home, space))
        for space, interfaces in by_space(node, self):
            ip(space, dressed(interfaces, self.kernel))
        # A port on standby is silent: an address answers on the port that its host would answer by.
        silent = [(f"net/ipv4/conf/{own.name}/arp_filter", "1") for own in node.interfaces if own.bond]
        namespaces.write_sysctls(home, silent)
        if node.kind != SWITCH:
            self.raise_ports(node)
        # Rules have no family of their own, and routes need their gateway on a link that is up.
        ip(home, routes(node, 4))
        ip(home, routes(node, 6), "-6")
        if node.filters:
            for space in self.spaces(node):
                self.load_filters(node, space)

    def load_filters(self, node: Node, space: str) -> None:
        nft = ("ip", "netns", "exec", space, "nft", "-f", "-")
        try:
            if run(
                *nft, text=f"{node.filters}\n{_OWN_FLOWS}", check=False
            ).returncode:  # both at once, so that no flow is lost
                run(*nft, text=node.filters)
        except CommandError as error:
            raise LabError(f"{node.name}: nftables.conf is rejected: {error.output.strip()[:300]}") from None

    def raise_ports(self, node: Node) -> None:
        for space, own in by_space(node, self):
            ip(space, [f"link set {item.name} up" for item in own if item.kind == PORT and item.up])


def ip(space: str, lines: Iterable[str], family: str = "") -> None:
    text = "".join(f"{line}\n" for line in lines)
    if text:
        command = ["ip", *([family] if family else []), *(["-n", space] if space else []), "-batch", "-"]
        run(*command, text=text)


def by_space(node: Node, spaces: Spaces) -> list[tuple[str, list[Interface]]]:
    found: dict[str, list[Interface]] = {spaces.namespace(node.name, vrf): [] for vrf in ("", *node.vrfs)}
    for own in node.interfaces:
        found.setdefault(spaces.namespace(node.name, own.vrf), []).append(own)
    return list(found.items())


def vrf_devices(vrfs: Iterable[str], first_table: int = FIRST_TABLE) -> Iterator[str]:
    """A table ends with a route to nothing, and comes before addresses of the default table: else tenants get out there."""
    for table, vrf in enumerate(vrfs, first_table):
        yield f"link add {vrf} up type vrf table {table}"
        for anywhere in ("0.0.0.0/0", "::/0"):
            yield f"route add vrf {vrf} unreachable {anywhere} metric {LAST_METRIC}"


def _local_last() -> Iterator[str]:
    """As ifupdown2 does it."""
    yield f"rule add table local priority {LOCAL_RULE}"
    yield "rule delete table local priority 0"


def made(interfaces: Iterable[Interface], kernel: Kernel, home: str, space: str) -> Iterator[str]:
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


def dressed(interfaces: Iterable[Interface], kernel: Kernel) -> Iterator[str]:
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


def routes(node: Node, version: int) -> Iterator[str]:
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
