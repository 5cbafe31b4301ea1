"""How Nautobot calls the records. Source: Nautobot 3.2 REST API (nautobot/dcim, ipam, extras: models and choices).

Its core has no AS numbers, no RIRs and no L2VPNs; those of NetBox stay there. Every site has a namespace of its own, and
every tenant's VRF with subnets another one, so that neither sites nor tenants have to share an address plan.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from ipaddress import ip_interface, ip_network
from typing import Any

from fabric.deliver.inventory.engine import TAG
from fabric.deliver.inventory.gather import inventory, words
from fabric.deliver.inventory.netbox import COLOUR, device_fields, device_types, own_tag, port_fields
from fabric.deliver.inventory.records import Inventory, Item, Key, NameFilter, Port, Ref, Table, document
from fabric.model.plan import Plan

TITLE, TOKEN, URL = "Nautobot", "NAUTOBOT_TOKEN", "NAUTOBOT_URL"
PLACE = "Site"  # the location type of a site
ACTIVE, PLANNED = {"name": "Active"}, {"name": "Planned"}
TAGGED = (
    *("dcim.location", "dcim.rack", "dcim.devicetype", "dcim.device", "dcim.interface", "dcim.cable"),
    *("tenancy.tenant", "ipam.namespace", "ipam.vrf", "ipam.vlangroup", "ipam.vlan", "ipam.prefix", "ipam.ipaddress"),
)
ROLES = {"loopback": "Loopback", "anycast": "Anycast"}  # that every Nautobot has


def nautobot(plan: Plan) -> str:
    """`fabric export nautobot`: every object by endpoint, references by table and key."""
    tables = [table for table in nautobot_tables(inventory(plan)) if table.items and not table.patch]
    return document({table.endpoint.replace(".", "/"): [_body(item) for item in table.items] for table in tables})


def _body(item: Item) -> dict[str, Any]:
    return {name: _named(value) for name, value in {**item.fields, **item.once}.items()}


def _named(value: Any) -> Any:
    if isinstance(value, Ref):
        return {value.table: list(value.key)}
    return [_named(one) for one in value] if isinstance(value, list | tuple) else value


def tags(site: str) -> tuple[Ref, Ref]:
    """Tag of all that this tool makes, and of what is one site's alone."""
    return Ref("tags", (TAG,)), Ref("tags", (own_tag(site),))


def nautobot_tables(inventory: Inventory) -> list[Table]:
    """Every table in the order of making."""
    place = Ref("locations", (PLACE, inventory.site))
    spaces = _Spaces(inventory)
    return [
        *_organization(inventory, place),
        *_hardware(inventory),
        *_networks(inventory, spaces, place),
        *_devices(inventory, place),
        *_addresses(inventory, spaces, place),
    ]


def _simple(name: str, endpoint: str, names: Sequence[str], once: Mapping[str, Any] = {}, **more: Any) -> Table:
    return Table.of(name, endpoint, (("name", ""),), [Item((text,), {"name": text}, once) for text in names], **more)


def _organization(inventory: Inventory, place: Ref) -> Iterator[Table]:
    marks = [TAG, own_tag(inventory.site)]
    yield _simple("tags", "extras.tags", marks, {"color": COLOUR, "content_types": list(TAGGED)}, tagged=False)
    yield _simple("tenants", "tenancy.tenants", inventory.tenants)
    types = {"content_types": ["dcim.device", "dcim.rack", "ipam.prefix", "ipam.vlan", "ipam.vlangroup"]}
    yield _simple("kinds", "dcim.location_types", [PLACE], types, tagged=False)
    fields = {"location_type": Ref("kinds", (PLACE,)), "name": inventory.site}
    key = (("location_type", "kinds"), ("name", ""))
    yield Table.of("locations", "dcim.locations", key, [Item(place.key, fields, {"status": PLANNED})])
    racks = [
        Item((*place.key, name), {"location": place, "name": name, "u_height": inventory.rack_units}, {"status": ACTIVE})
        for name in inventory.racks
    ]
    find = [{"location": place}]
    yield Table.of("racks", "dcim.racks", (("location", "locations"), ("name", "")), racks, find=find, own=True)


def _hardware(inventory: Inventory) -> Iterator[Table]:
    yield _simple("manufacturers", "dcim.manufacturers", sorted({model.maker for model in inventory.models}), tagged=False)
    platforms = sorted({device.platform for device in inventory.devices if device.platform})
    yield _simple("platforms", "dcim.platforms", platforms, tagged=False)
    colours = words()["roles"]
    roles = [
        Item((role,), {"name": role}, {"color": colours[role], "content_types": ["dcim.device"]})
        for role in sorted({device.role for device in inventory.devices})
    ]
    yield Table.of("roles", "extras.roles", (("name", ""),), roles, tagged=False)
    yield from device_types(inventory, "device_type", str, lambda _: {})


