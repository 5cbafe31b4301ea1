"""Makes the view of a switch from a plan's columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property, lru_cache
from ipaddress import IPv6Address, ip_address

from netaddr import IPNetwork

from fabric.base.text import ipv4
from fabric.configs.port_names import far_port_name
from fabric.configs.targets import balances_by_load, mtu_limit
from fabric.configs.tenant_views import TenantViews
from fabric.hardware.catalog.models import SwitchModel
from fabric.model.plan import (
    ATTACHED,
    BETWEEN_SWITCHES,
    CORE,
    KINDS,
    LEAF,
    PEER_LINK,
    SERVER,
    SERVER_LEAF,
    SPINE,
    VXLAN_BYTES,
    Aaa,
    Balancing,
    Device,
    FabricPlan,
    GroupSpec,
    LoginMethod,
    Lossless,
    Management,
    Peer,
    Plan,
    Port,
    PortRef,
    RoleLossless,
    Session,
    Slot,
    SpeedAndLength,
    SwitchView,
    Underlay,
    Uplink,
    core_downlinks,
    leaf_layout,
    nic_name,
    of_nics,
    port_vlans,
    spine_downlinks,
    spine_layout,
)
from fabric.model.plan.spec import STORAGE
from fabric.model.plan.views import disabled_cages
from fabric.model.settings.services import METHODS, Aaa as StatedAaa
from fabric.nos.target import management_port, target

_TIER = {LEAF: 0, SPINE: 1, CORE: 2}  # added to the hash seed


class Views:
    """The views of one fabric's switches. `mtu_limit` is the largest IP MTU that all its network OSes support."""

    def __init__(self, plan: Plan, fabric: FabricPlan, mtu_limit: int = 9216) -> None:
        self.plan, self.fabric, self.mtu_limit = plan, fabric, mtu_limit
        self.columns = fabric.links.lists()
        self.subnet, self.first_end = fabric.subnet.tolist(), fabric.first_end.tolist()
        self.unnumbered = fabric.spec.underlay.addressing == "unnumbered"
        self.v6 = fabric.spec.underlay.addressing == "ipv6"

    def of(self, device: Device) -> SwitchView:
        """The view of one switch."""
        fabric, tenants = self.fabric, self.tenants
        cabled, ports = self._ports(device)
        router_id = ipv4(int(fabric.loopback[device.index]))
        lossless = self._lossless(device)
        return SwitchView(
            site=self.plan.site,
            fabric=fabric.name,
            device=device,
            model=self.models[device.role],
            ports=ports,
            sessions=tuple(self._session(port) for port in ports if port.kind == "fabric" and port.peer),
            aggregates=self._aggregates(device),
            router_id=router_id,
            loopback=f"{router_id}/32",
            loopback6=f"{IPv6Address(int(fabric.loopback6[device.index]))}/128" if self.v6 else None,
            underlay=self.underlay,
            management=self._management(device),
            balancing=self._balancing(device),
            release=self._release(device),
            qos=lossless.qos if lossless else None,
            overlay=tenants.overlay(device, self._loopback),
            vrfs=tenants.vrfs(device, router_id, ports),
            networks=tenants.networks(device, router_id, ports),
            lags=tenants.lags(device, ports),
            pair=tenants.pair(device, ports, self._loopback, self._manage, one_vtep=self._multihoming(device) == "vpc"),
            externals=tenants.externals(cabled),
            acls=tenants.acls(ports),
        )

    @cached_property
    def tenants(self) -> TenantViews:
        return TenantViews(self.fabric, self._text, self.underlay.mtu)

    def _loopback(self, index: int) -> str:
        return ipv4(int(self.fabric.loopback[index]))

    def _manage(self, index: int) -> str:
        return str(ip_address(int(self.fabric.management[index])))

    def _multihoming(self, device: Device) -> str:
        return target(device.nos).capabilities.multihoming if device.nos else ""

    def _lossless(self, device: Device) -> RoleLossless | None:
        """The lossless class, where the fabric has one and the switch can do it."""
        if self.fabric.lossless is None or not self._can(device, "lossless"):
            return None
        return self.fabric.lossless.of(device.role, device.group)

    def _can(self, device: Device, what: str) -> bool:
        return bool(device.nos) and target(device.nos).can(self.models[device.role], what)

    def _balancing(self, device: Device) -> Balancing:
        seed = self.fabric.spec.underlay.load_balancing.seed + _TIER[device.role]
        return Balancing(seed, balances_by_load(self.fabric, device.nos, device.role))

    def _release(self, device: Device) -> str:
        return self.fabric.spec.release(device.nos)

    @cached_property
    def models(self) -> dict[str, SwitchModel]:
        spec = self.fabric.spec
        return {LEAF: spec.leaf.model, SPINE: spec.spine.model, CORE: spec.core.model}

    @cached_property
    def underlay(self) -> Underlay:
        stated, prefixes, below = self.fabric.spec.underlay, self.fabric.prefixes, self.fabric.spec.below
        limit = self.mtu_limit
        if below is not None:  # what the ports above have, whose packets travel inside VXLAN
            above = self.plan.fabrics[below.fabric]
            limit = min(limit, min(above.spec.underlay.mtu, mtu_limit(above)) - VXLAN_BYTES)
        return Underlay(
            family="ipv6" if self.v6 else "ipv4",
            unnumbered=self.unnumbered,
            mtu=min(stated.mtu, limit),
            keepalive_s=stated.keepalive_s,
            hold_s=stated.hold_s,
            bfd=stated.bfd.enabled,
            bfd_interval_ms=stated.bfd.interval_ms,
            bfd_multiplier=stated.bfd.multiplier,
            max_paths=self._max_paths(),
            max_prefix=stated.max_prefix or self._max_prefix(),
            loopback_prefixes=(
                *prefixes["loopback6" if self.v6 else "loopback"],
                *self._pinned_outside(),
                *(prefixes["vtep"] if self.fabric.tenancy.kind == "evpn" else ()),
            ),
            server_prefixes=() if self._tables_of_their_own else prefixes["servers"],
            outside=self._outside,
        )

    @property
    def _outside(self) -> tuple[str, ...]:
        """Prefixes that border leaves accept into the default VRF."""
        return tuple(
            dict.fromkeys(
                text
                for connection in self.fabric.tenancy.external_connections
                if connection.tenant < 0
                for text in connection.accepts
            )
        )

    def _pinned_outside(self) -> tuple[str, ...]:
        """Pinned loopbacks outside the pools: every switch must accept these as well."""
        if self.v6:
            return ()
        nets = [IPNetwork(prefix) for prefix in self.fabric.prefixes["loopback"]]
        pinned = {pin.loopback for pin in self.fabric.spec.pins.values() if pin.loopback}
        return tuple(f"{text}/32" for text in sorted(pinned) if not any(text in net for net in nets))

    def _max_prefix(self) -> int:
        """Twice the routes of the finished fabric (one loopback per switch, one prefix per leaf), as a power of two."""
        return max(12_000, 2 << max(0, self.fabric.sizing.planned_routes - 1).bit_length())

    def _max_paths(self) -> int:
        """Most equal-cost paths of a switch: the uplinks of the widest leaf or spine, at least 64."""
        sizing = self.fabric.sizing
        return max(64, sizing.spine_uplinks, *(group.uplinks for group in sizing.groups))

    @cached_property
    def _management_net(self) -> tuple[IPNetwork, ...]:
        return tuple(IPNetwork(prefix) for prefix in self.fabric.prefixes["management"])

    def _management(self, device: Device) -> Management:
        stated = self.fabric.spec.management
        number = int(self.fabric.management[device.index])
        net = next((net for net in self._management_net if net.first <= number <= net.last), None)
        address = ip_address(number)
        first, length = (net.first + 1, net.prefixlen) if net is not None else (0, address.max_prefixlen)
        first, length = self.fabric.manage.get(str(net), (first, length))  # a pool may lie in a larger network
        gateway = stated.gateway or (str(ip_address(first)) if net is not None else None)
        return Management(
            address=f"{address}/{length}",
            gateway=gateway,
            vrf=stated.vrf,
            ntp=stated.ntp,
            syslog=stated.syslog,
            dns=stated.dns,
            timezone=stated.timezone,
            allow=stated.allow or tuple(str(net) for net in self._management_net),
            snmp_user=stated.snmp_user or "",
            gnmi=stated.gnmi,
            banner=stated.banner,
            admin_secret=f"${{{stated.secrets.admin}}}",
            snmp_auth_secret=f"${{{stated.secrets.snmp_auth}}}",
            snmp_priv_secret=f"${{{stated.secrets.snmp_priv}}}",
            aaa=_aaa(stated.aaa) if stated.aaa else None,
        )

    @property
    def _tables_of_their_own(self) -> bool:
        """Whether server subnets are in the VRFs of tenants, and the default VRF has loopbacks only."""
        tenancy = self.fabric.tenancy
        return bool(tenancy.tenants) and tenancy.kind in ("evpn", "vrf-lite", "bridged")

    def _aggregates(self, device: Device) -> tuple[str, ...]:
        found = None if self._tables_of_their_own else self.fabric.aggregate.get(device.index)
        return (f"{self._text(found[0])}/{found[1]}",) if found else ()

    def _text(self, number: int) -> str:
        return str(IPv6Address(number)) if self.v6 else ipv4(number)

    def _ports(self, device: Device) -> tuple[list[tuple[Port, int]], tuple[Port, ...]]:
        """The cabled ports with their links; and every port of the switch: those and the ports of the other cages."""
        lossless = self._lossless(device)
        cabled: dict[int, list[Port]] = {}
        linked: list[tuple[Port, int]] = []
        for link, end in self.fabric.links.of(device.index):
            port = self._port(link, end, lossless)
            linked.append((port, link))
            cabled.setdefault(port.ref.cage, []).append(port)
        ports: list[Port] = []
        for uplink in self.fabric.uplinks:
            if uplink.device == device.index:
                cabled.setdefault(uplink.ref.cage, []).append(self._uplink(uplink))
        for cage, empty in self._kept(device).items():
            in_cage = cabled.get(cage, empty)
            split, speed = in_cage[0].ref.split, in_cage[0].ref.speed_gbps
            if len(in_cage) == split:
                ports += in_cage
                continue
            taken = {port.ref.sub: port for port in in_cage}
            spare = {port.ref: port for port in empty}
            for sub in range(split):
                ref = PortRef(cage, sub, split, speed)
                ports.append(taken.get(sub) or spare.get(ref) or Port(ref=ref, kind="unused", peer=None, length_m=0))
        disabled = disabled_cages(self.models[device.role], ports)
        return linked, tuple(port for port in ports if port.peer or port.ref.cage not in disabled) if disabled else tuple(
            ports
        )

    def _kept(self, device: Device) -> dict[int, list[Port]]:
        """Cage → its ports without a cable: reserved ports already have their breakout, so that growth changes none."""
        return self._layouts[device.role, device.group if device.role == LEAF else ""]

    @cached_property
    def _layouts(self) -> dict[tuple[str, str], dict[int, list[Port]]]:
        spec, sizing = self.fabric.spec, self.fabric.sizing
        layouts: dict[tuple[str, str], dict[int, list[Port]]] = {}
        for size in sizing.leaf_groups:
            layout = leaf_layout(spec, sizing, size)
            servers, spare = layout.down[: size.down], layout.down[size.down :]
            uplink = "for a spine" if sizing.spines else "for the other leaf"
            layouts[LEAF, size.name] = _reserved(
                (servers, "for a server"), (spare, "as a spare server port"), (layout.up, uplink)
            )
        layouts[SPINE, ""] = layouts[CORE, ""] = {}
        if sizing.tiers == 2:
            layouts[SPINE, ""] = _reserved((spine_downlinks(spec, sizing), "for a leaf"))
        elif sizing.tiers == 3:
            layout = spine_layout(spec, sizing)
            layouts[CORE, ""] = _reserved((core_downlinks(spec, sizing), "for a spine"))
            layouts[SPINE, ""] = _reserved((layout.down, "for a leaf"), (layout.up, "for a core"))
        return {key: _every_cage(self.models[key[0]], ports) for key, ports in layouts.items()}

    def _port(self, link: int, end: int, lossless: RoleLossless | None) -> Port:
        columns, fabric = self.columns, self.fabric
        near, far = ("a", "b") if end == 0 else ("b", "a")
        kind = columns["kind"][link]
        ref = self._ref(link, near)
        device = fabric.devices[columns[far][link]]
        address = peer_address = None
        low = self.subnet[link]
        if low >= 0:
            first = end == self.first_end[link]
            address = f"{self._text(low if first else low + 1)}/{fabric.link_length(link)}"
            peer_address = self._text(low + 1 if first else low)
        fabric_link = kind in BETWEEN_SWITCHES
        below = self.fabric.below.get(link)
        port = Port(
            ref=ref,
            kind="fabric" if fabric_link else "server" if kind == SERVER_LEAF else "attachment",
            peer=Peer(
                below.device if below else device,
                below.model if below else self.models.get(device.role),
                self._ref(link, far) if fabric_link or below or kind == PEER_LINK else None,
                self._port_name(device, link),
            ),
            length_m=self._lengths[kind],
            address=address,
            peer_address=peer_address,
            link_local=self.unnumbered and fabric_link,
            lossless=self._class_of(lossless, link, (ref.speed_gbps, self._lengths[kind]), server=kind == SERVER_LEAF)
            if lossless and self._wants(device, link)
            else None,
            trusted=lossless is not None and link in self._storage and link in self._lossy,
        )
        return self.tenants.port(port, link, kind, end) if self._has_tenancy else port

    def _uplink(self, uplink: Uplink) -> Port:
        """A port to the fabric above, a trunk of all networks of the tenant; its far end is in the bond of a pair there."""
        far = uplink.far
        assert far is not None
        tenants = self.fabric.tenancy.tenants
        untagged, tagged = port_vlans(tenants[0].networks) if tenants else (0, ())
        return Port(
            ref=uplink.ref,
            kind="attachment",
            peer=Peer(far.device, far.model, far.ref, far_port_name(far)),
            length_m=uplink.length_m,
            untagged=untagged,
            tagged=tagged,
            lag=uplink.lag if tenants else 0,
        )

    @cached_property
    def _has_tenancy(self) -> bool:
        tenancy = self.fabric.tenancy
        return bool(tenancy.tenants or tenancy.external_connections)

    def _wants(self, device: Device, link: int) -> bool:
        """Whether a far end takes part in the lossless class: an attachment may opt out, TCP has no place in it."""
        if device.role != ATTACHED:
            return link not in self._lossy
        attachment = next(attachment for attachment in self.fabric.spec.attachments if attachment.name == device.name)
        return attachment.lossless is not False and attachment.external is None

    def _class_of(self, role: RoleLossless, link: int, place: SpeedAndLength, *, server: bool) -> Lossless | None:
        """The lossless values of a port: on a server's those of its NIC's class, on others those of all."""
        values, storage = role.ports.get(place), role.qos.storage
        if values is None or storage is None:
            return values
        own = (storage.priority if link in self._storage else role.qos.priority,)
        return self._with_priorities(values, own if server else role.qos.paused)

    @cached_property
    def _with_priorities(self) -> Callable[[Lossless, tuple[int, ...]], Lossless]:
        """One record for all ports that are alike: files are made by kinds of ports."""
        return cache(lambda values, priorities: replace(values, priorities=priorities))

    @cached_property
    def _storage(self) -> frozenset[int]:
        """Links of storage NICs, where they have a class of their own."""
        fabric = self.fabric
        if fabric.spec.qos.storage is None:
            return frozenset()
        of_storage = of_nics(fabric.spec, fabric.devices, fabric.links, lambda group, use: use.nics == STORAGE)
        return frozenset(of_storage.nonzero()[0].tolist())

    @cached_property
    def _lossy(self) -> frozenset[int]:
        """Links of NICs on free ports that RoCE does not run on."""
        if not self.fabric.spec.converged:
            return frozenset()
        fabric = self.fabric
        lossy = of_nics(fabric.spec, fabric.devices, fabric.links, fabric.spec.lossy)
        return frozenset(lossy.nonzero()[0].tolist())

    def _ref(self, link: int, end: str) -> PortRef:
        cage, sub, split, speed = self._places[end]
        return _port_ref(cage[link], sub[link], split[link], speed[link])

    @cached_property
    def _places(self) -> dict[str, tuple[list[int], ...]]:
        """The columns of the port at either end of a link."""
        columns, names = self.columns, ("cage", "sub", "split")
        return {end: (*(columns[f"{end}_{name}"] for name in names), columns["speed_gbps"]) for end in "ab"}

    def _port_name(self, device: Device, link: int) -> str:
        """A port of a device other than a switch: of a server's NIC, or `port3` of an attachment."""
        if switch := self.fabric.management_ports.get(link):
            return f"{switch.name} {management_port(switch)}"
        if far := self.fabric.below.get(link):
            return far_port_name(far)
        if device.role == ATTACHED:
            return f"port{self.columns['a_cage'][link]}"
        if device.role != SERVER:
            return ""
        nic, port = self.columns["a_cage"][link], self.columns["a_sub"][link]
        return nic_name(self._groups[device.group], nic, port)

    @cached_property
    def _groups(self) -> dict[str, GroupSpec]:
        return {group.name: group for group in self.fabric.spec.groups}

    @cached_property
    def _lengths(self) -> tuple[int, ...]:
        lengths = self.fabric.spec.length_m
        return tuple(int(lengths[kind]) for kind in KINDS)

    def _session(self, port: Port) -> Session:
        assert port.peer is not None
        return Session(port, port.peer.device, port.peer.device.asn, port.peer_address)


