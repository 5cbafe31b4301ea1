"""How NetBox calls the records. Source: NetBox 4.7 REST API (models, filters and choices of netbox 4.7.3)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from fabric.deliver.inventory.engine import TAG
from fabric.deliver.inventory.gather import inventory, words
from fabric.deliver.inventory.records import (
    LOOPBACK,
    MANAGEMENT,
    DeviceRecord,
    Inventory,
    Item,
    Key,
    Model,
    NameFilter,
    Port,
    Ref,
    Row,
    Table,
    Term,
    document,
)
from fabric.model.plan import Plan

TITLE, TOKEN, URL = "NetBox", "NETBOX_TOKEN", "NETBOX_URL"
COLOUR = "607d8b"
PRIVATE = "RFC 6996"


def netbox(plan: Plan) -> str:
    """`fabric export netbox`: every object as a body that its endpoint takes, references by what they are called."""
    records = inventory(plan)
    tables = {table.name: table for table in netbox_tables(records)}
    tags = [{"slug": slug(TAG)}, {"slug": slug(own_tag(records.site))}]
    out: dict[str, list[dict[str, Any]]] = {}
    for table in tables.values():
        rows = out.setdefault(("PATCH " if table.patch else "") + table.endpoint.replace(".", "/"), [])
        marks = {"tags": tags[: 1 + table.own]} if table.tagged and not table.patch else {}
        rows += [{**_named({**item.fields, **item.once}, tables), **marks, **_patched(table, item)} for item in table.items]
    return document({name: rows for name, rows in out.items() if rows})


def _patched(table: Table, item: Item) -> dict[str, Any]:
    return {table.key[0][0]: item.key[0]} if table.patch else {}


def _named(value: Any, tables: Mapping[str, Table]) -> Any:
    """References as the attributes that NetBox looks them up by."""
    if isinstance(value, Mapping):
        return {name: _named(one, tables) for name, one in value.items()}
    if isinstance(value, Ref):
        return _called(value.key, tables[value.table], tables)
    if isinstance(value, Term):
        return {"object_type": value.type, "object": _named(value.of, tables)}
    if isinstance(value, list | tuple):
        return [_named(one, tables) for one in value]
    return value


def _called(key: Sequence[str], table: Table, tables: Mapping[str, Table]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    at = 0
    for name, of in table.key:
        width = len(tables[of].key) if of else 1
        part = key[at : at + width]
        found[name] = (_called(part, tables[of], tables) if any(part) else None) if of else part[0]
        at += width
    return found


def tags(site: str) -> tuple[Ref, Ref]:
    """Tag of all that this tool makes, and of what is one site's alone."""
    return Ref("tags", (slug(TAG),)), Ref("tags", (slug(own_tag(site)),))


def own_tag(site: str) -> str:
    return f"{TAG}-{site}"


@lru_cache(maxsize=4096)
def slug(text: str) -> str:
    """Letters, digits and hyphens, at most 100 of them."""
    return re.sub(r"[^a-z0-9_]+", "-", text.lower()).strip("-")[:100] or "x"


def netbox_tables(records: Inventory) -> list[Table]:
    """Every table in the order of making."""
    return [
        *_organization(records),
        *_hardware(records),
        *_networks(records),
        *_devices(records),
        *_addresses(records),
        *_vnis(records),
    ]


def _simple(name: str, endpoint: str, names: Sequence[str], extra: Callable[[str], Mapping[str, Any]] | None = None) -> Table:
    """Objects that have a name and a slug."""
    items = [Item((slug(text),), {"name": text, "slug": slug(text)}, extra(text) if extra else {}) for text in names]
    return Table.of(name, endpoint, (("slug", ""),), items)


