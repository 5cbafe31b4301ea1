"""Servers and other devices at the ports that no switch is cabled to: by descriptions, addresses, bonds and sessions."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_interface

from fabric.audit.checks.ends import is_link, is_up, network_of, without_prefix_length
from fabric.base.grouping import grouped, grouped_sets
from fabric.deliver.brownfield.survey.cabling import Port, Wiring
from fabric.deliver.brownfield.survey.devices import TO, Found
from fabric.deliver.brownfield.survey.ports import natural, prefix_of
from fabric.deliver.brownfield.survey.records import Host
from fabric.model.facts import Interface, Neighbor
from fabric.model.plan import PortRef

IDLE = re.compile(
    r"(?:spare|reserved|unused|free|not[ _-]in[ _-]use|available|shutdown|split|deactivated|disabled|down)\b.*", re.I
)
NIC = re.compile(  # a port of a host, as words of a description name it
    r"(?:e(?:th|n[spox])|bond|nic|pci|port|p|lan|net|ib|mlx|vmnic|compute|storage|frontend|oob|bmc|idrac|ilo|ipmi|mgmt|"
    r"(?:ethernet|et|eth|e|gi|te|xe|ge|swp|po|ae|port-channel|bundle)[-_]?)[\w/:.-]*\d[\w/:.-]*|eth|bmc|ilo|idrac|ipmi|e\d+(?:/\d+)*",
    re.I,
)
LABEL = re.compile(r"(?P<purpose>[a-z][a-z0-9_-]*?[a-z_-]|[a-z])(?P<nic>\d+)(?:p(?P<port>\d+))?", re.I)
FILLER = re.compile(  # words beside the names
    r"to|from|links?|connect(?:ed|ion)|hosts?|servers?|srv|port|interface|int|(?:up|down)link|p2p|via|on|and|l[23]|access|trunk|"
    r"customer|endpoint|the|of|for|is|peer|l2leaf|rack|-+>?|[|=]",
    re.I,
)
ATTACHED = re.compile(
    r"(?:^|[-_.\d])(?:fwl?|firewall|router|rtr|gw|gateway|wan|isp|internet|inet|edge|mpls|pe|ce|core-?router|lb|load-?balancer|"
    r"external|ext|dci|transit|provider|bgp)(?:$|[-_.\d])",
    re.I,
)
LAST_NUMBER = re.compile(r"(.*?)(\d+)(\D*)")
NO_NAME = re.compile(r"[^A-Za-z0-9._-]+")
SUBNET = "subnet"  # source of a host of which nothing but its subnet is known: it may be a router
UNDESCRIBED = "host"  # group of hosts that no description names


@dataclass(frozen=True, slots=True, kw_only=True)
class HostPort:
    """A switch port with a host.

    Attributes:
        port: device and port.
        host, label: name of the host and of its port; "" where nothing says it.
        attached: it has a session with a device that is no switch of the site, or its name says so.
        address, far_address: with their length.
        source: "description", "bond", "subnet", "VLAN", "order".
    """

    port: Port
    host: str
    label: str
    attached: bool
    address: str
    far_address: str
    source: str


@dataclass
class Hosts:
    """Every host, and the ports that it is on."""

    ports: list[HostPort] = field(default_factory=list)
    hosts: dict[str, Host] = field(default_factory=dict)

    def on(self) -> dict[str, list[HostPort]]:
        """By switch."""
        return grouped((own.port[0], own) for own in self.ports)


def hosts(devices: Mapping[str, Found], wiring: Wiring) -> Hosts:
    """The hosts at all ports in use that lead to no switch."""
    managed = {port for port, _ in wiring.management.values()}
    result, rows = Hosts(), list[HostPort]()
    for name, own in devices.items():
        outside = _outside(own)
        for port in own.ports:
            if (name, port) not in wiring.far and (name, port) not in managed and (name, port) not in wiring.named:
                interface = own.facts.interfaces.get(port)
                row = _host_port(own, port, interface, outside) if interface is not None else None
                if row is not None and (row.host or row.attached or name not in wiring.listed):
                    rows.append(row)
                    own.border |= port in outside
    for (name, port), far in wiring.named.items():  # a device outside that LLDP or a topology file names
        if far[0] not in devices and name in devices and not _internal(devices[name], port):
            rows.append(_named(devices[name], port, far))
    result.ports = sorted(_unnamed(devices, rows), key=lambda row: (row.host, natural(row.label), row.port))
    result.hosts = _grouped(result.ports)
    return result


def without(ends: Hosts, devices: Container[str]) -> Hosts:
    """The hosts without those that are on some devices alone."""
    ports = [row for row in ends.ports if row.port[0] not in devices]
    names = {row.host for row in ports}
    return Hosts(ports, {name: host for name, host in ends.hosts.items() if name in names})


# --- One port -------------------------------------------------------------------------------------------------


def _host_port(own: Found, port: str, interface: Interface, outside: Mapping[str, Neighbor]) -> HostPort | None:
    text = own.description(port)
    if IDLE.match(text):
        return None
    host, label = parsed(text)
    if not host and not (is_up(interface) and _carries(own, interface)):
        return None
    if not is_up(interface) and not label:
        return None
    address, far = _addresses(interface)
    if not host and far == "" and _alone(own, interface):
        return None
    peer = outside.get(port)
    attached = peer is not None or bool(ATTACHED.search(host)) or label.startswith("port")
    source = "description" if host else "bond" if interface.bond else SUBNET if address else "VLAN"
    return HostPort(
        port=(own.name, port),
        host=host,
        label=label,
        attached=attached,
        address=address,
        far_address=far,
        source=source,
    )


def _internal(own: Found, port: str) -> bool:
    """Whether a port leads to a part of the device itself: its only addresses are link-local ones of IPv4."""
    interface = own.facts.interfaces.get(port)
    return interface is not None and any(fact.value.startswith("169.254.") for fact in interface.addresses)


def _named(own: Found, port: str, far: Port) -> HostPort:
    interface = own.facts.interfaces.get(port)
    address, peer = _addresses(interface) if interface else ("", "")
    label = far[1] or parsed(own.description(port))[1]
    attached = bool(ATTACHED.search(far[0]))
    return HostPort(
        port=(own.name, port),
        host=_name(far[0]),
        label=label,
        attached=attached,
        address=address,
        far_address=peer,
        source="LLDP",
    )


def _carries(own: Found, interface: Interface) -> bool:
    """Whether a port without a description is configured for a host."""
    if interface.bond:
        bond = own.facts.interfaces.get(interface.bond.value)
        return bond is not None and (is_up(bond) and bool(bond.access or bond.trunk or bond.esi or bond.addresses))
    return bool(interface.addresses or interface.access or interface.trunk or interface.esi)


def _alone(own: Found, interface: Interface) -> bool:
    """Whether a bond without a segment joins switches: a peer link."""
    bond = own.facts.interfaces.get(interface.bond.value) if interface.bond else None
    return bond is not None and not (bond.access or bond.trunk or bond.esi or bond.addresses or bond.description)


def parsed(text: str) -> tuple[str, str]:
    """Host and port that a description names: `gpu-0001 compute1`, `SERVER_dc1-server1_PCI1`, `to fw01 Eth1/1`."""
    text = text.partition(",")[0].strip()
    words = [TO.sub("", word.strip("[]()<>:*'\"")) for word in text.split()]
    words = [word for word in words if word and not FILLER.fullmatch(word)]
    if len(words) == 1:
        words = [part for part in re.split(r"[_:]", words[0]) if part and not FILLER.fullmatch(part)] or words
        words = words if len(words) < 2 or NIC.fullmatch(words[-1]) else ["_".join(words)]
    if len(words) > 1:
        label = next((word for word in reversed(words) if NIC.fullmatch(word)), "")
        rest = [word for word in words if word != label]
        if len(words) == 2 and not label:
            return _name(words[0]), words[1]
        numbered = [word for word in rest if any(letter.isdigit() for letter in word)]
        return _name(numbered[0] if numbered else "-".join(rest)), label
    return (_name(words[0]) if words else ""), ""


def _name(text: str) -> str:
    return NO_NAME.sub("-", text).strip("-._")


def _addresses(interface: Interface) -> tuple[str, str]:
    """Own address and that of the only other end of its subnet."""
    for fact in interface.addresses:
        if fact.value.startswith("fe80:"):
            continue
        if not is_link(fact.value):
            return fact.value, ""
        net, own = network_of(fact.value), ip_interface(fact.value).ip
        ends = [net[0], net[1]] if net.max_prefixlen - net.prefixlen == 1 else [net[1], net[2]]
        far = next((ip for ip in ends if ip != own), None)
        return fact.value, f"{far}/{net.prefixlen}" if far is not None else ""
    return "", ""


def _outside(own: Found) -> dict[str, Neighbor]:
    """Port → a session on it, or on a subinterface, with a device of another AS."""
    result: dict[str, Neighbor] = {}
    by_subnet = {
        (interface.vrf.value if interface.vrf else "", network_of(fact.value)): interface.name.partition(".")[0]
        for interface in own.facts.interfaces.values()
        for fact in interface.addresses
        if "/" in fact.value and not fact.value.startswith("fe80:")
    }
    lengths = {net.prefixlen for _, net in by_subnet}
    for peer in own.facts.neighbors():
        if peer.dynamic:
            continue
        if peer.interface:
            result.setdefault(peer.peer.partition(".")[0], peer)
            continue
        try:
            address = ip_address(without_prefix_length(peer.peer))
        except ValueError:
            continue
        for length in sorted(lengths, reverse=True):
            if length < address.max_prefixlen and (port := by_subnet.get((peer.vrf, network_of(f"{address}/{length}")))):
                result.setdefault(port, peer)
                break
    return result


# --- Names and groups -----------------------------------------------------------------------------------------


def _unnamed(devices: Mapping[str, Found], rows: Sequence[HostPort]) -> Iterator[HostPort]:
    """Hosts without a name: one for each segment or bond, else for each port."""
    for row in rows:
        if row.host:
            yield row
            continue
        device, port = row.port
        facts = devices[device].facts
        interface = facts.interfaces[port]
        bond = facts.interfaces.get(interface.bond.value) if interface.bond else None
        segment = next((own.esi.value for own in (interface, bond) if own is not None and own.esi), "")
        name = f"host-{segment.replace(':', '')}" if segment else f"{device}-{(bond or interface).name}"
        yield HostPort(
            port=row.port,
            host=_name(name),
            label=row.label,
            attached=row.attached,
            address=row.address,
            far_address=row.far_address,
            source=row.source,
        )


def _grouped(rows: Sequence[HostPort]) -> dict[str, Host]:
    """Every host with its group, by the names of those with the same NICs."""
    by_host = grouped((row.host, row) for row in rows)
    named = {name for name, own in by_host.items() if any(row.source in ("description", "LLDP") for row in own)}
    result: dict[str, Host] = {}
    servers: list[tuple[str, tuple[str, ...]]] = []
    attached = 0
    order = {name: name if name in named else " ".join(min(row.port for row in own)) for name, own in by_host.items()}
    for name in sorted(by_host, key=lambda name: natural(order[name])):
        own = by_host[name]
        if any(row.attached for row in own):
            attached += 1
            result[name] = Host(name=name, group="", number=attached, attached=True)
        elif name in named:
            servers.append((name, tuple(sorted({row.label for row in own}, key=natural))))
        else:
            number = 1 + sum(host.group == UNDESCRIBED for host in result.values())
            result[name] = Host(name=name, group=UNDESCRIBED, number=number)
    stems = grouped((_stem(name), (name, nics)) for name, nics in servers)
    alike = grouped((re.sub(r"\d+", "", stem), stem) for stem, members in stems.items() if len(members) == 1)
    for kind, single in alike.items():  # `leaf1-server1` and `leaf2-server1`: one number would be a group for each
        if len(single) > 1 and len({stems[stem][0][1] for stem in single}) == 1:
            stems = {
                kind: [stems[stem][0] for stem in single],
                **{key: its for key, its in stems.items() if key not in single},
            }
    for stem, members in stems.items():
        for group, names in _runs(stem, members):
            for at, name in enumerate(names, 1):
                number = at if stem in alike and stem not in alike[stem] else _number(name, stem, group) or at
                result[name] = Host(name=name, group=group, number=number)
    return dict(sorted(result.items()))


def _stem(name: str) -> str:
    match = LAST_NUMBER.fullmatch(name)
    return f"{match[1]}{match[3]}" if match else name


def _runs(stem: str, members: Sequence[tuple[str, tuple[str, ...]]]) -> Iterator[tuple[str, list[str]]]:
    """Servers of one kind: those with one stem, apart by their NICs where each kind is a run of names of its own."""
    runs: list[tuple[tuple[str, ...], list[str]]] = []
    for name, nics in members:
        if runs and runs[-1][0] == nics:
            runs[-1][1].append(name)
        else:
            runs.append((nics, [name]))
    prefixes = [prefix_of(names) for _, names in runs]
    whole = len({nics for nics, _ in runs}) == len(runs) == len(set(prefixes)) and all(prefixes)
    if len(runs) > 1 and whole and all(len(names) > 1 for _, names in runs):
        yield from ((prefix.strip("-_.") or prefix, names) for prefix, (_, names) in zip(prefixes, runs, strict=True))
    else:
        yield stem.strip("-_.") or UNDESCRIBED, [name for name, _ in members]


def _number(name: str, stem: str, group: str) -> int:
    match = LAST_NUMBER.fullmatch(name)
    if match is None:
        return 0
    rest = name.removeprefix(group) if stem.strip("-_.") != group else match[2]
    return int(rest) if rest.isdigit() else int(match[2])


# --- NICs -----------------------------------------------------------------------------------------------------


def nics(rows: Iterable[HostPort], gbps: Mapping[Port, int], bonds: Mapping[Port, str]) -> dict[Port, PortRef]:
    """Switch port → port of the host: by its label (`compute3p2`), else by order; a bond to two leaves is one NIC.

    Of hosts that are alike all have as many NICs: where one has no bond, those of the others are of two NICs.

    Args:
        bonds: switch port → name of its bond.
    """
    result: dict[Port, PortRef] = {}
    by_host = grouped((row.host, row) for row in rows)
    single = {_alike(name, own) for name, own in by_host.items() if not _dual(own, bonds)}
    for name, own in by_host.items():
        if (dual := _dual(own, bonds)) and _alike(name, own) not in single:
            by_nic = list(grouped((dual.get(row.port) or row.port, row) for row in own).values())
            spots = {row.port: (nic, port) for nic, same in enumerate(by_nic, 1) for port, row in enumerate(same)}
            result |= {port: PortRef(*spot, 1, gbps.get(port, 0)) for port, spot in spots.items()}
            continue
        firsts = grouped_sets(_labels(own))
        offsets: dict[str, int] = {}
        taken = 0
        for purpose in firsts:
            offsets[purpose] = taken
            taken += max(firsts[purpose], default=0)
        for at, row in enumerate(own, 1):
            match = LABEL.fullmatch(row.label)
            nic = offsets[match["purpose"]] + int(match["nic"]) if match else at
            port = int(match["port"] or 1) - 1 if match else 0
            result[row.port] = PortRef(max(nic, 1), max(port, 0), 1, gbps.get(row.port, 0))
    return result


def _alike(host: str, rows: Iterable[HostPort]) -> tuple[str, frozenset[str]]:
    """Equal for hosts of one name but for its number, with ports of the same labels."""
    return _stem(host), frozenset(row.label for row in rows)


def _dual(rows: Sequence[HostPort], bonds: Mapping[Port, str]) -> dict[Port, str]:
    """Ports of a host in bonds of one name on two leaves, where no label numbers the ports of its NICs: port → bond."""
    if any((match := LABEL.fullmatch(row.label)) and match["port"] for row in rows):
        return {}
    together = grouped((bonds[row.port], row.port) for row in rows if row.port in bonds)
    return {
        port: bond for bond, same in together.items() if len(same) == len({name for name, _ in same}) == 2 for port in same
    }


def _labels(rows: Iterable[HostPort]) -> Iterator[tuple[str, int]]:
    for row in rows:
        if match := LABEL.fullmatch(row.label):
            yield match["purpose"], int(match["nic"])
