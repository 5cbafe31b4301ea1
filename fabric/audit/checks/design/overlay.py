"""EVPN/VXLAN and the tenants on it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fabric.audit.checks import ERROR, NOTE, WARNING, Design, Finding
from fabric.audit.checks.base import RESTORE_LOCK
from fabric.audit.checks.design.base import FabricCheck, Path, in_all, link_ends, named, network_oses, rows
from fabric.base.diagnostics import Report
from fabric.base.grouping import grouped
from fabric.model.plan import BETWEEN_SWITCHES, LEAF, SERVER, SERVER_LEAF, VXLAN_BYTES, FabricPlan
from fabric.model.plan.tenant_ports import owners
from fabric.nos.target import installed

FULL_PACKET = 1500  # default IP MTU of an Ethernet host
MOST_VNI = 16_777_215
ROUTE_SERVERS = 2
MOST_VIEWS = 64  # leaves looked at one by one; those with the same tenants are alike


class TunnelMtu(FabricCheck):
    """Compares the underlay MTU less the VXLAN header with 1500 bytes.

    VXLAN adds 50 bytes to a packet (RFC 7348 section 5) and is not fragmented, so tenants get the underlay MTU less the
    header. Hosts send 1500 bytes by default; below that their full-size packets are dropped, and sessions hang.
    """

    id = "FAB211"
    title = "A 1500-byte tenant packet fits the underlay MTU with its VXLAN header"
    severity = WARNING
    example = "`underlay: {mtu: 1500}` with EVPN: 1450 bytes remain for tenants"
    remediation = "set `underlay: {mtu: 9216}`"

    def check(self, design: Design) -> Iterator[Finding]:
        mtu = design.views.underlay.mtu
        if design.fabric.tenancy.kind == "evpn" and mtu - VXLAN_BYTES < FULL_PACKET:
            text = f"expected a tenant IP MTU of at least {FULL_PACKET}, got {mtu} - {VXLAN_BYTES} = {mtu - VXLAN_BYTES}"
            yield self.finding(design, ("underlay", "mtu"), text)


class StatedMtu(FabricCheck):
    """Compares the stated `underlay.mtu` with the MTU in use.

    Both ends of a link need one MTU, so the plan lowers it to the largest value that all network OSes of the fabric
    support. The note makes that visible where the intent states a larger number.
    """

    id = "FAB212"
    title = "Links have the IP MTU that the intent states"
    severity = NOTE
    example = "`underlay: {mtu: 9500}` with a network OS that supports at most 9216"
    remediation = "set `underlay: {mtu: …}` to the largest MTU that all network OSes of the fabric support"

    def check(self, design: Design) -> Iterator[Finding]:
        stated, mtu = design.fabric.spec.underlay.mtu, design.views.underlay.mtu
        if design.fabric.spec.stated("underlay", "mtu") and mtu < stated:
            text = f"expected the stated IP MTU {stated}, got {mtu}, the largest that all network OSes of the fabric support"
            yield self.finding(design, ("underlay", "mtu"), text, hint=f"set `underlay: {{mtu: {mtu}}}`")


class Identifiers(FabricCheck):
    """Compares the VNIs and VLANs of all tenants and their networks.

    A VNI identifies one VRF or one VLAN on all leaves, and route targets are derived from it (RFC 8365 section 5): one
    VNI for two tenants joins them. A VNI has 24 bits (RFC 7348). A leaf may carry every VLAN, so VLANs are unique as
    well.
    """

    id = "FAB213"
    title = "Each VNI and each VLAN belongs to exactly one VRF or network"
    severity = ERROR
    example = "`vni: 10100` for tenant red and for tenant blue"
    remediation = "change `vni` or `vlan` of one tenant or network, or remove the key so that the plan assigns a number"

    def check(self, design: Design) -> Iterator[Finding]:
        vnis: dict[int, str] = {}
        vlans: dict[int, str] = {}
        for device, tenant in enumerate(design.fabric.tenancy.tenants):
            path: Path = ("tenants", device)
            subject = f"tenant '{tenant.name}'"
            yield from self._once(design, (*path, "vni"), "VNI", tenant.vni, subject, vnis)
            yield from self._once(design, path, "VLAN", tenant.vlan, subject, vlans)
            for n, network in enumerate(tenant.networks):
                subject = f"network '{tenant.name}/{network.name}'"
                yield from self._once(design, (*path, "networks", n, "vni"), "VNI", network.vni, subject, vnis)
                yield from self._once(design, (*path, "networks", n, "vlan"), "VLAN", network.vlan, subject, vlans)

    def _once(self, design: Design, path: Path, kind: str, number: int, what: str, seen: dict[int, str]) -> Iterator[Finding]:
        most = MOST_VNI if kind == "VNI" else 4094
        other = seen.setdefault(number, what)
        if not 1 <= number <= most:
            yield self.finding(design, path, f"{what}: expected a {kind} from 1 to {most}, got {number}")
        elif other != what:
            yield self.finding(design, path, f"{what}: {kind} {number} is also assigned to {other}")


class Distinguishers(FabricCheck):
    """Compares the route distinguishers on every leaf.

    A route distinguisher keeps equal prefixes of two VRFs apart (RFC 4364 section 4.2, RFC 7432 section 7.9): with one
    RD, two VRFs of a leaf overwrite each other's routes at the route servers. The number after an IPv4 address has 16
    bits.
    """

    id = "FAB214"
    title = "Each VRF and network of a leaf has its own route distinguisher"
    severity = ERROR
    example = "RD 10.0.0.1:2 for VRF red and for VRF blue on leaf001"
    remediation = RESTORE_LOCK

    def check(self, design: Design) -> Iterator[Finding]:
        if design.fabric.tenancy.kind != "evpn":
            return
        reported: set[tuple[str, str]] = set()
        for leaf in _different_leaves(design.fabric):
            view = design.views.of(design.fabric.devices[leaf])
            tables: dict[str, str] = {}
            for name, rd in [*((vrf.name, vrf.rd) for vrf in view.vrfs), *((net.name, net.rd) for net in view.networks)]:
                other = tables.setdefault(rd, name)
                if other != name and (other, name) not in reported:
                    reported.add((other, name))
                    text = f"{view.device.name}: duplicate route distinguisher {rd} for '{other}' and '{name}'"
                    yield self.finding(design, ("tenants",), text)
                if int(rd.rpartition(":")[2]) > 65_535 and (name, "") not in reported:
                    reported.add((name, ""))
                    subject = f"{view.device.name}: route distinguisher of '{name}'"
                    text = f"{subject}: expected at most 65535 after the colon, got {rd}"
                    yield self.finding(design, ("tenants",), text)


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
    """Counts the EVPN sessions of every leaf and looks for VTEPs outside the leaf tier.

    A leaf learns remote routes from its route servers: with a single one, its failure disconnects every tenant while all
    links are up. Spines only forward routes; a VTEP there would attract tenant traffic to a switch without their VRFs.
    """

    id = "FAB215"
    title = "Every leaf peers with two route servers, and only leaves are VTEPs"
    severity = WARNING
    example = "`overlay: {route_servers: 1}` in a fabric with four spines"
    remediation = "set `overlay: {route_servers: 4}`, or at least 2 to survive one failure"

    def check(self, design: Design) -> Iterator[Finding]:
        fabric = design.fabric
        if fabric.tenancy.kind != "evpn":
            return
        links = rows(fabric, *BETWEEN_SWITCHES)
        spineless = fabric.sizing.spineless
        pairs = np.unique(np.stack([fabric.links.a[links], fabric.links.b[links]], axis=1), axis=0)
        above = np.bincount(pairs[:, 0], minlength=len(fabric.devices))
        few: dict[int, list[int]] = {}
        for leaf in fabric.switches:
            have = len(fabric.tenancy.peers.get(leaf.index, ()))
            if leaf.role == LEAF and not spineless and have < min(ROUTE_SERVERS, max(1, int(above[leaf.index]))):
                few.setdefault(have, []).append(leaf.index)
        for have, leaves in sorted(few.items()):
            got = f"{have or 'none'} on {named(fabric, leaves)}"
            text = f"expected at least {ROUTE_SERVERS} route servers per leaf, got {got}"
            yield self.finding(design, ("overlay", "route_servers"), text, severity="" if have else ERROR)
        without = [d.index for d in fabric.switches if d.role == LEAF and d.index not in fabric.tenancy.vtep]
        beside = [device for device in sorted(fabric.tenancy.vtep) if fabric.devices[device].role != LEAF]
        for switches, fault in ((without, "no VTEP on leaf"), (beside, "VTEP on a switch that is not a leaf:")):
            if switches:
                text = f"{fault} {named(fabric, switches)}"
                yield self.finding(design, ("overlay",), text, hint=RESTORE_LOCK, severity=ERROR)


class Segments(FabricCheck):
    """Tests that every bond number of a pair of leaves belongs to one server with one port on each leaf.

    The two leaves of a bond find each other by its Ethernet segment identifier (RFC 7432 section 5). One ESI for two
    bonds joins two servers; different ESIs on the two leaves duplicate every broadcast. The ESI is derived from the pair
    and the bond number.
    """

    id = "FAB216"
    title = "Both leaves of a bond have the same Ethernet segment, used by no other bond"
    severity = ERROR
    example = "bond 3 is gpu-0001 on leaf001 and gpu-0002 on leaf002"
    remediation = RESTORE_LOCK

    def check(self, design: Design) -> Iterator[Finding]:
        fabric, pair = design.fabric, design.fabric.tenancy.pair
        members: dict[tuple[int, int, int], list[int]] = {}
        for link in np.flatnonzero(fabric.tenancy.lag > 0).tolist():
            leaf = int(fabric.links.b[link])
            other = pair.get(leaf, leaf)
            members.setdefault((min(leaf, other), max(leaf, other), int(fabric.tenancy.lag[link])), []).append(link)
        wrong = [key for key, links in members.items() if not self._is_bond(fabric, key, links)]
        if wrong:
            leaf, other, number = wrong[0]
            leaves = named(fabric, (leaf, other)) if leaf != other else named(fabric, (leaf,))
            ends = "; ".join(link_ends(fabric, link) for link in members[wrong[0]])
            text = (
                f"bond {number} on {leaves}: expected a link of one server, or half of those of an attachment, to each leaf, "
                f"got links between {ends}"
            )
            yield self.finding(design, ("tenants",), text + in_all(len(wrong), "bond"))

    @staticmethod
    def _is_bond(fabric: FabricPlan, key: tuple[int, int, int], links: list[int]) -> bool:
        """One link of a server to each leaf, or half of an attachment's; of a switch below leaves without pairs all."""
        leaves = sorted(int(fabric.links.b[link]) for link in links)
        devices = {int(fabric.links.a[link]) for link in links}
        if key[0] == key[1]:
            return len(devices) == 1 and all(link in fabric.below for link in links)
        each = 1 if any(fabric.devices[device].role == SERVER for device in devices) else len(links) // 2
        return leaves == [key[0]] * each + [key[1]] * each and len(devices) == 1