def _organization(inventory: Inventory) -> Iterator[Table]:
    both = {TAG: "made by fabricwright", own_tag(inventory.site): f"made by fabricwright for site {inventory.site}"}
    rows = [Item((slug(t),), {"name": t, "slug": slug(t)}, {"color": COLOUR, "description": why}) for t, why in both.items()]
    yield Table.of("tags", "extras.tags", (("slug", ""),), rows, tagged=False)
    yield _simple("tenants", "tenancy.tenants", inventory.tenants)
    yield _simple("sites", "dcim.sites", [inventory.site], lambda _: {"status": "planned"})
    site = Ref("sites", (slug(inventory.site),))
    racks = [
        Item((*site.key, name), {"site": site, "name": name, "u_height": inventory.rack_units}) for name in inventory.racks
    ]
    yield Table.of("racks", "dcim.racks", (("site", "sites"), ("name", "")), racks, find=[{"site_id": site}], own=True)
    if inventory.asns:
        yield _simple("rirs", "ipam.rirs", [PRIVATE], lambda _: {"is_private": True})
        rir = Ref("rirs", (slug(PRIVATE),))
        asns = [Item((str(n.number),), {"asn": n.number, "rir": rir}, {"description": n.what[:200]}) for n in inventory.asns]
        yield Table.of("asns", "ipam.asns", (("asn", ""),), asns)  # private numbers: sites may have the same


def _hardware(made: Inventory) -> Iterator[Table]:
    makers = sorted({model.maker for model in made.models})
    yield _simple("manufacturers", "dcim.manufacturers", makers)
    yield _simple("platforms", "dcim.platforms", sorted({device.platform for device in made.devices if device.platform}))
    colours = words()["roles"]
    roles = sorted({device.role for device in made.devices})
    yield _simple("roles", "dcim.device_roles", roles, lambda role: {"color": colours[role], "vm_role": False})
    yield from device_types(made, "device_type_id", slug, lambda model: {"slug": slug(f"{model.maker}-{model.name}")})


def device_types(
    records: Inventory, within: str, maker_key: Callable[[str], str], more: Callable[[Model], Mapping[str, Any]]
) -> Iterator[Table]:
    """The models and the ports that each has.

    Args:
        within: the filter that finds the ports of models.
        more: fields of a model that one system alone has.
    """
    types, templates = [], []
    managed = {port.name for port in records.ports if port.what == MANAGEMENT}
    for model in records.models:
        maker = Ref("manufacturers", (maker_key(model.maker),))
        key = (*maker.key, model.name)
        fields = {"manufacturer": maker, "model": model.name, **more(model), "u_height": model.height}
        types.append(Item(key, fields))
        for name, type_ in model.ports:
            part = {"device_type": Ref("types", key), "name": name, "type": type_, "mgmt_only": name in managed}
            templates.append(Item((*key, name), part))
    yield Table.of("types", "dcim.device_types", (("manufacturer", "manufacturers"), ("model", "")), types)
    parts = (("device_type", "types"), ("name", ""))
    filters = [{within: [Ref("types", item.key) for item in types]}]
    yield Table.of(
        "templates",
        "dcim.interface_templates",
        parts,
        templates,
        find=filters,
        tagged=False,
        only_new=True,
        part_of="device_type",
    )


