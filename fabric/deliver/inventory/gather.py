"""The records of a plan: several fabrics that share servers become one set of devices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

from fabric.base.formats import yaml
from fabric.base.grouping import grouped_sets
from fabric.base.text import listed
from fabric.configs.port_names import PortNames, far_port_name
from fabric.configs.site_files import addresses
from fabric.configs.targets import mtu_limit
from fabric.deliver.cabling.ends import CageData, Ends, ends
from fabric.deliver.cabling.runs import Runs, runs
from fabric.deliver.inventory.records import (
    LOOPBACK,
    MANAGEMENT,
    PORT,
    Address,
    Asn,
    DeviceRecord,
    Inventory,
    Model,
    Port,
    Prefix,
    Vlan,
    Vni,
    Vrf,
    Wire,
)
from fabric.design.floor.floor import Floor, floor
from fabric.hardware.catalog import media
from fabric.hardware.catalog.media import Fibre
from fabric.model.plan import ATTACHED, SERVER, SWITCH_ROLES, Device, FabricPlan, FarPort, Plan, port_vlans
from fabric.nos.target import target

_DATA = Path(__file__).parent / "data" / "words.yaml"
_UNKNOWN = "unknown"  # maker or model of a device of which the plan has only the name
_IN_TABLES = ("evpn", "vrf-lite")  # tenancies in which a tenant's ports are in a VRF


@cache
def words() -> dict[str, Any]:
    """Names and choices that no plan has."""
    data: dict[str, Any] = yaml.read(_DATA)
    return data


def inventory(plan: Plan) -> Inventory:
    """All records for a source of truth. Raises InputError where the floor or the media are not possible."""
    stands = floor(plan)
    cables = runs(plan, stands)
    views = [_Fabric(plan, fabric, stands, cables) for fabric in plan.fabrics.values()]
    ports = _once((port for view in views for port in view.ports()), lambda port: (port.device, port.name))
    records = _devices(views)
    return Inventory(
        site=plan.site,
        rack_units=stands.units,
        racks=tuple(rack.name for rack in stands.racks),
        models=tuple(_models(plan, views, records, ports)),
        devices=records,
        ports=ports,
        wires=tuple(wire for view in views for wire in view.wires()),
        addresses=_once(
            (address for view in views for address in view.addresses()), lambda address: (address.text, address.vrf)
        ),
        prefixes=_once(
            (address for view in views for address in view.prefixes()), lambda address: (address.text, address.vrf)
        ),
        asns=_asns(views),
        tenants=tuple(dict.fromkeys(tenant.name for view in views for tenant in view.fabric.tenancy.tenants)),
        vrfs=tuple(address for view in views for address in view.vrfs()),
        vlans=tuple(address for view in views for address in view.vlans()),
        vnis=tuple(address for view in views for address in view.vnis()),
    )


def _once(rows: Iterable[Any], key: Any) -> tuple[Any, ...]:
    """The first of each; fabrics of a site share pools and servers."""
    found: dict[Any, Any] = {}
    for row in rows:
        found.setdefault(key(row), row)
    return tuple(found.values())


def _port_type(form: str, speed_gbps: int) -> str:
    types = words()["port_types"]
    return str(types.get(form, {}).get(speed_gbps) or types[""].get(speed_gbps, "other"))


class _Fabric:
    """The records of one fabric."""

    def __init__(self, plan: Plan, fabric: FabricPlan, stands: Floor, cables: Runs) -> None:
        self.plan, self.fabric, self.floor, self.cables = plan, fabric, stands, cables
        self.names = PortNames(fabric)
        self.columns = fabric.links.lists()
        self.tenancy = fabric.tenancy
        self.port_of = tuple(self._port_names(end) for end in "ab")
        self.vrf_of_link = self._vrfs_of_links()

    def _port_names(self, end: str) -> list[str]:
        """Port names of the network OS, or the plan's labels where it has none."""
        label, own = self.names.columns(end)
        devices, index = self.fabric.devices, self.columns[end]
        return [
            mine or (f"port{text}" if devices[at].role == ATTACHED else text)
            for at, text, mine in zip(index, label.tolist(), own.tolist(), strict=True)
        ]

    def _vrfs_of_links(self) -> list[str]:
        owned = self.tenancy.kind in _IN_TABLES
        names = [self._vrf(tenant.name) for tenant in self.tenancy.tenants]
        return [names[owner] if owned and owner >= 0 else "" for owner in self.tenancy.owner.tolist()]

    def _vrf(self, tenant: str) -> str:
        below = self.fabric.spec.below
        return f"{below.fabric if below else self.fabric.name}-{tenant}"

    def maker(self, device: Device) -> tuple[str, str]:
        """Maker and model."""
        if device.role in SWITCH_ROLES:
            return self.names.models[device.role].maker or _UNKNOWN, device.model
        group = next((group for group in self.fabric.spec.groups if group.name == device.group), None)
        return (group.server.maker or _UNKNOWN, group.model) if group else (_UNKNOWN, "appliance")

    def record(self, device: Device) -> DeviceRecord:
        spot = self.floor.spots[device.name]
        maker, model = self.maker(device)
        management = self._management(device) if device.role in SWITCH_ROLES else ""
        rack = self.floor.racks[spot.rack].name
        return DeviceRecord(
            name=device.name,
            role=device.role,
            maker=maker,
            model=model,
            platform=device.nos,
            rack=rack,
            ru=spot.ru,
            tenant="",
            management=management,
        )

    def _management(self, device: Device) -> str:
        address = ip_address(int(self.fabric.management[device.index]))
        nets = [ip_network(text) for text in self.fabric.prefixes["management"]]
        net = next((net for net in nets if address in net), None)
        length = self.fabric.manage.get(str(net), (0, net.prefixlen if net else address.max_prefixlen))[1]
        return f"{address}/{length}"

    def ports(self) -> Iterator[Port]:
        yield from self._own_ports()
        mtu = min(self.fabric.spec.underlay.mtu, mtu_limit(self.fabric)) if self.fabric.spec.ethernet else 0
        yield from self._uplinks(mtu)
        layered, both = self.tenancy.bridged.tolist(), (ends(self.fabric, "a"), ends(self.fabric, "b"))
        devices = self.fabric.devices
        for link, speed in enumerate(self.columns["speed_gbps"]):
            indices = self.columns["a"][link], self.columns["b"][link]
            for end in (1,) if link in self.fabric.stood_for else (0, 1):
                device, far = devices[indices[end]], devices[indices[1 - end]]
                server = device.role in (SERVER, ATTACHED)
                untagged, tagged = self._vlans_of(link) if layered[link] and not server else (0, ())
                yield Port(
                    device=device.name,
                    name=self.port_of[end][link],
                    what=PORT,
                    type=self._type(both[end], link, speed),
                    speed_gbps=speed,
                    mtu=0 if server else mtu,
                    description=f"{(far if end == 0 else self.fabric.lower_end(link)).name} {self.port_of[1 - end][link]}",
                    vrf="" if server or layered[link] else self.vrf_of_link[link],
                    untagged=untagged,
                    tagged=tagged,
                    fabric=self.fabric.name,
                )

    def _uplinks(self, mtu: int) -> Iterator[Port]:
        """Ports to the fabric above, which has their cables."""
        rows = CageData(self.fabric.spec)
        for uplink in self.fabric.uplinks:
            device, far = self.fabric.devices[uplink.device], uplink.far
            assert far is not None
            _, module, _ = rows.of_switch(self.fabric.spec.leaf.model, device.model, uplink.ref)
            untagged, tagged = port_vlans(self.tenancy.tenants[0].networks)
            name, far_name = (
                far_port_name(its) or f"{its.ref.cage}"
                for its in (FarPort(device, uplink.ref, self.fabric.spec.leaf.model), far)
            )
            yield Port(
                device=device.name,
                name=name,
                what=PORT,
                type=_port_type(module.form, uplink.ref.speed_gbps),
                speed_gbps=uplink.ref.speed_gbps,
                mtu=mtu,
                description=f"{far.device.name} {far_name}",
                untagged=untagged,
                tagged=tagged,
                fabric=self.fabric.name,
            )

    def _own_ports(self) -> Iterator[Port]:
        """Loopbacks and the management port of every switch with a network OS."""
        for device in self.fabric.switches:
            if device.nos:
                name = self._word("management", device)
                yield Port(
                    device=device.name, name=name, what=MANAGEMENT, type="1000base-t", speed_gbps=1, mtu=0, description=""
                )
                yield Port(
                    device=device.name,
                    name=self._word("loopback", device),
                    what=LOOPBACK,
                    type="virtual",
                    speed_gbps=0,
                    mtu=0,
                    description="",
                )
                if device.index in self.tenancy.vtep:
                    yield Port(
                        device=device.name,
                        name=self._word("vtep", device),
                        what=LOOPBACK,
                        type="virtual",
                        speed_gbps=0,
                        mtu=0,
                        description="VTEP",
                    )

    @staticmethod
    def _word(what: str, device: Device) -> str:
        """A port that is no front-panel port, as its network OS calls it."""
        idiom = target(device.nos).idiom
        return what if idiom is None else str(getattr(idiom, what))

    def _vlans_of(self, link: int) -> tuple[int, tuple[int, ...]]:
        networks = self.tenancy.networks(link)
        return port_vlans(networks) if networks else (0, ())

    def _type(self, end: Ends, link: int, speed: int) -> str:
        if not self.fabric.spec.ethernet:
            return str(words()["infiniband"].get(speed, "other"))
        return _port_type(end.modules[int(end.module[link])].form, speed)

    def wires(self) -> Iterator[Wire]:
        leg, devices = self.cables.leg[self.fabric.name].tolist(), self.fabric.devices
        for link, row in enumerate(leg):
            yield Wire(
                (self.fabric.lower_end(link).name, self.port_of[0][link]),
                (devices[self.columns["b"][link]].name, self.port_of[1][link]),
                cable_type(self.cables.medium[row]),
                float(self.cables.length_m[row]),
                self.cables.cable[row],
            )

    def addresses(self) -> Iterator[Address]:
        yield from self._own_addresses()
        devices = self.fabric.devices
        layered = self.tenancy.bridged.tolist()
        for end, column in enumerate(addresses(self.fabric)):
            for link, text in enumerate(column):
                if text and not layered[link]:
                    name = devices[self.columns["ab"[end]][link]].name
                    yield Address(
                        f"{text}/{self.fabric.link_length(link)}", name, self.port_of[end][link], self.vrf_of_link[link], ""
                    )
        for (at, n), hosts in sorted(self.tenancy.hosts.items()):
            tenant = self.tenancy.tenants[at]
            network, vrf = tenant.networks[n], self._vrf(tenant.name)
            for link, number in sorted(hosts.items()):
                name = devices[self.columns["a"][link]].name
                yield Address(f"{ip_address(number)}/{network.length}", name, self.port_of[0][link], vrf, "")

    def _own_addresses(self) -> Iterator[Address]:
        v6 = self.fabric.spec.underlay.addressing == "ipv6"
        for device in self.fabric.switches:
            if not device.nos:
                continue
            yield Address(self._management(device), device.name, self._word("management", device), "", "")
            loopback = self._word("loopback", device)
            yield Address(_host(int(self.fabric.loopback[device.index])), device.name, loopback, "", "loopback")
            if v6:
                yield Address(_host(int(self.fabric.loopback6[device.index])), device.name, loopback, "", "loopback")
            if (vtep := self.tenancy.vtep.get(device.index)) is not None:
                yield Address(_host(vtep), device.name, self._word("vtep", device), "", "loopback")
        for tenant in self.tenancy.tenants:
            for network in tenant.networks:
                if network.gateway is not None:
                    gateway = f"{ip_address(network.gateway)}/{network.length}"
                    yield Address(gateway, "", "", self._vrf(tenant.name), "anycast")

    def prefixes(self) -> Iterator[Prefix]:
        """Pools that something is taken from, then what is cut out of them."""
        underlay = self.fabric.spec.underlay
        used = {"management": True, "loopback": True, "loopback6": underlay.addressing == "ipv6"}
        used |= {"vtep": bool(self.tenancy.vtep), "p2p": underlay.addressing != "unnumbered", "servers": True}
        for kind, prefixes in self.fabric.prefixes.items():
            if used.get(kind) and (self.fabric.spec.ethernet or kind == "management"):
                yield from (Prefix(text, f"{kind} pool", kind in ("p2p", "servers"), "") for text in prefixes)
        if self.tenancy.kind not in _IN_TABLES or not self.tenancy.tenants:
            for index, (first, length) in sorted(self.fabric.aggregate.items()):
                name = self.fabric.devices[index].name
                yield Prefix(f"{ip_address(first)}/{length}", f"servers of {name}", True, "")
        for tenant in self.tenancy.tenants:
            for network in tenant.networks:
                if network.gateway is not None:
                    text = f"{ip_address(network.subnet)}/{network.length}"
                    yield Prefix(text, f"network {network.name}", False, self._vrf(tenant.name))

    def vrfs(self) -> Iterator[Vrf]:
        """Of tenants in tables of their own, and of every tenant that has layer-2 networks with addresses."""
        for tenant in self.tenancy.tenants:
            if self.tenancy.kind in _IN_TABLES or tenant.networks:
                yield Vrf(self._vrf(tenant.name), tenant.name, self.fabric.name)

    def vlans(self) -> Iterator[Vlan]:
        for tenant in self.tenancy.tenants:
            for network in tenant.networks:
                yield Vlan(self.fabric.name, network.vlan, f"{tenant.name}-{network.name}", tenant.name)

    def vnis(self) -> Iterator[Vni]:
        if self.tenancy.kind != "evpn":
            return
        for tenant in self.tenancy.tenants:
            name = self._vrf(tenant.name)
            yield Vni(name, tenant.vni, tenant.name, self.fabric.name, 0)
            for network in tenant.networks:
                yield Vni(f"{name}-{network.name}", network.vni, tenant.name, self.fabric.name, network.vlan)

    def tenants_of_servers(self) -> Iterator[tuple[str, str]]:
        """Server and tenant of every link that has one."""
        owners, devices = self.tenancy.owner.tolist(), self.fabric.devices
        for link, owner in enumerate(owners):
            device = devices[self.columns["a"][link]]
            if owner >= 0 and device.role == SERVER:
                yield device.name, self.tenancy.tenants[owner].name


