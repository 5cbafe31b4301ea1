"""NetBox and Nautobot as facts: switches with their ports, addresses, VLANs and AS numbers, and the cables between all.

The objects are those that `fabric push netbox` makes (`fabric/deliver/inventory/`); a site that others have filled in is read
as far as it has them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from ipaddress import ip_interface, ip_network
from typing import Any

from fabric.audit.checks import Network
from fabric.audit.checks.rows import is_loopback
from fabric.base.diagnostics import Diagnostic, InputError, Place
from fabric.base.grouping import grouped
from fabric.base.reading import UnreadableError, guarded
from fabric.deliver.brownfield.drafted import Drafted
from fabric.deliver.brownfield.sections.tenant_facts import NETWORK_RD
from fabric.deliver.brownfield.sources.workbook import Wire
from fabric.deliver.brownfield.survey.records import Host, Survey
from fabric.deliver.brownfield.survey.site import survey_of
from fabric.deliver.inventory.engine import PAGE
from fabric.deliver.inventory.netbox import slug
from fabric.deliver.inventory.push import SYSTEMS, client_of
from fabric.hardware import catalog
from fabric.model.facts import Bgp, Facts, Interface, Located, Vni, Vrf
from fabric.model.plan import ATTACHED
from fabric.nos.target import target, target_names

CODE = "FAB177"
HOLDERS = re.compile(r"(\S+?)(?: and [\d,]+ more)?")
L3VNI_BASE, L2VNI_BASE = 50_000, 10_000  # below the numbers of tenants and networks, unless an intent states others
UNKNOWN_VNI = 10_000  # and the VLAN, where an inventory has no VNIs
SPEED = re.compile(r"(\d+)gbase")


@dataclass(frozen=True, kw_only=True)
class Truth:
    """A site as an inventory has it: as a `Workbook`, and the models of switches that it names."""

    devices: list[Facts]
    wires: list[Wire]
    models: Mapping[str, str]
    roles: Mapping[str, str]  # device → role, of switches and of others
    types: Mapping[str, str]  # device → model
    racks: Mapping[str, str]  # device → rack
    heights: Mapping[str, int]  # model → rack units
    networks: Mapping[str, str]  # prefix → name of the network

    def survey(self, site: str, models: Mapping[str, str]) -> Survey:
        """The survey of the site, with the roles and models of hosts that the inventory has.

        Args:
            models: of switches, where the inventory has none.
        """
        found = survey_of([Network(tuple(self.devices))], site, models={**models, **self.models}, wires=self.wires)
        hosts = {name: self._host(host) for name, host in found.hosts.items()}
        return replace(found, hosts=hosts)

    def named(self, found: Drafted, survey: Survey) -> Drafted:
        """A drafted intent with the inventory's names of models and networks, and its servers of a rack."""
        document = deepcopy(dict(found.document))
        own: dict[str, Any] = document.get("catalog", {}).get("servers", {})
        members = grouped((host.group, host.name) for host in survey.hosts.values() if not host.attached)
        for fabric in document["fabrics"].values():
            for group in fabric.get("servers", ()):
                name = group.get("name", group["model"])
                servers = members.get(name, ())
                sizes = Counter(self.racks.get(one, "") for one in servers)
                most = max(sizes.values(), default=0)
                if "" not in sizes and len(sizes) > 1 and [*sizes.values()][:-1] == [most] * (len(sizes) - 1):
                    group["per_rack"] = most
                model = next((self.types[one] for one in servers if self.types.get(one)), "")
                if group["model"] in own and model:
                    own[group["model"]] |= {"rack_units": self.heights[model]} if self.heights.get(model) else {}
                    if model != group["model"] and model not in own:
                        own[model] = own.pop(group["model"])
                        self._rename(document, group["model"], model)
            for tenant in fabric.get("tenants", ()):
                for network in tenant.get("networks", ()):
                    network["name"] = self.networks.get(str(network.get("gateway", "")), network["name"])
        return replace(found, document=document)

    @staticmethod
    def _rename(document: Mapping[str, Any], old: str, new: str) -> None:
        for fabric in document["fabrics"].values():
            for at, group in enumerate(fabric.get("servers", ())):
                if group["model"] == old:
                    name = {} if "name" in group or fabric.get("names", {}).get("server") else {"name": old}
                    fabric["servers"][at] = {
                        "model": new,
                        **name,
                        **{key: value for key, value in group.items() if key != "model"},
                    }

    def _host(self, host: Host) -> Host:
        if self.roles.get(host.name) == ATTACHED:
            return replace(host, group="", number=1, attached=True, model="")
        model = self.types.get(host.name, "")
        return replace(host, model=model) if catalog.server(model) else replace(host, group=host.group or model)


