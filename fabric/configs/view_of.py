"""Makes the view of a switch from a plan's columns."""

from __future__ import annotations

import socket
import struct
from collections.abc import Sequence
from functools import cached_property
from ipaddress import IPv6Address, ip_address

from netaddr import IPNetwork

from fabric.catalog.models import SwitchModel
from fabric.plan.devices import ATTACHED, CORE, LEAF, SERVER, SPINE, Device
from fabric.plan.links import ATTACHMENT, KINDS, LEAF_LEAF, LEAF_SPINE, SERVER_LEAF, SPINE_CORE
from fabric.plan.plan import FabricPlan, Plan
from fabric.plan.ports import Peer, Port, PortRef, Session
from fabric.plan.views import Management, SwitchView, Underlay
from fabric.planner.addresses import planned_routes
from fabric.planner.coordinates import nic_name
from fabric.planner.layouts import core_downlinks, leaf_layout, spine_downlinks, spine_layout
from fabric.planner.ports import Slot
from fabric.planner.spec import GroupSpec

_FABRIC_KINDS = (LEAF_LEAF, LEAF_SPINE, SPINE_CORE)


class Views:
    """The views of one fabric's switches. `mtu_limit` is the largest IP MTU that its network OSes all do."""

    def __init__(self, plan: Plan, fabric: FabricPlan, mtu_limit: int = 9216) -> None:
        self.plan, self.fabric, self.mtu_limit = plan, fabric, mtu_limit
        self.columns = fabric.links.lists()
        self.subnet = fabric.subnet.tolist()
        self.unnumbered = fabric.spec.intent.underlay.addressing == "unnumbered"
        self.v6 = fabric.spec.intent.underlay.addressing == "ipv6"

    def of(self, device: Device) -> SwitchView:
        """The view of one switch."""
        fabric = self.fabric
        ports = self._ports(device)
        return SwitchView(
            site=self.plan.site,
            fabric=fabric.name,
            device=device,
            model=self.models[device.role],
            ports=ports,
            sessions=tuple(self._session(port) for port in ports if port.kind == "fabric" and port.peer),
            aggregates=self._aggregates(device),
            router_id=ipv4(int(fabric.loopback[device.index])),
            loopback=f"{ipv4(int(fabric.loopback[device.index]))}/32",
            loopback6=f"{IPv6Address(int(fabric.loopback6[device.index]))}/128" if self.v6 else None,
            underlay=self.underlay,
            management=self._management(device),
        )

    @cached_property
    def models(self) -> dict[str, SwitchModel]:
        spec = self.fabric.spec
        return {LEAF: spec.leaf.model, SPINE: spec.spine.model, CORE: spec.core.model}

    @cached_property
    def underlay(self) -> Underlay:
        intent, prefixes = self.fabric.spec.intent.underlay, self.fabric.prefixes
        return Underlay(
            family="ipv6" if self.v6 else "ipv4",
            unnumbered=self.unnumbered,
            mtu=min(intent.mtu, self.mtu_limit),
            keepalive_s=intent.keepalive_s,
            hold_s=intent.hold_s,
            bfd=intent.bfd.enabled,
            bfd_interval_ms=intent.bfd.interval_ms,
            bfd_multiplier=intent.bfd.multiplier,
            max_paths=self._max_paths(),
            max_prefix=intent.max_prefix or self._max_prefix(),
            loopback_prefixes=(*prefixes["loopback6" if self.v6 else "loopback"], *self._pinned_outside()),
            server_prefixes=prefixes["servers"],
        )

    def _pinned_outside(self) -> tuple[str, ...]:
        """Pinned loopbacks that lie in no pool: every switch must believe these too."""
        if self.v6:
            return ()
        nets = [IPNetwork(prefix) for prefix in self.fabric.prefixes["loopback"]]
        pinned = {pin.loopback for pin in self.fabric.spec.intent.pins.values() if pin.loopback}
        return tuple(f"{text}/32" for text in sorted(pinned) if not any(text in net for net in nets))

    def _max_prefix(self) -> int:
        """Twice the routes of the finished fabric, a loopback a switch and a prefix a leaf, in powers of two."""
        return max(12_000, 2 << max(0, planned_routes(self.fabric.sizing) - 1).bit_length())

    def _max_paths(self) -> int:
        """Equal paths that any switch may see: the uplinks of the widest leaf or spine, at least 64."""
        sizing = self.fabric.sizing
        return max(64, sizing.spine_uplinks, *(group.uplinks for group in sizing.groups))

    @cached_property
    def _management_net(self) -> tuple[IPNetwork, ...]:
        return tuple(IPNetwork(prefix) for prefix in self.fabric.prefixes["management"])

    def _management(self, device: Device) -> Management:
        intent = self.fabric.spec.intent.management or self.plan.intent.management
        number = int(self.fabric.management[device.index])
        net = next((net for net in self._management_net if net.first <= number <= net.last), None)
        address = ip_address(number)
        length = net.prefixlen if net is not None else address.max_prefixlen
        gateway = intent.gateway or (str(ip_address(net.first + 1)) if net is not None else None)
        return Management(
            address=f"{address}/{length}",
            gateway=gateway,
            vrf=intent.vrf,
            ntp=intent.ntp,
            syslog=intent.syslog,
            dns=intent.dns,
            timezone=intent.timezone,
            allow=intent.allow or tuple(str(net) for net in self._management_net),
            snmp_user=intent.snmp_user or "",
            gnmi=intent.gnmi,
            banner=intent.banner,
            admin_secret=f"${{{intent.secrets.admin}}}",
            snmp_auth_secret=f"${{{intent.secrets.snmp_auth}}}",
            snmp_priv_secret=f"${{{intent.secrets.snmp_priv}}}",
        )

    def _aggregates(self, device: Device) -> tuple[str, ...]:
        found = self.fabric.aggregate.get(device.index)
        return (f"{self._text(found[0])}/{found[1]}",) if found else ()

    def _text(self, number: int) -> str:
        return str(IPv6Address(number)) if self.v6 else ipv4(number)

    def _ports(self, device: Device) -> tuple[Port, ...]:
        """Every port of the box: the cabled ones, and what is left of broken-out and empty cages."""
        model, kept = self.models[device.role], self._kept(device)
        cabled: dict[int, list[Port]] = {}
        for link, end in self.fabric.links.of(device.index):
            port = self._port(link, end)
            cabled.setdefault(port.ref.cage, []).append(port)
        ports: list[Port] = []
        for cage in range(1, model.cages + 1):
            here = cabled.get(cage)
            if here is None:
                ports += kept.get(cage) or _empty_cage(model, cage)
                continue
            taken = {port.ref.sub: port for port in here}
            spare = {port.ref: port for port in kept.get(cage, ())}
            split, speed = here[0].ref.split, here[0].ref.speed_gbps
            for sub in range(split):
                ref = PortRef(cage, sub, split, speed)
                ports.append(taken.get(sub) or spare.get(ref) or Port(ref, "unused", None, 0))
        return tuple(ports)

    def _kept(self, device: Device) -> dict[int, list[Port]]:
        """Cage → the ports that the layout keeps in it; they are broken out now, so that growth touches no cage."""
        return self._layouts[device.role, device.group if device.role == LEAF else ""]

    @cached_property
    def _layouts(self) -> dict[tuple[str, str], dict[int, list[Port]]]:
        spec, sizing = self.fabric.spec, self.fabric.sizing
        found: dict[tuple[str, str], dict[int, list[Port]]] = {}
        for size in sizing.groups:
            layout = leaf_layout(spec, sizing, size)
            servers, spare = layout.down[: size.down], layout.down[size.down :]
            uplink = "for a spine" if sizing.spines else "for the other leaf"
            found[LEAF, size.name] = _reserved(
                (servers, "for a server"), (spare, "as a spare server port"), (layout.up, uplink)
            )
        found[SPINE, ""] = found[CORE, ""] = {}
        if sizing.tiers == 2:
            found[SPINE, ""] = _reserved((spine_downlinks(spec, sizing), "for a leaf"))
        elif sizing.tiers == 3:
            layout = spine_layout(spec, sizing)
            found[CORE, ""] = _reserved((core_downlinks(spec, sizing), "for a spine"))
            found[SPINE, ""] = _reserved((layout.down, "for a leaf"), (layout.up, "for a core"))
        return found

    def _port(self, link: int, end: int) -> Port:
        columns, fabric = self.columns, self.fabric
        own, far = ("a", "b") if end == 0 else ("b", "a")
        kind = columns["kind"][link]
        ref = self._ref(link, own)
        device = fabric.devices[columns[far][link]]
        address = peer_address = None
        low = self.subnet[link]
        if low >= 0:
            # The lower switch has the first address: on server links that is the leaf, the upper end.
            first = end == (1 if kind in (SERVER_LEAF, ATTACHMENT) else 0)
            address = f"{self._text(low if first else low + 1)}/{fabric.subnet_length}"
            peer_address = self._text(low + 1 if first else low)
        fabric_link = kind in _FABRIC_KINDS
        return Port(
            ref=ref,
            kind="fabric" if fabric_link else "server" if kind == SERVER_LEAF else "attachment",
            peer=Peer(
                device,
                self.models.get(device.role),
                self._ref(link, far) if fabric_link else None,
                self._port_name(device, link),
            ),
            length_m=self._lengths[kind],
            address=address,
            peer_address=peer_address,
            link_local=self.unnumbered and fabric_link,
        )

    def _ref(self, link: int, end: str) -> PortRef:
        columns = self.columns
        return PortRef(
            columns[f"{end}_cage"][link],
            columns[f"{end}_sub"][link],
            columns[f"{end}_split"][link],
            columns["speed_gbps"][link],
        )

    def _port_name(self, device: Device, link: int) -> str:
        """A port of a box that is no switch: of a server's NIC, or `port3` of an attached box."""
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
        lengths = self.fabric.spec.intent.topology.cable_length_m.model_dump(by_alias=True)
        return tuple(int(lengths[kind]) for kind in KINDS)

    def _session(self, port: Port) -> Session:
        assert port.peer is not None
        return Session(port, port.peer.device, port.peer.device.asn, port.peer_address)


def _reserved(*runs: tuple[Sequence[Slot], str]) -> dict[int, list[Port]]:
    """Cage → every port of it, for cages that a layout uses, each with what it is kept for."""
    found: dict[int, list[Port]] = {}
    for slots, purpose in runs:
        for slot in slots:
            ref = PortRef(slot.cage, slot.sub, slot.split, slot.speed_gbps)
            found.setdefault(slot.cage, []).append(Port(ref, "unused", None, 0, reserved=purpose))
    for ports in found.values():  # the last cage of a run may have ports that nobody asked for
        first = ports[0].ref
        for sub in range(len(ports), first.split):
            ports.append(Port(PortRef(first.cage, sub, first.split, first.speed_gbps), "unused", None, 0))
    return found


def _empty_cage(model: SwitchModel, cage: int) -> list[Port]:
    """An empty cage stays one port where it can, else the ports of its first split."""
    splits = model.group_of(cage).splits
    speed, split = max(splits.items())
    return [Port(PortRef(cage, sub, split, speed), "unused", None, 0) for sub in range(split)]


def ipv4(number: int) -> str:
    """An IPv4 address as text; twice as fast as the ipaddress module, and a plan has hundreds of thousands."""
    return socket.inet_ntoa(struct.pack("!I", number))
