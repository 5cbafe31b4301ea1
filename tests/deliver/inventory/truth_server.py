"""A small stand-in for the REST servers of NetBox and Nautobot: their pages, their refusals, and what they do by themselves.

What each endpoint requires, refers to and lets one choose from is taken from NetBox 4.7.3 and Nautobot 3.2.7, for the
endpoints that a push uses; a field that is not in this table is refused, as are unknown choices and references, and so is a
filter by an object that the server does not have.
"""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from netaddr import IPNetwork

TOKEN = "0123456789abcdef"
Row = dict[str, Any]


@dataclass(frozen=True)
class Kind:
    """An endpoint: fields that must be there, others that may, references, choices, and what may not occur twice."""

    required: tuple[str, ...]
    optional: tuple[str, ...] = ()
    refs: Mapping[str, str] = field(default_factory=dict)  # field → endpoint
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unique: tuple[tuple[str, ...], ...] = ()


STATUS = ("active", "planned", "container", "reserved", "connected")
PORTS = (
    *("1000base-t", "100gbase-x-qsfp28", "200gbase-x-qsfp56", "400gbase-x-osfp", "400gbase-x-qsfpdd", "400gbase-x-qsfp112"),
    *("800gbase-x-osfp", "800gbase-x-qsfpdd", "infiniband-ndr", "virtual", "other"),
)
WIRES = ("", "cat6", "dac-passive", "dac-active", "aoc", "mmf-om4", "smf-os2")
_SITE = {"site": "dcim/sites"}

NETBOX: Mapping[str, Kind] = {
    "extras/tags": Kind(("name", "slug"), ("color", "description"), unique=(("slug",), ("name",))),
    "tenancy/tenants": Kind(("name", "slug"), unique=(("slug",),)),
    "dcim/sites": Kind(("name", "slug"), ("status",), choices={"status": STATUS}, unique=(("slug",),)),
    "dcim/racks": Kind(("site", "name"), ("u_height",), _SITE, unique=(("site", "name"),)),
    "ipam/rirs": Kind(("name", "slug"), ("is_private",), unique=(("slug",),)),
    "ipam/asns": Kind(("asn", "rir"), ("description",), {"rir": "ipam/rirs"}, unique=(("asn",),)),
    "dcim/manufacturers": Kind(("name", "slug"), unique=(("slug",),)),
    "dcim/platforms": Kind(("name", "slug"), unique=(("slug",),)),
    "dcim/device-roles": Kind(("name", "slug"), ("color", "vm_role"), unique=(("slug",),)),
    "dcim/device-types": Kind(
        *(("manufacturer", "model", "slug"), ("u_height",), {"manufacturer": "dcim/manufacturers"}),
        unique=(("manufacturer", "model"), ("manufacturer", "slug")),
    ),
    "dcim/interface-templates": Kind(
        *(("name", "type"), ("device_type", "mgmt_only"), {"device_type": "dcim/device-types"}, {"type": PORTS}),
        unique=(("device_type", "name"),),
    ),
    "ipam/vrfs": Kind(("name",), ("tenant",), {"tenant": "tenancy/tenants"}),
    "ipam/vlan-groups": Kind(("name", "slug"), unique=(("slug",),)),
    "ipam/vlans": Kind(
        *(("vid", "name"), ("group", "tenant", "status"), {"group": "ipam/vlan-groups", "tenant": "tenancy/tenants"}),
        *({"status": STATUS}, (("group", "vid"), ("group", "name"))),
    ),
    "ipam/prefixes": Kind(
        *(("prefix",), ("vrf", "description", "status"), {"vrf": "ipam/vrfs"}, {"status": STATUS}, (("prefix", "vrf"),))
    ),
    "dcim/devices": Kind(
        ("device_type", "role", "site"),
        ("name", "platform", "rack", "position", "face", "tenant", "status", "primary_ip4", "primary_ip6"),
        {
            **_SITE,
            "device_type": "dcim/device-types",
            "role": "dcim/device-roles",
            "platform": "dcim/platforms",
            "rack": "dcim/racks",
            "tenant": "tenancy/tenants",
            "primary_ip4": "ipam/ip-addresses",
            "primary_ip6": "ipam/ip-addresses",
        },
        {"status": STATUS, "face": ("", "front", "rear")},
        (("site", "name"), ("rack", "position")),
    ),
    "dcim/interfaces": Kind(
        ("device", "name", "type"),
        ("mgmt_only", "description", "vrf", "mtu", "speed", "mode", "untagged_vlan", "tagged_vlans"),
        {"device": "dcim/devices", "vrf": "ipam/vrfs", "untagged_vlan": "ipam/vlans", "tagged_vlans": "ipam/vlans"},
        {"type": PORTS, "mode": ("access", "tagged")},
        (("device", "name"),),
    ),
    "dcim/cables": Kind(
        ("a_terminations", "b_terminations"),
        ("type", "label", "length", "length_unit", "status"),
        choices={"type": WIRES, "status": STATUS, "length_unit": ("m",)},
    ),
    "ipam/ip-addresses": Kind(
        *(("address",), ("vrf", "assigned_object_type", "assigned_object_id", "role", "status"), {"vrf": "ipam/vrfs"}),
        *({"status": STATUS, "role": ("", "loopback", "anycast", "vip")}, (("address", "vrf"),)),
    ),
    "vpn/l2vpns": Kind(
        *(("name", "slug"), ("type", "identifier", "tenant"), {"tenant": "tenancy/tenants"}, {"type": ("vxlan-evpn",)}),
        unique=(("slug",), ("name",)),
    ),
    "vpn/l2vpn-terminations": Kind(
        *(("l2vpn", "assigned_object_type", "assigned_object_id"), (), {"l2vpn": "vpn/l2vpns"}, {}),
        unique=(("assigned_object_id",),),
    ),
}