def _aaa(stated: StatedAaa) -> Aaa:
    """A usual port is no statement, as no network OS prints it."""
    methods = []
    for name in METHODS:
        servers = getattr(stated, name)
        if servers is not None:
            usual = type(servers).model_fields["port"].default
            methods.append(
                LoginMethod(
                    name=name,
                    servers=servers.servers,
                    secret=f"${{{servers.secret}}}",
                    port=0 if servers.port == usual else servers.port,
                    timeout_s=servers.timeout_s or 0,
                    base_dn=getattr(servers, "base_dn", ""),
                    bind_dn=getattr(servers, "bind_dn", ""),
                )
            )
    return Aaa(tuple(methods), stated.order, stated.accounting or "")


_port_ref = lru_cache(maxsize=4096)(PortRef)  # switches of a model have the same few


def _reserved(*runs: tuple[Sequence[Slot], str]) -> dict[int, list[Port]]:
    """Cage → every port of it, for cages that a layout uses, each with what it is kept for."""
    by_cage: dict[int, list[Port]] = {}
    for slots, purpose in runs:
        for slot in slots:
            ref = PortRef(slot.cage, slot.sub, slot.split, slot.speed_gbps)
            by_cage.setdefault(slot.cage, []).append(Port(ref=ref, kind="unused", peer=None, length_m=0, reserved=purpose))
    for ports in by_cage.values():  # the last cage of a run may have ports beyond the count
        first = ports[0].ref
        for sub in range(len(ports), first.split):
            ports.append(
                Port(ref=PortRef(first.cage, sub, first.split, first.speed_gbps), kind="unused", peer=None, length_m=0)
            )
    return by_cage


def _every_cage(model: SwitchModel, kept: Mapping[int, list[Port]]) -> dict[int, list[Port]]:
    """Cage → its ports, for the whole switch."""
    return {cage: kept.get(cage) or _empty_cage(model, cage) for cage in range(1, model.cages + 1)}


def _empty_cage(model: SwitchModel, cage: int) -> list[Port]:
    """An empty cage stays one port where it can, else the ports of its first split."""
    splits = model.group_of(cage).splits
    splits = {speed: split for speed, split in splits.items() if not model.is_wide(split)} or splits
    speed, split = max(splits.items())
    return [Port(ref=PortRef(cage, sub, split, speed), kind="unused", peer=None, length_m=0) for sub in range(split)]
