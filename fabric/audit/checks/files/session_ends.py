"""Sessions as both ends configure them: who speaks with whom, from where, and under which number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import PurePath
from typing import ClassVar

from fabric.audit.checks import (
    ERROR,
    NOTE,
    WARNING,
    About,
    FilesCheck,
    Finding,
    Merge,
    Network,
    RemoteEnd,
    is_enabled,
    is_loopback,
    place,
    session_name,
    vrf_of,
    without_prefix_length,
)
from fabric.audit.checks.rows import session, table
from fabric.base.grouping import grouped
from fabric.base.text import listed, plural
from fabric.model.facts import Bgp, Facts, Located, Neighbor
from fabric.nos.target import installed

RESERVED = {0, 23456, 65535, 4294967295}  # RFC 7607, RFC 6793, RFC 7300


def asn_at(far: RemoteEnd) -> Located[int] | None:
    """The AS number that a device shows on a session."""
    if far.reverse is not None and far.reverse.local_as is not None:
        return far.reverse.local_as
    return far.process.asn if far.process else None


class RemoteAs(FilesCheck):
    """Compares the remote AS of every session with the AS number of the neighbor.

    BGP closes a session whose neighbor has another AS number than configured (RFC 4271 section 6.2, bad peer AS): one
    wrong digit disables the link.
    """

    id = "FAB255"
    title = "The remote AS number matches the neighbor"
    severity = ERROR
    example = "`neighbor 10.64.0.1 remote-as 65001`; the neighbor has AS 65101"
    remediation = "set `remote-as` to the neighbor's AS number"
    planned_remediation = "set the AS number of the plan; that of `remote-as` is the neighbor's"
    kinds: ClassVar = ("remote_as", "asn")

    def check(self, network: Network) -> Iterator[Finding]:
        wrong: dict[int, list[tuple[Facts, Neighbor, RemoteEnd, Located[int]]]] = {}
        reported: Counter[int] = Counter()
        for facts, process, peer in network.sessions():
            if peer.dynamic:
                continue
            if peer.remote_as is None:
                if any(
                    (one.place.file, one.place.line) == (peer.file, peer.line) for one in network.refused.get(id(facts), ())
                ):
                    continue  # the network OS has no such neighbor
                about = About(subjects=(session(peer.vrf, peer.peer),), fact="remote_as", absent=True)
                message = f"{session_name(peer.vrf, peer.peer)}: no remote AS number"
                yield self.finding_at(facts, Located(None, peer.line, peer.file), message, about=about)
                continue
            far = network.remote_end(peer)
            asn_fact = asn_at(far) if far else None
            if far is None or asn_fact is None:
                continue
            reported[id(asn_fact)] += 1
            if not _fits(peer.remote_as.value, asn_fact.value, process, peer):
                wrong.setdefault(id(asn_fact), []).append((facts, peer, far, asn_fact))
        for key, rows in wrong.items():
            yield from self._blame(rows, reported[key])

    def _blame(self, rows: list[tuple[Facts, Neighbor, RemoteEnd, Located[int]]], sessions: int) -> Iterator[Finding]:
        """One far end is wrong where all its neighbors agree on another number; else each session is."""
        expected = {peer.remote_as.value for _, peer, _, _ in rows if peer.remote_as}
        if len(rows) == sessions and sessions > 1 and len(expected) == 1:
            far, far_asn = rows[0][2], rows[0][3]
            number = expected.pop()
            text = f"AS number {far_asn.value}, but all {sessions} neighbors are configured with remote AS {number}"
            yield self.finding_at(
                far.facts, far_asn, text, hint=f"set the AS number to {number}, or correct it on the neighbors"
            )
            return
        for facts, peer, far, far_asn in rows:
            assert peer.remote_as is not None
            yield self.finding_at(
                facts,
                peer.remote_as,
                f"{session_name(peer.vrf, peer.peer)}: remote AS {peer.remote_as.value}, "
                f"but {far.facts.name} has AS {far_asn.value} ({place(far_asn)})",
                about=About(subjects=(session(peer.vrf, peer.peer),), fact="remote_as", devices=(far.facts.name,)),
            )


def _fits(remote: int | str, own: int, process: Bgp, peer: Neighbor) -> bool:
    if isinstance(remote, int) or remote == "any":
        return remote in (own, "any")
    mine = peer.local_as or process.asn
    return mine is None or (mine.value == own) == (remote == "internal")


class Sessions(FilesCheck):
    """Looks for the second half of every BGP session.

    A session needs a neighbor statement at both ends. Without one, or with an address that no device has, it stays in
    state Active, and the link carries no traffic.
    """

    id = "FAB256"
    title = "Every session is configured at both ends"
    severity = ERROR
    example = "leaf001 has `neighbor 10.64.0.1`; spine001 has no neighbor 10.64.0.0"
    remediation = "configure the missing end of the session, or correct the neighbor address"
    kinds: ClassVar = ("neighbors",)

    def check(self, network: Network) -> Iterator[Finding]:
        numbers = grouped(
            (number, facts)
            for facts in network.devices
            for number in {process.asn.value for process in facts.bgp.values() if process.asn}
        )
        local_addresses = {
            without_prefix_length(peer.source.value)
            for facts in network.devices
            for peer in facts.neighbors()
            if peer.source and is_enabled(peer)
        }
        outside: dict[object, list[tuple[Facts, Neighbor]]] = {}  # AS number, else device → sessions that leave the files
        for facts, _, peer in network.sessions():
            far = network.remote_end(peer)
            if far is None and without_prefix_length(peer.peer) in local_addresses:
                continue  # a local address that its device lacks, which is another check's finding
            if far is not None and (far.reverse is not None or _knows_its_end(network, facts, peer)):
                yield from self._both_ends(network, facts, peer, far)
            elif far is None and not (peer.dynamic or peer.interface):
                findings = list(self._unassigned(network, facts, peer, numbers))
                yield from findings
                if not findings:
                    number = peer.remote_as.value if peer.remote_as else None
                    outside.setdefault(number if isinstance(number, int) else facts.name, []).append((facts, peer))
        yield from self._outside(outside.values())

    def _outside(self, groups: Iterable[list[tuple[Facts, Neighbor]]]) -> Iterator[Finding]:
        """One note for all sessions with one AS: it is most likely one device whose files are not there."""
        for rows in groups:
            facts, peer = rows[0]
            message = "address not assigned to any device in the files"
            if len(rows) > 1:
                more, devices = plural(len(rows) - 1, "more session"), len({id(device) for device, _ in rows})
                where = f" of {devices} devices" if devices > 1 else ""
                same = " with the same AS" if peer.remote_as and isinstance(peer.remote_as.value, int) else ""
                message += f"; {more}{where}{same}"
            yield self._at(facts, peer, message, NOTE)

    def _at(self, facts: Facts, peer: Neighbor, message: str, severity: str = "", far: Facts | None = None) -> Finding:
        fact, subject = Located(None, peer.line, peer.file), session(peer.vrf, peer.peer)
        about = About(subjects=(subject,), devices=(far.name,) if far is not None else ())
        return self.finding_at(facts, fact, f"{subject}: {message}", severity=severity, about=about)

    def _both_ends(self, network: Network, facts: Facts, peer: Neighbor, far: RemoteEnd) -> Iterator[Finding]:
        """The far end must have a session with the address that this one comes from, or listen for it."""
        if far.reverse is not None:
            return
        if not (network.placed(facts, peer) or peer.interface or peer.multihop):
            end = f"{far.facts.name} {far.interface.name}"
            yield self._at(facts, peer, f"this address of {end} is in no subnet of this device", far=far.facts)
            return
        if peer.source is not None and (reverse := self._other_address(network, peer, far)) is not None:
            position = place(Located(None, reverse.line, reverse.file))
            message = f"local address {peer.source.value}, but {far.facts.name} has neighbor {reverse.peer} ({position})"
            yield self._at(facts, peer, message, far=far.facts)
            return
        far_process, vrf = far.process, vrf_of(far.interface)
        far_end = Located(None, far_process.line, far_process.file) if far_process else None
        where = place(Located(None, peer.line, peer.file))
        yield self.finding_at(
            far.facts,
            far_end,
            f"{table(vrf)}: no neighbor statement for {facts.name}, which has neighbor {peer.peer} ({where})",
            about=About(subjects=(table(vrf),), devices=(facts.name,)),
        )

    def _other_address(self, network: Network, peer: Neighbor, far: RemoteEnd) -> Neighbor | None:
        """The far end's half of the session, where it has another address of this device than the session comes from."""
        rows = far.process.neighbors.values() if far.process else ()
        return next(
            (
                reverse
                for reverse in rows
                if is_enabled(reverse) and (end := network.remote_end(reverse)) and end.reverse is peer
            ),
            None,
        )

    def _unassigned(
        self, network: Network, facts: Facts, peer: Neighbor, numbers: dict[int, list[Facts]]
    ) -> Iterator[Finding]:
        """An error if the address must belong to a parsed device; nothing if the far end may be outside the files."""
        for owner in network.owners.get(without_prefix_length(peer.peer), ()):
            if owner.facts is facts and owner.vrf == peer.vrf:
                yield self._at(facts, peer, f"this is the device's own address, on {owner.interface.name}")
                return
        text = peer.description.value if peer.description else ""
        named = network.named(facts, text)
        intended = named or self._of_number(network, facts, peer, numbers)
        ends = [end for end in (facts, intended) if end]
        addresses_unknown = any(not has_addresses(end) or _ports_unread(end) for end in ends)
        if intended is not None and not addresses_unknown:
            number = peer.remote_as.value if peer.remote_as else ""
            fact = f"the description names {intended.name}" if named else f"AS {number} belongs to {intended.name}"
            unread = WARNING if kernel_unread(intended) else ""
            yield self._at(facts, peer, f"address not assigned to any known device; {fact}", unread, intended)
        elif not (
            addresses_unknown
            or network.near[id(facts)].own_addresses_in_subnet(peer.vrf, peer.peer)
            or peer.multihop
            or peer.source
        ):
            yield self._at(facts, peer, "address not assigned to any known device, and in no subnet of this device", WARNING)

    def _of_number(self, network: Network, facts: Facts, peer: Neighbor, numbers: dict[int, list[Facts]]) -> Facts | None:
        """The only device of the remote AS, unless another session reaches it.

        Several spines may share an AS number, and the files need not include all of them.
        """
        remote = peer.remote_as.value if peer.remote_as else None
        users = numbers.get(remote, []) if isinstance(remote, int) else []
        if len(users) != 1 or users[0] is facts:
            return None
        reached = any((far := network.remote_end(other)) and far.facts is users[0] for other in facts.neighbors())
        return None if reached else users[0]


