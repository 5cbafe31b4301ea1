"""EVPN/VXLAN: one VNI, one meaning, everywhere."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator
from ipaddress import ip_interface
from typing import ClassVar

from fabric.audit.checks import (
    ERROR,
    NOTE,
    WARNING,
    About,
    FilesCheck,
    Finding,
    Network,
    is_up,
    outliers,
    place,
    tunnel_addresses,
    vrf_of,
    without_prefix_length,
)
from fabric.audit.checks.files.duplicates import speaks_by, whose
from fabric.base.grouping import grouped
from fabric.base.text import is_unicast, listed
from fabric.model.facts import DerivedTargets, Facts, Interface, Located, Vni, Vrf

VXLAN_BYTES = 50  # outer IPv4, UDP, VXLAN and the inner Ethernet header (RFC 7348)
HOSTS_MOST = 9000  # the largest MTU that servers are given
VLAN = re.compile(r"(?:vlan|irb|bvi)", re.I)
AUTO, AS_TRANS, TYPED = "auto", 23456, 1 << 28  # a derived target


class VniVlan(FilesCheck):
    """Compares the VLAN of every L2 VNI on all leaves.

    A VNI identifies one network: if one leaf maps it to another VLAN, two networks are bridged there. A VLAN of a switch
    has one VNI (RFC 7348).
    """

    id = "FAB264"
    title = "Each L2 VNI maps to exactly one VLAN"
    severity = ERROR
    example = "VLAN 100 has VNI 10100 on leaf001 and VNI 10200 on leaf002"
    remediation = "map the VLAN to the same VNI as on the other leaves"
    kinds: ClassVar = ("vnis", "vlan")
    of_component: ClassVar = True

    def check(self, network: Network) -> Iterator[Finding]:
        rows: dict[int, list[tuple[int, tuple[Facts, Located[int]]]]] = {}
        vnis: dict[int, list[tuple[int, tuple[Facts, Located[object]]]]] = {}
        for facts in network.devices:
            layer3 = {vrf.vni.value for vrf in facts.vrfs.values() if vrf.vni}
            for vrf in facts.vrfs.values():
                if vrf.vni and vrf.vlan:
                    vnis.setdefault(vrf.vlan.value, []).append((vrf.vni.value, (facts, vrf.vni)))
            for vni in facts.vnis.values():
                if vni.vlan and vni.number not in layer3:
                    rows.setdefault(vni.number, []).append((vni.vlan.value, (facts, vni.vlan)))
                    vnis.setdefault(vni.vlan.value, []).append((vni.number, (facts, Located(None, vni.line, vni.file))))
        reported: set[tuple[str, int]] = set()
        for number, same in rows.items():
            usual, odd = outliers(same)
            for vlan, (facts, fact) in odd:
                reported.add((facts.name, number))
                yield self.finding_at(facts, fact, f"VNI {number}: VLAN {vlan}, {_elsewhere('VLAN', usual, vlan, same)}")
        for vlan, same_vlan in vnis.items():
            usual, odd_vnis = outliers(same_vlan)
            for number, (facts, vni_fact) in odd_vnis:
                if (facts.name, number) not in reported and len(rows.get(number, ())) < 2:
                    yield self.finding_at(
                        facts, vni_fact, f"VLAN {vlan}: VNI {number}, {_elsewhere('VNI', usual, number, same_vlan)}"
                    )


def _elsewhere(what: str, usual: object, own: object, rows: list) -> str:  # type: ignore[type-arg]
    """`VLAN 100 on 3 others`, or on the one other device."""
    others = [(value, user) for value, user in rows if value != own]
    name = others[0][1][0].name if others else ""
    return f"but {what} {others[0][0] if len(rows) == 2 else usual} on " + (
        name if len(others) == 1 else f"{len(others)} other devices"
    )


class VrfVni(FilesCheck):
    """Compares VNI and route targets of every VRF and VNI on all leaves.

    A leaf with a different VNI or route target imports the routes of another tenant, or none (RFC 9135, RFC 4364).
    """

    id = "FAB265"
    title = "Each VRF has the same VNI and route targets on all leaves"
    severity = ERROR
    example = "VRF red has VNI 50001 on leaf001 and VNI 50002 on leaf002"
    remediation = "set the same VNI and route targets for the VRF as on the other leaves"
    kinds: ClassVar = ("vrfs", "vni", "imports", "exports")
    of_component: ClassVar = True

    def check(self, network: Network) -> Iterator[Finding]:
        yield from self._names(network)
        yield from self._numbers(network)
        yield from self._targets(network)

    def _numbers(self, network: Network) -> Iterator[Finding]:
        """One VNI, two VRFs: also where the second is a layer-2 network."""
        users = grouped(
            (vrf.vni.value, (facts, f"VRF {vrf.name}", vrf.vni))
            for facts in network.devices
            for vrf in facts.vrfs.values()
            if vrf.vni
        )
        for number, rows in users.items():
            _, odd = outliers([(name, (facts, fact)) for facts, name, fact in rows])
            for name, (facts, fact) in odd if len({name for _, name, _ in rows}) > 1 else ():
                other = next((row for row in rows if row[1] != name), rows[0])
                message = f"{name}: VNI {number} is also assigned to {other[1]} on {other[0].name} ({place(other[2])})"
                severity = WARNING if _renamed(network, rows) else ""
                yield self.finding_at(facts, fact, message, severity=severity, about=About(devices=(other[0].name,)))
            for facts in network.devices:
                mapped = facts.vnis.get(number)
                if mapped is not None and not any(facts is user and fact.line == mapped.line for user, _, fact in rows):
                    if any(facts is user for user, _, _ in rows) and mapped.vlan is not None and _is_l3_vlan(facts, mapped):
                        continue
                    if mapped.vlan is not None and not _is_l3_vlan(facts, mapped):
                        l2_fact = Located(None, mapped.line, mapped.file)
                        yield self.finding_at(
                            facts,
                            l2_fact,
                            f"VNI {number}: L2 VNI on this device, but L3 VNI of {rows[0][1]} on {rows[0][0].name}",
                            about=About(devices=(rows[0][0].name,)),
                        )

    def _names(self, network: Network) -> Iterator[Finding]:
        """One VRF, two VNIs."""
        users = grouped(
            (vrf.name, (vrf.vni.value, (facts, vrf.vni)))
            for facts in network.devices
            for vrf in facts.vrfs.values()
            if vrf.vni
        )
        for name, rows in users.items():
            usual, odd = outliers(rows)
            for number, (facts, fact) in odd:
                others = tuple(other.name for value, (other, _) in rows if value != number)
                message = f"VRF {name}: VNI {number}, {_elsewhere('VNI', usual, number, rows)}"
                yield self.finding_at(facts, fact, message, about=About(devices=others if len(others) == 1 else ()))

    def _targets(self, network: Network) -> Iterator[Finding]:
        for subject, rows in by_subject(network).items():
            crossed = _crossed(rows)
            for kind in ("imports", "exports"):
                sets = [
                    (frozenset(fact.value for fact in getattr(table, kind)), (facts, table))
                    for facts, table in rows
                    if getattr(table, kind)
                ]
                usual, odd = outliers(sets)
                for value, (facts, table) in odd:
                    others = next((targets for targets, _ in sets if targets != value), frozenset())
                    expected = usual if isinstance(usual, frozenset) and len(sets) > 2 else others
                    fact = next(
                        (fact for fact in getattr(table, kind) if fact.value not in expected), getattr(table, kind)[0]
                    )
                    message = (
                        f"{subject}: {kind[:-1]} route targets {_list(value)}, but {_list(expected)} on the other leaves"
                    )
                    message += whose(by_subject(network), subject, value - expected)
                    leaks = not value.isdisjoint(expected)  # one more may be meant: a leaf that leaks between tenants
                    if crossed and not (value < expected or value > expected):
                        continue
                    yield self.finding_at(facts, fact, message, severity=WARNING if leaks else "")


def _crossed(rows: list[tuple[Facts, Vni | Vrf]]) -> bool:
    """Whether every leaf imports what each other one exports, so that it is by design that their targets differ.

    Each may have targets of its own, as those that are derived from AS number and VNI.
    """
    pairs = Counter((frozenset(imported(facts, table)), frozenset(exported(facts, table))) for facts, table in rows)
    taken, sent = Counter[frozenset[str]](), Counter[frozenset[str]]()  # most devices have the same ones, at one end at least
    for (near, far), count in pairs.items():
        taken[near] += count
        if far:  # what a device without BGP in its files sends is not known
            sent[far] += count
    others = ((near, far) for near in taken for far in sent if taken[near] * sent[far] > pairs[near, far])
    return all(takes(near, far) for near, far in others)


def takes(taken: Collection[str], sent: Collection[str]) -> bool:
    """Whether one of the targets is taken; `*:10010` takes those of any AS number."""
    return any(far == own or (own[0] == "*" and far.endswith(own[1:])) for own in taken for far in sent)


def imported(facts: Facts, table: Vni | Vrf) -> set[str]:
    """Route targets of the routes that a table takes; without any, those of its VNI, whatever the AS number.

    So are those of a device that rewrites the AS numbers of what it receives.
    """
    rule, number = facts.derived, _number(facts, table)
    any_as = rule is None or rule.any_as or any(near.rewrites for near in facts.neighbors())
    derived = f"*:{number}" if any_as else _derived(facts, number)
    return {derived if fact.value == AUTO else fact.value for fact in table.imports} or {f"*:{number}"}


def exported(facts: Facts, table: Vni | Vrf) -> set[str]:
    """Route targets of the routes of a table, as far as they are known; derived ones are `<AS number>:<VNI>`."""
    stated = {fact.value for fact in table.exports}
    if AUTO in stated or not (stated or (facts.derived and not facts.derived.unstated)):
        derived = _derived(facts, _number(facts, table))
        stated = stated - {AUTO} | ({derived} if derived else set())
    return stated


def derives(facts: Facts, table: Vni | Vrf) -> bool:
    """Whether a device derives targets of the routes of a table."""
    rule = facts.derived
    return rule is not None and (any(fact.value == AUTO for fact in table.exports) or (rule.unstated and not table.exports))


def _number(facts: Facts, table: Vni | Vrf) -> int | None:
    """What derived targets have behind the AS number."""
    if isinstance(table, Vni):
        return table.number | (TYPED if facts.derived and facts.derived.typed else 0)
    return table.vni.value if table.vni else None


def _derived(facts: Facts, number: int | None) -> str:
    """The target that `auto` stands for; "" where it is not known."""
    process, rule = facts.bgp.get(""), facts.derived or DerivedTargets(low=True)
    asn = process.asn.value if process and process.asn else 0
    short = asn if asn < 1 << 16 else asn & 0xFFFF if rule.low else AS_TRANS
    return f"{short}:{number}" if asn and number is not None else ""


def _renamed(network: Network, users: list[tuple[Facts, str, Located[int]]]) -> bool:
    """Whether the VRFs of a VNI may be one that each device names in its own way, as the name is local to a device.

    Then no device has two of the names, none of them has another VNI, and their route targets have one in common.
    """
    names = {name.removeprefix("VRF ") for _, name, _ in users}
    number = users[0][2].value
    targets: list[set[str]] = []
    for facts in network.devices:
        vrfs = [vrf for name, vrf in facts.vrfs.items() if name in names]
        if len(vrfs) > 1 or any(vrf.vni and vrf.vni.value != number for vrf in vrfs):
            return False
        targets += [{fact.value for fact in (*vrf.imports, *vrf.exports)} for vrf in vrfs if vrf.imports or vrf.exports]
    return not targets or bool(set.intersection(*targets))


def _list(values: object) -> str:
    return ", ".join(sorted(map(str, values))) if isinstance(values, frozenset) else str(values)


def _is_l3_vlan(facts: Facts, own: Vni) -> bool:
    """NX-OS ties the VNI of a VRF to a VLAN as well."""
    return any(vrf.vni and vrf.vni.value == own.number for vrf in facts.vrfs.values())


def by_subject(network: Network) -> dict[str, list[tuple[Facts, Vni | Vrf]]]:
    """Every VRF and layer-2 VNI by its name in findings, with the devices that have it."""
    found: dict[str, list[tuple[Facts, Vni | Vrf]]] = {}
    for facts in network.devices:
        for vrf in facts.vrfs.values():
            found.setdefault(f"VRF {vrf.name}", []).append((facts, vrf))
        for vni in facts.vnis.values():
            found.setdefault(f"VNI {vni.number}", []).append((facts, vni))
    return found


class Distinguisher(FilesCheck):
    """Compares the route distinguishers of all devices.

    A route distinguisher keeps equal prefixes of two leaves apart. If two leaves share one, the route server advertises a
    single best path, without multipath and fast failover (RFC 4364 section 4.2).
    """

    id = "FAB266"
    title = "Route distinguishers are unique per device"
    severity = ERROR
    example = "`rd 10.0.0.1:2` on leaf001 and leaf002"
    remediation = "set the route distinguisher to `<router ID>:<number>`"
    kinds: ClassVar = ("rd",)

    def check(self, network: Network) -> Iterator[Finding]:
        users = grouped(
            (holder.rd.value, (facts, owner_name, holder.rd))
            for owner_name, rows in by_subject(network).items()
            for facts, holder in rows
            if holder.rd and ":" in holder.rd.value
        )
        for value, same in users.items():
            lines = {(facts.name, fact.file, fact.line): (facts, name, fact) for facts, name, fact in reversed(same)}
            for facts, owner_name, fact in reversed(lines.values()) if len({name for name, _, _ in lines}) > 1 else ():
                head = value.rpartition(":")[0]
                ids = {process.router_id.value for process in facts.bgp.values() if process.router_id}
                if head in ids or (
                    head.count(".") == 3 and any(owner.facts is facts for owner in network.owners.get(head, ()))
                ):
                    continue  # the other one has borrowed it
                others = tuple(sorted({other.name for other, _, _ in same if other is not facts}))
                works = not _someones(network, head) and len({subject for _, subject, _ in same}) == 1
                message = f"{owner_name}: route distinguisher {value} is also configured on {', '.join(others)}"
                yield self.finding_at(facts, fact, message, severity=WARNING if works else "", about=About(devices=others))


def _someones(network: Network, head: str) -> bool:
    return head in network.owners or any(
        process.router_id.value == head for facts in network.devices for process in facts.bgp.values() if process.router_id
    )


class TunnelSource(FilesCheck):
    """Tests the VXLAN source of every leaf, and compares the anycast MAC addresses of all leaves.

    With a source address that no interface has, no packet is sent. Anycast gateways of a network answer ARP with one MAC
    address on every leaf, or a server that moves keeps an invalid entry. No interface has the address of a group, or zero.
    """

    id = "FAB267"
    title = "VXLAN tunnels start at a loopback of the leaf, and anycast gateways share one MAC address"
    severity = ERROR
    example = "`source-interface loopback1`, which the device does not have"
    remediation = "set the tunnel source to a loopback of the leaf, and the anycast MAC address to that of the other leaves"
    kinds: ClassVar = ("vtep", "anycast_mac")
    of_component: ClassVar = True

    def check(self, network: Network) -> Iterator[Finding]:
        for facts in network.devices:
            source = facts.vtep
            if source is None or facts.elsewhere:
                continue
            addresses = {
                without_prefix_length(fact.value) for interface in facts.interfaces.values() for fact in interface.addresses
            }
            name = source.value
            if (
                name not in facts.interfaces
                and name.removesuffix(".0") not in facts.interfaces
                and without_prefix_length(name) not in addresses
            ):
                yield self.finding_at(facts, source, f"tunnel source {name} is not configured on this device")
            for pair, interface in _shared(network, facts):
                got = f"tunnel source {name}, but the tunnel source address of {pair} is on {interface} of this device"
                yield self.finding_at(facts, source, got)
        for facts in network.devices:
            if (shared := facts.anycast_mac) and not is_unicast(shared.value):
                yield self.finding_at(facts, shared, f"anycast gateway: expected a unicast MAC address, got {shared.value}")
        macs = [(facts.anycast_mac.value, facts) for facts in network.devices if facts.anycast_mac]
        usual, odd = outliers(macs)
        for value, facts in odd:
            other = usual if usual != value else next(mac for mac, _ in macs if mac != value)
            message = f"anycast gateway MAC address {value}, but {other} on other leaves"
            yield self.finding_at(facts, facts.anycast_mac, message, severity=WARNING)


def _shared(network: Network, facts: Facts) -> Iterator[tuple[str, str]]:
    """(device, own interface) where a pair is to answer for one tunnel address and this half of it begins elsewhere.

    A pair does not speak BGP by its common address: such an address is configured twice by mistake.
    """
    for other in network.devices:
        for address in sorted(tunnel_addresses(other)) if other is not facts else ():
            for owner in network.owners.get(address, ()):
                begins = facts.vtep.value.removesuffix(".0") if facts.vtep else ""
                if owner.facts is facts and begins not in (owner.interface.name, address) and not speaks_by(owner, address):
                    yield other.name, owner.interface.name


class GatewayPrefix(FilesCheck):
    """Compares the prefix length of every anycast gateway on all leaves.

    Hosts of one network with two prefix lengths disagree on who is in their subnet: some answers go to the gateway, some
    are asked for by ARP and lost.
    """

    id = "FAB2507"
    title = "An anycast gateway has one prefix length on all leaves"
    severity = ERROR
    example = "`ip address virtual 10.61.1.1/25` on leaf001, `/24` on leaf002"
    remediation = "set the same prefix length on all leaves of the network"
    of_component: ClassVar = True

    def check(self, network: Network) -> Iterator[Finding]:
        users = grouped(
            ((interface.vrf.value if interface.vrf else "", without_prefix_length(fact.value)), (facts, name, fact))
            for facts in network.devices
            for name, interface in facts.interfaces.items()
            for fact in interface.gateways
            if "/" in fact.value
        )
        for (_, address), rows in users.items():
            lengths = [(fact.value.rpartition("/")[2], (facts, name, fact)) for facts, name, fact in rows]
            usual, odd = outliers(lengths)
            for length, (facts, name, fact) in odd:
                other = usual if usual != length else next(expected for expected, _ in lengths if expected != length)
                yield self.finding_at(
                    facts, fact, f"{name}: anycast gateway {address} with /{length}, but /{other} on other leaves"
                )


class Segments(FilesCheck):
    """Compares the Ethernet segment identifiers of all bonds.

    An Ethernet segment joins the two leaves of one bond. With different identifiers, broadcast is looped or dropped; with
    one identifier for two bonds, a server receives traffic of another (RFC 7432 section 5).
    """

    id = "FAB268"
    title = "Both leaves of a bond have the same Ethernet segment"
    severity = ERROR
    example = "ESI ending in :01 on leaf001 bond1, ESI ending in :02 on leaf002 bond1"
    remediation = "configure the same identifier on both leaves of the bond, and on no other bond"
    kinds: ClassVar = ("esi",)
    of_component: ClassVar = True

    def check(self, network: Network) -> Iterator[Finding]:
        users = grouped(
            (interface.esi.value, (facts, name, interface.esi))
            for facts in network.devices
            for name, interface in facts.interfaces.items()
            if interface.esi
        )
        for value, rows in users.items():
            devices = {facts.name for facts, _, _ in rows}
            for facts, name, fact in rows:
                twice = [other for owner, other, _ in rows if owner is facts and other != name]
                if twice:
                    yield self.finding_at(facts, fact, f"{name}: Ethernet segment {value} is also configured on {twice[0]}")
                elif len(devices) == 1 and len(network.devices) > 1:
                    yield self.finding_at(
                        facts, fact, f"{name}: Ethernet segment {value} is configured on no other device", severity=WARNING
                    )


def _has_hosts(interface: Interface) -> bool:
    """Whether an interface has a subnet for more than the two ends of a link."""
    networks = (ip_interface(fact.value).network for fact in (*interface.addresses, *interface.gateways))
    return any(network.max_prefixlen - network.prefixlen > 2 for network in networks)


def _tenant_mtu(facts: Facts, name: str, interface: Interface) -> Located[int] | None:
    """The configured MTU; for a VLAN interface also the default of its network OS, at the line of the interface."""
    if interface.mtu is None and facts.vlan_mtu and VLAN.match(name):
        return Located(facts.vlan_mtu, interface.line, interface.file)
    return interface.mtu


class TunnelFits(FilesCheck):
    """Compares tenant MTUs plus the VXLAN header with the MTU of the fabric links.

    VXLAN adds 50 bytes to a packet, 70 over IPv6 (RFC 7348), and switches do not fragment it. If the sum exceeds the
    fabric MTU, large packets are dropped while ping works.
    """

    id = "FAB269"
    title = "A tenant packet fits the fabric MTU with its VXLAN header"
    severity = ERROR
    example = "tenant MTU 9214 + 50 bytes, fabric MTU 9214"
    remediation = "lower the MTU of the tenant interfaces, or raise the MTU of the fabric links"

    def check(self, network: Network) -> Iterator[Finding]:
        room = self._room(network)
        for facts in network.devices:
            mtu_limit = room.get(facts.name)
            by_mtu: dict[int, list[tuple[str, Located[int]]]] = {}
            svis = (interface for name, interface in facts.interfaces.items() if VLAN.match(name))
            hosts = {vrf_of(svi) for svi in svis if _has_hosts(svi)}
            for name, interface in facts.interfaces.items() if mtu_limit else ():
                inside = interface.vrf and interface.vrf.value in facts.vrfs and facts.vrfs[interface.vrf.value].vni
                between = VLAN.match(name) and (  # a pair's peer link, which no tunnel crosses
                    id(interface) in network.cabled or (vrf_of(interface) in hosts and not _has_hosts(interface))
                )
                mtu = _tenant_mtu(facts, name, interface)
                if inside and mtu_limit and not between and is_up(interface) and mtu and mtu.value + VXLAN_BYTES > mtu_limit:
                    by_mtu.setdefault(mtu.value, []).append((name, mtu))
            for value, rows in by_mtu.items():
                names = listed([name for name, _ in rows], 1)
                got = f"{value} + {VXLAN_BYTES} bytes (VXLAN) exceeds the MTU {mtu_limit} of the fabric links"
                fits = (mtu_limit or 0) >= HOSTS_MOST + VXLAN_BYTES  # what hosts send does
                yield self.finding_at(facts, rows[0][1], f"{names}: MTU {got}", severity=NOTE if fits else "")

    @staticmethod
    def _room(network: Network) -> dict[str, int]:
        """The smallest MTU of the fabric links of each VTEP. Of a link with two MTUs the larger: FAB254 reports the other."""
        tunnels = {facts.name for facts in network.devices if facts.vtep}
        room: dict[str, int] = {}
        for link in network.links:
            stated = [end.interface.mtu.value for end in link if end.interface.mtu]
            for facts, port in link:
                if port.mtu and not port.vrf and facts.name in tunnels and not VLAN.match(port.name):
                    room[facts.name] = min(max(stated), room.get(facts.name, max(stated)))
        return room