def read_site(system: str, url: str, token: str, site: str) -> Truth:
    """The switches and cables of a site. Raises InputError where it is not there or the server refuses, MissingError."""
    reader = _Reader(system=system, url=url, site=site, api=client_of(SYSTEMS[system], url, token))
    try:
        with guarded(url):
            return reader.read()
    except UnreadableError as error:
        hint = f"is this the URL of {SYSTEMS[system].title}, in a release that its client supports?"
        raise InputError([Diagnostic(CODE, Place(url), f"the answer of the server {error}", hint)]) from error


@dataclass(kw_only=True)
class _Reader:
    system: str
    url: str
    site: str
    api: Any
    facts: dict[Any, Facts] = field(default_factory=dict)  # by id of the device
    ports: dict[Any, tuple[str, str]] = field(default_factory=dict)  # id of an interface → device and port
    networks: dict[str, str] = field(default_factory=dict)  # prefix → name
    loose: list[tuple[str, str]] = field(default_factory=list)  # addresses with their VRFs

    @property
    def is_netbox(self) -> bool:
        return self.system == "netbox"

    def rows(self, endpoint: str, **where: Any) -> list[dict[str, Any]]:
        """Objects of an endpoint. Raises InputError where the server refuses."""
        app, _, name = endpoint.partition(".")
        its = getattr(getattr(self.api, app), name)
        try:
            return [dict(row) for row in (its.filter(limit=PAGE, **where) if where else its.all(limit=PAGE))]
        except Exception as error:
            if isinstance(error, ImportError | MemoryError):
                raise
            reason = " ".join(str(error).split())[:200] or type(error).__name__
            raise InputError([Diagnostic(CODE, Place(self.url), f"{endpoint}: {reason}")]) from error

    def read(self) -> Truth:
        place = self._place()
        names = {one["id"]: one["name"] for one in self._of("dcim.devices", place)}
        kinds = self.rows("dcim.device_types")
        models = {one["id"]: one["model"] for one in kinds}
        platforms = {one["id"]: one["name"] for one in self.rows("dcim.platforms")}
        roles = {one["id"]: one["name"] for one in self.rows("dcim.device_roles" if self.is_netbox else "extras.roles")}
        devices = self._of("dcim.devices", place)
        for device in devices:
            nos = platforms.get(_id(device["platform"]), "")
            if nos in target_names():
                name = device["name"]
                self.facts[device["id"]] = Facts(name=name, nos=nos, files=(self.url,), hostname=Located(name, 0, self.url))
        if not self.facts:
            message = f"site '{self.site}': expected devices whose platform is a network OS, got none"
            raise InputError([Diagnostic(CODE, Place(self.url), message, f"platforms: {', '.join(sorted(target_names()))}")])
        racks = {one["id"]: one["name"] for one in self.rows("dcim.racks")}
        vrfs = self._vrfs()
        vlans = {one["id"]: one for one in self.rows("ipam.vlans")}
        self._interfaces(place, names, vlans, vrfs)
        self._addresses(vrfs)
        self._gateways(vlans)
        for facts in self.facts.values():
            idiom = target(facts.nos).idiom
            tunnel = facts.interfaces.get(idiom.vtep) if idiom and idiom.own_vtep else None
            if tunnel is not None and tunnel.addresses:
                facts.vtep = self._at(tunnel.addresses[0].value.partition("/")[0])
        self._numbers()
        known = {
            device["name"]: models.get(_id(device["device_type"]), "") for device in devices if device["id"] in self.facts
        }
        return Truth(
            devices=[self.facts[device["id"]] for device in devices if device["id"] in self.facts],
            wires=list(self._cables(place)),
            models={name: model for name, model in known.items() if catalog.switch(model) is not None},
            racks={device["name"]: racks.get(_id(device["rack"]), "") for device in devices},
            networks=self.networks,
            heights={one["model"]: int(one.get("u_height") or 0) for one in kinds},
            types={device["name"]: models.get(_id(device["device_type"]), "") for device in devices},
            roles={device["name"]: roles.get(_id(device["role"]), "") for device in devices},
        )

    def _place(self) -> Any:
        """The id of the site."""
        where = {"slug": slug(self.site)} if self.is_netbox else {"name": self.site}
        found = self.rows("dcim.sites" if self.is_netbox else "dcim.locations", **where)
        if not found:
            hint = "`--site NAME` names the site as the server has it"
            raise InputError([Diagnostic(CODE, Place(self.url), f"no site '{self.site}'", hint)])
        return found[0]["id"]

    def _of(self, endpoint: str, place: Any) -> list[dict[str, Any]]:
        return self.rows(endpoint, **({"site_id": place} if self.is_netbox else {"location": place}))

    def _vrfs(self) -> dict[Any, str]:
        """VRF → name of its tenant, else its own."""
        tenants = {one["id"]: one["name"] for one in self.rows("tenancy.tenants")}
        return {one["id"]: tenants.get(_id(one.get("tenant")), one["name"]) for one in self.rows("ipam.vrfs")}

    def _interfaces(
        self, place: Any, names: Mapping[Any, str], vlans: Mapping[Any, dict[str, Any]], vrfs: Mapping[Any, str]
    ) -> None:
        for row in self._of("dcim.interfaces", place):
            device = _id(row["device"])
            self.ports[row["id"]] = names.get(device, ""), row["name"]
            facts = self.facts.get(device)
            if facts is None:
                continue
            its = self._interface(facts, row["name"])
            if text := row.get("description"):
                its.description = self._at(text)
            if mtu := row.get("mtu"):
                its.mtu = self._at(int(mtu))
            speed = int(row.get("speed") or 0) // 1_000_000
            named = SPEED.match(str(_choice(row.get("type")) or ""))
            if not row.get("mgmt_only") and (gbps := speed or (int(named[1]) if named else 0)):
                its.speed_gbps = self._at(gbps)
            if (vrf := vrfs.get(_id(row.get("vrf")))) is not None:
                its.vrf = self._at(self._vrf(facts, vrf))
            if (untagged := vlans.get(_id(row.get("untagged_vlan")))) is not None:
                its.access = self._at(int(untagged["vid"]))
            tagged = [vlans[_id(one)] for one in row.get("tagged_vlans") or () if _id(one) in vlans]
            its.trunk = [self._at(int(one["vid"])) for one in tagged]

    def _interface(self, facts: Facts, name: str) -> Interface:
        return facts.interfaces.setdefault(name, Interface(name=name, line=0, file=self.url))

    def _at(self, value: Any) -> Located[Any]:
        return Located(value, 0, self.url)

    def _vrf(self, facts: Facts, tenant: str) -> str:
        """The VRF of a tenant on a switch, which has it from now on."""
        idiom = target(facts.nos).idiom
        name = idiom.vrf.format(tenant) if idiom else tenant
        facts.vrfs.setdefault(name, Vrf(name=name, line=0, file=self.url))
        return name

    def _addresses(self, vrfs: Mapping[Any, str]) -> None:
        addresses = {one["id"]: one for one in self.rows("ipam.ip_addresses")}
        if self.is_netbox:
            pairs = [(one["id"], one.get("assigned_object_id")) for one in addresses.values()]
        else:
            pairs = [(_id(one["ip_address"]), _id(one["interface"])) for one in self.rows("ipam.ip_address_to_interface")]
        by_name = {facts.name: facts for facts in self.facts.values()}
        for address, interface in pairs:
            device, port = self.ports.get(interface, ("", ""))
            if address in addresses and device in by_name:
                its = self._interface(by_name[device], port)
                its.addresses.append(self._at(addresses[address]["address"]))
        self.loose = [(one["address"], vrfs.get(_id(one.get("vrf")), "")) for one in addresses.values()]

    def _gateways(self, vlans: Mapping[Any, dict[str, Any]]) -> None:
        """Anycast gateways belong to no port: their prefix names the network, and a VLAN is called after it."""
        numbers = {one["name"]: int(one["vid"]) for one in vlans.values()}
        vnis = self._vnis(vlans)
        for row in self.rows("ipam.prefixes"):
            word, _, network = str(row.get("description") or "").partition(" ")
            if word != "network":
                continue
            net = ip_network(row["prefix"])
            self.networks[str(net)] = network
            for text, _ in self.loose:
                address = ip_interface(text)
                if address.network != net:
                    continue
                for name, vlan in numbers.items():
                    if name.endswith(f"-{network}"):
                        self._svi(vlan, name.removesuffix(f"-{network}"), network, text)
        for facts in self.facts.values():
            for vlan in {
                at.value for its in facts.interfaces.values() for at in (*its.trunk, *([its.access] if its.access else []))
            }:
                if vni := vnis.get(vlan):
                    facts.vnis[vni] = Vni(
                        number=vni, line=0, file=self.url, vlan=self._at(vlan), rd=self._rd(vni, L2VNI_BASE, NETWORK_RD)
                    )

    def _svi(self, vlan: int, tenant: str, network: str, gateway: str) -> None:
        for facts in self.facts.values():
            used = {
                at.value for its in facts.interfaces.values() for at in (*its.trunk, *([its.access] if its.access else []))
            }
            idiom = target(facts.nos).idiom
            if vlan in used and idiom:
                its = self._interface(facts, idiom.svi.format(vlan))
                its.vrf = self._at(self._vrf(facts, tenant))
                its.description = self._at(network)
                if gateway not in {one.value for one in its.gateways}:
                    its.gateways.append(self._at(gateway))

    def _vnis(self, vlans: Mapping[Any, dict[str, Any]]) -> dict[int, int]:
        """VLAN → VNI; VNIs of VRFs go to the VRFs."""
        if not self.is_netbox:
            return {int(one["vid"]): UNKNOWN_VNI + int(one["vid"]) for one in vlans.values()}  # it has no VNIs
        numbers = {one["id"]: one for one in self.rows("vpn.l2vpns")}
        found: dict[int, int] = {}
        layer2 = set()
        for one in self.rows("vpn.l2vpn_terminations"):
            l2vpn, vlan = _id(one["l2vpn"]), vlans.get(one.get("assigned_object_id"))
            if vlan is not None and l2vpn in numbers:
                found[int(vlan["vid"])] = int(numbers[l2vpn]["identifier"])
                layer2.add(l2vpn)
        for number, one in numbers.items():
            for facts in self.facts.values() if number not in layer2 else ():
                for name, vrf in facts.vrfs.items():
                    if str(one["name"]).endswith(f"-{name}") and vrf.vni is None:
                        vrf.vni = self._at(int(one["identifier"]))
                        vrf.rd = self._rd(int(one["identifier"]), L3VNI_BASE)
        return found

    def _rd(self, vni: int, base: int, first: int = 0) -> Located[str] | None:
        """A route distinguisher, which has the number of a tenant or network; an inventory has the VNI alone."""
        return self._at(f"0:{first + vni - base}") if 0 < vni - base < base else None

    def _numbers(self) -> None:
        """AS numbers: the description names who has one, others of its role have the same where it says so."""
        if not self.is_netbox:
            return
        by_name = {facts.name: facts for facts in self.facts.values()}
        shared: dict[str, int] = {}
        for row in self.rows("ipam.asns"):
            text = str(row.get("description") or "")
            match = HOLDERS.fullmatch(text)
            facts = by_name.get(match[1]) if match else None
            if facts is None or match is None:
                continue
            self._bgp(facts, int(row["asn"]))
            if " and " in text:
                shared[re.sub(r"\d+$", "", facts.name)] = int(row["asn"])
        for facts in self.facts.values():
            stem = re.sub(r"\d+$", "", facts.name)
            if "" not in facts.bgp and stem in shared:
                self._bgp(facts, shared[stem])

    def _bgp(self, facts: Facts, asn: int) -> None:
        loopback = next((its.addresses for name, its in facts.interfaces.items() if is_loopback(name) and its.addresses), [])
        router_id = loopback[0].value.partition("/")[0] if loopback else ""
        facts.bgp[""] = Bgp(
            vrf="", line=0, file=self.url, asn=self._at(asn), router_id=self._at(router_id) if router_id else None
        )

    def _cables(self, place: Any) -> Iterator[Wire]:
        for row in self._of("dcim.cables", place):
            ends = [self.ports.get(end) for end in _ends(row)]
            if len(ends) == 2 and ends[0] and ends[1]:
                yield (*ends[0], *ends[1])


def _ends(row: Mapping[str, Any]) -> Iterable[Any]:
    """The ids of the two ports of a cable."""
    if "termination_a_id" in row:
        return (row["termination_a_id"], row["termination_b_id"])
    return [term["object_id"] for side in ("a_terminations", "b_terminations") for term in map(dict, row[side][:1])]


def _id(value: Any) -> Any:
    """The id of a reference."""
    if isinstance(value, Mapping):
        return value.get("id")
    return getattr(value, "id", value)


def _choice(value: Any) -> Any:
    return value.get("value") if isinstance(value, Mapping) else getattr(value, "value", value)
