"""What the files of a switch must say: the rows of its view in the plan, in the names of its network OS."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial

from fabric.audit.checks.finding import Subject
from fabric.audit.checks.rows import Key, Value, session, table
from fabric.model.facts import MANAGEMENT, PrefixRule
from fabric.model.plan import LEAF, External, Port, Session, SwitchView, Vrf
from fabric.nos.policy import PERMIT, Policy, PrefixList, external_policy, leak_policy, underlay_policy, vrf_policy
from fabric.nos.reading import denial, effective
from fabric.nos.target import TENANT, Idiom, target

# --- route policies by the names of prefix lists --------------------------------------------------------------


@dataclass(frozen=True)
class Policies:
    """The route policy of a switch, as its network OS spells it."""

    whole: SwitchView
    idiom: Idiom

    @cached_property
    def view(self) -> SwitchView:
        """Without the address of tunnels where they begin at the router id."""
        overlay, pair = self.whole.overlay, self.whole.pair
        if self.idiom.own_vtep or overlay is None:
            return self.whole
        return replace(self.whole, overlay=replace(overlay, vtep=None), pair=replace(pair, shared_vtep="") if pair else None)

    @cached_property
    def underlay(self) -> Policy:
        return underlay_policy(self.view)

    @cached_property
    def tenants(self) -> dict[str, Policy]:
        """By the tenant's name."""
        return {vrf.name: vrf_policy(self.view, vrf) for vrf in self.view.vrfs}

    def of(self, tenant: str) -> Policy:
        """Of a routing table; "" is the default one."""
        return self.tenants[tenant] if tenant else self.underlay

    def external(self, external: External) -> Policy:
        return external_policy(self.view, external)

    def sends(self, policy: Policy) -> frozenset[str]:
        """Route policies of routes sent to the fabric.

        Without redistribution, the session policy permits connected routes; those of a leaf are among its own.
        """
        straight_out = not self.idiom.redistributes and policy is self.underlay and self.view.device.role != LEAF
        return self.passed(policy, *((policy.exports, policy.connected) if straight_out else (policy.exports,)))

    def passed(self, policy: Policy, *names: str) -> frozenset[str]:
        """The prefix lists that a policy asks for in place of these, as facts state them."""
        found: list[str] = []
        for part in (part for name in names for part in self._parts(policy.list_of(name))):
            found.append(denial(part.name, found) if part.denies else part.name)
        return frozenset(found)

    def _parts(self, one: PrefixList) -> tuple[PrefixList, ...]:
        return (one,) if self.idiom.ordered_lists else one.parts

    def leaked(self, vrf: Vrf) -> tuple[tuple[PrefixList, ...], tuple[PrefixList, ...]]:
        """The lists on what a tenant's table imports, and on what EVPN advertises of it, where it imports by prefix."""
        policy = leak_policy(self.view, vrf)
        if policy is None:
            return (), ()
        return (policy.lists, ()) if self.idiom.leaks_by_target else (policy.others, (policy.own,))

    def lists(self) -> Iterator[PrefixList]:
        """Every list that the policies name; a table without sessions and EVPN has a policy only where it redistributes."""
        for vrf in self.view.vrfs:
            yield from (one for lists in self.leaked(vrf) for one in lists)
        routed = (vrf for vrf in self.view.vrfs if vrf.sessions or vrf.vni is not None or self.idiom.redistributes)
        tenants = (self.tenants[vrf.name] for vrf in routed)
        for policy in (self.underlay, *tenants, *map(self.external, self.view.externals)):
            used = {policy.imports, *self.sends(policy), *([policy.connected] if self.idiom.redistributes else [])}
            yield from (part for one in policy.lists if one.name in used for part in self._parts(one))

    def entries(self, one: PrefixList) -> frozenset[str]:
        """Entries of a list as facts state them."""
        rules = [PrefixRule(entry.action == PERMIT or not self.idiom.ordered_lists, entry.words) for entry in one.entries]
        return frozenset(effective(rules).values())


# --- rows of a switch -----------------------------------------------------------------------------------------

DEVICE = Subject()


def planned_rows(view: SwitchView) -> dict[Key, Value]:
    """Everything but the classes of ports, which `classes` compares."""
    return _Rows(view).all()