class LocalAddress(FilesCheck):
    """Compares the update source of every session with the addresses of the device.

    A session from an address that the device does not have never starts. From the wrong interface, the neighbor refuses
    it, as it expects the loopback.
    """

    id = "FAB257"
    title = "The local address of a session is configured on the device"
    severity = ERROR
    example = "`update-source 10.0.0.9` on a device whose loopback is 10.0.0.1"
    remediation = "set the local address to an address or interface of the device, usually the loopback"
    of_device: ClassVar = True
    kinds: ClassVar = ("source",)

    def check(self, network: Network) -> Iterator[Finding]:
        for facts in network.devices:
            if not has_addresses(facts):
                continue
            local = {
                without_prefix_length(fact.value)
                for interface in facts.interfaces.values()
                for fact in (*interface.addresses, *interface.gateways)
            }
            local |= facts.interfaces.keys()
            users: dict[Located[str], list[str]] = {}
            for peer in facts.neighbors():
                source = peer.source
                if (
                    source
                    and is_enabled(peer)
                    and not local & {without_prefix_length(source.value), source.value.removesuffix(".0")}
                ):
                    users.setdefault(source, []).append(session_name(peer.vrf, peer.peer))
            for source, names in users.items():  # a group's line holds for many
                message = f"{listed(names, 1)}: local address {source.value} is not configured on this device"
                yield self.finding_at(facts, source, message, severity=WARNING if kernel_unread(facts) else "")


