"""Addresses, the pools that they come from, and how the switches are reached and report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from itertools import chain
from typing import Any, TypeAlias

from numpy.typing import NDArray

from fabric.audit.checks import ERROR, NOTE, WARNING, Design, Finding
from fabric.audit.checks.base import RESTORE_LOCK
from fabric.audit.checks.design.base import FabricCheck, Path, before, in_all, link_ends, named, pinned, rows
from fabric.base.text import listed
from fabric.model.plan import ATTACHMENT, BETWEEN_SWITCHES, LEAF, SERVER, SERVER_LEAF, FabricPlan, NetworkPlan, nic_name
from fabric.model.settings.services import LOCAL, Management

SHARED = ip_network("100.64.0.0/10")

Net: TypeAlias = IPv4Network | IPv6Network
Taken: TypeAlias = tuple[list[int], Callable[[int], str]]  # numbers, and what the one at a place belongs to


class UniqueAddresses(FabricCheck):
    """Compares all assigned addresses: loopbacks, VTEPs, links, VLAN subinterfaces, management, gateways and servers.

    If two interfaces have the same address, both answer ARP requests for it, and traffic reaches one or the other at
    random. The first five kinds are compared across the site; gateways, leaves and servers within their layer-2 network,
    as tenants may reuse subnets.
    """

    id = "FAB208"
    title = "No address is assigned twice within a site"
    severity = ERROR
    example = "`pins: {backend-leaf002: {management: 10.254.0.1}}`, the address of backend-leaf001"
    remediation = "remove the address from `pins`, or set separate prefixes for the two pools under `pools`"

    def check(self, design: Design) -> Iterator[Finding]:
        yield from self._across(design)
        for (tenant, place), hosts in sorted(design.fabric.tenancy.hosts.items()):
            plan = design.fabric.tenancy.tenants[tenant]
            for text in dict.fromkeys(_in_network(design.fabric, plan.networks[place], hosts)):
                path = ("tenants", tenant, "networks", place, "gateway")
                yield self.finding(design, path, f"network '{plan.name}/{plan.networks[place].name}': {text}")

    def _across(self, design: Design) -> Iterator[Finding]:
        """This fabric's addresses against each other and those of the fabrics before it."""
        others = [_taken(fabric) for fabric in before(design)]
        addresses = _taken(design.fabric)
        parts = [numbers for taken in (*others, addresses) for numbers, _ in taken]
        if len(set(chain.from_iterable(parts))) == sum(map(len, parts)):
            return
        owner = {n: label(at) for taken in others for numbers, label in taken for at, n in enumerate(numbers)}
        for numbers, label in addresses:
            for at, number in enumerate(numbers):
                if number in owner:
                    text = f"duplicate address {ip_address(number)}: {owner[number]}, and {label(at)}"
                    yield self.finding(design, ("pools",), text)
                owner.setdefault(number, label(at))


def _taken(fabric: FabricPlan) -> list[Taken]:
    """All addresses of a fabric by kind. Equal loopbacks are the router ids' matter, equal subnets the links'."""
    devices, tenancy = fabric.devices, fabric.tenancy
    connections = [
        (connection.address, f"{connection.name} for '{tenancy.tenants[connection.tenant].name}'")
        for connection in tenancy.external_connections
        if connection.address
    ]
    return [
        _labeled("loopback", dict(_of_switches(fabric, fabric.loopback)).items()),
        _labeled("IPv6 loopback", _of_switches(fabric, fabric.loopback6)),
        _labeled("management address", _of_switches(fabric, fabric.management)),
        _labeled("VTEP", [(number, devices[leaf].name) for leaf, number in sorted(tenancy.vtep.items())]),
        _labeled("shared VTEP", {number: devices[leaf].name for leaf, number in sorted(tenancy.pair_vtep.items())}.items()),
        _subnets(fabric, "link between {}", fabric.subnet),
        *(
            _subnets(fabric, f"link of '{tenancy.tenants[tenant].name}' between {{}}", first)
            for tenant, first in sorted(tenancy.slices.items())
        ),
        _labeled("external connection", [(low + end, name) for low, name in connections for end in (0, 1)]),
    ]


