"""Sessions that cannot come up, or that carry nothing: what EVPN and sessions between loopbacks need."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import ClassVar

from fabric.audit.checks import (
    ERROR,
    WARNING,
    About,
    FilesCheck,
    Finding,
    Network,
    RemoteEnd,
    is_enabled,
    is_loopback,
    place,
    session_name,
    tunnel_addresses,
)
from fabric.base.grouping import grouped
from fabric.base.text import listed
from fabric.model.facts import Bgp, Facts, Located, Neighbor

EVPN = "evpn"
TRANSIT = 2  # neighbors of a device that passes routes on
HOP_WORDS = ("disable-connected-check", "ttl maximum-hops", "ttl-security", "accept-remote-nexthop", "connected-check")
GATEWAY_WORDS = ("domain remote", "domain all", "multisite border-gateway", "interconnect {", "evpn interconnect ")
AS_WORDS = ("as-override", "remove-private", "disable-peer-as-check", "advertise-peer-as", "allowas-in", "loops ")


def evpn_of(process: Bgp) -> list[Neighbor]:
    """Sessions that carry EVPN routes."""
    return [
        peer for peer in process.neighbors.values() if is_enabled(peer) and any(one.value == EVPN for one in peer.families)
    ]


def is_external(process: Bgp, peer: Neighbor) -> bool:
    """Whether a session is eBGP; false where an AS number is unknown."""
    remote, own = (peer.remote_as.value if peer.remote_as else None), peer.local_as or process.asn
    return remote == "external" or (isinstance(remote, int) and own is not None and remote != own.value)


def has_vtep(facts: Facts) -> bool:
    """Whether tunnels start at a device."""
    return facts.vtep is not None or bool(facts.vnis) or any(vrf.vni for vrf in facts.vrfs.values())


def _has_words(devices: Iterable[Facts], words: Sequence[str] = AS_WORDS) -> bool:
    """Whether a config may change or accept AS numbers in a path that are its own, or has other words."""
    return any(word in text for facts in devices for text in facts.texts.values() for word in words)


class NextHops(FilesCheck):
    """Looks for eBGP speakers without a VTEP that set themselves as next hop of EVPN routes.

    Leaves send VXLAN packets to the next hop of an EVPN route. A spine without a VTEP drops them, so it must keep the next
    hop of EVPN routes (RFC 8365 section 5.1.3, RFC 4271 section 5.1.3).
    """

    id = "FAB2500"
    title = "EVPN routes keep their next hop on devices without a VTEP"
    severity = ERROR
    example = "an EOS spine without `neighbor EVPN next-hop-unchanged`"
    remediation = "keep the next hop of EVPN routes on this device"

    def check(self, network: Network) -> Iterator[Finding]:
        for facts in network.devices:
            process = facts.bgp.get("")
            if process is None or has_vtep(facts):
                continue
            peers = [peer for peer in evpn_of(process) if is_external(process, peer)]
            changed = [peer for peer in peers if peer.unchanged is not None and not peer.unchanged.value]
            if changed and self._passes_on(network, peers):
                names = listed([peer.peer for peer in changed], 2)
                at = Located(None, changed[0].line, changed[0].file)
                yield self.finding_at(
                    facts, at, f"next hop of EVPN routes is changed for {names}, and this device has no VTEP"
                )

    def _passes_on(self, network: Network, peers: list[Neighbor]) -> bool:
        """Whether a neighbor accepts what another one sent: one of the same AS finds its own number in the path."""
        numbers = {peer.remote_as.value if peer.remote_as else None for peer in peers}
        one_as = len(numbers) == 1 and isinstance(next(iter(numbers)), int)
        fars = [far for peer in peers if (far := network.remote_end(peer)) and far.reverse]
        accepted = any(far.reverse is not None and far.reverse.allowas_in is not None for far in fars)
        return len(peers) >= TRANSIT and (not one_as or accepted or _has_words([far.facts for far in fars]))


class Retained(FilesCheck):
    """Looks for devices without a VTEP that pass EVPN routes on, and drop those of route targets that they do not import.

    NX-OS keeps no route that no VRF and no VNI imports. A spine imports none, so with eBGP its leaves learn nothing of each
    other (Cisco Nexus 9000 Series NX-OS VXLAN Configuration Guide: `retain route-target all` on the spines). A route
    reflector keeps the routes of its clients.
    """

    id = "FAB2515"
    title = "EVPN routes are kept on devices without a VTEP"
    severity = ERROR
    example = "an NX-OS spine with leaves in several ASes, and no `retain route-target all`"
    remediation = "configure `retain route-target all` in the EVPN address family"

    def check(self, network: Network) -> Iterator[Finding]:
        for facts in network.devices:
            process = facts.bgp.get("")
            if process is None or process.retained is None or process.retained.value or has_vtep(facts):
                continue
            peers = [peer for peer in evpn_of(process) if not (peer.reflected and peer.reflected.value)]
            imports = any(vrf.imports for vrf in facts.vrfs.values())
            if len(peers) >= TRANSIT and not imports and all(is_external(process, peer) for peer in peers):
                names = listed([peer.peer for peer in peers], 2)
                yield self.finding_at(
                    facts, process.retained, f"EVPN routes of {names} are dropped: no VRF or VNI imports them"
                )


class Communities(FilesCheck):
    """Looks for EVPN sessions that send no extended communities.

    Route targets are extended communities (RFC 4360). Without them, no VRF and no VNI imports the routes.
    """

    id = "FAB2501"
    title = "EVPN sessions send extended communities"
    severity = ERROR
    example = "an EVPN neighbor on NX-OS without `send-community extended`"
    remediation = "send extended communities to the EVPN neighbors"

    def check(self, network: Network) -> Iterator[Finding]:
        for facts in network.devices:
            process = facts.bgp.get("")
            silent = [
                peer
                for peer in (evpn_of(process) if process else ())
                if peer.extended is not None and not peer.extended.value
            ]
            if silent:
                names = listed([peer.peer for peer in silent], 2)
                at = Located(None, silent[0].line, silent[0].file)
                yield self.finding_at(facts, at, f"no extended communities are sent to EVPN neighbors {names}")


class Reflectors(FilesCheck):
    """Looks for iBGP neighbors between which no device reflects EVPN routes.

    iBGP routes are not advertised to other iBGP neighbors (RFC 4271 section 9.2.1). A spine between leaves must be a route
    reflector (RFC 4456): of two neighbors without a session between them, at least one must be its client.
    """

    id = "FAB2502"
    title = "EVPN routes are reflected between iBGP neighbors"
    severity = ERROR
    example = "a spine with two leaves in iBGP and no `route-reflector-client`"
    remediation = "configure the leaves as clients of the route reflector"

    def check(self, network: Network) -> Iterator[Finding]:
        for facts in network.devices:
            process = facts.bgp.get("")
            if process is None or has_vtep(facts) or any(vrf.imports for vrf in facts.vrfs.values()):
                continue  # the last: routes end there, over MPLS
            plain = [
                (peer, far)
                for peer in evpn_of(process)
                if not (peer.reflected and peer.reflected.value)
                and self._internal(process, peer)
                and (far := network.remote_end(peer)) is not None
                and has_vtep(far.facts)
            ]
            apart = [
                (peer, a, b)
                for (peer, a), (_, b) in combinations(plain, 2)
                if a.facts is not b.facts and not _meet(network, a, b)
            ]
            if apart:
                peer, a, b = apart[0]
                at = Located(None, peer.line, peer.file)
                message = f"EVPN routes are not passed on between {a.facts.name} and {b.facts.name}: neither is a client"
                yield self.finding_at(facts, at, message)

    def _internal(self, process: Bgp, peer: Neighbor) -> bool:
        remote = peer.remote_as.value if peer.remote_as else None
        return remote == "internal" or (process.asn is not None and remote == process.asn.value)


def _meet(network: Network, a: RemoteEnd, b: RemoteEnd) -> bool:
    return any((far := network.remote_end(peer)) is not None and far.facts is b.facts for peer in a.facts.neighbors())


class Multihop(FilesCheck):
    """Looks for eBGP sessions to a loopback without multihop.

    eBGP packets have a TTL of 1, and the neighbor must be in a connected subnet: a session to a loopback stays in state
    Idle without multihop.
    """

    id = "FAB2503"
    title = "eBGP sessions between loopbacks have multihop"
    severity = ERROR
    example = "`neighbor 10.0.0.11 remote-as 65100` to a loopback, without `ebgp-multihop`"
    remediation = "configure `ebgp-multihop` (`multihop` on Junos) for the neighbor or its group"

    def check(self, network: Network) -> Iterator[Finding]:
        for facts in network.devices:
            lacking: list[Neighbor] = []
            for process in facts.bgp.values():
                for peer in process.neighbors.values():
                    far = network.remote_end(peer)
                    direct = peer.interface or peer.dynamic or peer.multihop is not None or not is_enabled(peer)
                    if direct or far is None or not is_loopback(far.interface.name) or not is_external(process, peer):
                        continue
                    if not network.near[id(facts)].own_addresses_in_subnet(peer.vrf, peer.peer):
                        lacking.append(peer)
            if lacking and any(word in text for text in facts.texts.values() for word in HOP_WORDS):
                continue  # another statement than multihop may allow it
            if lacking:  # most often of one group
                names = listed([session_name(peer.vrf, peer.peer) for peer in lacking], 2)
                at = Located(None, lacking[0].line, lacking[0].file)
                yield self.finding_at(facts, at, f"{names}: eBGP session to a loopback without multihop")


class OwnAs(FilesCheck):
    """Looks for VTEPs with one AS number behind the same eBGP neighbors that do not allow it in an AS path.

    A route of one leaf arrives at the other with that leaf's own AS number in the path and is rejected as a loop (RFC 4271
    section 9.1.2), so neither leaf learns the tunnels of the other.
    """

    id = "FAB2504"
    title = "Leaves of one AS number accept each other's routes"
    severity = ERROR
    else_severity = "warning for gateways between EVPN domains: those of one site need no routes of each other"
    example = "leaf001 and leaf002 with AS 65001 under one spine, without `allowas-in`"
    remediation = "give every leaf an AS number of its own, or configure `allowas-in` on the sessions to the spines"

    def check(self, network: Network) -> Iterator[Finding]:
        users = grouped(
            (process.asn.value, facts)
            for facts in network.devices
            if has_vtep(facts) and (process := facts.bgp.get("")) is not None and process.asn
        )
        for number, same in users.items():
            if len(same) < 2:
                continue
            uppers = [self._above(network, facts) for facts in same]
            for (a, above), (b, others) in combinations(zip(same, uppers, strict=True), 2):
                common = [name for name in above if name in others]
                if common and not self._joined(network, a, b):
                    message = f"AS number {number} is also that of {b.name} behind {common[0]}, and no session accepts it"
                    gateways = all(_has_words([facts], GATEWAY_WORDS) for facts in (a, b))
                    about, severity = About(devices=(b.name, common[0])), WARNING if gateways else ""
                    yield self.finding_at(a, a.bgp[""].asn, message, severity=severity, about=about)
                    break

    def _above(self, network: Network, facts: Facts) -> dict[str, Facts]:
        """Devices that it has a plain eBGP session with; none where one accepts the own AS number."""
        devices: dict[str, Facts] = {}
        for peer in facts.bgp[""].neighbors.values():
            far = network.remote_end(peer)
            if peer.allowas_in is not None:
                return {}
            if peer.local_as is not None:
                continue  # the path has that number
            if far is not None and is_external(facts.bgp[""], peer) and not has_vtep(far.facts):
                devices[far.facts.name] = far.facts
        return {} if _has_words([facts, *devices.values()]) else devices

    def _joined(self, network: Network, a: Facts, b: Facts) -> bool:
        """A pair that has a session, a peer link or one tunnel address needs no path over the spines."""
        sessions = any((far := network.remote_end(peer)) is not None and far.facts is b for peer in a.neighbors())
        links = any({one.facts.name, other.facts.name} == {a.name, b.name} for one, other in network.links)
        return sessions or links or bool(tunnel_addresses(a) & tunnel_addresses(b))


class ShutSession(FilesCheck):
    """Looks for neighbors that are shut down at one end of a session.

    A neighbor that was shut down for maintenance stays down until the statement is removed; the other end keeps trying to
    connect.
    """

    id = "FAB2505"
    title = "No session is shut down at one end"
    severity = ERROR
    example = "`neighbor 10.64.0.1 shutdown`, and the far end has the session"
    remediation = "remove the shutdown, or the session at both ends"
    of_device: ClassVar = False

    def check(self, network: Network) -> Iterator[Finding]:
        for facts in network.devices:
            for peer in facts.neighbors():
                far = network.remote_end(peer) if peer.enabled and not peer.enabled.value else None
                if far is None or far.reverse is None or not is_enabled(far.reverse):
                    continue
                there = place(Located(None, far.reverse.line, far.reverse.file))
                message = f"{session_name(peer.vrf, peer.peer)}: shut down, but enabled on {far.facts.name} ({there})"
                yield self.finding_at(facts, peer.enabled, message)