def has_addresses(facts: Facts) -> bool:
    """Whether the files of a device tell all of them: a fragment of a config, or FRR alone, may not."""
    return not facts.elsewhere and any(interface.addresses for interface in facts.interfaces.values())


def addresses_unread(network: Network) -> Iterator[tuple[str, str]]:
    """Devices whose sessions are judged in part only, as their addresses are not in the files."""
    if names := [facts.name for facts in network.devices if any(facts.neighbors()) and not has_addresses(facts)]:
        yield "local addresses and far ends of sessions", f"addresses are not in the files: {listed(names)}"


def kernel_unread(facts: Facts) -> bool:
    """Routing without the files of the system below it, which may have addresses as well."""
    nos = installed(facts.nos)
    word = nos.idiom.addresses_in if nos is not None and nos.idiom is not None else ""
    return bool(word) and not any(word in PurePath(file).name for file in facts.files)


def _ports_unread(facts: Facts) -> bool:
    """Such routing with addresses of loopbacks alone."""
    ports = (name for name, port in facts.interfaces.items() if port.addresses)
    return kernel_unread(facts) and all(is_loopback(name) for name in ports)


def _knows_its_end(network: Network, facts: Facts, peer: Neighbor) -> bool:
    """Whether the local address of the session is known; if not, the far end may have a session with an unparsed one."""
    if peer.interface or network.near[id(facts)].own_addresses_in_subnet(peer.vrf, peer.peer):
        return True
    return has_addresses(facts) and (peer.source is not None or not kernel_unread(facts))


