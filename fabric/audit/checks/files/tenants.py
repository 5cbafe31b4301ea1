"""Tables that take the routes of another tenant although only one of the two states it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from fabric.audit.checks import ERROR, WARNING, About, FilesCheck, Finding, Merge, Network, outliers, place, vlan_of, vrf_of
from fabric.audit.checks.files.equal_paths import carries_ip
from fabric.audit.checks.files.overlay import AUTO, exported, imported, takes
from fabric.audit.checks.files.tables import Table, groups_of
from fabric.base.grouping import grouped
from fabric.model.facts import MANAGEMENT, Facts, Interface, Located, Vrf

Groups = Mapping[str, list[Table]]


def vrf_at(table: Table) -> Vrf | None:
    """What a device says of the VRF of a table."""
    return table.facts.vrfs.get(table.name)


def imports_of(groups: Groups) -> dict[str, set[str]]:
    """VRF → the VRFs whose routes its tables take, on any device: by route target or on the device."""
    sent: dict[str, set[str]] = {}
    for group, tables in groups.items():
        for table in tables:
            if vrf := vrf_at(table):
                for target in exported(table.facts, vrf):
                    for name in (target, f"*:{target.rpartition(':')[2]}"):
                        sent.setdefault(name, set()).add(group)
    found: dict[str, set[str]] = {group: set() for group in groups}
    for group, tables in groups.items():
        for table in tables:
            if vrf := vrf_at(table):
                for target in imported(table.facts, vrf):
                    found[group] |= sent.get(target, set())
                for fact in vrf.leaks:
                    other = table.facts.vrfs.get(fact.value)
                    found[group] |= {name for name, same in groups.items() for one in same if other and vrf_at(one) is other}
    return {group: others - {group} for group, others in found.items()}


class OtherTenants(FilesCheck):
    """Looks for tables of a VRF that take routes of another VRF, which takes none of theirs.

    Tenants that share switches are kept apart by their tables. A route target of another tenant, a session that ends in its
    table, or a network that is in its table on one leaf lets its routes in, or its servers. Two VRFs that are meant to share
    routes state it on both sides, as packets have two directions. VRFs of one device that share routes without a route
    target are reported as FAB2523, a leaf whose route targets differ from those of the others as FAB265.
    """

    id = "FAB2563"
    title = "No VRF has routes or networks of another one that does not share them"
    severity = WARNING
    else_severity = "error for a network that is in another VRF on one leaf"
    example = "`route-target import evpn 65000:2` in VRF red, where VRF blue exports it and imports nothing of red"
    remediation = (
        "remove the route target, or move the port, session or network to its VRF; or share routes in both directions"
    )
    of_component: ClassVar = True

    def check(self, network: Network) -> Iterator[Finding]:
        groups = network.once(groups_of)
        yield from self._targets(groups)
        yield from self._sessions(network, groups)
        yield from self._networks(network, groups)

    def _targets(self, groups: Groups) -> Iterator[Finding]:
        shares = imports_of(groups)
        sent = {
            group: {target for table in tables if (vrf := vrf_at(table)) for target in exported(table.facts, vrf)}
            for group, tables in groups.items()
            if group and any(table.own for table in tables)
        }
        for group, tables in groups.items():
            if not group:
                continue
            rows = [(frozenset(fact.value for fact in vrf.imports), table) for table in tables if (vrf := vrf_at(table))]
            odd = {id(table) for _, table in outliers(rows)[1]}
            for table in (table for _, table in rows if id(table) not in odd):
                vrf = vrf_at(table)
                for fact in vrf.imports if vrf else ():
                    owners = [other for other, targets in sent.items() if takes({fact.value}, targets)]
                    if fact.value == AUTO or group in owners or not owners or any(group in shares[one] for one in owners):
                        continue
                    what = f"imports route target {fact.value} of VRF {owners[0]}, which imports none of its own"
                    message = f"VRF {group}: {what}"
                    yield self.finding_at(table.facts, fact, message, merge=Merge(text=f"{message}, on {{devices}}"))

    def _sessions(self, network: Network, groups: Groups) -> Iterator[Finding]:
        """A far end that has the VRF as well, and ends the session in another one."""
        names = {(id(table.facts), table.name): group for group, tables in groups.items() for table in tables}
        for facts, _, peer in network.sessions():
            far = network.remote_end(peer)
            here = names.get((id(facts), peer.vrf), "")
            if far is None or far.process is None or not here or not carries_ip(peer):
                continue
            there = names.get((id(far.facts), far.process.vrf), "")
            own = any(table.facts is far.facts and table.process for table in groups[here])
            if there and there != here and own:
                message = (
                    f"VRF {here}: session with {peer.peer} ends in VRF {there} of {far.facts.name}, which has VRF {here}"
                )
                at, about = Located(None, peer.line, peer.file), About(devices=(far.facts.name,))
                yield self.finding_at(facts, at, message, about=about)

    def _networks(self, network: Network, groups: Groups) -> Iterator[Finding]:
        """The interface of a layer-2 VNI, in the table of another VRF than on the other leaves."""
        names = {(id(table.facts), table.name): group for group, tables in groups.items() for table in tables}
        rows = grouped(
            (number, (names.get((id(facts), vrf_of(port)), vrf_of(port)), (facts, port)))
            for facts in network.devices
            for number, port in _routed(facts)
            if vrf_of(port) != MANAGEMENT
        )
        for number, same in rows.items():
            usual, odd = outliers(same)
            for name, (facts, port) in odd:
                other, far = next(owner for value, owner in same if value != name)
                wanted = usual if usual != name else next(value for value, _ in same if value != name)
                at = port.vrf or Located("", port.line, port.file)
                there = f"{other.name} ({place(far.vrf or Located('', far.line, far.file))})"
                message = f"{port.name}: VNI {number} is in {_called(name)}, but in {_called(wanted or '')} on {there}"
                about = About(devices=(other.name,))
                yield self.finding_at(facts, at, message, severity=ERROR, about=about)


def _called(name: str) -> str:
    return f"VRF {name}" if name else "the default table"


def _routed(facts: Facts) -> Iterator[tuple[int, Interface]]:
    """(VNI, VLAN interface with an address) of the networks that a device routes."""
    numbers = {vni.vlan.value: number for number, vni in facts.vnis.items() if vni.vlan}
    for name, port in facts.interfaces.items():
        vlan = vlan_of(name)
        if vlan in numbers and (port.gateways or port.addresses):
            yield numbers[vlan], port