def _of_switches(fabric: FabricPlan, numbers: NDArray[Any]) -> list[tuple[int, str]]:
    return [(int(numbers[device.index]), device.name) for device in fabric.switches if numbers[device.index] >= 0]


def _labeled(what: str, pairs: Iterable[tuple[int, str]]) -> Taken:
    found = list(pairs)
    return [number for number, _ in found], lambda at: f"{what} of {found[at][1]}"


def _subnets(fabric: FabricPlan, what: str, first: NDArray[Any]) -> Taken:
    """Both addresses of every subnet that a link has, each subnet once."""
    link_of = {low: link for link, low in enumerate(first.tolist()) if low >= 0}
    lows = list(link_of)
    highs = [low + 1 for low in lows]
    return lows + highs, lambda at: what.format(link_ends(fabric, link_of[lows[at % len(lows)]]))


def _in_network(fabric: FabricPlan, network: NetworkPlan, hosts: Mapping[int, int]) -> Iterator[str]:
    """What is wrong with the addresses of a layer-2 network."""
    if network.gateway is None:
        return
    last = network.subnet + (1 << (32 - network.length)) - 1
    usable = f"{ip_address(network.gateway + 1)} to {ip_address(last - 1)}"
    owner = {network.gateway: "the gateway"}
    owner |= {network.own_address(leaf.number): leaf.name for leaf in fabric.switches if leaf.role == LEAF}
    groups = {group.name: group for group in fabric.spec.groups}
    for link, number in sorted(hosts.items()):
        device, bond = fabric.devices[fabric.links.a[link]], int(fabric.tenancy.lag[link])
        cage, sub = int(fabric.links.a_cage[link]), int(fabric.links.a_sub[link])
        port = nic_name(groups[device.group], cage, sub) if device.role == SERVER else f"port{cage}"
        end = f"bond {bond} of {device.name}" if bond else f"{port} of {device.name}"
        if not network.gateway < number < last:
            yield f"{end}: expected an address from {usable}, got {ip_address(number)}"
        elif (other := owner.setdefault(number, end)) != end:
            yield f"duplicate address {ip_address(number)}: {other}, and {end}"


class LinkSubnets(FabricCheck):
    """Tests length, alignment and uniqueness of the subnets of all links.

    Two routers on a cable need two addresses: a /31 (RFC 3021) or a /127 (RFC 6164) with an even first address, used on
    one link. A numbered link without a subnet has no BGP session.
    """

    id = "FAB209"
    title = "Every link has its own subnet of two hosts"
    severity = ERROR
    example = "10.64.0.2/31 on the links leaf001–spine001 and leaf002–spine001"
    remediation = RESTORE_LOCK

    def check(self, design: Design) -> Iterator[Finding]:
        fabric = design.fabric
        length = 127 if fabric.spec.underlay.addressing == "ipv6" else 31
        if fabric.subnet_length != length:
            text = f"expected a /{length} subnet for each link to a server, got /{fabric.subnet_length}"
            yield self.finding(design, ("pools", "servers"), text)
        lows = fabric.subnet.tolist()
        if fabric.spec.underlay.addressing != "unnumbered":
            bare = [link for link in rows(fabric, *BETWEEN_SWITCHES).tolist() if lows[link] < 0]
            if bare:
                text = f"no subnet on the link between {link_ends(fabric, bare[0])}"
                yield self.finding(design, ("pools", "p2p"), text + in_all(len(bare), "link"))
        owner: dict[int, int] = {}
        for link, low in enumerate(lows):
            if low < 0:
                continue
            path = ("pools", "servers" if fabric.links.kind[link] in (SERVER_LEAF, ATTACHMENT) else "p2p")
            length = fabric.link_length(link)
            wide = fabric.spec.underlay.link_step == 4 and fabric.links.kind[link] in BETWEEN_SWITCHES
            if low % 4 != 1 if wide else low % 2:
                first = "the first host of a /30" if wide else "an even first address"
                text = f"the link between {link_ends(fabric, link)}: expected {first}, got {ip_address(low)}"
                yield self.finding(design, path, text)
            elif (other := owner.setdefault(low, link)) != link and not _joined(fabric, other, link):
                ends = f"{link_ends(fabric, other)}, and between {link_ends(fabric, link)}"
                yield self.finding(design, path, f"duplicate subnet {ip_address(low)}/{length}: between {ends}")


