"""Sessions as both ends configure them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from ipaddress import ip_address, ip_interface
from typing import ClassVar

from fabric.checks.base import FilesCheck
from fabric.checks.finding import ERROR, NOTE, WARNING, Finding
from fabric.checks.network import Network, Owner, bare, odd_ones, place
from fabric.checks.rows import session_name, table_name
from fabric.readback.facts import Bgp, Facts, Neighbor, Said

RESERVED = {0, 23456, 65535, 4294967295}  # RFC 7607, RFC 6793, RFC 7300


def asn_at(owner: Owner, vrf: str, back: Neighbor | None) -> Said[int] | None:
    """The AS number that a device shows on a session."""
    if back is not None and back.local_as is not None:
        return back.local_as
    process = owner.facts.bgp.get(vrf) or owner.facts.bgp.get("")
    return process.asn if process else None


class RemoteAs(FilesCheck):
    """BGP closes a session whose far end has another AS number than configured (RFC 4271, 6.2: bad peer AS), so one
    wrong digit is a link that never carries a packet."""

    id = "FAB255"
    title = "The remote AS is that of the far end"
    severity = ERROR
    mend = "make `remote-as` the AS number of the device at the other end"
    kinds: ClassVar = ("remote_as", "asn")

    def over(self, network: Network) -> Iterator[Finding]:
        wrong: dict[int, list[tuple[Facts, Neighbor, Owner, Said[int]]]] = {}
        told: Counter[int] = Counter()
        for facts, _, peer in network.sessions():
            if peer.dynamic:
                continue
            if peer.remote_as is None:
                yield self.on(facts, Said(None, peer.line, peer.file), f"{session_name(peer.vrf, peer.peer)}: no remote AS")
                continue
            for owner in network.far(facts, peer)[:1]:
                own = asn_at(owner, peer.vrf, back_of(owner, facts, peer))
                if own is None:
                    continue
                told[id(own)] += 1
                if not _fits(peer.remote_as.value, own.value, facts, peer):
                    wrong.setdefault(id(own), []).append((facts, peer, owner, own))
        for key, rows in wrong.items():
            yield from self._blame(rows, told[key])

    def _blame(self, rows: list[tuple[Facts, Neighbor, Owner, Said[int]]], sessions: int) -> Iterator[Finding]:
        """One far end is wrong where all its neighbours agree on another number; else each session is."""
        expected = {peer.remote_as.value for _, peer, _, _ in rows if peer.remote_as}
        if len(rows) == sessions and sessions > 1 and len(expected) == 1:
            owner, own = rows[0][2], rows[0][3]
            others = f"all {sessions} neighbours expect {expected.pop()}"
            yield self.on(owner.facts, own, f"AS number {own.value}: {others}")
            return
        for facts, peer, owner, own in rows:
            assert peer.remote_as is not None
            yield self.on(
                facts,
                peer.remote_as,
                f"{session_name(peer.vrf, peer.peer)}: remote AS {peer.remote_as.value}, "
                f"but {owner.facts.name} is AS {own.value} ({place(own)})",
            )


def back_of(owner: Owner, facts: Facts, peer: Neighbor) -> Neighbor | None:
    """The far end's half of a session."""
    mine = sources(facts, peer)
    return next((own for own in owner.facts.neighbors() if own.vrf == peer.vrf and bare(own.peer) in mine), None)


def _fits(remote: int | str, own: int, facts: Facts, peer: Neighbor) -> bool:
    if isinstance(remote, int):
        return remote == own
    process = facts.bgp.get(peer.vrf)
    mine = process.asn.value if process and process.asn else None
    return mine is None or (mine == own) == (remote == "internal")