_PLACE = {"location": "dcim/locations"}
NAUTOBOT: Mapping[str, Kind] = {
    "extras/tags": Kind(("name", "content_types"), ("color",), unique=(("name",),)),
    "tenancy/tenants": Kind(("name",), unique=(("name",),)),
    "dcim/location-types": Kind(("name",), ("content_types",), unique=(("name",),)),
    "dcim/locations": Kind(
        *(("name", "location_type", "status"), (), {"location_type": "dcim/location-types"}, {}, (("location_type", "name"),))
    ),
    "dcim/racks": Kind(("name", "location", "status"), ("u_height",), _PLACE, {}, (("location", "name"),)),
    "dcim/manufacturers": Kind(("name",), unique=(("name",),)),
    "dcim/platforms": Kind(("name",), unique=(("name",),)),
    "extras/roles": Kind(("name", "content_types"), ("color",), unique=(("name",),)),
    "dcim/device-types": Kind(
        *(("manufacturer", "model"), ("u_height",), {"manufacturer": "dcim/manufacturers"}, {}, (("manufacturer", "model"),))
    ),
    "dcim/interface-templates": NETBOX["dcim/interface-templates"],
    "ipam/namespaces": Kind(("name",), unique=(("name",),)),
    "ipam/vrfs": Kind(
        *(("name", "namespace"), ("tenant", "status"), {"namespace": "ipam/namespaces", "tenant": "tenancy/tenants"}, {}),
        unique=(("namespace", "name"),),
    ),
    "ipam/vlan-groups": Kind(("name",), ("location",), _PLACE, {}, (("name",),)),
    "ipam/vlans": Kind(
        *(
            ("vid", "name", "status"),
            ("vlan_group", "tenant"),
            {"vlan_group": "ipam/vlan-groups", "tenant": "tenancy/tenants"},
        ),
        *({}, (("vlan_group", "vid"), ("vlan_group", "name"))),
    ),
    "ipam/prefixes": Kind(
        *(("prefix", "status"), ("namespace", "description", "type"), {"namespace": "ipam/namespaces"}),
        *({"type": ("container", "network", "pool")}, (("prefix", "namespace"),)),
    ),
    "dcim/devices": Kind(
        ("device_type", "role", "location", "status"),
        ("name", "platform", "rack", "position", "face", "tenant", "primary_ip4", "primary_ip6"),
        {
            **_PLACE,
            "device_type": "dcim/device-types",
            "role": "extras/roles",
            "platform": "dcim/platforms",
            "rack": "dcim/racks",
            "tenant": "tenancy/tenants",
            "primary_ip4": "ipam/ip-addresses",
            "primary_ip6": "ipam/ip-addresses",
        },
        {"face": ("", "front", "rear")},
        (("location", "name"), ("rack", "position")),
    ),
    "ipam/vrf-device-assignments": Kind(
        *(("vrf", "device"), (), {"vrf": "ipam/vrfs", "device": "dcim/devices"}, {}, (("vrf", "device"),))
    ),
    "dcim/interfaces": Kind(
        ("device", "name", "type", "status"),
        ("mgmt_only", "description", "vrf", "mtu", "mode", "untagged_vlan", "tagged_vlans"),
        {"device": "dcim/devices", "vrf": "ipam/vrfs", "untagged_vlan": "ipam/vlans", "tagged_vlans": "ipam/vlans"},
        {"type": PORTS, "mode": ("access", "tagged")},
        (("device", "name"),),
    ),
    "dcim/cables": Kind(
        ("termination_a_type", "termination_a_id", "termination_b_type", "termination_b_id", "status"),
        ("type", "label", "length", "length_unit"),
        choices={"type": WIRES, "length_unit": ("m",)},
    ),
    "ipam/ip-addresses": Kind(
        *(("address", "status"), ("namespace", "role"), {"namespace": "ipam/namespaces", "role": "extras/roles"}),
        *({}, (("address", "parent"),)),
    ),
    "ipam/ip-address-to-interface": Kind(
        *(("ip_address", "interface"), (), {"ip_address": "ipam/ip-addresses", "interface": "dcim/interfaces"}, {}),
        unique=(("ip_address", "interface"),),
    ),
}
CASCADES = {
    ("dcim/devices", "dcim/interfaces"),
    ("dcim/devices", "ipam/vrf-device-assignments"),
    ("dcim/interfaces", "ipam/ip-address-to-interface"),
    ("ipam/ip-addresses", "ipam/ip-address-to-interface"),
}
UNTAGGED = {"extras/tags", "dcim/interface-templates"}


