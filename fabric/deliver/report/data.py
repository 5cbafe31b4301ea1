"""What the page's script works on: one JSON document, in columns, gzipped and in base64.

In the page: `<script type="text/plain" id="fabric-data">BASE64(GZIP(JSON))</script>`. The document:

    {"format": 1, "site": str,
     "strings": [str, …],                      every text that repeats, once; entry 0 is ""
     "addresses": [str | int, …],              of ports, likewise; an integer is an IPv4 address, less the one before it
     "roles": ["server", "leaf", "spine", "core", "attached"],
     "kinds": ["server-leaf", "leaf-leaf", "leaf-spine", "spine-core", "attachments"],
     "fabrics": [Fabric, …], "tables": [Table, …]}

Fabric:

    {"name", "purpose", "technology": "ethernet" | "infiniband",
     "kind": "rail-optimized" | "rack" | "rail-only" | "collapsed",
     "tiers", "planes", "pods", "units", "rails": int,      how many; rails is 0 where leaves serve no single rail
     "devices": {column: [one value a device]}, "links": {column: [one value a link]}, "scenarios": [Scenario, …]}

Devices, servers and attachments included. `name` and `loopback` are texts, the rest integers:

    name, role (of "roles"), number (from 1 within its role; servers: within their group), model, group (of "strings"),
    pod, unit, plane, rail (from 0, -1: has none; a person reads them from 1), rack (of "strings", 0: not known),
    ru (lowest rack unit, from 1; 0: not known), asn (0: speaks no BGP), loopback ("": none), management ("": none)

Links, in one direction: `a` is the lower end (server, leaf, spine or attachment), `b` the upper. All integers:

    a, b (devices), kind (of "kinds"), speed (Gb/s), aport, bport (labels, of "strings"), nic (of a server's link: its NIC
    from 1; else 0), length (m, of the cable as one buys it; a number, perhaps with a fraction), medium (of "strings", 0:
    nothing joins the ends), aaddr, baddr (of "addresses", 0: none; several of a port are divided by blanks)

Scenario, what the links carry at one time:

    {"name": "all_reduce 8 GiB, ECMP", "what": one sentence on the traffic and on what a load is,
     "up": [per link, from a to b], "down": [per link, from b to a],     load in thousandths of the link's capacity;
                                                                         more than 1000: it cannot carry what is sent
     "dead": [link, …], "dead_devices": [device, …]}                     sorted; a dead link's loads are 0

There may be none (`--no-load`). The first is what a reader sees first.

Table, of one fabric:

    {"id": "switches" | "links" | "sessions" | "servers", "title": str, "fabric": its place in "fabrics",
     "rows": [[first, end], …],        which rows of devices or links, `end` excluded, in this order
     "columns": [{"title": str, "unit": str (may be absent), "number": true (may be absent: text),
                  "via": [step, …], "add": int, "blank": true (both may be absent)}, …]}

The value of a column at a row: begin with the row's index and look it up step after step, `devices.NAME`, `links.NAME`,
`strings`, `addresses`, `roles`, `kinds`. A negative value in a step, or a last 0 with `"blank": true`, shows as nothing.
`add` is added to the last. `{"via": ["links.a", "devices.name"]}` of a row 7 is `devices.name[links.a[7]]`.

Any column of integers may come packed, in the place of a list: `{"delta": [first, difference, …]}`, since neighbors
differ by little; `{"of": [value, …], "letters": "…"}`, a letter a row, `#` for the first value, `$` for the second, and so on
through ASCII without the backslash. The script undoes this once, right after it has parsed the document.
"""

from __future__ import annotations

import base64
import json
import struct
import zlib
from collections.abc import Mapping, Sequence
from ipaddress import ip_address
from typing import Any

import numpy as np

from fabric.configs.port_names import PortNames
from fabric.configs.site_files import addresses
from fabric.deliver.report.hardware import Sites
from fabric.deliver.report.loads import Scenario
from fabric.deliver.report.tables import Pool, Table, numbered, packed
from fabric.model.plan import ATTACHED, CORE, KINDS, LEAF, SERVER, SERVER_LEAF, SPINE, SWITCH_ROLES, FabricPlan, Plan
from fabric.model.plan.summary import summary

