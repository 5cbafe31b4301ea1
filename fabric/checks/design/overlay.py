"""EVPN/VXLAN and the tenants on it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fabric.checks import ERROR, NOTE, WARNING, Design, Finding
from fabric.checks.design.family import BETWEEN_SWITCHES, FabricCheck, Path, in_all, link_ends, named, rows
from fabric.diagnostics import Report
from fabric.grouping import grouped
from fabric.plan import LEAF, SERVER_LEAF, VXLAN_BYTES, FabricPlan
from fabric.plan.owners import owners

FULL_PACKET = 1500  # what an Ethernet host sends unless somebody tells it otherwise
MOST_VNI = 16_777_215
ROUTE_SERVERS = 2
MOST_VIEWS = 64  # leaves looked at one by one; those with the same tenants are alike


class TunnelMtu(FabricCheck):
    """VXLAN adds 50 bytes to a packet (RFC 7348 section 5) and is never fragmented, so tenants get the underlay's MTU less
    the header. Below 1500 every host that was not told drops its full packets, which looks like a session that hangs."""

    id = "FAB211"
    title = "A full packet of a tenant fits the underlay with its VXLAN header"
    severity = WARNING
    remediation = "`underlay: {mtu: 9216}`"

    def judge(self, design: Design) -> Iterator[Finding]:
        mtu = design.views.underlay.mtu
        if design.fabric.tenancy.kind == "evpn" and mtu - VXLAN_BYTES < FULL_PACKET:
            text = (
                f"expected an IP MTU of at least {FULL_PACKET} for tenants, got {mtu} - {VXLAN_BYTES} = {mtu - VXLAN_BYTES}"
            )
            yield self.say(design, ("underlay", "mtu"), text)


class StatedMtu(FabricCheck):
    """Both ends of every link have one MTU, or large packets vanish between them; so it is lowered to what all network OSes
    of the fabric can do. A number that the intent states deserves to be known as lowered."""

    id = "FAB212"
    title = "Links have the IP MTU that the intent states"
    severity = NOTE
    remediation = "state the lower number, so that the intent says what is there"

    def judge(self, design: Design) -> Iterator[Finding]:
        stated, mtu = design.fabric.spec.underlay.mtu, design.views.underlay.mtu
        if design.fabric.spec.stated("underlay", "mtu") and mtu < stated:
            text = f"expected the stated IP MTU of {stated} on every link, got {mtu}, the most that its network OSes all do"
            yield self.say(design, ("underlay", "mtu"), text)


class Identifiers(FabricCheck):
    """A VNI stands for one VRF or one VLAN everywhere, and route targets follow from it (RFC 8365 section 5): one number for
    two tenants joins them. VNIs have 24 bits (RFC 7348), and a leaf may carry every VLAN, so none is used twice."""

    id = "FAB213"
    title = "VNIs and VLANs stand for one table each"
    severity = ERROR
    remediation = "state another number, or leave it out: the plan then takes one that is free"

    def judge(self, design: Design) -> Iterator[Finding]:
        vnis: dict[int, str] = {}
        vlans: dict[int, str] = {}
        for at, tenant in enumerate(design.fabric.tenancy.tenants):
            path: Path = ("tenants", at)
            what = f"tenant '{tenant.name}'"
            yield from self._once(design, (*path, "vni"), "VNI", tenant.vni, what, vnis)
            yield from self._once(design, path, "VLAN", tenant.vlan, what, vlans)
            for n, network in enumerate(tenant.networks):
                what = f"network '{tenant.name}/{network.name}'"
                yield from self._once(design, (*path, "networks", n, "vni"), "VNI", network.vni, what, vnis)
                yield from self._once(design, (*path, "networks", n, "vlan"), "VLAN", network.vlan, what, vlans)

    def _once(self, design: Design, path: Path, kind: str, number: int, what: str, seen: dict[int, str]) -> Iterator[Finding]:
        most = MOST_VNI if kind == "VNI" else 4094
        other = seen.setdefault(number, what)
        if not 1 <= number <= most:
            yield self.say(design, path, f"{what}: expected a {kind} of 1 to {most}, got {number}")
        elif other != what:
            yield self.say(design, path, f"{what}: expected a {kind} of its own, got {number}, that of {other}")


class Distinguishers(FabricCheck):
    """A route distinguisher keeps equal prefixes of two tables apart while they travel (RFC 4364 section 4.2, RFC 7432
    section 7.9): two tables of a leaf with one RD overwrite each other's routes at the route servers. Behind an IPv4
    address the number has two bytes."""

    id = "FAB214"
    title = "Every table of a leaf has a route distinguisher of its own"
    severity = ERROR
    remediation = "plan the fabric again: numbers of tenants and networks are kept in the lock, each once"

    def judge(self, design: Design) -> Iterator[Finding]:
        if design.fabric.tenancy.kind != "evpn":
            return
        said: set[tuple[str, str]] = set()
        for leaf in _different_leaves(design.fabric):
            view = design.views.of(design.fabric.devices[leaf])
            tables: dict[str, str] = {}
            for name, rd in [*((vrf.name, vrf.rd) for vrf in view.vrfs), *((net.name, net.rd) for net in view.networks)]:
                other = tables.setdefault(rd, name)
                if other != name and (other, name) not in said:
                    said.add((other, name))
                    text = f"{view.device.name}: expected a route distinguisher of its own for '{name}', got {rd}, that of"
                    yield self.say(design, ("tenants",), f"{text} '{other}'")
                if int(rd.rpartition(":")[2]) > 65_535 and (name, "") not in said:
                    said.add((name, ""))
                    text = (
                        f"{view.device.name}: expected a number below 65536 in the route distinguisher of '{name}', got {rd}"
                    )
                    yield self.say(design, ("tenants",), text)


def _different_leaves(fabric: FabricPlan) -> list[int]:
    """One leaf for each set of tenants that a leaf has."""
    served = rows(fabric, SERVER_LEAF)
    pairs = np.unique(np.stack([fabric.links.b[served], fabric.tenancy.owner[served]], axis=1), axis=0)
    tenants = grouped((leaf, owner) for leaf, owner in pairs.tolist())
    first: dict[tuple[int, ...], int] = {}
    for leaf, mine in tenants.items():
        first.setdefault(tuple(mine), leaf)
    return list(first.values())[:MOST_VIEWS]


class RouteServers(FabricCheck):
    """A leaf learns of all others through the switches it speaks EVPN with: with one of them, its loss takes every tenant
    along while all links are up. Spines only pass routes on; a VTEP there would draw tenants' traffic to a box without
    their tables."""

    id = "FAB215"
    title = "Every leaf has two route servers, and only leaves have VTEPs"
    severity = WARNING
    remediation = "`overlay: {route_servers: 4}` is usual; two is the least that survives a failure"

    def judge(self, design: Design) -> Iterator[Finding]:
        fabric = design.fabric
        if fabric.tenancy.kind != "evpn":
            return
        links = rows(fabric, *BETWEEN_SWITCHES)
        pairs = np.unique(np.stack([fabric.links.a[links], fabric.links.b[links]], axis=1), axis=0)
        above = np.bincount(pairs[:, 0], minlength=len(fabric.devices))
        few: dict[int, list[int]] = {}
        for leaf in fabric.switches:
            have = len(fabric.tenancy.peers.get(leaf.index, ()))
            if leaf.role == LEAF and have < min(ROUTE_SERVERS, max(1, int(above[leaf.index]))):
                few.setdefault(have, []).append(leaf.index)
        for have, leaves in sorted(few.items()):
            got = f"{have or 'none'} on {named(fabric, leaves)}"
            text = f"expected at least {ROUTE_SERVERS} route servers for every leaf, got {got}"
            yield self.say(design, ("overlay", "route_servers"), text, severity="" if have else ERROR)
        without = [d.index for d in fabric.switches if d.role == LEAF and d.index not in fabric.tenancy.vtep]
        beside = [at for at in sorted(fabric.tenancy.vtep) if fabric.devices[at].role != LEAF]
        for switches, expected, got in ((without, "every leaf", "none"), (beside, "leaves alone", "one")):
            if switches:
                text = f"expected VTEPs on {expected}, got {got} on {named(fabric, switches)}"
                yield self.say(design, ("overlay",), text, severity=ERROR)


class Segments(FabricCheck):
    """Two leaves that a bond ends on tell each other by its Ethernet segment id (RFC 7432 section 5): one id for two bonds
    joins two servers, and different ids on the two leaves bring every broadcast twice. The id follows from the pair of
    leaves and the bond's number, so a number must mean one server on both."""

    id = "FAB216"
    title = "A bond has one Ethernet segment, the same on both of its leaves"
    severity = ERROR
    remediation = "plan the fabric again: a bond takes its number from the place of its ports"

    def judge(self, design: Design) -> Iterator[Finding]:
        fabric, pair = design.fabric, design.fabric.tenancy.pair
        members: dict[tuple[int, int, int], list[int]] = {}
        for link in np.flatnonzero(fabric.tenancy.lag > 0).tolist():
            leaf = int(fabric.links.b[link])
            other = pair.get(leaf, leaf)
            members.setdefault((min(leaf, other), max(leaf, other), int(fabric.tenancy.lag[link])), []).append(link)
        wrong = [key for key, links in members.items() if not self._is_bond(fabric, key, links)]
        if wrong:
            one, other, number = wrong[0]
            leaves = named(fabric, (one, other)) if one != other else named(fabric, (one,))
            ends = "; ".join(link_ends(fabric, link) for link in members[wrong[0]])
            text = f"bond {number} of {leaves}: expected one port of one server on each of two leaves, got {ends}"
            yield self.say(design, ("tenants",), text + in_all(len(wrong), "bond"))

    @staticmethod
    def _is_bond(fabric: FabricPlan, key: tuple[int, int, int], links: list[int]) -> bool:
        leaves = sorted(int(fabric.links.b[link]) for link in links)
        return leaves == [key[0], key[1]] and key[0] != key[1] and len({int(fabric.links.a[link]) for link in links}) == 1