class Sessions(FilesCheck):
    """A session needs both ends: each with the other's address. A neighbour that is nobody's address, or that knows
    nothing of this device, stays in Active for ever, and the link beside it carries nothing."""

    id = "FAB256"
    title = "Every session is configured at both ends"
    severity = ERROR
    mend = "configure the session at the end where it is missing, or correct the address"
    kinds: ClassVar = ("neighbors",)

    def over(self, network: Network) -> Iterator[Finding]:
        numbers = {process.asn.value: facts for facts in network.devices for process in facts.bgp.values() if process.asn}
        for facts, process, peer in network.sessions():
            if peer.dynamic or peer.interface:
                continue
            owners = network.far(facts, peer)
            mine = [own for own in network.owners.get(bare(peer.peer), ()) if own.facts is facts and own.vrf == peer.vrf]
            if mine and not owners:
                yield self._at(facts, peer, f"its own address, of {mine[0].interface.name}")
            elif owners:
                yield from self._both_ends(network, facts, process, peer, owners[0])
            else:
                yield from self._nobody(network, facts, peer, numbers)

    def _at(self, facts: Facts, peer: Neighbor, message: str, severity: str = "") -> Finding:
        said = Said(None, peer.line, peer.file)
        return self.on(facts, said, f"{session_name(peer.vrf, peer.peer)}: {message}", severity=severity)

    def _both_ends(self, network: Network, facts: Facts, process: Bgp, peer: Neighbor, far: Owner) -> Iterator[Finding]:
        """The far end must have a session with the address that this one comes from, or listen for it."""
        mine = sources(facts, peer)
        for back in far.facts.neighbors():
            if back.dynamic or back.interface or bare(back.peer) in mine:
                return
        own = far.facts.bgp.get(peer.vrf) or far.facts.bgp.get("")
        there = Said(None, own.line, own.file) if own else None
        yield self.on(
            far.facts,
            there,
            f"{table_name(peer.vrf)}: no session with {facts.name}, which has one with {peer.peer} "
            f"({place(Said(None, peer.line, peer.file))})",
        )

    def _nobody(self, network: Network, facts: Facts, peer: Neighbor, numbers: dict[int, Facts]) -> Iterator[Finding]:
        """Wrong for sure where a device that was read must be meant; a far end outside the files is only noted."""
        text = peer.description.value if peer.description else ""
        named = network.named(facts, text)
        remote = peer.remote_as.value if peer.remote_as else None
        meant = named or (numbers.get(remote) if isinstance(remote, int) else None)
        if meant is not None and meant is not facts:
            said = "the description names" if named else f"AS {remote} is that of"
            yield self._at(facts, peer, f"nobody's address; {said} {meant.name}")
        elif not self._connected(facts, peer) and peer.multihop is None:
            yield self._at(facts, peer, "nobody's address, and in no subnet of this device", WARNING)
        else:
            yield self._at(facts, peer, "nobody's address among the files that were read", NOTE)

    def _connected(self, facts: Facts, peer: Neighbor) -> bool:
        return next(connected(facts, peer), None) is not None


def sources(facts: Facts, peer: Neighbor) -> set[str]:
    """Where a session may come from: its stated local address, else the device's own in the neighbour's subnet, else any."""
    if peer.source:
        interface = facts.interfaces.get(peer.source.value) or facts.interfaces.get(peer.source.value.removesuffix(".0"))
        return {bare(said.value) for said in interface.addresses} if interface else {bare(peer.source.value)}
    near = {bare(said.value) for said in connected(facts, peer)}
    return near or {bare(said.value) for interface in facts.interfaces.values() for said in interface.addresses}


def connected(facts: Facts, peer: Neighbor) -> Iterator[Said[str]]:
    """Addresses of a device in whose subnet a neighbour lies."""
    try:
        far = ip_address(peer.peer.partition("%")[0])
    except ValueError:
        return
    for interface in facts.interfaces.values():
        for said in (*interface.addresses, *interface.gateways):
            if "/" in said.value and far in ip_interface(said.value).network:
                yield said