# Magic, deflate, no flags, time 0, best compression (as level 9 says), operating system 255: unknown
GZIP_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff"
ROLES = (SERVER, LEAF, SPINE, CORE, ATTACHED)


def document(
    plan: Plan, scenarios: Mapping[str, Sequence[Scenario]], tables: Mapping[str, Sequence[Table]], sites: Sites
) -> dict[str, Any]:
    """The whole document; scenarios and tables by fabric."""
    pool, numbers = Pool(), Pool()
    fabrics = [_fabric(fabric, scenarios[name], sites, pool, numbers) for name, fabric in plan.fabrics.items()]
    return {
        "format": 1,
        "site": plan.site,
        "strings": pool.texts,
        "addresses": numbers.texts,
        "roles": list(ROLES),
        "kinds": list(KINDS),
        "fabrics": fabrics,
        "tables": [table.as_dict(number) for number, name in enumerate(plan.fabrics) for table in tables[name]],
    }


def encoded(document_: dict[str, Any]) -> str:
    """The document as it stands in the page; the same bytes every time."""
    small = document_ | {"addresses": numbered(document_["addresses"])}
    text = json.dumps(small, ensure_ascii=False, separators=(",", ":"))
    return base64.b64encode(_gzipped(text.encode("utf-8", "replace"))).decode()


def _gzipped(data: bytes) -> bytes:
    """RFC 1952 with a fixed header: what gzip.compress writes there differs between versions of Python."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    trailer = struct.pack("<LL", zlib.crc32(data), len(data) & 0xFFFFFFFF)
    return GZIP_HEADER + deflate.compress(data) + deflate.flush() + trailer


def _fabric(fabric: FabricPlan, scenarios: Sequence[Scenario], sites: Sites, pool: Pool, numbers: Pool) -> dict[str, Any]:
    row = summary(fabric.spec, fabric.sizing)
    rails = max((device.rail + 1 for device in fabric.devices), default=0)
    return {
        "name": fabric.name,
        "purpose": row["purpose"],
        "technology": fabric.spec.leaf.model.technology,
        "kind": row["kind"],
        **{key: row[key] for key in ("tiers", "planes")},
        "pods": row["pods"]["count"],
        "units": row["units"],
        "rails": rails,
        "devices": _devices(fabric, sites, pool),
        "links": _links(fabric, sites, pool, numbers),
        "scenarios": [scenario.as_dict() for scenario in scenarios],
    }


def _devices(fabric: FabricPlan, sites: Sites, pool: Pool) -> dict[str, Any]:
    devices = fabric.devices
    result: dict[str, Any] = {
        "name": [device.name for device in devices],
        "role": packed(np.array([ROLES.index(device.role) for device in devices])),
        "model": packed(np.array([pool(device.model) for device in devices])),
        "group": packed(np.array([pool(device.group) for device in devices])),
    }
    for key in ("number", "pod", "unit", "plane", "rail", "asn"):
        result[key] = packed(np.array([getattr(device, key) for device in devices]))
    spots = [sites.spot(device) for device in devices]
    result["rack"] = packed(np.array([pool(rack) for rack, _ in spots]))
    result["ru"] = packed(np.array([ru for _, ru in spots]))
    for key, column in (("loopback", fabric.loopback), ("management", fabric.management)):
        result[key] = [
            str(ip_address(number)) if number >= 0 and device.role in SWITCH_ROLES else ""
            for device, number in zip(devices, column.tolist(), strict=True)
        ]
    return result


def _links(fabric: FabricPlan, sites: Sites, pool: Pool, numbers: Pool) -> dict[str, Any]:
    links, names = fabric.links, PortNames(fabric)
    length = sites.lengths(fabric)
    low, high = addresses(fabric)
    return {
        **{key: packed(getattr(links, key)) for key in ("a", "b", "kind")},
        "speed": packed(links.speed_gbps),
        "aport": packed(np.array(pool.column(names.columns("a")[0].tolist()))),
        "bport": packed(np.array(pool.column(names.columns("b")[0].tolist()))),
        "nic": packed(np.where(links.kind == SERVER_LEAF, links.a_cage, 0)),
        "length": length,
        "medium": packed(np.array(pool.column(sites.media(fabric)))),
        "aaddr": packed(np.array(numbers.column(low))),
        "baddr": packed(np.array(numbers.column(high))),
    }