class _Spaces:
    """The namespace of every prefix and address, and the prefix that an address lies in."""

    def __init__(self, made: Inventory) -> None:
        self.site = made.site
        self._own = {prefix.vrf for prefix in made.prefixes if prefix.vrf}
        self._nets: dict[str, dict[int, dict[int, str]]] = {}  # namespace → prefix length → first address → text
        for prefix in made.prefixes:
            net = ip_network(prefix.text)
            lengths = self._nets.setdefault(self.of_prefix(prefix.vrf), {})
            lengths.setdefault(net.prefixlen + 1000 * net.version, {})[int(net.network_address)] = prefix.text
        self.names = sorted({made.site, *self._nets, *(self.of_prefix(vrf.name) for vrf in made.vrfs)})

    def of_prefix(self, vrf: str) -> str:
        """A VRF that has subnets of its own has a namespace for them."""
        return f"{self.site}-{vrf}" if vrf in self._own else self.site

    def of_address(self, text: str, vrf: str) -> tuple[str, str]:
        """Namespace and the longest prefix there that holds the address; links of a VRF lie in the site's pools."""
        for space in dict.fromkeys((self.of_prefix(vrf), self.site)):
            if found := self._parent(space, text):
                return space, found
        return self.site, ""

    def _parent(self, space: str, text: str) -> str:
        address = ip_interface(text).ip
        for length in sorted(self._nets.get(space, ()), reverse=True):
            version, bits = divmod(length, 1000)
            if version == address.version:
                first = int(address) >> (address.max_prefixlen - bits) << (address.max_prefixlen - bits)
                if found := self._nets[space][length].get(first):
                    return found
        return ""


def _networks(records: Inventory, spaces: _Spaces, place: Ref) -> Iterator[Table]:
    yield _simple("namespaces", "ipam.namespaces", spaces.names, tagged=True)
    vrfs = []
    for vrf in records.vrfs:
        space = Ref("namespaces", (spaces.of_prefix(vrf.name),))
        fields = {"name": vrf.name, "namespace": space, "tenant": _tenant(vrf.tenant)}
        vrfs.append(Item((*space.key, vrf.name), fields, {"status": ACTIVE}))
    mine = [{"namespace": [Ref("namespaces", (name,)) for name in spaces.names]}]
    yield Table.of("vrfs", "ipam.vrfs", (("namespace", "namespaces"), ("name", "")), vrfs, find=mine, own=True)
    groups = sorted({f"{records.site}-{vlan.fabric}" for vlan in records.vlans})
    yield _simple("groups", "ipam.vlan_groups", groups, {"location": place})
    vlans = []
    for vlan in records.vlans:
        group = Ref("groups", (f"{records.site}-{vlan.fabric}",))
        fields = {"vlan_group": group, "vid": vlan.number, "name": vlan.name, "tenant": _tenant(vlan.tenant)}
        vlans.append(Item((*group.key, str(vlan.number)), fields, {"status": ACTIVE}))
    where = [{"vlan_group": [Ref("groups", (name,)) for name in groups]}]
    yield Table.of("vlans", "ipam.vlans", (("vlan_group", "groups"), ("vid", "")), vlans, find=where, own=True)
    rows = []
    for prefix in records.prefixes:
        space = Ref("namespaces", (spaces.of_prefix(prefix.vrf),))
        fields = {"prefix": prefix.text, "namespace": space, "description": prefix.what[:200]}
        rows.append(Item((prefix.text, *space.key), fields, {"status": ACTIVE, "type": "network"}))
    rows.sort(key=lambda item: ip_network(item.key[0]).prefixlen)  # parents first
    key = (("prefix", ""), ("namespace", "namespaces"))
    yield Table.of("prefixes", "ipam.prefixes", key, rows, find=mine, own=True)


def _tenant(name: str) -> Ref | None:
    return Ref("tenants", (name,)) if name else None