def planned_ports(view: SwitchView) -> dict[Key, Value]:
    """The rows of ports alone; {} for a network OS without an idiom."""
    if target(view.device.nos).idiom is None:
        return {}
    rows = _Rows(view)
    for port in view.ports:
        rows._port(port)
    return rows.rows


class _Rows:
    def __init__(self, view: SwitchView) -> None:
        self.view = view
        nos = target(view.device.nos)
        assert nos.idiom is not None
        self.idiom, name = nos.idiom, nos.port_name
        self.policies = Policies(view, self.idiom)
        self.port = partial(_named, name, view)
        self.rows: dict[Key, Value] = {}

    def all(self) -> dict[Key, Value]:
        view = self.view
        self.rows[Key("hostname")] = view.device.name
        for port in view.ports:
            self._port(port)
        self._loopbacks()
        self._management()
        self._bgp()
        self._overlay()
        self._prefix_lists()
        self._lossless()
        return self.rows

    def put(self, kind: str, subject: Subject, value: Value | None) -> None:
        if value is not None and value != "":
            self.rows[Key(kind, subject)] = value

    def vrf(self, name: str) -> str:
        return self.idiom.vrf.format(name) if name else ""

    # --- ports --------------------------------------------------------------------------------------------------

    def _port(self, port: Port) -> None:
        view, name = self.view, Subject(self.port(port))
        self.put("enabled", name, port.up)
        if not port.up:
            self.put("mtu", name, view.underlay.mtu if self.idiom.spare_mtu and not port.closed else None)
            return
        self.put("speed", name, port.ref.speed_gbps)
        routed = port.address and not port.bridged and not port.lag
        self.put("addresses", name, frozenset({port.address}) if routed and port.address else None)
        self.put("vrf", name, self.vrf(port.vrf))
        acl = self.idiom.acls[view.underlay.family == "ipv6"]
        self.put("filters", name, frozenset({acl.format(port.acl)}) if port.acl else None)
        self.put("bond", name, self.idiom.bond.format(port.lag) if port.lag else None)
        if port.bridged and (not port.lag or self.idiom.member_vlans):
            self._vlans(name, port.untagged, port.tagged)
        if port.bridged:
            self.put("mtu", name, None if port.lag and not self.idiom.member_vlans else self._layer2_mtu)
            self._frame(name, None if port.lag else self._tenant_mtu, self.idiom.bridge_bytes)
        else:
            slices = port.subinterfaces and self.idiom.trunk_mtu and port.kind != "fabric"
            mtu = self._tenant_mtu if port.vrf or slices else view.underlay.mtu
            self.put("mtu", name, mtu)
            self._frame(name, mtu, self.idiom.slice_bytes if port.subinterfaces else 0)
        for part in port.subinterfaces:
            self._slice(port, part.vrf, part.tag, part.address)

    def _frame(self, name: Subject, mtu: int | None, extra: int) -> None:
        """The MTU of the port itself, where the network OS counts the frame's headers in it."""
        if self.idiom.frame_bytes and mtu:
            self.put("frame", name, mtu + self.idiom.frame_bytes + extra)

    @property
    def _tenant_mtu(self) -> int:
        return self.view.overlay.mtu if self.view.overlay else self.view.underlay.mtu

    @property
    def _layer2_mtu(self) -> int | None:
        stated = self.idiom.layer2_mtu
        return self._tenant_mtu if stated == TENANT else stated or None

    def _slice(self, port: Port, vrf: str, tag: int, address: str) -> None:
        name = Subject(self._sub(self.port(port), tag))
        self.put("addresses", name, frozenset({address}))
        self.put("vrf", name, self.vrf(vrf))
        self.put("tag", name, tag)
        self.put("mtu", name, self._tenant_mtu)

    def _sub(self, port: str, tag: int) -> str:
        return f"{port}.{tag}"

    def _vlans(self, name: Subject, untagged: int, tagged: Iterable[int]) -> None:
        self.put("access", name, untagged or None)
        self.put("trunk", name, frozenset(tagged) or None)

    # --- the switch ---------------------------------------------------------------------------------------------

    def _loopbacks(self) -> None:
        view, overlay = self.view, self.view.overlay
        own = [view.loopback, *([view.loopback6] if view.loopback6 else [])]
        if self.idiom.own_vtep and overlay and overlay.vtep:
            own.append(f"{overlay.vtep}/32")
            if view.pair and view.pair.shared_vtep:
                own.append(f"{view.pair.shared_vtep}/32")
        self.put("loopbacks", DEVICE, frozenset(own))

    def _management(self) -> None:
        manage, name = self.view.management, Subject(self.idiom.management)
        if manage.address:
            self.put("addresses", name, frozenset({manage.address}))
            self.put("vrf", name, MANAGEMENT if manage.vrf or self.idiom.management_vrf else None)
        for kind in ("ntp", "syslog", "dns"):
            self.put(kind, DEVICE, frozenset(getattr(manage, kind)) or None)
        if manage.aaa:
            for method in manage.aaa.methods:
                self.put(method.name, DEVICE, frozenset(method.servers))
            self.put("login", DEVICE, ", ".join(manage.aaa.order))

    def _lossless(self) -> None:
        """Settings of the whole switch."""
        view, detection = self.view, self.idiom.watchdog_ms
        if detection and view.qos and view.qos.watchdog and any(port.lossless for port in view.ports if port.up):
            self.put("watchdog_ms", DEVICE, detection(view.qos.watchdog))
        self.put("hash_seed", DEVICE, view.balancing.seed if self.idiom.seed else None)

    # --- BGP ----------------------------------------------------------------------------------------------------

    def _bgp(self) -> None:
        view, under = self.view, self.view.underlay
        peers: dict[str, list[str]] = {"": []}
        for planned in view.sessions:
            peers[""].append(self._session("", planned, self.policies.underlay))
        if view.overlay:
            for overlay in view.overlay.sessions:
                name = session("", overlay.peer_address)
                peers[""].append(overlay.peer_address)
                self.put("", name, True)
                self.put("remote_as", name, overlay.peer_asn)
                self.put("source", name, view.router_id)
                self.put("families", name, frozenset({"evpn"}))
                self.put("keepalive", name, under.keepalive_s if self.idiom.keepalive else None)
                self.put("hold", name, under.hold_s)
        for vrf in view.vrfs:
            vrf_name, policy = self.vrf(vrf.name), self.policies.of(vrf.name)
            peers[vrf_name] = [self._session(vrf_name, planned, policy) for planned in vrf.sessions]
        for external in view.externals:
            vrf_name = self.vrf(external.vrf)
            name = session(vrf_name, external.peer_address)
            peers.setdefault(vrf_name, []).append(external.peer_address)
            self.put("", name, True)
            self.put("remote_as", name, external.peer_asn)
            self.put("max_prefix", name, under.max_prefix)
            self.put("families", name, frozenset({"ipv6" if ":" in external.peer_address else "ipv4"}))
            self.put("keepalive", name, under.keepalive_s if self.idiom.keepalive else None)
            self.put("hold", name, under.hold_s)
            policy = self.policies.external(external)
            self.put("takes", name, self.policies.passed(policy, policy.imports))
            self.put("sends", name, self.policies.passed(policy, policy.exports))
            if external.tag:
                self._slice(external.port, external.vrf, external.tag, external.address)
        tenants = {"": ""} | {self.vrf(vrf.name): vrf.name for vrf in view.vrfs}
        for vrf_name, neighbors in peers.items():
            if vrf_name and not neighbors and not self.idiom.vrf_process:
                continue
            name = table(vrf_name)
            self.put("neighbors", name, frozenset(neighbors))
            self.put("asn", name, view.device.asn)
            self.put("router_id", name, view.router_id)
            if neighbors or vrf_name:  # a switch without sessions states no paths
                self.put("max_paths", name, self.idiom.paths(view))
                self.put("relax", name, None if vrf_name else True)
            if self.idiom.redistributes:
                self.put("connected", name, frozenset({self.policies.of(tenants[vrf_name]).connected}))
        self.put("aggregates", table(""), frozenset(view.aggregates) or None)

    def _session(self, vrf: str, planned: Session, policy: Policy) -> str:
        under = self.view.underlay
        peer = planned.peer_address or self._sub_or_port(planned)
        name = session(vrf, peer)
        self.put("", name, True)
        listed = self.idiom.peer_lists and planned.peer_address is None
        self.put("remote_as", name, "external" if listed else planned.peer_asn)
        self.put("max_prefix", name, under.max_prefix)
        self.put("families", name, frozenset({"ipv6" if under.family == "ipv6" else "ipv4"}))
        self.put("keepalive", name, under.keepalive_s if self.idiom.keepalive else None)
        self.put("hold", name, under.hold_s)
        self.put("bfd", name, True if under.bfd else None)
        self.put("takes", name, self.policies.passed(policy, policy.imports))
        self.put("sends", name, self.policies.sends(policy))
        return peer

    def _sub_or_port(self, session: Session) -> str:
        name = self.port(session.port)
        return self._sub(name, session.tag) if session.tag else name

    # --- overlay ------------------------------------------------------------------------------------------------

    def _overlay(self) -> None:
        view, overlay = self.view, self.view.overlay
        self.put("vrfs", DEVICE, frozenset(self.vrf(vrf.name) for vrf in view.vrfs) or None)
        for vrf in view.vrfs:
            name = Subject(self.vrf(vrf.name), "VRF")
            self.put("", name, True)
            if vrf.vni is None:
                continue
            self.put("vni", name, vrf.vni)
            self.put("rd", name, vrf.rd)
            by_target = self.idiom.leaks_by_target
            leaked = [leak.route_target for leak in vrf.leaks] if by_target else []
            self.put("imports", name, frozenset({vrf.route_target, *vrf.imports, *leaked}))
            self.put("leaks", name, frozenset(self.vrf(leak.source) for leak in vrf.leaks if not by_target) or None)
            imported, advertised = self.policies.leaked(vrf)
            self.put("leaked", name, frozenset(one.name for one in imported) or None)
            self.put("advertised", name, frozenset(one.name for one in advertised) or None)
            self.put("exports", name, frozenset({vrf.route_target}))
            if self.idiom.l3_svi and overlay and overlay.vtep:
                svi = Subject(self.idiom.svi.format(vrf.vlan))
                self.put("vrf", svi, self.vrf(vrf.name))
                self.put("mtu", svi, overlay.mtu)
        for lag in view.lags:
            name = Subject(self.idiom.bond.format(lag.number))
            self._vlans(name, lag.untagged, lag.tagged)
            self.put("mtu", name, self._layer2_mtu)
            self._frame(name, self._tenant_mtu, self.idiom.bridge_bytes)
            self.put("esi", name, lag.esi if target(view.device.nos).capabilities.multihoming == "esi" else None)
        if overlay is None or overlay.vtep is None:
            return
        stated = self.idiom.own_vtep or overlay.sessions or view.networks  # else it is the source of its sessions
        if stated and (view.networks or any(vrf.vni for vrf in view.vrfs) or not self.idiom.vtep_of_vni):
            self.put("vtep", DEVICE, overlay.vtep if self.idiom.own_vtep else view.router_id)
        self.put("vnis", DEVICE, frozenset(network.vni for network in view.networks) or None)
        for network in view.networks:
            name, svi = Subject(str(network.vni), "VNI"), Subject(self.idiom.svi.format(network.vlan))
            self.put("", name, True)
            self.put("vlan", name, network.vlan)
            self.put("rd", name, network.rd if self.idiom.network_rd else None)
            self.put("imports", name, frozenset({network.route_target}))
            self.put("exports", name, frozenset({network.route_target}))
            if network.gateway:
                self.put("gateways", svi, frozenset({network.gateway}))
                self.put("relays", svi, frozenset(network.relay) or None)
                self.put("vrf", svi, self.vrf(network.vrf))
                self.put("mtu", svi, overlay.mtu)
                if self.idiom.own_gateway and network.own_address:
                    self.put("addresses", svi, frozenset({network.own_address}))
        if any(network.gateway for network in view.networks):
            self.put("anycast_mac", DEVICE, overlay.anycast_mac)

    def _prefix_lists(self) -> None:
        for one in self.policies.lists():
            self.put("prefixes", Subject(one.name, "prefix list"), self.policies.entries(one))


def _named(name, view: SwitchView, port: Port) -> str:  # type: ignore[no-untyped-def]
    return str(name(view.model, port.ref, view.device.model))