class Ownership(FabricCheck):
    """A port in the wrong table joins a server to somebody else's network, and nothing looks broken. So every port belongs
    to the tenant whose servers, racks and rails the intent names, on every leaf, and has an address in each of its
    networks that have a subnet."""

    id = "FAB217"
    title = "Every port is in the table of the tenant that the intent names"
    severity = ERROR
    remediation = "plan the fabric again: owners follow from `tenants`"

    def judge(self, design: Design) -> Iterator[Finding]:
        fabric, tenancy = design.fabric, design.fabric.tenancy
        names = [f"tenant '{tenant.name}'" for tenant in tenancy.tenants] + ["no tenant", "nobody"]  # CLOSED is -2
        wanted = owners(fabric.spec, fabric.devices, fabric.links, Report())
        wrong = np.flatnonzero(wanted != tenancy.owner)
        if len(wrong):
            link = int(wrong[0])
            got = f"{names[tenancy.owner[link]]}{in_all(len(wrong), 'port')}"
            text = f"the port between {link_ends(fabric, link)}: expected {names[wanted[link]]}, got {got}"
            yield self.say(design, ("tenants",), text)
        served = fabric.links.kind == SERVER_LEAF
        for (tenant, place), hosts in sorted(tenancy.hosts.items()):
            mine = np.flatnonzero(served & (tenancy.owner == tenant)).tolist()
            bare = [link for link in mine if link not in hosts]
            if bare:
                network = f"{tenancy.tenants[tenant].name}/{tenancy.tenants[tenant].networks[place].name}"
                text = (
                    f"network '{network}': expected an address at every port, got none between {link_ends(fabric, bare[0])}"
                )
                path = ("tenants", tenant, "networks", place)
                yield self.say(design, path, text + in_all(len(bare), "port"))