def _devices(records: Inventory, place: Ref) -> Iterator[Table]:
    spaces = _Spaces(records)
    devices = [
        Item((*place.key, device.name), device_fields(device, "location", place, str), {"status": PLANNED})
        for device in records.devices
    ]
    yield Table.of(
        "devices", "dcim.devices", (("location", "locations"), ("name", "")), devices, find=[{"location": place}], own=True
    )
    in_vrf = sorted({(port.vrf, port.device) for port in records.ports if port.vrf})
    vrf_of = {vrf.name: Ref("vrfs", (spaces.of_prefix(vrf.name), vrf.name)) for vrf in records.vrfs}
    uses = [
        Item((*vrf_of[vrf].key, *place.key, device), {"vrf": vrf_of[vrf], "device": Ref("devices", (*place.key, device))})
        for vrf, device in in_vrf
    ]
    key = (("vrf", "vrfs"), ("device", "devices"))
    find = [{"vrf": list(vrf_of.values())}]
    yield Table.of("tables", "ipam.vrf_device_assignments", key, uses, find=find, tagged=False)
    ports = [_port(records, place, vrf_of, port) for port in records.ports]
    key = (("device", "devices"), ("name", ""))
    yield Table.of("interfaces", "dcim.interfaces", key, ports, find=[{"location": NameFilter(place)}], own=True, adopt=True)
    wires = []
    for wire in records.wires:
        a, b = (Ref("interfaces", (*place.key, *end)) for end in (wire.a, wire.b))
        terms = {"termination_a_type": "dcim.interface", "termination_a_id": a}
        terms |= {"termination_b_type": "dcim.interface", "termination_b_id": b}
        size = {"length": math.ceil(wire.length_m), "length_unit": "m"}  # whole metres only
        fields = {**terms, "type": wire.type, "label": wire.label[:100], **size}
        wires.append(Item((*a.key, *b.key), fields, {"status": PLANNED}))
    ends = (("termination_a_id", "interfaces"), ("termination_b_id", "interfaces"))
    here = [{"location": NameFilter(place)}]
    yield Table.of(
        "cables", "dcim.cables", ends, wires, find=here, own=True, late_tags=True, ends=_ports
    )  # as of Nautobot 3.2


def _ports(key: Key) -> tuple[Key, ...]:
    """The two ports that a cable takes."""
    half = len(key) // 2
    return key[:half], key[half:]


def _port(records: Inventory, place: Ref, vrf_of: Mapping[str, Ref], port: Port) -> Item:
    vrf = vrf_of[port.vrf] if port.vrf else None
    fields = port_fields(port, place, f"{records.site}-{port.fabric}", vrf, has_speed=False)
    return Item((*place.key, port.device, port.name), fields, {"status": PLANNED})


def _addresses(records: Inventory, spaces: _Spaces, place: Ref) -> Iterator[Table]:
    rows, joins, address_of = [], [], {}
    for address in records.addresses:
        space, parent = spaces.of_address(address.text, address.vrf)
        if not parent:
            continue  # a pinned address outside every pool: Nautobot keeps none without a prefix around it
        key: Key = (address.text, parent, space)
        if key in address_of:
            continue
        address_of[key] = Ref("addresses", key)
        fields = {"address": address.text, "role": Ref("ip_roles", (ROLES[address.role],)) if address.role else None}
        rows.append(Item(key, fields, {"status": ACTIVE, "namespace": Ref("namespaces", (space,))}))
        if address.device:
            port = Ref("interfaces", (*place.key, address.device, address.port))
            joins.append(Item((*key, *port.key), {"ip_address": address_of[key], "interface": port}))
    yield Table.of("ip_roles", "extras.roles", (("name", ""),), [], tagged=False)
    parents = [{"parent": [Ref("prefixes", (prefix, space)) for _, prefix, space in address_of]}]
    key_of = (("address", ""), ("parent", "prefixes"))
    yield Table.of("addresses", "ipam.ip_addresses", key_of, rows, find=_distinct(parents), own=True)
    ids = [{"ip_address": list(address_of.values())}]
    both = (("ip_address", "addresses"), ("interface", "interfaces"))
    yield Table.of("assignments", "ipam.ip_address_to_interface", both, joins, find=ids, tagged=False, joins="addresses")
    primary = []
    for device in records.devices:
        if device.management and device.platform:
            space, parent = spaces.of_address(device.management, "")
            name = "primary_ip6" if ":" in device.management else "primary_ip4"
            primary.append(Item((*place.key, device.name), {name: Ref("addresses", (device.management, parent, space))}))
    key_of = (("location", "locations"), ("name", ""))
    yield Table.of("primary", "dcim.devices", key_of, primary, tagged=False, part_of="devices", patch=True)


def _distinct(find: list[dict[str, list[Ref]]]) -> list[dict[str, list[Ref]]]:
    return [{name: list(dict.fromkeys(refs)) for name, refs in where.items()} for where in find]