class Refused(Exception):
    """400, with what is wrong by field."""


class Truth:
    """The data of one server, and what it does with a request."""

    def __init__(self, kinds: Mapping[str, Kind], page: int = 1000) -> None:
        self.kinds, self.page, self.uuids = kinds, page, kinds is NAUTOBOT
        self.rows: dict[str, dict[Any, Row]] = {name: {} for name in kinds}
        self.taken: dict[str, dict[tuple[Any, ...], Any]] = {name: {} for name in kinds}
        self.requests: list[tuple[str, str, int]] = []  # method, endpoint, objects
        self.made = 0
        if self.uuids:
            self.post("extras/roles", [{"name": name, "content_types": []} for name in ("Loopback", "Anycast")])

    def post(self, name: str, bodies: list[Row]) -> list[Row]:
        """All or none, as in one transaction."""
        answers: list[Any] = []
        before = {row: dict(value) for row, value in self.rows[name].items()}, dict(self.taken[name])
        for body in bodies:
            try:
                answers.append(self._add(name, body))
            except Refused as error:
                answers.append(error.args[0])
        if bad := [(at, answer) for at, answer in enumerate(answers) if "id" not in answer]:
            self.rows[name], self.taken[name] = before
            if self.uuids:
                raise Refused([{} if "id" in answer else answer for answer in answers])
            errors = [{"index": at, "errors": answer} for at, answer in bad]
            raise Refused({"detail": f"{len(bad)} of {len(answers)} objects could not be created.", "errors": errors})
        return [self.shown(name, row) for row in answers]

    def _add(self, name: str, body: Row) -> Row:
        kind = self.kinds[name]
        if missing := [column for column in kind.required if body.get(column) in (None, "")]:
            raise Refused({column: ["This column is required."] for column in missing})
        row = {**dict.fromkeys(kind.optional), **self._checked(name, body), "id": self._number()}
        row.setdefault("tags", [])
        if name == "dcim/cables" and self.uuids:
            row["tags"] = []  # Nautobot 3.2 forgets them, and answers as if it did not
        if name == "ipam/ip-addresses" and self.uuids:
            row["parent"] = self._parent(row.pop("namespace"), row["address"])
        self._claim(name, row)
        self.rows[name][row["id"]] = row
        if name == "dcim/devices":
            self._instantiate(row)
        return row

    def _checked(self, name: str, body: Row) -> Row:
        kind, bad = self.kinds[name], {}
        for column, value in body.items():
            if column == "tags" and name not in UNTAGGED:
                if any(tag not in self.rows["extras/tags"] for tag in value):
                    bad[column] = ["Related object not found."]
            elif column not in (*kind.required, *kind.optional, "id"):
                bad[column] = ["Unknown column."]
            elif column in kind.refs:
                values = value if isinstance(value, list) else [value]
                if any(one is not None and one not in self.rows[kind.refs[column]] for one in values):
                    bad[column] = [f"Related object not found using the provided attributes: {value}"]
            elif column in kind.choices and value is not None and value not in kind.choices[column]:
                bad[column] = [f'"{value}" is not a valid choice.']
        if bad:
            raise Refused(bad)
        return {column: value for column, value in body.items() if column != "id"}

    def _number(self) -> Any:
        self.made += 1
        return str(uuid.UUID(int=self.made)) if self.uuids else self.made

    def _claim(self, name: str, row: Row) -> None:
        """A natural key that is taken, or the end of another cable."""
        keys = [(fields, *(row.get(column) for column in fields)) for fields in self.kinds[name].unique]
        if name == "dcim/cables":
            ends = self._ends(row)
            keys = [(("end",), end) for end in ends]
            if any(end not in self.rows["dcim/interfaces"] for end in ends):
                raise Refused({"terminations": ["object does not exist"]})
        for key in keys:
            if key[-1] is not None and self.taken[name].setdefault(key, row["id"]) != row["id"]:
                raise Refused({"__all__": [f"{name} with this {' and '.join(key[0])} already exists."]})

    @staticmethod
    def _ends(row: Row) -> list[Any]:
        if "termination_a_id" in row:
            return [row["termination_a_id"], row["termination_b_id"]]
        return [term["object_id"] for side in ("a_terminations", "b_terminations") for term in row[side]]

    def _parent(self, space: Any, address: str) -> Any:
        net = IPNetwork(address)
        around = [
            row
            for row in self.rows["ipam/prefixes"].values()
            if row["namespace"] == space and net.ip in IPNetwork(row["prefix"])
        ]
        if not around:
            raise Refused({"namespace": ["No suitable parent Prefix exists in this Namespace"]})
        return max(around, key=lambda row: IPNetwork(row["prefix"]).prefixlen)["id"]

    def _instantiate(self, device: Row) -> None:
        """A new device has the ports of its type."""
        for part in self.rows["dcim/interface-templates"].values():
            if part["device_type"] == device["device_type"]:
                body = {"device": device["id"], "name": part["name"], "type": part["type"], "mgmt_only": part["mgmt_only"]}
                self._add("dcim/interfaces", {**body, **({"status": "Active"} if self.uuids else {})})

    def patch(self, name: str, bodies: list[Row]) -> list[Row]:
        if absent := [body["id"] for body in bodies if body["id"] not in self.rows[name]]:
            errors = [{"id": number, "errors": {"id": [f"Object with ID {number} does not exist"]}} for number in absent]
            if not self.uuids:
                raise Refused({"detail": f"{len(absent)} of {len(bodies)} objects could not be found.", "errors": errors})
        bodies = [body for body in bodies if body["id"] in self.rows[name]]  # Nautobot says nothing about the others
        answers: list[Row] = []
        for body in bodies:
            try:
                checked = self._checked(name, body)
            except Refused as error:
                answers.append({"id": body["id"], "errors": error.args[0]})
                continue
            answers.append({})
            row = self.rows[name][body["id"]]
            row.update(checked)
            self._claim(name, row)
        if errors := [answer for answer in answers if answer]:
            text = f"{len(errors)} of {len(bodies)} objects could not be updated."
            raise Refused(
                [answer.get("errors", {}) for answer in answers] if self.uuids else {"detail": text, "errors": errors}
            )
        return [self.shown(name, self.rows[name][body["id"]]) for body in bodies]

    def delete(self, name: str, numbers: list[Any]) -> None:
        """With all its parts; objects that are still referenced are protected."""
        for number in numbers:
            del self.rows[name][number]
            if name == "dcim/interfaces" and not self.uuids:
                lost = [row["id"] for row in self.rows["ipam/ip-addresses"].values() if row["assigned_object_id"] == number]
                self.delete("ipam/ip-addresses", lost)
            for kind, more in self.kinds.items():
                for column, of in more.refs.items():
                    parts = [row for row in self.rows[kind].values() if of == name and row.get(column) == number]
                    if parts and (name, kind) in CASCADES:
                        self.delete(kind, [row["id"] for row in parts])
                    elif parts and column in more.required:
                        raise Refused({"detail": f"Unable to delete object. {len(parts)} dependent objects were found"})
                    else:
                        for row in parts:
                            row[column] = None
            self.taken[name] = {key: of for key, of in self.taken[name].items() if of != number}

    def get(self, name: str, query: Mapping[str, list[str]]) -> list[Row]:
        for column, values in query.items():
            self._refuse_unknown(name, column, values)
        return [self.shown(name, row) for row in self.rows[name].values() if self._matches(name, row, query)]

    def _refuse_unknown(self, name: str, column: str, values: list[str]) -> None:
        """A filter by an object that is not there, as NetBox 4.7 and Nautobot refuse it."""
        refs = self.kinds[name].refs
        if column in ("tag", "tags"):
            of = "extras/tags"
        elif column in ("site_id", "location"):
            of = "dcim/locations" if self.uuids else "dcim/sites"
        else:
            of = refs.get(column.removesuffix("_id"), "")
        if not of or (name == "dcim/cables" and not self.uuids):
            return
        known = {str(row[key]) for row in self.rows[of].values() for key in ("id", "slug", "name") if key in row}
        if absent := [value for value in values if value not in known]:
            raise Refused({column: [f"Select a valid choice. {absent[0]} is not one of the available choices."]})

    def _matches(self, name: str, row: Row, query: Mapping[str, list[str]]) -> bool:
        for column, values in query.items():
            if column in ("limit", "offset", "exclude_m2m"):
                continue
            if column in ("tag", "tags"):
                known = {
                    str(tag[key])
                    for tag in self.rows["extras/tags"].values()
                    for key in ("slug", "name")
                    if key in tag and tag["id"] in row["tags"]
                }
                if not known & set(values):
                    return False
            elif column in ("site_id", "location") and name in ("dcim/interfaces", "dcim/cables"):
                if not self._there(name, row) & set(values):
                    return False
            elif column == "parent" and not self.uuids:
                if not any(IPNetwork(row["address"]).ip in IPNetwork(value) for value in values):
                    return False
            elif str(row.get(column.removesuffix("_id"), row.get(column))) not in values:
                return False
        return True

    def _there(self, name: str, row: Row) -> set[str]:
        """Site of a port or cable, as id and as name."""
        ports = [row] if name == "dcim/interfaces" else [self.rows["dcim/interfaces"][end] for end in self._ends(row)]
        place, of = ("location", "dcim/locations") if self.uuids else ("site", "dcim/sites")
        sites = {self.rows["dcim/devices"][port["device"]][place] for port in ports}
        return {str(site) for site in sites} | {self.rows[of][site]["name"] for site in sites}

    def shown(self, name: str, row: Row) -> Row:
        """As the API shows an object: references and choices as objects of their own."""
        kind, out = self.kinds[name], dict(row)
        for column, value in row.items():
            if column in kind.refs or (column == "parent" and self.uuids):
                of = kind.refs.get(column, "ipam/prefixes")
                out[column] = [self._brief(of, one) for one in value] if isinstance(value, list) else self._brief(of, value)
            elif column in kind.choices and value and not (self.uuids and column == "status"):
                out[column] = {"value": value, "label": str(value).title()}
            elif column == "tags":
                out[column] = [self._brief("extras/tags", tag) for tag in value]
            elif column in ("a_terminations", "b_terminations"):
                out[column] = [{**term, "object": self._port(term["object_id"])} for term in value]
        return out

    def _brief(self, name: str, number: Any) -> Row | None:
        if number is None:
            return None
        return {"id": number, "url": f"http://there/api/{name}/{number}/", "name": self.rows[name][number].get("name", "")}

    def _port(self, number: Any) -> Row:
        row = self.rows["dcim/interfaces"][number]
        device = self.rows["dcim/devices"][row["device"]]
        return {"id": number, "name": row["name"], "device": {"id": device["id"], "name": device["name"]}}