class LocalAddress(FilesCheck):
    """A session that starts from an address which the device has not never starts; one from the wrong interface is
    refused at the other end, which expects the loopback."""

    id = "FAB257"
    title = "The local address of a session is the device's own"
    severity = ERROR
    mend = "use an address or interface that the device has, usually the loopback"
    of_device: ClassVar = True
    kinds: ClassVar = ("source",)

    def over(self, network: Network) -> Iterator[Finding]:
        for facts, _, peer in network.sessions():
            source = peer.source
            if source is None:
                continue
            own = {bare(said.value) for interface in facts.interfaces.values() for said in interface.addresses}
            name = source.value
            known = name in facts.interfaces or name.removesuffix(".0") in facts.interfaces or bare(name) in own
            if not known:
                yield self.on(
                    facts, source, f"{session_name(peer.vrf, peer.peer)}: local address {name} is on no interface here"
                )


class RouterId(FilesCheck):
    """Two speakers with one BGP identifier refuse each other (RFC 6286), and their routes are taken for loops where
    reflectors stand between."""

    id = "FAB258"
    title = "Router ids are unique"
    severity = ERROR
    mend = "use each device's own loopback as its router id"
    kinds: ClassVar = ("router_id",)

    def over(self, network: Network) -> Iterator[Finding]:
        users: dict[str, list[tuple[Facts, Said[str]]]] = {}
        for facts in network.devices:
            seen = {process.router_id.value: process.router_id for process in facts.bgp.values() if process.router_id}
            for value, said in seen.items():
                users.setdefault(value, []).append((facts, said))
        for value, all_users in users.items():
            if len(all_users) < 2:
                continue
            honest = [facts for facts, _ in all_users if any(own.facts is facts for own in network.owners.get(value, ()))]
            blamed = [user for user in all_users if len(honest) != 1 or user[0] is not honest[0]]
            for facts, said in blamed:
                others = ", ".join(other.name for other, _ in all_users if other is not facts)
                yield self.on(facts, said, f"router id {value} is that of {others} too")


class SessionTerms(FilesCheck):
    """Both ends must want the same of a session: an address family that one end does not activate carries no route, BFD
    on one end watches nothing, and the shorter hold time rules both."""

    id = "FAB259"
    title = "Both ends of a session agree on families, timers and BFD"
    severity = ERROR
    mend = "make both ends alike"
    kinds: ClassVar = ("families", "keepalive", "hold", "bfd")

    def over(self, network: Network) -> Iterator[Finding]:
        for facts, _, peer in network.sessions():
            for owner in network.far(facts, peer)[:1]:
                back = back_of(owner, facts, peer)
                if back is None or facts.name > owner.facts.name:
                    continue
                yield from self._compare(facts, peer, owner.facts, back)

    def _compare(self, facts: Facts, peer: Neighbor, far: Facts, back: Neighbor) -> Iterator[Finding]:
        name = session_name(peer.vrf, peer.peer)
        mine, theirs = {said.value for said in peer.families}, {said.value for said in back.families}
        if mine and theirs and not mine & theirs:
            said = peer.families[0]
            got = f"{', '.join(sorted(mine))}, but {far.name} has {', '.join(sorted(theirs))}"
            yield self.on(facts, said, f"{name}: no address family in common: {got} ({place(back.families[0])})")
        if bool(peer.bfd and peer.bfd.value) != bool(back.bfd and back.bfd.value):
            with_it, without, there = (facts, far, back) if peer.bfd and peer.bfd.value else (far, facts, peer)
            line = Said(None, there.line, there.file)
            name = session_name(there.vrf, there.peer)
            yield self.on(without, line, f"{name}: no BFD, but {with_it.name} has it", severity=WARNING)
        if peer.hold_s and back.hold_s and peer.hold_s.value != back.hold_s.value:
            where = f"{back.hold_s.value} s at {far.name} ({place(back.hold_s)})"
            yield self.on(facts, peer.hold_s, f"{name}: hold time {peer.hold_s.value} s here, {where}", severity=WARNING)