def _networks(records: Inventory) -> Iterator[Table]:
    tenant = _tenant_ref
    vrfs = [Item((vrf.name,), {"name": vrf.name, "tenant": tenant(vrf.tenant)}) for vrf in records.vrfs]
    yield Table.of("vrfs", "ipam.vrfs", (("name", ""),), vrfs, find=[{"name": [vrf.name for vrf in records.vrfs]}], own=True)
    groups = sorted({slug(f"{records.site}-{vlan.fabric}") for vlan in records.vlans})
    yield _simple("groups", "ipam.vlan_groups", groups)
    vlans = []
    for vlan in records.vlans:
        group = Ref("groups", (slug(f"{records.site}-{vlan.fabric}"),))
        fields = {"group": group, "vid": vlan.number, "name": vlan.name, "tenant": tenant(vlan.tenant)}
        vlans.append(Item((*group.key, str(vlan.number)), fields, {"status": "active"}))
    where = [{"group_id": [Ref("groups", (name,)) for name in groups]}]
    yield Table.of("vlans", "ipam.vlans", (("group", "groups"), ("vid", "")), vlans, find=where, own=True)
    rows = []
    for prefix in records.prefixes:
        vrf = Ref("vrfs", (prefix.vrf,)) if prefix.vrf else None
        fields = {"prefix": prefix.text, "vrf": vrf, "description": prefix.what[:200]}
        rows.append(Item((prefix.text, prefix.vrf), fields, {"status": "container" if prefix.pool else "active"}))
    filters: list[Row] = [
        {"prefix": [prefix.text for prefix in records.prefixes]},
        {"tag": [NameFilter(tags(records.site)[1])]},
    ]
    yield Table.of("prefixes", "ipam.prefixes", (("prefix", ""), ("vrf", "vrfs")), rows, find=filters, own=True)


def _tenant_ref(name: str) -> Ref | None:
    return Ref("tenants", (slug(name),)) if name else None


def _devices(records: Inventory) -> Iterator[Table]:
    site = Ref("sites", (slug(records.site),))
    devices = [
        Item((*site.key, device.name), device_fields(device, "site", site, slug), {"status": "planned"})
        for device in records.devices
    ]
    yield Table.of("devices", "dcim.devices", (("site", "sites"), ("name", "")), devices, find=[{"site_id": site}], own=True)
    ports = [_port(records, site, port) for port in records.ports]
    key = (("device", "devices"), ("name", ""))
    yield Table.of("interfaces", "dcim.interfaces", key, ports, find=[{"site_id": site}], own=True, adopt=True)
    wires = []
    for wire in records.wires:
        a, b = (Ref("interfaces", (*site.key, *end)) for end in (wire.a, wire.b))
        terms = {"a_terminations": [Term("dcim.interface", a)], "b_terminations": [Term("dcim.interface", b)]}
        fields = {
            **terms,
            "type": wire.type,
            "label": wire.label[:100],
            "length": round(wire.length_m, 2),
            "length_unit": "m",
        }
        wires.append(Item(_ends(site.key, wire.a, wire.b), fields, {"status": "planned"}))
    slugs = site.key

    def joined(row: Row) -> Key:
        ends = [[(t["object"]["device"]["name"], t["object"]["name"]) for t in row[side]] for side in _SIDES]
        return _ends(slugs, *(tuple(end[0]) if end else ("", "") for end in ends))

    yield Table.of("cables", "dcim.cables", (), wires, find=[{"site_id": site}], key_of=joined, own=True, ends=_ports)


_SIDES = ("a_terminations", "b_terminations")


def _ends(site: Key, a: Sequence[str], b: Sequence[str]) -> Key:
    """A cable is the same from either end."""
    one, other = sorted((tuple(a), tuple(b)))
    return (*site, *one, *other)


def _ports(key: Key) -> tuple[Key, ...]:
    """The two ports that a cable takes."""
    *_, one, port, other, far = key
    return (one, port), (other, far)


def device_fields(device: DeviceRecord, where: str, place: Ref, called: Callable[[str], str]) -> dict[str, Any]:
    """A device in its rack.

    Args:
        where: field of its place.
        called: makes the key of an object of its name.
    """
    return {
        "name": device.name,
        "device_type": Ref("types", (called(device.maker), device.model)),
        "role": Ref("roles", (called(device.role),)),
        "platform": Ref("platforms", (called(device.platform),)) if device.platform else None,
        where: place,
        "rack": Ref("racks", (*place.key, device.rack)),
        "position": device.ru or None,
        "face": "front" if device.ru else "",
        "tenant": Ref("tenants", (called(device.tenant),)) if device.tenant else None,
    }