class _Handler(BaseHTTPRequestHandler):
    truth: Truth
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # an answer in one piece

    def _serve(self, method: str) -> None:
        url = urlsplit(self.path)
        name = url.path.removeprefix("/api/").strip("/")
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length)) if length else None
        if self.headers.get("Authorization") not in (f"Token {TOKEN}", f"Bearer {TOKEN}"):
            self._answer(403, {"detail": "Invalid token"})
        elif name not in self.truth.kinds:
            self._answer(200 if not name else 404, {})
        else:
            try:
                self._do(method, name, parse_qs(url.query), body)
            except Refused as error:
                self._answer(400, error.args[0])

    def _do(self, method: str, name: str, query: Mapping[str, list[str]], body: Any) -> None:
        truth = self.truth
        truth.requests.append((method, name, len(body) if isinstance(body, list) else 1))
        if method == "GET":
            rows = truth.get(name, query)
            first, size = int(query.get("offset", ["0"])[0]), min(int(query.get("limit", ["50"])[0]) or 50, truth.page)
            rest = f"?limit={size}&offset={first + size}" + "".join(
                f"&{key}={value}" for key, values in query.items() if key not in ("limit", "offset") for value in values
            )
            more = f"http://{self.headers['Host']}/api/{name}/{rest}" if first + size < len(rows) else None
            page = {"count": len(rows), "next": more, "previous": None, "results": rows[first : first + size]}
            self._answer(200, page)
        elif method == "POST":
            made = truth.post(name, body if isinstance(body, list) else [body])
            self._answer(201, made if isinstance(body, list) else made[0])
        elif method == "PATCH":
            self._answer(200, truth.patch(name, body))
        else:
            truth.delete(name, [row["id"] for row in body])
            self._answer(204, None)

    def _answer(self, status: int, body: Any) -> None:
        data = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("API-Version", "3.2")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self) -> None:
        self._serve("GET")

    def do_POST(self) -> None:
        self._serve("POST")

    def do_PATCH(self) -> None:
        self._serve("PATCH")

    def do_DELETE(self) -> None:
        self._serve("DELETE")

    def log_message(self, format: str, *args: Any) -> None:
        """Silence."""


@contextmanager
def served(truth: Truth) -> Iterator[str]:
    """The server on a free port of loopback; gives its URL."""
    handler = type("Handler", (_Handler,), {"truth": truth})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