def _devices(views: list[_Fabric]) -> tuple[DeviceRecord, ...]:
    """Every device once; a server belongs to a tenant if all its links that have a tenant have that one."""
    tenants = grouped_sets((server, tenant) for view in views for server, tenant in view.tenants_of_servers())
    devices: dict[str, DeviceRecord] = {}
    places: set[tuple[str, int]] = set()
    for view in views:
        for device in view.fabric.devices:
            if device.name in devices or device.name in view.fabric.leaves_below:
                continue
            record = view.record(device)
            owners = tenants.get(device.name, set())
            shared = (record.rack, record.ru) in places  # trays of one machine: the floor gives them one place
            places.add((record.rack, record.ru))
            tenant = min(owners) if len(owners) == 1 else ""
            devices[record.name] = replace(record, ru=0 if shared else record.ru, tenant=tenant)
    return tuple(devices.values())


def _models(plan: Plan, views: list[_Fabric], records: tuple[DeviceRecord, ...], ports: tuple[Port, ...]) -> Iterator[Model]:
    """Every model, with the ports that all devices of the model have in common."""
    kind = {record.name: (record.maker, record.model) for record in records}
    heights = {kind[name]: spot.height for view in views for name, spot in view.floor.spots.items() if name in kind}
    ports_of: dict[str, dict[str, str]] = {name: {} for name in kind}
    for port in ports:
        if port.what != LOOPBACK:
            ports_of[port.device][port.name] = port.type
    common: dict[tuple[str, str], dict[str, str]] = {}
    for name, mine in ports_of.items():
        shared = common.setdefault(kind[name], mine)
        if shared is not mine:
            common[kind[name]] = {port: type_ for port, type_ in shared.items() if mine.get(port) == type_}
    for maker, name in sorted(common):
        yield Model(maker, name, heights[maker, name], tuple(common[maker, name].items()))


def _asns(views: list[_Fabric]) -> tuple[Asn, ...]:
    holders: dict[int, list[str]] = {}
    for view in views:
        for device in view.fabric.switches:
            if device.asn:
                holders.setdefault(device.asn, []).append(device.name)
        for connection in view.tenancy.external_connections:
            if connection.name not in holders.setdefault(connection.asn, []):
                holders[connection.asn].append(connection.name)
    return tuple(Asn(number, listed(names, 1)) for number, names in sorted(holders.items()))


def _host(number: int) -> str:
    address = ip_address(number)
    return f"{address}/{address.max_prefixlen}"


@cache
def cable_type(medium: str) -> str:
    """The class of a medium as the systems spell it."""
    if not medium:
        return ""
    bought = media.bought(medium)
    return str(words()["cable_types"][bought.fibre if isinstance(bought, Fibre) else bought.class_])