class Ownership(FabricCheck):
    """Compares the tenant and the addresses of every server port with `tenants` of the intent.

    A port in the wrong VRF connects a server to another tenant's network, and no counter shows it. Every port belongs to
    the tenant whose servers, racks and rails the intent names, and has an address in each of its networks that have a
    subnet.
    """

    id = "FAB217"
    title = "Every server port is in the VRF of its tenant"
    severity = ERROR
    example = "the port of gpu-0005 is in VRF blue; `tenants` assigns gpu-0005 to red"
    remediation = "correct `servers`, `racks` and `rails` under `tenants`, then run `fabric generate`"

    def check(self, design: Design) -> Iterator[Finding]:
        fabric, tenancy = design.fabric, design.fabric.tenancy
        names = [f"tenant '{tenant.name}'" for tenant in tenancy.tenants] + [
            "no tenant (port shut down)",
            "no tenant",
        ]  # CLOSED is -2
        expected = owners(fabric.spec, fabric.devices, fabric.links, Report())
        wrong = np.flatnonzero(expected != tenancy.owner)
        if len(wrong):
            link = int(wrong[0])
            got = f"{names[tenancy.owner[link]]}{in_all(len(wrong), 'link')}"
            text = f"the link between {link_ends(fabric, link)}: expected {names[expected[link]]}, got {got}"
            yield self.finding(design, ("tenants",), text)
        served = fabric.links.kind == SERVER_LEAF
        for (tenant, place), hosts in sorted(tenancy.hosts.items()):
            mine = np.flatnonzero(served & (tenancy.owner == tenant)).tolist()
            bare = [link for link in mine if link not in hosts and place in tenancy.chosen.get(link, (place,))]
            if bare:
                network = f"{tenancy.tenants[tenant].name}/{tenancy.tenants[tenant].networks[place].name}"
                text = f"network '{network}': no server address on the link between {link_ends(fabric, bare[0])}"
                path = ("tenants", tenant, "networks", place)
                yield self.finding(design, path, text + in_all(len(bare), "link"))