class RouterId(FilesCheck):
    """Compares the router IDs of all devices.

    Two BGP speakers with one identifier refuse each other's sessions (RFC 6286), and with route reflectors between them
    their routes are rejected as loops.
    """

    id = "FAB258"
    title = "Router IDs are unique"
    severity = ERROR
    example = "`router-id 10.0.0.1` on leaf001 and leaf002"
    remediation = "set each router ID to the device's own loopback address"
    kinds: ClassVar = ("router_id",)

    def check(self, network: Network) -> Iterator[Finding]:
        users: dict[str, list[tuple[Facts, Located[str]]]] = {}
        for facts in network.devices:
            router_ids = {process.router_id.value: process.router_id for process in facts.bgp.values() if process.router_id}
            for value, fact in router_ids.items():
                users.setdefault(value, []).append((facts, fact))
        for value, all_users in users.items():
            if len({facts.name.lower() for facts, _ in all_users}) < 2:
                continue  # two files of one host name are a finding of their own
            real_owners = [
                facts for facts, _ in all_users if any(owner.facts is facts for owner in network.owners.get(value, ()))
            ]
            if len(real_owners) == len(all_users):
                continue  # they have the address twice as well, which is another check's finding
            blamed = [user for user in all_users if len(real_owners) != 1 or user[0] is not real_owners[0]]
            for facts, fact in blamed:
                apart = all(network.are_apart(facts, other) for other, _ in all_users if other is not facts)
                others = ", ".join(other.name for other, _ in all_users if other is not facts)
                message = f"router ID {value} is also configured on {others}"
                merge = Merge(
                    text=f"router ID {value} is configured on {{names}}", names=tuple(other.name for other, _ in all_users)
                )
                about = About(devices=tuple(other.name for other, _ in all_users if other is not facts))
                yield self.finding_at(facts, fact, message, severity=WARNING if apart else "", about=about, merge=merge)


class ReservedAs(FilesCheck):
    """Compares the AS number of every device with the reserved ones.

    0, 23456, 65535 and 4294967295 are reserved (RFC 7607, 6793, 7300). Private numbers are 64512 to 65534 and 4200000000
    to 4294967294 (RFC 6996).
    """

    id = "FAB262"
    title = "No reserved AS number is used"
    severity = ERROR
    example = "`router bgp 65535`"
    remediation = "use a private AS number: 64512-65534 or 4200000000-4294967294 (RFC 6996)"
    of_device: ClassVar = True

    def check(self, network: Network) -> Iterator[Finding]:
        for facts in network.devices:
            process = facts.bgp.get("")
            if process and process.asn and process.asn.value in RESERVED:
                yield self.finding_at(facts, process.asn, f"AS number {process.asn.value} is reserved")
