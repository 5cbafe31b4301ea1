"""Tenants of a fabric from the tables, VLANs and filters of its switches, and the servers whose ports are in them."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import ip_interface, ip_network
from itertools import count, product
from typing import Any, TypeAlias

import numpy as np
from netaddr import IPNetwork, IPSet

from fabric.base.grouping import grouped
from fabric.deliver.brownfield.probes import Document, learned
from fabric.deliver.brownfield.running import Running, most_common
from fabric.deliver.brownfield.survey import Cable, Switch
from fabric.model.facts import DEFAULT_VRF, MANAGEMENT, Facts, Interface
from fabric.model.plan import DEFAULT_ROUTES, LEAF, SERVER_LEAF, VLAN_BASE
from fabric.model.plan.lock import TenantNumber
from fabric.model.plan.sizing import nic_uses
from fabric.model.plan.tenant_ports import rails_of
from fabric.model.plan.tenants import TAG_BASE
from fabric.model.settings.services import Overlay
from fabric.nos.reading.values import is_address
from fabric.nos.target import target

NETWORK_RD = 10_000  # route distinguishers of networks end in this and their number
L3_BASE, L2_BASE = Overlay().l3vni_base, Overlay().l2vni_base
FIRST_VLAN = 100  # of a network without a stated one
PREFIX = re.compile(r"[0-9A-Fa-f.:]+/\d+")
Spot: TypeAlias = tuple[str, str]  # leaf and port


@dataclass(frozen=True, slots=True)
class PortUse:
    """What a leaf port to a server or another device is in."""

    cable: Cable
    tenant: str = ""  # by its table or filter
    vlans: tuple[int, ...] = ()  # untagged first
    untagged: int = 0
    closed: bool = False
    bond: str = ""

    @property
    def spot(self) -> Spot:
        return self.cable.b, self.cable.b_port


@dataclass(slots=True, kw_only=True)
class NetworkFacts:
    """A layer-2 network as its leaves have it."""

    vlan: int
    vni: int = 0
    number: int = 0
    gateway: str = ""
    relays: tuple[str, ...] = ()
    tenant: str = ""
    name: str = ""


@dataclass(slots=True, kw_only=True)
class TenantFacts:
    """A tenant as the switches have it."""

    name: str
    number: int = 0
    vni: int = 0
    targets: set[str] = field(default_factory=set)  # that it imports
    own: set[str] = field(default_factory=set)  # that it exports
    leaks: set[str] = field(default_factory=set)  # tenants
    prefixes: tuple[str, ...] = ()  # to which its imports are limited
    limited: bool = False


def tenant_of(nos: str, vrf: str) -> str:
    """The tenant of a VRF, by the pattern of the network OS; "" for the default table and that of management."""
    if vrf in (DEFAULT_VRF, MANAGEMENT, "default"):
        return ""
    idiom = target(nos).idiom
    before, _, after = (idiom.vrf if idiom else "{}").partition("{}")
    return vrf[len(before) : len(vrf) - len(after)] if vrf.startswith(before) and vrf.endswith(after) else vrf


def tenant_of_filter(nos: str, name: str) -> str:
    """The tenant of a packet filter, "" for another one."""
    idiom = target(nos).idiom
    for pattern in idiom.acls if idiom else ():
        before, _, after = pattern.partition("{}")
        if name.startswith(before) and name.endswith(after) and len(name) > len(before) + len(after):
            return name[len(before) : len(name) - len(after)]
    return ""


# --- What leaves say ------------------------------------------------------------------------------------------


class TenantSurvey:
    """The tenants of one fabric.

    Attributes:
        run: its switches.
    """

    def __init__(self, run: Running) -> None:
        self.run = run
        self.leaves = {its.name: its for its in run.switches if its.role == LEAF and its.facts is not None}
        self.uses = [self._use(cable) for cable in run.survey.cables if cable.b in self.leaves and self._outer(cable)]

    def _outer(self, cable: Cable) -> bool:
        """Whether a cable leads to a host, or to the management port of a switch."""
        return cable.a in self.run.survey.hosts or (cable.a_ref is None and cable.a not in self.leaves)

    @cached_property
    def lossless(self) -> bool:
        """Whether any port of the fabric has PFC."""
        return any(
            port.qos is not None and port.qos.pfc
            for its in self.run.switches
            if its.facts is not None
            for port in its.facts.interfaces.values()
        )

    def paused(self, use: PortUse) -> tuple[int, ...]:
        """The priorities that pause on a port."""
        facts = self.facts(use.cable.b)
        ports = (facts.interfaces.get(name) for name in (use.cable.b_port, use.bond))
        return next((tuple(one.value for one in port.qos.pfc) for port in ports if port and port.qos and port.qos.pfc), ())

    def facts(self, leaf: str) -> Facts:
        """What was read of a leaf."""
        facts = self.leaves[leaf].facts
        assert facts is not None
        return facts

    def is_server(self, use: PortUse) -> bool:
        """Whether a server is behind a port."""
        host = self.run.survey.hosts.get(use.cable.a)
        return host is not None and not host.attached

    def _use(self, cable: Cable) -> PortUse:
        nos, facts = self.leaves[cable.b].nos, self.facts(cable.b)
        port = facts.interfaces.get(cable.b_port) or Interface(name=cable.b_port, line=0)
        bond = facts.interfaces.get(port.bond.value) if port.bond else None
        inner = bond or port
        vrf = tenant_of(nos, inner.vrf.value) if inner.vrf else ""
        filters = [name for its in inner.filters if (name := tenant_of_filter(nos, its.value))]
        untagged = inner.access.value if inner.access else 0
        tagged = sorted({its.value for its in inner.trunk} - {untagged})
        closed = port.enabled is not None and not port.enabled.value
        return PortUse(
            cable,
            vrf or (filters[0] if filters else ""),
            (*((untagged,) if untagged else ()), *tagged),
            untagged,
            closed,
            bond.name if bond else "",
        )

    @cached_property
    def isolation(self) -> str:
        """ "evpn", "vrf-lite", "acl" or "none"."""
        every = [its.facts for its in self.run.switches if its.facts is not None]
        if any(one.vnis or one.vtep for one in every) or any(
            family.value == "evpn" for one in every for session in one.neighbors() for family in session.families
        ):
            return "evpn"
        if any(tenant_of(its.nos, vrf) for its in self.run.switches if its.facts for vrf in its.facts.vrfs):
            return "vrf-lite"
        return "acl" if any(use.tenant for use in self.uses) else "none"

    @cached_property
    def tenants(self) -> dict[str, TenantFacts]:
        """By name, in the order of their numbers."""
        found: dict[str, TenantFacts] = {}
        for switch in self.run.switches:
            for vrf in switch.facts.vrfs.values() if switch.facts else ():
                name = tenant_of(switch.nos, vrf.name)
                if name:
                    self._add(found.setdefault(name, TenantFacts(name=name)), switch, vrf)
        for use in self.uses:
            if use.tenant:
                found.setdefault(use.tenant, TenantFacts(name=use.tenant))
        return dict(sorted(found.items(), key=lambda item: (item[1].number or 10**6, item[0])))

    def _add(self, tenant: TenantFacts, switch: Switch, vrf: Any) -> None:
        facts = switch.facts
        assert facts is not None
        tenant.vni = tenant.vni or (vrf.vni.value if vrf.vni else 0)
        if not tenant.number and vrf.rd is not None:
            tenant.number = int(vrf.rd.value.rpartition(":")[2])
        if not tenant.number and vrf.vlan is not None and vrf.vlan.value > VLAN_BASE:
            tenant.number = vrf.vlan.value - VLAN_BASE
        tags = [one.tag.value for one in facts.interfaces.values() if one.tag and one.vrf and one.vrf.value == vrf.name]
        if not tenant.number and tags:
            tenant.number = max(0, tags[0] - TAG_BASE)
        tenant.targets |= {its.value for its in vrf.imports}
        tenant.own |= {its.value for its in vrf.exports}
        tenant.leaks |= {tenant_of(switch.nos, its.value) for its in vrf.leaks}
        if vrf.leak_filter is not None:
            lists = facts.policies.get(vrf.leak_filter.value, ())
            entries = [entry.value for its in lists for entry in facts.prefixes.get(its.value, ())]
            tenant.prefixes = tuple(dict.fromkeys((*tenant.prefixes, *(text.partition(" ")[0] for text in entries))))
            tenant.limited = True

    @cached_property
    def networks(self) -> dict[int, NetworkFacts]:
        """By VLAN."""
        found: dict[int, NetworkFacts] = {}
        for switch in self.leaves.values():
            facts = self.facts(switch.name)
            idiom = target(switch.nos).idiom
            for vni in facts.vnis.values():
                if vni.vlan is not None:
                    its = found.setdefault(vni.vlan.value, NetworkFacts(vlan=vni.vlan.value))
                    its.vni = vni.number
                    number = int(vni.rd.value.rpartition(":")[2]) - NETWORK_RD if vni.rd and idiom and idiom.network_rd else 0
                    its.number = its.number or max(0, number)
            for its in found.values():
                svi = facts.interfaces.get(idiom.svi.format(its.vlan) if idiom else "")
                if svi is None:
                    continue
                its.tenant = its.tenant or (tenant_of(switch.nos, svi.vrf.value) if svi.vrf else "")
                gateway = next((one.value for one in (*svi.gateways, *svi.addresses)), "")
                its.gateway = its.gateway or gateway
                its.relays = its.relays or tuple(dict.fromkeys(one.value for one in svi.relays))
        self._name(found)
        _number(found)
        self._assign(found)
        return found

    def _name(self, networks: Mapping[int, NetworkFacts]) -> None:
        """Names from where configs have them."""
        for switch in self.leaves.values():
            facts, places = self.facts(switch.name), learned(switch.nos, switch.release).names
            here = {its.vlan.value for its in facts.vnis.values() if its.vlan is not None}
            if not places or not any(vlan in networks and not networks[vlan].name for vlan in here):
                continue
            for line in self.run.lines_of(switch):
                for match in (match for place in places if (match := place.pattern.fullmatch(line)) is not None):
                    if int(match["vlan"]) in networks:
                        networks[int(match["vlan"])].name = match["value"].strip("\"'")

    def _assign(self, networks: Mapping[int, NetworkFacts]) -> None:
        """Tenants of networks without a gateway: that of other networks on their ports, by name, or the one that is left."""
        sets = {frozenset(use.vlans) for use in self.uses if len(use.vlans) > 1}
        for its in networks.values():
            if not its.tenant:
                its.tenant = next((name for name in self.tenants if its.name.startswith(f"{name}-")), "")
        for vlans in (*sets, *sets):
            known = {networks[vlan].tenant for vlan in vlans if vlan in networks} - {""}
            for vlan in vlans if len(known) == 1 else ():
                if vlan in networks:
                    networks[vlan].tenant = networks[vlan].tenant or next(iter(known))
        routed = {use.tenant for use in self.uses if not use.vlans}
        left = [name for name in self.tenants if name not in routed | {its.tenant for its in networks.values()}]
        rest = sorted((its for its in networks.values() if not its.tenant), key=lambda its: its.number)
        groups: dict[frozenset[int], list[NetworkFacts]] = {}
        for its in rest:
            home = next((vlans for vlans in sorted(sets, key=sorted) if its.vlan in vlans), frozenset({its.vlan}))
            groups.setdefault(home, []).append(its)
        for name, members in zip(left or list(self.tenants)[:1], groups.values(), strict=False):
            for its in members:
                its.tenant = name


def _number(networks: Mapping[int, NetworkFacts]) -> None:
    """Numbers that no route distinguisher tells: by the VNI, else the lowest free ones in the order of VLANs."""
    unknown = [its for _, its in sorted(networks.items()) if not its.number]
    bases = [its.vni // 1000 * 1000 for its in unknown]
    base = L2_BASE if L2_BASE in bases else most_common(bases) or 0
    used = {its.number for its in networks.values()}
    for its in unknown:
        if 0 < its.vni - base < 1000 and its.vni - base not in used:
            its.number = its.vni - base
            used.add(its.number)
    free = (number for number in count(1) if number not in used)
    for its in (its for its in unknown if not its.number):
        its.number = next(free)


# --- Ports that make a tenant ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ports:
    """The server ports of the planned fabric, by what tenants are told apart."""

    servers: Mapping[Spot, str]
    racks: Mapping[Spot, int]
    rails: Mapping[Spot, int]  # of leaves, 0 where a leaf serves no single one
    nic_rails: Mapping[Spot, int]
    planes: Mapping[Spot, int]
    purposes: Mapping[Spot, str]
    order: Mapping[str, int]

    def select(self, chosen: set[Spot], *, alone: bool) -> Document:
        """The shortest keys that have exactly these ports. `alone`: no other tenant has any, nor is one closed."""
        every = set(self.servers)
        if alone and chosen == every:
            return {}
        names = {self.servers[spot] for spot in chosen}
        rails = {self.rails[spot] for spot in chosen}
        purposes = {self.purposes[spot] for spot in chosen}
        racks = {self.racks[spot] for spot in chosen}
        whole = {spot for spot in every if self.racks[spot] in racks}
        by_rack = {self.servers[spot] for spot in whole} == names and -1 not in racks and len(racks) < len(names)
        for by_rail, by_nics, by_name in sorted(product((False, True), repeat=3), key=sum):
            fits = {
                spot
                for spot in every
                if (not by_rail or (self.rails[spot] in rails and 0 not in rails))
                and (not by_nics or self.purposes[spot] in purposes)
                and (not by_name or self.servers[spot] in names)
            }
            if fits == chosen and (by_rail or by_nics or by_name):
                keys: Document = {"rails": sorted(rails)} if by_rail else {}
                keys |= {"nics": sorted(purposes)} if by_nics else {}
                if by_name:
                    keys |= {"racks": sorted(rack + 1 for rack in racks)} if by_rack else {"servers": self.ranges(names)}
                return keys
        return {"servers": self.ranges(names)}

    def ranges(self, names: Iterable[str]) -> list[str]:
        """Names as `a-0001..0032` where consecutive numbers follow each other."""
        runs: list[tuple[str, int, int, int]] = []  # stem, width, first, last
        for name in sorted(names, key=lambda name: self.order[name]):
            match = re.fullmatch(r"(.*?)(\d+)", name)
            stem, digits = (match[1], match[2]) if match else (name, "")
            number = int(digits) if digits else -1
            last = runs[-1] if runs else None
            if last and digits and last[0] == stem and last[3] == number - 1 and last[1] == len(digits):
                runs[-1] = (*last[:3], number)
            else:
                runs.append((stem, len(digits), number, number))
        return [
            stem if not width else f"{stem}{first:0{width}}" if first == last else f"{stem}{first:0{width}}..{last:0{width}}"
            for stem, width, first, last in runs
        ]


def ports_of(run: Running) -> Ports | None:
    """The server ports of the planned fabric; None without a plan."""
    fabric = run.fabric
    if fabric is None:
        return None
    links, devices, spec = fabric.links, fabric.devices, fabric.spec
    served = np.flatnonzero(links.kind == SERVER_LEAF).tolist()
    uses, use_of = nic_uses(spec, devices, links)
    own = [use not in group.on_free_ports for group, use in uses]
    nic_rails = rails_of(spec, devices, links)
    named = {
        (device.name, fabric.ref(link, "b")): link
        for link in served
        for device in (devices[int(links.b[link])],)
    }
    spots: dict[Spot, int] = {}
    for cable in run.survey.cables:
        if cable.b_ref is not None and (link := named.get((cable.b, cable.b_ref))) is not None:
            spots[cable.b, cable.b_port] = link
    railed = spec.kind in ("rail-optimized", "rail-only")
    return Ports(
        servers={spot: devices[int(links.a[link])].name for spot, link in spots.items()},
        racks={spot: devices[int(links.a[link])].rack for spot, link in spots.items()},
        rails={
            spot: devices[int(links.b[link])].rail + 1 if railed and own[int(use_of[link])] else 0 for spot, link in spots.items()
        },
        nic_rails={spot: int(nic_rails[link]) for spot, link in spots.items()},
        planes={spot: devices[int(links.b[link])].plane + 1 for spot, link in spots.items()},
        purposes={spot: uses[int(use_of[link])][1].nics for spot, link in spots.items()},
        order={devices[int(links.a[link])].name: int(links.a[link]) for link in served},
    )


# --- The sections ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Found:
    """What was found of the tenants of a fabric.

    Attributes:
        overlay, tenants: sections of the intent.
        numbers: lines of the lock, by tenant or tenant/network.
        names: VLAN → (tenant, network).
    """

    overlay: Document
    tenants: list[Document]
    numbers: Mapping[str, tuple[TenantNumber, ...]]
    names: Mapping[int, tuple[str, str]]
    of_port: Mapping[Spot, str]


def find(survey: TenantSurvey, outside: Mapping[str, frozenset[str]]) -> Found:
    """Tenants, the overlay and their numbers. `outside`: what routers send to each tenant."""
    how, tenants = survey.isolation, survey.tenants
    networks = survey.networks if how == "evpn" else {}
    owners = {vlan: its.tenant for vlan, its in networks.items()}
    of_port = {
        use.spot: name
        for use in survey.uses
        if (name := use.tenant or next((owners[vlan] for vlan in use.vlans if owners.get(vlan)), ""))
    }
    if how == "none" and any(use.closed for use in survey.uses):
        tenants = {"tenant1": TenantFacts(name="tenant1")}
        of_port = {use.spot: "tenant1" for use in survey.uses if not use.closed}
    overlay, l3, l2 = _overlay(survey, how, tenants, networks)
    names = _names(tenants, networks)
    ports = ports_of(survey.run)
    rows, numbers = [], {}
    for name, its in tenants.items():
        row: Document = {"name": name}
        row |= _servers(survey, ports, name, of_port)
        if its.vni and its.vni != l3 + its.number:
            row["vni"] = its.vni
        own = sorted((one for one in networks.values() if one.tenant == name), key=lambda one: one.number)
        if own:
            row["networks"] = _networks(survey, ports, own, names, l2)
        rows.append(row)
        if its.number:
            numbers[name] = (TenantNumber(its.number),)
        numbers |= {"/".join(names[one.vlan]): (TenantNumber(one.number),) for one in own if one.number}
    _imports(survey, rows, networks, outside)
    return Found(overlay, rows, numbers, names, of_port)


def _overlay(
    survey: TenantSurvey, how: str, tenants: Mapping[str, TenantFacts], networks: Mapping[int, NetworkFacts]
) -> tuple[Document, int, int]:
    """`overlay`, and the bases of both kinds of VNI."""
    if how != "evpn":
        return ({"isolation": how} if how != "none" else {}), 0, 0
    found: Document = {"kind": "evpn-vxlan"}
    l3 = most_common(its.vni - its.number for its in tenants.values() if its.vni > its.number) or L3_BASE
    l2 = most_common(its.vni - its.number for its in networks.values() if its.vni > its.number) or L2_BASE
    usual3 = all(its.vni == L3_BASE + its.number for its in tenants.values() if its.vni)
    found |= {} if usual3 or l3 == L3_BASE else {"l3vni_base": l3}
    found |= {} if l2 == L2_BASE else {"l2vni_base": l2}
    targets = [text for its in tenants.values() for text in its.own]
    targets += [one.value for leaf in survey.leaves.values() for vni in leaf.facts.vnis.values() for one in vni.exports]  # type: ignore[union-attr]
    admin = most_common(text.partition(":")[0] for text in targets if ":" in text)
    if admin and admin.isdecimal() and int(admin) != 65_000:
        found["rt_asn"] = int(admin)
    macs = (leaf.facts.anycast_mac for leaf in survey.leaves.values() if leaf.facts)
    mac = most_common(one.value.lower() for one in macs if one)
    if mac and mac != "00:00:5e:00:01:01":
        found["anycast_mac"] = mac
    if servers := _route_servers(survey.run):
        found["route_servers"] = servers
    return found, l3, l2


def _route_servers(run: Running) -> int:
    """Spines with EVPN sessions, where they are not the first four or all."""
    evpn = {
        its.name
        for its in run.switches
        if its.role != LEAF
        and its.facts is not None
        and any(family.value == "evpn" for one in its.facts.neighbors() for family in one.families)
    }
    counts, totals = Counter[tuple[str, int, int]](), Counter[tuple[str, int, int]]()
    for its in run.switches:
        if its.role != LEAF:
            totals[its.role, its.pod, its.plane] += 1
            counts[its.role, its.pod, its.plane] += its.name in evpn
    told = [(counts[key], totals[key]) for key in totals]
    most = max((count for count, _ in told), default=0)
    if all(count == min(4, total) for count, total in told):
        return 0
    return most


def _names(tenants: Iterable[str], networks: Mapping[int, NetworkFacts]) -> dict[int, tuple[str, str]]:
    """VLAN → tenant and network; networks that configs do not name are called by their VLAN."""
    found = {}
    for vlan, its in networks.items():
        prefix = f"{its.tenant}-"
        stem = its.name[len(prefix) :] if its.name.startswith(prefix) else ""
        found[vlan] = (its.tenant, stem or f"vlan{vlan}")
    return found


def _servers(survey: TenantSurvey, ports: Ports | None, name: str, of_port: Mapping[Spot, str]) -> Document:
    """The keys that select the ports of a tenant."""
    mine = {spot for spot, owner in of_port.items() if owner == name}
    if ports is None:
        served = {use.cable.a for use in survey.uses if use.spot in mine and survey.is_server(use)}
        return {"servers": sorted(served)} if served else {}
    chosen = mine.intersection(ports.servers)
    return ports.select(chosen, alone=True) if chosen else {}


def _networks(
    survey: TenantSurvey,
    ports: Ports | None,
    own: Sequence[NetworkFacts],
    names: Mapping[int, tuple[str, str]],
    l2: int,
) -> list[Document]:
    rows = []
    vlans = {its.vlan for its in own}
    uses = [use for use in survey.uses if vlans.intersection(use.vlans) and (ports is None or use.spot in ports.servers)]
    whole = all(vlans <= set(use.vlans) for use in uses)
    for its in own:
        row: Document = {"name": names[its.vlan][1]}
        if its.vlan != FIRST_VLAN + its.number - 1:
            row["vlan"] = its.vlan
        if its.vni and its.vni != l2 + its.number:
            row["vni"] = its.vni
        if its.gateway:
            row["gateway"] = str(ip_interface(its.gateway).network)
        if its.relays:
            row["dhcp_relay"] = list(its.relays)
        mine = [use for use in uses if its.vlan in use.vlans]
        if any(use.untagged == its.vlan and len(use.vlans) > 1 for use in mine):
            row["untagged"] = True
        if not whole and ports is not None and mine:
            row |= _part(ports, uses, mine)
        rows.append(row)
    return rows


def _part(ports: Ports, uses: Sequence[PortUse], mine: Sequence[PortUse]) -> Document:
    """The key that tells the ports of one network from those of the others."""
    inside, every = {use.spot for use in mine}, {use.spot for use in uses}
    keys: list[tuple[str, Mapping[Spot, Any]]] = [("rails", ports.nic_rails), ("planes", ports.planes), ("nics", ports.purposes)]
    if any(len(use.vlans) > 1 for use in uses):
        keys = keys[::-1]
    for key, of in keys:
        values = {of[spot] for spot in inside}
        if {spot for spot in every if of[spot] in values} == inside and len({of[spot] for spot in every}) > len(values):
            return {key: sorted(values)}
    rails, planes = ({of[spot] for spot in inside} for of in (ports.nic_rails, ports.planes))
    return {"rails": sorted(rails), "planes": sorted(planes)}


def _imports(
    survey: TenantSurvey,
    rows: Sequence[Document],
    networks: Mapping[int, NetworkFacts],
    outside: Mapping[str, frozenset[str]],
) -> None:
    """`imports` of the tenants, whole and by prefix."""
    tenants, how = survey.tenants, survey.isolation
    owner = {text: name for name, its in tenants.items() for text in its.own}
    subnets = {
        name: [ip_interface(one.gateway).network for one in networks.values() if one.tenant == name and one.gateway]
        for name in tenants
    }
    if how == "acl":
        _permitted(survey, rows)
    for row in rows if how == "evpn" else ():
        its = tenants.get(row["name"])
        if its is None:
            continue
        sources = [owner[text] for text in sorted(its.targets) if owner.get(text, its.name) != its.name]
        sources += [name for name in sorted(its.leaks) if name in tenants and name not in sources]
        found: list[Any] = []
        for source in sorted(sources, key=list(tenants).index):
            if not its.limited:
                found.append(source)
                continue
            others = outside.get(source, frozenset()) - outside.get(its.name, frozenset())
            inside = [
                text
                for text in its.prefixes
                if text in others or (text not in DEFAULT_ROUTES and any(_meets(net, text) for net in subnets[source]))
            ]
            found.append({"from": source, "prefixes": inside} if inside else source)
        if found:
            row["imports"] = found


def _permitted(survey: TenantSurvey, rows: Sequence[Document]) -> None:
    """`imports` where filters isolate tenants: what a filter permits beside the subnets of its own tenant."""
    own: dict[str, IPSet] = {}
    for use in survey.uses:
        port = survey.facts(use.cable.b).interfaces.get(use.cable.b_port)
        for address in port.addresses if use.tenant and port else ():
            own.setdefault(use.tenant, IPSet()).add(IPNetwork(address.value).cidr)
    permitted: dict[str, IPSet] = {}
    for leaf in survey.leaves.values():
        lines = survey.run.lines.get(leaf.name, ())
        idiom = target(leaf.nos).idiom
        for name, pattern in product(own, dict.fromkeys(idiom.acls if idiom else ())):
            words = re.compile(rf"(?<![\w-]){re.escape(pattern.format(name))}(?![\w-])")
            texts = {text for line in lines if words.search(line) for text in PREFIX.findall(line)}
            permitted.setdefault(name, IPSet()).update(IPSet(text for text in texts if is_address(text.partition("/")[0])))
    for row in rows:
        found: list[Any] = []
        for source, subnets in own.items():
            shared = subnets & permitted.get(row["name"], IPSet())
            if source != row["name"] and shared:
                whole = shared == subnets
                found.append(source if whole else {"from": source, "prefixes": [str(net) for net in shared.iter_cidrs()]})
        if found:
            row["imports"] = found


def _meets(net: Any, text: str) -> bool:
    other = ip_network(text)
    return bool(net.version == other.version and net.overlaps(other))