def _joined(fabric: FabricPlan, *links: int) -> bool:
    """Whether links are ports of one NIC that joins planes: it has one address for all of them."""
    columns = fabric.links
    ports = {(int(columns.a[link]), int(columns.a_cage[link])) for link in links}
    planes = {fabric.devices[columns.b[link]].plane for link in links}
    group = next((its for its in fabric.spec.groups if its.name == fabric.devices[columns.a[links[0]]].group), None)
    return len(ports) == 1 and len(planes) == len(links) and group is not None and group.joins_planes


class Pools(FabricCheck):
    """Compares the address pools of the site with each other and with 100.64.0.0/10.

    Route filters and access lists name pools: where two overlap, a filter for one also permits the other. 100.64.0.0/10
    (RFC 6598) is meant for carriers and often in use between sites.
    """

    id = "FAB210"
    title = "Address pools do not overlap each other"
    severity = ERROR
    example = "`pools: {loopback: 10.0.0.0/16, p2p: 10.0.128.0/17}`"
    remediation = "set a separate prefix for every pool under `pools`"

    def check(self, design: Design) -> Iterator[Finding]:
        known = dict.fromkeys(pool for fabric in before(design) for pool in _pools(fabric))
        for kind, net in _pools(design.fabric):
            for other_kind, other in known:
                if (kind, net) != (other_kind, other) and net.overlaps(other):
                    text = f"pool '{kind}' {net} overlaps pool '{other_kind}' {other}"
                    yield self.finding(design, ("pools", kind), text)
            known[kind, net] = None
            if net.overlaps(SHARED):
                text = f"pool '{kind}' {net} overlaps {SHARED}, the shared address space of carrier-grade NAT (RFC 6598)"
                hint = "use private addresses (RFC 1918) if the site has a connection to a carrier network"
                yield self.finding(design, ("pools", kind), text, severity=NOTE, hint=hint)


def _pools(fabric: FabricPlan) -> list[tuple[str, Net]]:
    return [(kind, ip_network(text)) for kind, texts in sorted(fabric.prefixes.items()) for text in texts]


# --- management -----------------------------------------------------------------------------------------------

TIME_SERVERS = 2
WIDEST = {4: 8, 6: 16}  # shortest prefix that may be one site's own: 10.0.0.0/8, fd00::/16


class ManagementCheck(FabricCheck):
    """Whose findings stand at the management of a fabric, or at the site's, which the first fabric that has it speaks for."""

    def request(self, design: Design) -> Management:
        return design.fabric.spec.management

    def spoken_for(self, design: Design) -> list[FabricPlan]:
        """The fabrics whose management this one's is; none where another fabric has spoken."""
        if design.fabric.spec.own_management:
            return [design.fabric]
        shared = [f for f in design.plan.fabrics.values() if f.spec.ethernet and not f.spec.own_management]
        return shared if shared[0] is design.fabric else []

    def about(self, design: Design, key: str, text: str, severity: str = "") -> Finding:
        """A finding at a key of management, or at the whole of it."""
        own = design.fabric.spec.own_management
        path: Path = ("fabrics", design.fabric.name, "management") if own else ("management",)
        what = f"management.{key}" if key else "management"
        return self.at(design.plan.at(*path, key), f"{what}: {text}", severity=severity)