class PrefixLimit(FilesCheck):
    """A neighbour that leaks a full table fills the forwarding tables of every switch behind it; a limit closes the
    session first (RFC 7454, 8)."""

    id = "FAB260"
    title = "Every eBGP neighbour has a prefix limit and a filter"
    severity = WARNING
    mend = "set a maximum of prefixes and an import policy on the peer group"
    kinds: ClassVar = ("max_prefix",)

    def over(self, network: Network) -> Iterator[Finding]:
        for facts in network.devices:
            for process in facts.bgp.values():
                external = [peer for peer in process.neighbors.values() if _external(process, peer) and _carries_ip(peer)]
                open_ = [peer for peer in external if peer.max_prefix is None]
                if open_ and len(open_) < len(external):
                    for peer in open_:
                        said = Said(None, peer.line, peer.file)
                        yield self.on(
                            facts, said, f"{session_name(peer.vrf, peer.peer)}: no prefix limit, as its siblings have"
                        )
                elif open_:
                    place_, count = Said(None, process.line, process.file), len(open_)
                    yield self.on(
                        facts, said, f"{table_name(process.vrf)}: no prefix limit on {count} eBGP neighbours", severity=NOTE
                    )


def _external(process: Bgp, peer: Neighbor) -> bool:
    remote = peer.remote_as.value if peer.remote_as else None
    return remote == "external" or (isinstance(remote, int) and process.asn is not None and remote != process.asn.value)


def _carries_ip(peer: Neighbor) -> bool:
    return any(said.value != "evpn" for said in peer.families) or not peer.families


class Multipath(FilesCheck):
    """A switch that keeps one best path of sixteen sends everything over one uplink. Equal paths must be allowed, as many
    as there are uplinks, and across neighbours of different AS numbers where each spine has its own."""

    id = "FAB261"
    title = "As many equal paths are allowed as there are"
    severity = ERROR
    mend = "raise `maximum-paths`, and let paths over several AS numbers count as equal"
    kinds: ClassVar = ("max_paths",)

    def over(self, network: Network) -> Iterator[Finding]:
        for facts in network.devices:
            for process in facts.bgp.values():
                groups: Counter[str] = Counter()
                for peer in process.neighbors.values():
                    for owner in network.far(facts, peer)[:1]:
                        if _external(process, peer) and _carries_ip(peer):
                            groups[owner.facts.name.rstrip("0123456789")] += 1
                paths, widest = process.max_paths, max(groups.values(), default=0)
                if paths is not None and paths.value < min(widest, 2):
                    yield self.on(
                        facts, paths, f"{table_name(process.vrf)}: {paths.value} path of {widest} equal ones is used"
                    )


class ReservedAs(FilesCheck):
    """0, 23456, 65535 and 4294967295 are reserved (RFC 7607, 6793, 7300) and AS numbers that are registered to others do
    not belong in a fabric: private ones are 64512 to 65534 and 4200000000 to 4294967294 (RFC 6996)."""

    id = "FAB262"
    title = "AS numbers are none of the reserved ones"
    severity = ERROR
    mend = "take a private AS number"
    of_device: ClassVar = True

    def over(self, network: Network) -> Iterator[Finding]:
        for facts in network.devices:
            process = facts.bgp.get("")
            if process and process.asn and process.asn.value in RESERVED:
                yield self.on(facts, process.asn, f"AS number {process.asn.value} is reserved")


class Timers(FilesCheck):
    """Sessions of one kind with different timers fail one after the other: the fabric then converges at the pace of the
    slowest, and the odd one is mostly a leftover of a test."""

    id = "FAB263"
    title = "Neighbours of one device have the same timers"
    severity = NOTE
    mend = "move the timers to the peer group"

    def over(self, network: Network) -> Iterator[Finding]:
        for facts in network.devices:
            for process in facts.bgp.values():
                rows = [(peer.hold_s.value, peer) for peer in process.neighbors.values() if peer.hold_s]
                usual, odd = odd_ones(rows) if len(rows) > 2 else (None, [])
                for value, peer in odd:
                    name = session_name(peer.vrf, peer.peer)
                    yield self.on(facts, peer.hold_s, f"{name}: hold time {value} s, {usual} s elsewhere")