def port_fields(port: Port, place: Ref, group: str, vrf: Ref | None, has_speed: bool) -> dict[str, Any]:
    """A port with its VLANs.

    Args:
        group: key of the VLAN group of its fabric.
        has_speed: the system has speeds of ports, in kb/s.
    """
    fields: dict[str, Any] = {
        "device": Ref("devices", (*place.key, port.device)),
        "name": port.name,
        "type": port.type,
        "mgmt_only": port.what == MANAGEMENT,
        "description": port.description[:200],
        "vrf": vrf,
    }
    if port.mtu:
        fields["mtu"] = port.mtu
    if has_speed and port.speed_gbps and port.what not in (LOOPBACK, MANAGEMENT):
        fields["speed"] = port.speed_gbps * 1_000_000
    if port.untagged or port.tagged:
        fields["mode"] = "tagged" if port.tagged else "access"
        fields["untagged_vlan"] = Ref("vlans", (group, str(port.untagged))) if port.untagged else None
        fields["tagged_vlans"] = [Ref("vlans", (group, str(number))) for number in port.tagged]
    return fields


def _port(records: Inventory, site: Ref, port: Port) -> Item:
    vrf = Ref("vrfs", (port.vrf,)) if port.vrf else None
    fields = port_fields(port, site, slug(f"{records.site}-{port.fabric}"), vrf, has_speed=True)
    return Item((*site.key, port.device, port.name), fields)


def _addresses(records: Inventory) -> Iterator[Table]:
    site = (slug(records.site),)
    rows = []
    for address in records.addresses:
        of = Ref("interfaces", (*site, address.device, address.port)) if address.device else None
        fields = {
            "address": address.text,
            "vrf": Ref("vrfs", (address.vrf,)) if address.vrf else None,
            "assigned_object_type": "dcim.interface" if of else None,
            "assigned_object_id": of,
            "role": address.role,
        }
        rows.append(Item((address.text, address.vrf), fields, {"status": "active"}))
    pools = [prefix.text for prefix in records.prefixes if prefix.what.endswith(" pool") or prefix.vrf]
    find = [{"parent": text} for text in pools] + [{"tag": [NameFilter(tags(records.site)[1])]}]
    key = (("address", ""), ("vrf", "vrfs"))
    port = ("assigned_object_id", "interfaces")
    yield Table.of("addresses", "ipam.ip_addresses", key, rows, find=find, own=True, falls_with=port)
    primary = []
    for device in records.devices:
        if device.management and device.platform:
            name = "primary_ip6" if ":" in device.management else "primary_ip4"
            primary.append(Item((*site, device.name), {name: Ref("addresses", (device.management, ""))}))
    key = (("site", "sites"), ("name", ""))
    yield Table.of("primary", "dcim.devices", key, primary, tagged=False, part_of="devices", patch=True)


def _vnis(records: Inventory) -> Iterator[Table]:
    if not records.vnis:
        return
    rows, ends = [], []
    for vni in records.vnis:
        name = f"{records.site}-{vni.name}"
        fields = {
            "name": name,
            "slug": slug(name),
            "type": "vxlan-evpn",
            "identifier": vni.number,
            "tenant": _tenant_ref(vni.tenant),
        }
        rows.append(Item((slug(name),), fields))
        if vni.vlan:
            vlan = Ref("vlans", (slug(f"{records.site}-{vni.fabric}"), str(vni.vlan)))
            term = {"l2vpn": Ref("l2vpns", (slug(name),)), "assigned_object_type": "ipam.vlan", "assigned_object_id": vlan}
            ends.append(Item((slug(name), *vlan.key), term))
    yield Table.of("l2vpns", "vpn.l2vpns", (("slug", ""),), rows, own=True)
    key = (("l2vpn", "l2vpns"), ("assigned_object_id", "vlans"))
    yield Table.of("terminations", "vpn.l2vpn_terminations", key, ends, own=True)