class ManagementApart(ManagementCheck):
    """Tests the VRF, gateway and addresses of management ports.

    A broken fabric is repaired over the management network, which must not depend on the fabric: no addresses from the
    fabric's pools, a gateway in the same subnet, and a VRF that fabric routes cannot enter.
    """

    id = "FAB238"
    title = "Management has its own addresses and VRF"
    severity = WARNING
    example = "`management: {vrf: false}`"
    remediation = "set `management: {vrf: true}`, and `pools: {management: …}` to a separate prefix that contains the gateway"

    def check(self, design: Design) -> Iterator[Finding]:
        fabric, request = design.fabric, self.request(design)
        if not request.vrf and self.spoken_for(design):
            yield self.about(design, "vrf", "expected the management VRF, got the default VRF")
        nets = [ip_network(prefix) for prefix in fabric.prefixes["management"]]
        if request.gateway and not any(ip_address(request.gateway) in net for net in nets):
            pool = ", ".join(map(str, nets))
            text = f"{request.gateway} is outside the pool 'management' ({pool}) of fabric '{fabric.name}'"
            yield self.about(design, "gateway", text, ERROR)
        numbers = {device.index: int(fabric.management[device.index]) for device in fabric.switches}
        bare = [switch for switch, number in numbers.items() if number < 0]
        if bare:
            text = f"no management address on {named(fabric, bare)}"
            yield self.finding(design, ("pools", "management"), text, severity=ERROR)
        for kind, prefixes in sorted(fabric.prefixes.items()):
            for net in map(ip_network, prefixes if kind != "management" else ()):
                first, last = int(net.network_address), int(net.broadcast_address)
                inside = [switch for switch, number in numbers.items() if first <= number <= last]
                if inside:
                    path = pinned(design, fabric.devices[inside[0]], "management", ("pools", "management"))
                    text = f"management address in the pool '{kind}' ({net}) on {named(fabric, inside)}"
                    yield self.finding(design, path, text, severity=ERROR)


class TimeAndLogs(ManagementCheck):
    """Counts the NTP and syslog servers of the intent.

    The order of events is known only when all clocks agree, and a single wrong NTP server goes unnoticed. Logs that are
    kept only on a switch are lost with it.
    """

    id = "FAB239"
    title = "Switches have at least two NTP servers and a syslog server"
    severity = NOTE
    example = "`management: {ntp: [192.0.2.10]}` and no `syslog`"
    remediation = "set `management: {ntp: [192.0.2.10, 192.0.2.11], syslog: 192.0.2.20}` with the addresses of your servers"

    def check(self, design: Design) -> Iterator[Finding]:
        if not self.spoken_for(design):
            return
        request = self.request(design)
        if len(request.ntp) < TIME_SERVERS or not request.syslog:
            text = f"expected at least {TIME_SERVERS} NTP servers and 1 syslog server"
            yield self.about(design, "", f"{text}, got {len(request.ntp)} and {len(request.syslog)}")


class LockOut(ManagementCheck):
    """Tests whether users of the switch may log in when no TACACS+, RADIUS or LDAP server answers.

    With `local` as the last method the switch asks for a user of its own when its servers are not reached. Without it, the
    switch cannot be entered exactly when the network is down, and a wrong address or secret locks everyone out.
    """

    id = "FAB2430"
    title = "Users of the switch may log in when no login server answers"
    severity = WARNING
    example = "`management: {aaa: {tacacs: {servers: 192.0.2.30}, login: tacacs}}`"
    remediation = "add `local` as the last method of `login`, and keep the password of the administrator in a vault"

    def check(self, design: Design) -> Iterator[Finding]:
        aaa = self.request(design).aaa if self.spoken_for(design) else None
        if aaa is not None and LOCAL not in aaa.order:
            text = f"logins by {listed(aaa.order)} alone: no user can log in when no server answers"
            yield self.about(design, "aaa", text)


class Reach(ManagementCheck):
    """Tests the prefixes of `management.allow` for their size and for overlap with server addresses.

    Only the prefixes of `allow` reach SSH, SNMP and gNMI. A prefix that is larger than a site, or that contains server
    addresses, lets every server try to log in to every switch.
    """

    id = "FAB240"
    title = "Management access is restricted to known prefixes"
    severity = WARNING
    example = "`management: {allow: [10.0.0.0/8]}` with the default server pool, 10.128.0.0/9"
    remediation = "set `management.allow` to the prefixes of operators and collectors (default: the management pool)"

    def check(self, design: Design) -> Iterator[Finding]:
        pools = {prefix for fabric in self.spoken_for(design) for prefix in fabric.prefixes["servers"]}
        for text in (self.request(design).allow or ()) if pools else ():
            net = ip_network(text)
            if net.prefixlen < WIDEST[net.version]:
                yield self.about(design, "allow", f"expected a prefix length of /{WIDEST[net.version]} or longer, got {text}")
            for pool in sorted(pools):
                if net.overlaps(ip_network(pool)):
                    yield self.about(design, "allow", f"{text} overlaps the pool 'servers' ({pool})")