class NativeVlan(FabricCheck):
    """Looks for links whose untagged packets one network OS has in a native VLAN, and the other one on the port itself.

    The underlay is untagged beside the tagged subinterfaces of tenants. Junos has no untagged unit beside tagged ones: the
    underlay is a unit in the native VLAN. The documentation says what it receives there, not what it sends.
    """

    id = "FAB244"
    title = "Both ends of a link with subinterfaces send the underlay untagged, as documented"
    severity = NOTE
    example = "`nos: {leaf: junos, spine: eos}` with `overlay: {isolation: vrf-lite}`"
    remediation = (
        "test one link with a packet capture before all are cabled, or use one network OS, or EVPN in place of VRF-lite"
    )

    def check(self, design: Design) -> Iterator[Finding]:
        found = {role: target for role, nos in network_oses(design.fabric).items() if nos and (target := installed(nos))}
        unsure = sorted({target.title for target in found.values() if not target.sends_untagged})
        others = sorted({target.title for target in found.values() if target.sends_untagged})
        if design.fabric.tenancy.slices and unsure and others:
            some, rest = " and ".join(unsure), " and ".join(others)
            text = f"links between {some} and {rest}: no documentation says that {some} sends the underlay untagged"
            yield self.finding(design, ("nos",), f"{text} beside the tagged subinterfaces of tenants")
