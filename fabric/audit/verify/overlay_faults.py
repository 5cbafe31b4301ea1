"""Faults of EVPN: VNIs, route targets, tunnels and the routes of tenants, each at the leaf that causes it.

If no leaf has a route of another one, the fault is at the origin; if some lack it, at those.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from ipaddress import ip_address, ip_network

from fabric.audit.verify.sessions import OUTSIDE, OVERLAY
from fabric.audit.verify.site import Fault, Site, Switch
from fabric.base.grouping import grouped
from fabric.base.text import listed
from fabric.nos.state.records import EVPN, ROUTES, Hop, Table, Vni

VNI, TARGETS, TUNNEL, TENANT_ROUTE = "vni", "targets", "tunnel", "tenant-route"


class Spread:
    """Things of a leaf that others have: if none has it its origin is at fault, if some lack it those are."""

    def __init__(self) -> None:
        self.have: dict[tuple[str, str], list[str]] = {}
        self.lack: dict[tuple[str, str], list[str]] = {}

    def note(self, what: str, home: str, at: str, there: bool) -> None:
        (self.have if there else self.lack).setdefault((what, home), []).append(at)

    @property
    def right(self) -> int:
        """How many there are."""
        return sum(map(len, self.have.values()))

    def faults(self, kind: str, state: str, lacking: str, hint: str) -> Iterator[Fault]:
        """One fault for each leaf at fault; what it concerns is listed."""
        by_home: dict[str, list[str]] = {}
        others: dict[tuple[str, str], list[str]] = {}
        for (thing, home), places in self.lack.items():
            if not self.have.get((thing, home)) and len(places) > 1:
                by_home.setdefault(home, []).append(thing)
            else:
                for at in places:
                    others.setdefault((at, home), []).append(thing)
        for home, things in by_home.items():
            words = f"{listed(things, 3)}: {lacking} at every other leaf"
            yield Fault(kind, home, words, state, hint.format(home))
        homes: dict[tuple[str, tuple[str, ...]], list[str]] = {}
        for (at, home), things in others.items():
            homes.setdefault((at, tuple(things)), []).append(home)
        for (at, several), names in homes.items():
            words = f"{listed(list(several), 3)} of {listed(names, 3)}: {lacking} here"
            yield Fault(kind, at, words, state, hint.format(at))


class Overlay:
    """The tunnels of a site."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.tunnels, self.prefixes = Spread(), Spread()
        self.leaves = [one for one in site.switches.values() if one.view.overlay and one.view.overlay.vtep]

    def faults(self) -> Iterator[Fault]:
        """VNIs first: what follows from a wrong one is left out."""
        yield from self.vnis
        yield from self._tunnels()
        yield from self._tenants()

    # --- VNIs ---------------------------------------------------------------------------------------------------

    @cached_property
    def vnis(self) -> tuple[Fault, ...]:
        found = [fault for leaf in self.leaves if leaf.has(EVPN) for fault in self._of_leaf(leaf)]
        return tuple(found)

    def _of_leaf(self, leaf: Switch) -> Iterator[Fault]:
        view, reported = leaf.view, leaf.seen.vnis
        planned = {network.vni: f"network {network.name}" for network in view.networks}
        planned |= {vrf.vni: f"tenant {vrf.name}" for vrf in view.vrfs if vrf.vni is not None}
        missing = sorted(planned.keys() - reported.keys()) if EVPN in leaf.seen.lists else []
        extra = sorted(reported.keys() - planned.keys())
        unplanned = f"; unplanned: {listed(list(map(str, extra)), 3)}" if extra else ""
        tables = {vrf.vni: vrf for vrf in view.vrfs}
        networks = {network.vni: network for network in view.networks}
        wrong = [vni for vni in sorted(planned.keys() & reported.keys()) if reported[vni].layer3 is (vni in networks)]
        if missing:
            names = listed([f"{vni} of {planned[vni]}" for vni in missing], 3)
            yield Fault(VNI, leaf.name, f"VNI {names}: expected, got none{unplanned}", EVPN)
        for vni in wrong:
            expected, got = ("L2", "L3") if vni in networks else ("L3", "L2")
            words = f"VNI {vni} of {planned[vni]}: expected an {expected} VNI, got {got}{'' if missing else unplanned}"
            yield Fault(VNI, leaf.name, words, EVPN)
        if extra and not missing and not wrong:
            yield Fault(VNI, leaf.name, f"VNI {listed(list(map(str, extra)), 3)} is not planned", EVPN)
        right = [vni for vni in sorted(planned.keys() & reported.keys()) if vni not in wrong]
        yield from self._sources(leaf, [reported[vni] for vni in right])
        for vni in right:
            yield from self._vni(leaf, reported[vni], leaf.vrf(tables[vni].name) if vni in tables else "")
            if vni in networks:
                network = networks[vni]
                yield from self._targets(leaf, reported[vni], {network.route_target}, {network.route_target}, network.rd)
            else:
                vrf = tables[vni]
                imports = {vrf.route_target, *vrf.imports}
                yield from self._targets(leaf, reported[vni], imports, {vrf.route_target}, vrf.rd)

    def _vni(self, leaf: Switch, vni: Vni, vrf: str) -> Iterator[Fault]:
        if vrf and vni.vrf and vni.vrf != vrf:
            yield Fault(VNI, leaf.name, f"VNI {vni.number}: VRF: expected {vrf}, got {vni.vrf}", EVPN)
        elif vni.up is False:
            words = f"VNI {vni.number} is down" + (f" (VRF {vrf})" if vrf else "")
            yield Fault(VNI, leaf.name, words, EVPN, "check its bridge, VLAN interface and tunnel interface")

    def _sources(self, leaf: Switch, vnis: Sequence[Vni]) -> Iterator[Fault]:
        """Tunnels of all VNIs have one source."""
        assert leaf.view.overlay is not None
        expected = leaf.view.overlay.vtep
        shared = leaf.view.pair.shared_vtep if leaf.view.pair else None
        for got, found in grouped((one.source, one) for one in vnis if one.source not in ("", expected, shared)).items():
            numbers = listed([str(one.number) for one in found], 3)
            words = f"{'VNI' if len(found) == 1 else 'VNIs'} {numbers}: tunnel source: expected {expected}, got {got}"
            yield Fault(TUNNEL, leaf.name, words, EVPN, "restore the address of the tunnel interface")

    def _targets(self, leaf: Switch, vni: Vni, imports: set[str], exports: set[str], rd: str) -> Iterator[Fault]:
        pairs = (("imported", imports, vni.imports), ("exported", exports, vni.exports))
        wrong = [
            f"{words} route targets: expected {listed(sorted(planned), 3)}, got {listed(sorted(reported), 3) or 'none'}"
            for words, planned, reported in pairs
            if reported is not None and reported != planned
        ]
        if vni.rd and vni.rd != rd:
            wrong.append(f"route distinguisher: expected {rd}, got {vni.rd}")
        if wrong:
            yield Fault(TARGETS, leaf.name, f"VNI {vni.number}: {'; '.join(wrong)}", EVPN)

    @cached_property
    def broken(self) -> frozenset[str]:
        """Leaves with a wrong VNI, route target or tunnel source: what they and others lack follows from it."""
        return frozenset(fault.device for fault in self.vnis)

    # --- tunnels ------------------------------------------------------------------------------------------------

    def vtep(self, leaf: Switch) -> str:
        """The tunnel address of a leaf; that of its pair where two share one."""
        overlay, pair = leaf.view.overlay, leaf.view.pair
        assert overlay is not None
        return (pair.shared_vtep if pair and pair.shared_vtep else overlay.vtep) or ""

    @cached_property
    def isolated(self) -> frozenset[str]:
        """Leaves without an EVPN session that lives, or whose BGP is stopped."""
        names = set(self.site.stopped)
        for leaf in self.leaves:
            ends = [end for end in leaf.sessions if end.kind == OVERLAY]
            if ends and not any(self.site.lives(end) for end in ends):
                names.add(leaf.name)
        return frozenset(names)

    def _reaches(self, leaf: Switch, far: Switch) -> bool:
        """Whether nothing below explains that a leaf lacks what another one sends."""
        if {leaf.name, far.name} & (self.isolated | self.broken) or leaf.view.fabric != far.view.fabric:
            return False
        table = leaf.seen.routes.get("", {}) if ROUTES in leaf.seen.lists else None
        return table is None or f"{self.vtep(far)}/32" in table

    def _tunnels(self) -> Iterator[Fault]:
        """Type 3: each leaf that has a network knows every other one that has it, and no other."""
        spread = self.tunnels
        addresses = {self.vtep(leaf) for leaf in self.leaves}
        for leaf in self.leaves:
            vnis = leaf.seen.vnis
            for network in leaf.view.networks:
                remotes = vnis[network.vni].remotes if network.vni in vnis else None
                reported = remotes if remotes is not None else leaf.seen.vteps
                if reported is None:
                    continue
                for far in self.leaves:
                    if far is leaf or self.vtep(far) == self.vtep(leaf) or not self._reaches(leaf, far):
                        continue
                    if network.vni in {other.vni for other in far.view.networks}:
                        spread.note(f"VNI {network.vni}", far.name, leaf.name, self.vtep(far) in reported)
            yield from self._unplanned(leaf, addresses)
        hint = "check route targets and VNIs of {}, and what its EVPN sessions filter"
        yield from spread.faults(TUNNEL, EVPN, "no tunnel", hint)

    def _unplanned(self, leaf: Switch, addresses: set[str]) -> Iterator[Fault]:
        if leaf.name in self.broken:
            return
        remotes = {one for vni in leaf.seen.vnis.values() for one in vni.remotes or ()} | (leaf.seen.vteps or set())
        if unknown := sorted(remotes - addresses):
            yield Fault(TUNNEL, leaf.name, f"tunnels to VTEPs that are not planned: {listed(unknown, 3)}", EVPN)

    # --- routes of tenants --------------------------------------------------------------------------------------

    def _tenants(self) -> Iterator[Fault]:
        """Type 5: each tenant's table has the subnets of its other leaves, over their tunnels."""
        spread = self.prefixes
        subnets = {leaf.name: self._own(leaf) for leaf in self.leaves}
        for leaf in self.leaves:
            if ROUTES not in leaf.seen.lists:
                continue
            yield from self._absent(leaf)
            strange: dict[tuple[str, str], list[str]] = {}  # (VRF, next hops) → prefixes
            for vrf in leaf.view.vrfs:
                if vrf.vni is None:
                    continue
                name = leaf.vrf(vrf.name)
                table = leaf.seen.routes.get(name, {})
                for prefix, homes in self._elsewhere(leaf, vrf.name, subnets).items():
                    hops = table.get(prefix, ())
                    tunnel = any(hop.tunnel for hop in hops)  # to a VTEP that is not reported
                    gateways = set() if tunnel else {hop.gateway for hop in hops}
                    unknown = gateways - {self.vtep(far) for far in self.leaves}
                    if unknown and not gateways & {self.vtep(far) for far in homes}:
                        strange.setdefault((name, listed(sorted(unknown), 3) or "no next hop"), []).append(prefix)
                        continue
                    for far in homes:
                        if self._reaches(leaf, far):
                            spread.note(f"{prefix} in {name}", far.name, leaf.name, tunnel or self.vtep(far) in gateways)
            for (name, gateways_shown), prefixes in strange.items():
                words = f"{listed(prefixes, 3)} in {name}: over {gateways_shown}, which is no VTEP of the plan"
                yield Fault(TENANT_ROUTE, leaf.name, words, ROUTES)
        hint = "check the type-5 routes of {}: its redistribution, `advertise`, route targets and filters"
        yield from spread.faults(TENANT_ROUTE, ROUTES, "no route over its VTEP", hint)

    def _own(self, leaf: Switch) -> Mapping[str, set[str]]:
        """Tenant → its subnets at a leaf that the leaf has in its table, or must have where its table is unknown."""
        by_tenant: dict[str, set[str]] = {}
        listed_routes = ROUTES in leaf.seen.lists
        for vrf in leaf.view.vrfs:
            table = leaf.seen.routes.get(leaf.vrf(vrf.name), {})
            subnets = leaf.connected(vrf)
            by_tenant[vrf.name] = {
                prefix
                for prefix, ports in subnets.items()
                if (_direct(prefix, table.get(prefix, ())) if listed_routes else self._up(leaf, ports))
            } | self._outside(leaf, vrf.name, table)
        return by_tenant

    def _outside(self, leaf: Switch, tenant: str, table: Table) -> set[str]:
        """Default routes that a border leaf has from routers outside."""
        vteps = {self.vtep(far) for far in self.leaves}
        found = set()
        for external in leaf.view.externals:
            for prefix in external.accepts if external.vrf == tenant else ():
                hops = table.get(prefix, ())
                if prefix.endswith("/0") and hops and not any(hop.tunnel or hop.gateway in vteps for hop in hops):
                    found.add(prefix)
        return found

    def _up(self, leaf: Switch, ports: Sequence[str]) -> bool:
        states = [leaf.seen.port(name) for name in ports]
        return not states or any(state is None or state.up is not False for state in states)

    def _elsewhere(self, leaf: Switch, tenant: str, subnets: Mapping[str, Mapping[str, set[str]]]) -> dict[str, list[Switch]]:
        """Prefix → the other leaves that have it; what a leaf has itself it uses itself."""
        leaves: dict[str, list[Switch]] = {}
        for far in self.leaves:
            if far is leaf or self.vtep(far) == self.vtep(leaf):
                continue
            for prefix in sorted(subnets[far.name].get(tenant, set()) - subnets[leaf.name].get(tenant, set())):
                leaves.setdefault(prefix, []).append(far)
        if self._connected_outside(leaf, tenant):
            return {prefix: homes for prefix, homes in leaves.items() if not prefix.endswith("/0")}
        return leaves

    def _connected_outside(self, leaf: Switch, tenant: str) -> bool:
        """Whether a leaf has a session of its own with a router outside, whose default route it prefers."""
        name = leaf.vrf(tenant)
        return any(end.kind == OUTSIDE and end.vrf == name and self.site.established(end) for end in leaf.sessions)

    def _absent(self, leaf: Switch) -> Iterator[Fault]:
        """Subnets of a leaf itself that its table lacks although a port in them is up."""
        for vrf in leaf.view.vrfs:
            name = leaf.vrf(vrf.name)
            table = leaf.seen.routes.get(name, {})
            lost = [
                prefix
                for prefix, ports in leaf.connected(vrf).items()
                if not _direct(prefix, table.get(prefix, ()))
                and any((state := leaf.seen.port(port)) and state.up for port in ports)
            ]
            if lost:
                words = f"{listed(lost, 3)} of its own ports: not in the table of {name}"
                yield Fault(TENANT_ROUTE, leaf.name, words, ROUTES, "restore the VRF and the addresses of its interfaces")


def _direct(prefix: str, hops: Sequence[Hop]) -> bool:
    """Whether a route leads to interfaces of the switch itself; some name its own address in the prefix as the next hop."""
    net = ip_network(prefix)
    return any(not hop.tunnel and (not hop.gateway or ip_address(hop.gateway) in net) for hop in hops)


def overlay_faults(site: Site) -> Iterator[Fault]:
    """Every fault of EVPN."""
    yield from Overlay(site).faults()
