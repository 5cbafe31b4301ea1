"""What carries a network or a VRF over EVPN: every part of it on each device, and that the devices understand each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from fabric.audit.checks import ERROR, WARNING, About, FilesCheck, Finding, Network, outliers, place, without_prefix_length
from fabric.audit.checks.ends import vlan_of
from fabric.audit.checks.files.evpn_sessions import evpn_of
from fabric.audit.checks.files.overlay import by_subject, derives, exported, imported, takes
from fabric.audit.checks.finding import UNKNOWN, Merge
from fabric.base.grouping import grouped
from fabric.base.text import and_more, listed
from fabric.model.facts import Chain, Facts, Interface, Located, Neighbor, Part, Vni, Vrf


class Carried(FilesCheck):
    """Follows every network and VRF through the parts that it needs on a device to be carried over EVPN.

    A VLAN needs its VNI, the tunnel interface, and an EVPN instance that learns and has route targets; a VRF needs its VNI
    and, on some network OSes, a VLAN of that VNI with a routed interface. Without one part nothing is advertised, or what
    arrives is dropped, and no session shows it. A part that is missing on all leaves is found like one missing on one leaf.
    """

    id = "FAB2550"
    title = "Every network and VRF has all parts that EVPN needs"
    severity = ERROR
    else_severity = "warning for networks without a session, of a device whose VRFs have sessions of their own"
    example = "an NX-OS VRF with `vni 50001`, and no `ip forward` on the interface of its VLAN"
    remediation = "configure the missing part"

    def check(self, network: Network) -> Iterator[Finding]:
        for facts in network.devices:
            lacking = [(chain, *found) for chain in facts.chains if (found := missing_part(chain))]
            rows = grouped(((part.what, holder if part.inside else None), (chain, holder)) for chain, part, holder in lacking)
            for (what, _), same in rows.items():
                chain, holder = same[0]
                names = listed(list(dict.fromkeys(chain.subject for chain, _ in same)), 2)
                yield self.finding_at(facts, holder, f"{names}: no {what} ({_way(chain)})", about=UNKNOWN)
        yield from self._without_sessions(network)

    def _without_sessions(self, network: Network) -> Iterator[Finding]:
        """Targets of EVPN, and no neighbor that routes are exchanged with: in the table itself, or for all tables."""
        for facts in network.devices:
            process = facts.bgp.get("")
            if process is None or not process.neighbors or facts.vtep is None or evpn_of(process):
                continue
            every: list[Vni | Vrf] = [*facts.vrfs.values(), *facts.vnis.values()]
            own = {name for name, other in facts.bgp.items() if name and other.neighbors}
            tables = [table for table in every if table.imports and _number(table) and getattr(table, "name", "") not in own]
            others = any(peer.families and peer.vrf == "" for peer in facts.neighbors())
            if tables and others:
                names = listed([_name(table) for table in tables], 2)
                at = Located(None, process.line, process.file)
                severity = WARNING if own else ""
                yield self.finding_at(facts, at, f"{names}: no neighbor with the EVPN address family", severity=severity)


def missing_part(chain: Chain) -> tuple[Part, Located[object]] | None:
    """The first part that is missing, and the section that lacks it: the one before it, else the one behind."""
    for number, part in enumerate(chain.parts):
        if part.at is None:
            before = [other.at for other in chain.parts[:number] if other.at and not other.inside]
            behind = [other.at for other in chain.parts[number:] if other.at]
            return (part, (before[::-1] + behind)[0]) if before or behind else None
    return None


def _way(chain: Chain) -> str:
    """`VNI 50001 → VLAN 3001 → interface Vlan3001`, up to the part that is missing."""
    missing = next(number for number, part in enumerate(chain.parts) if part.at is None)
    return " → ".join(part.what for part in chain.parts[: missing + 1] if not part.inside or part.at is None)


def _number(table: Vni | Vrf) -> int | None:
    return table.number if isinstance(table, Vni) else table.vni.value if table.vni else None


def _name(table: Vni | Vrf) -> str:
    return f"VNI {table.number}" if isinstance(table, Vni) else f"VRF {table.name}"


class Taken(FilesCheck):
    """Looks for VRFs and VNIs whose route targets no other device imports, on all devices that have them.

    A device imports a route if one of the route's targets is among those that it imports (RFC 4364 section 4.3.1). Targets
    that are derived from the AS number differ on leaves with AS numbers of their own (RFC 8365 section 5.1.2.1), unless the
    network OS compares the VNI alone or rewrites the AS number. Then a leaf has its own routes only, or those of some
    leaves, and no session shows it. How a network OS derives them: AS number of two bytes (NX-OS: AS_TRANS for one of four,
    FRR: its last two), VNI (Junos and `autort rfc8365-compatible`: with the bit of VXLAN).
    """

    id = "FAB2551"
    title = "The route targets that leaves export are imported by other leaves"
    severity = ERROR
    else_severity = "warning if the targets differ as stated, or a session leaves the files"
    example = "`route-target both auto evpn` on leaves with AS 65001 and 65002, without `rewrite-evpn-rt-asn`"
    remediation = "state the same route targets on all leaves"
    of_component: ClassVar = True

    def check(self, network: Network) -> Iterator[Finding]:
        subjects = by_subject(network)
        leaves = any(network.remote_end(peer) is None for facts in network.devices for peer in _evpn_peers(facts))
        takers = [(facts, imported(facts, table)) for rows in subjects.values() for facts, table in rows]
        every = set[str]().union(*(targets for _, targets in takers))
        # A border gateway rewrites for the whole of its site, which has one AS number.
        rewritten = {_as_number(facts) for facts in network.devices if any(near.rewrites for near in facts.neighbors())} - {0}
        for subject, rows in subjects.items():
            sent = [
                (facts, table, targets)
                for facts, table in rows
                if (table.exports or derives(facts, table)) and _evpn_peers(facts) and (targets := exported(facts, table))
            ]
            if len({id(facts) for facts, _, _ in sent}) < 2:
                continue
            texts = (frozenset(fact.value for fact in (*table.imports, *table.exports)) for _, table, _ in sent)
            raw = [(targets, 0) for targets in texts if targets]
            if outliers(raw)[1]:
                continue  # FAB265 compares these
            if any(self._is_taken(takers, facts, targets, every) for facts, _, targets in sent):
                yield from self._one_way(subject, sent, rewritten)
                continue
            stated = len({targets for targets, _ in raw}) > 1
            for facts, table, targets in sent:
                names = ", ".join(sorted(targets))
                message = f"{subject}: no other device imports route target {names}"
                at = next(iter(table.exports), Located(None, table.line, table.file))
                merge = Merge(text="no other device imports the route targets of {names}", names=(subject,))
                severity = WARNING if stated or leaves else ""
                yield self.finding_at(facts, at, message, severity=severity, merge=merge)

    def _one_way(
        self, subject: str, sent: Sequence[tuple[Facts, Vni | Vrf, set[str]]], rewritten: set[int]
    ) -> Iterator[Finding]:
        """Derived targets of which a device with the same VNI imports none: it has routes of some devices only."""
        derived = [(names, facts) for facts, table, names in sent if derives(facts, table)]
        missed: dict[frozenset[str], list[tuple[set[str], Facts]]] = {}
        for facts, table, _ in sent if derived else ():
            if _as_number(facts) in rewritten:
                continue
            targets = frozenset(imported(facts, table))
            if targets not in missed:
                missed[targets] = [(names, other) for names, other in derived if not takes(targets, names)]
            lost = [row for row in missed[targets] if row[1] is not facts]
            if lost:
                names, other = lost[0]
                more = f" {and_more(len(lost) - 1)}" if lost[1:] else ""
                at = next(iter(table.imports), Located(None, table.line, table.file))
                message = (
                    f"{subject}: imports route target {', '.join(sorted(targets))}, but {other.name}{more} "
                    f"{'derive' if lost[1:] else 'derives'} {', '.join(sorted(names))}"
                )
                severity = "" if derives(facts, table) else WARNING
                yield self.finding_at(facts, at, message, severity=severity, about=About(devices=(other.name,)))

    @staticmethod
    def _is_taken(takers: list[tuple[Facts, set[str]]], facts: Facts, sent: set[str], every: set[str]) -> bool:
        return takes(every, sent) and any(other is not facts and takes(targets, sent) for other, targets in takers)


def _as_number(facts: Facts) -> int:
    process = facts.bgp.get("")
    return process.asn.value if process and process.asn else 0


def _evpn_peers(facts: Facts) -> list[Neighbor]:
    process = facts.bgp.get("")
    return evpn_of(process) if process else []


class Tagged(FilesCheck):
    """Compares how the devices of a layer-2 VNI number their Ethernet tags.

    In a VLAN-aware instance the tag of a MAC route names the VLAN; a VLAN-based one has the tag 0 and imports no other
    (RFC 7432 section 6). With one VNI and one route target on both, each end drops the MAC routes of the other.
    """

    id = "FAB2552"
    title = "All devices of a layer-2 VNI have the same EVPN service type"
    severity = ERROR
    example = "a Junos MAC-VRF with `service-type vlan-aware`, and `vlan 10` of EOS, with one VNI"
    remediation = "use a VLAN-based instance for each VNI, or VLAN-aware bundles on all devices"
    of_component: ClassVar = True

    def check(self, network: Network) -> Iterator[Finding]:
        rows = grouped(
            (vni.number, (vni.tagged.value, (facts, vni, vni.tagged)))
            for facts in network.devices
            for vni in facts.vnis.values()
            if vni.tagged is not None and _evpn_peers(facts)
        )
        for number, same in rows.items():
            odd = outliers(same)[1] or [row for row in same if row[0]]
            for value, (facts, vni, fact) in odd:
                other = next((row[1] for row in same if row[0] != value), None)
                if other is None or not takes(imported(facts, vni), exported(other[0], other[1])):
                    continue
                kind, far = ("VLAN-aware", "VLAN-based") if value else ("VLAN-based", "VLAN-aware")
                message = f"VNI {number}: {kind} service, but {far} on {other[0].name} ({place(other[2])})"
                yield self.finding_at(facts, fact, message, about=About(devices=(other[0].name,)))


class GatewayAddress(FilesCheck):
    """Compares the anycast gateway addresses of every layer-2 VNI on all leaves.

    Servers of a network have one default gateway. A leaf with another address does not answer for it: its servers reach
    the gateway over another leaf, or not at all where ARP is suppressed. A leaf that also advertises the shared address as
    its own makes other leaves install a route to their own gateway (FRR, "EVPN": `advertise-svi-ip` needs an address of the
    leaf alone).
    """

    id = "FAB2556"
    title = "A network has the same anycast gateway on all leaves, and none advertises it as its own"
    severity = ERROR
    else_severity = "warning if one leaf has an additional address"
    example = "`ip address virtual 10.61.1.1/24` on leaf001, `10.61.1.2/24` on leaf002, for one VNI"
    remediation = "configure the same gateway address on all leaves of the network"
    of_component: ClassVar = True

    def check(self, network: Network) -> Iterator[Finding]:
        yield from self._own(network)
        rows = grouped(
            (number, (frozenset(map(without_prefix_length, (fact.value for fact in port.gateways))), (facts, port)))
            for facts in network.devices
            for number, port in gateways(facts)
        )
        for number, same in rows.items():
            usual, odd = outliers(same)
            for addresses, (facts, port) in odd:
                others = [(value, owner) for value, owner in same if value != addresses]
                expected, (other, far) = next((row for row in others if row[0] == usual), others[0])
                strange = addresses - expected or addresses
                fact = next(fact for fact in port.gateways if without_prefix_length(fact.value) in strange)
                got, wanted = ", ".join(sorted(addresses)), ", ".join(sorted(expected))
                there = f"{other.name} ({place(far.gateways[0])})"
                message = f"{port.name}: gateway {got} of VNI {number}, but {wanted} on {there}"
                more = addresses < expected or addresses > expected
                about, severity = About(devices=(other.name,)), WARNING if more else ""
                yield self.finding_at(facts, fact, message, severity=severity, about=about)

    def _own(self, network: Network) -> Iterator[Finding]:
        for facts in network.devices:
            shared = [port for _, port in gateways(facts) if not port.addresses] if facts.svi_advertised else []
            if shared:
                names = listed([f"{port.name} ({port.gateways[0].value})" for port in shared], 2)
                message = f"addresses of VLAN interfaces are advertised as those of this leaf, but {names} is shared"
                hint = "give every leaf an address of its own, or remove the statement"
                yield self.finding_at(facts, facts.svi_advertised, message, hint=hint, about=UNKNOWN)


def gateways(facts: Facts) -> Iterator[tuple[int, Interface]]:
    """(VNI, VLAN interface) of the networks that a device is a gateway of."""
    numbers = {vni.vlan.value: number for number, vni in facts.vnis.items() if vni.vlan}
    for name, port in facts.interfaces.items():
        vlan = port.tag.value if port.tag else vlan_of(name)
        if port.gateways and vlan in numbers and (vlan_of(name) is not None or port.tag):
            yield numbers[vlan], port
