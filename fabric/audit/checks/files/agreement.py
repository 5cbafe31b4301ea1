"""What two ends, or the leaves of one bond, must have alike beside addresses and sessions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from fabric.audit.checks import ERROR, NOTE, WARNING, About, FilesCheck, Finding, Network, outliers, place, session_name
from fabric.audit.checks.files.evpn_sessions import is_external
from fabric.base.grouping import grouped
from fabric.base.text import and_more
from fabric.model.facts import Facts, Interface, Located

VXLAN_PORT = 4789  # RFC 7348 section 5
ELECTION, MODE = "modulus", "all-active"  # where nothing is stated (RFC 7432 section 8.5, RFC 8584)


class SegmentTerms(FilesCheck):
    """Compares what the leaves of one Ethernet segment say of it.

    A server's bond has one LACP partner: leaves with different system IDs are two, and only the ports of one carry traffic
    (IEEE 802.1AX). Leaves in different redundancy modes forward twice or not at all (RFC 7432 section 14.1). Leaves that
    state different elections of the designated forwarder fall back to the default one (RFC 8584 section 2.2); where all
    state one preference, the lowest address decides (RFC 9785 section 4.1).
    """

    id = "FAB2553"
    title = "The leaves of a bond agree on LACP, redundancy mode and election"
    severity = ERROR
    else_severity = "warning for the election; note for one preference on all leaves"
    example = "`lacp system-id 0001.0001.0001` on leaf001, `0009.0009.0009` on leaf002, for one ESI"
    remediation = "configure the same values on all leaves of the bond"
    of_component: ClassVar = True

    def check(self, network: Network) -> Iterator[Finding]:
        users = grouped(
            (port.esi.value, (facts, port)) for facts in network.devices for port in facts.interfaces.values() if port.esi
        )
        for segment, rows in users.items():
            if len({id(facts) for facts, _ in rows}) < 2:
                continue
            stated = [(port.lacp_system.value, (facts, port, port.lacp_system)) for facts, port in rows if port.lacp_system]
            if len(stated) > 1 and (len({value for value, _ in stated}) > 1 or not stated[0][0]):
                yield from self._systems(segment, stated)
            yield from self._differ(segment, rows, "esi_mode", MODE, "redundancy mode", "")
            yield from self._differ(segment, rows, "election", ELECTION, "election", WARNING)
            yield from self._undecided(segment, rows)

    def _undecided(self, segment: str, rows: list[tuple[Facts, Interface]]) -> Iterator[Finding]:
        """One stated preference on all leaves: the addresses of the leaves decide."""
        values = {port.preference.value if port.preference else None for _, port in rows}
        if values == {None} or len(values) > 1:
            return
        facts, port = rows[0]
        other, far = rows[1]
        message = f"{port.name}: preference {values.pop()} as on {other.name}, in Ethernet segment {segment}"
        hint = "state a higher preference on the leaf that is to forward; else the lowest address decides"
        about = About(devices=(other.name,))
        yield self.finding_at(facts, port.preference or far.preference, message, hint=hint, severity=NOTE, about=about)

    def _systems(self, segment: str, stated: list[tuple[str, tuple[Facts, Interface, Located[str]]]]) -> Iterator[Finding]:
        _, odd = outliers(stated)
        for value, (facts, port, fact) in odd or stated:
            other, far = next((row[0], row[2]) for _, row in stated if row[0] is not facts)
            own = f"LACP system ID {value}" if value else "no LACP system ID, so that of the switch"
            there = f"{far.value or 'its own'} on {other.name} ({place(far)})"
            message = f"{port.name}: {own}, but {there}, in Ethernet segment {segment}"
            yield self.finding_at(facts, fact, message, about=About(devices=(other.name,)))

    def _differ(
        self, segment: str, rows: list[tuple[Facts, Interface]], name: str, default: str, what: str, severity: str
    ) -> Iterator[Finding]:
        values = [(fact.value if (fact := getattr(port, name)) else default, (facts, port)) for facts, port in rows]
        _, odd = outliers(values)
        for value, (facts, port) in odd:
            other, (far, _) = next((value_, owner) for value_, owner in values if value_ != value)
            fact = getattr(port, name) or port.esi
            message = f"{port.name}: {what} {value}, but {other} on {far.name}, in Ethernet segment {segment}"
            yield self.finding_at(facts, fact, message, severity=severity, about=About(devices=(far.name,)))


class LinkTerms(FilesCheck):
    """Compares the error correction of both ends of every cable, and the UDP port of all VXLAN tunnels.

    A port that sends with one code and one that expects another, or none, do not come up (IEEE 802.3 clauses 74 and 91).
    A VTEP does not take packets that arrive at another UDP port as VXLAN (RFC 7348 section 5).
    """

    id = "FAB2555"
    title = "Both ends agree on error correction and on the UDP port of VXLAN"
    severity = ERROR
    example = "`fec rs-fec` at leaf001, `fec off` at spine001, on one cable"
    remediation = "configure the same value at both ends"

    def check(self, network: Network) -> Iterator[Finding]:
        for a, b in network.links:
            one, other = a.interface.fec, b.interface.fec
            if one and other and one.value != other.value:
                message = f"{a.interface.name}: error correction {one.value}, but {other.value} at {b} ({place(other)})"
                yield self.finding_at(a.facts, one, message, about=About(devices=(b.facts.name,)))
        for part in network.separate_networks:
            rows = [
                (facts.vxlan_port.value if facts.vxlan_port else VXLAN_PORT, facts) for facts in part.devices if facts.vtep
            ]
            _, odd = outliers(rows)
            for number, facts in odd:
                other_port, far = next((value, owner) for value, owner in rows if value != number)
                fact = facts.vxlan_port or facts.vtep
                message = f"VXLAN to UDP port {number}, but {other_port} on {far.name}"
                yield self.finding_at(facts, fact, message, about=About(devices=(far.name,)))


class Clients(FilesCheck):
    """Looks for eBGP neighbors that are configured as clients of a route reflector.

    Reflection is between neighbors of one AS (RFC 4456 section 6). NVUE and FRR refuse the statement on an external session,
    NVUE with the whole revision; where it is taken, it has no effect.
    """

    id = "FAB2558"
    title = "Clients of a route reflector are internal neighbors"
    severity = ERROR
    example = "`route-reflector-client: on` for a neighbor with another AS number, in NVUE"
    remediation = "remove the statement, or correct the AS number"

    def check(self, network: Network) -> Iterator[Finding]:
        for facts in network.devices:
            reported = {(one.place.file, one.place.line) for one in network.refused.get(id(facts), ())}
            for process in facts.bgp.values():
                rows = [
                    (peer.reflected, peer)
                    for peer in process.neighbors.values()
                    if peer.reflected and peer.reflected.value and is_external(process, peer)
                ]
                for (line, file), same in grouped(((fact.line, fact.file), peer) for fact, peer in rows).items():
                    if (file, line) in reported:
                        continue  # as a statement that the network OS refuses
                    first = session_name(process.vrf, same[0].peer)
                    names = f"{first} {and_more(len(same) - 1)}" if same[1:] else first
                    message = f"{names}: client of a route reflector, but in another AS"
                    yield self.finding_at(facts, Located(None, line, file), message)
