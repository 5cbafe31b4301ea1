"""The sections `overlay` and `tenants` of a fabric, from what its leaves say."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_interface, ip_network
from itertools import product
from typing import Any

from netaddr import IPNetwork, IPSet

from fabric.deliver.brownfield.sections.probes import Document
from fabric.deliver.brownfield.sections.running import Running, most_common
from fabric.deliver.brownfield.sections.server_ports import Ports, Spot, ports_of
from fabric.deliver.brownfield.sections.tenant_facts import L2_BASE, NetworkFacts, TenantFacts, TenantSurvey
from fabric.model.plan import DEFAULT_ROUTES, LEAF
from fabric.model.plan.lock import TenantNumber
from fabric.model.settings.services import Overlay
from fabric.nos.reading.values import is_address
from fabric.nos.target import target

L3_BASE = Overlay().l3vni_base
FIRST_VLAN = 100  # of a network without a stated one
PREFIX = re.compile(r"[0-9A-Fa-f.:]+/\d+")


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
        survey.run.note("tenant", "tenant1", "ports of some devices are shut; no statement names a tenant of the one table")
        of_port = {use.spot: "tenant1" for use in survey.uses if not use.closed}
    overlay, l3, l2 = _overlay(survey, how, tenants, networks)
    names = _names(networks)
    for vlan, (tenant, name) in names.items():
        if not networks[vlan].name:
            survey.run.note(
                f"network of VLAN {vlan}", f"{tenant}/{name}", "no statement names it: tenant by its table or ports"
            )
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


def relays(rows: Sequence[Document]) -> Iterator[list[Document]]:
    """The tenants with DHCP servers in the default table, network by network."""
    for at, row in enumerate(rows):
        for n, network in enumerate(row.get("networks", ())):
            if "dhcp_relay" in network:
                across = {**network, "dhcp_relay": {"servers": network["dhcp_relay"], "tenant": "default"}}
                networks = [*row["networks"][:n], across, *row["networks"][n + 1 :]]
                yield [{"tenants": [*rows[:at], {**row, "networks": networks}, *rows[at + 1 :]]}]


def _overlay(
    survey: TenantSurvey, how: str, tenants: Mapping[str, TenantFacts], networks: Mapping[int, NetworkFacts]
) -> tuple[Document, int, int]:
    """`overlay`, and the bases of both kinds of VNI."""
    if how != "evpn":
        return ({"isolation": how} if how != "none" else {}), 0, 0
    found: Document = {"kind": "evpn-vxlan"}
    l3 = most_common(its.vni - its.number for its in tenants.values() if its.vni > its.number) or L3_BASE
    bases = Counter(its.vni - its.number for its in networks.values() if its.vni > its.number)
    l2, times = bases.most_common(1)[0] if bases else (L2_BASE, 0)
    l2 = l2 if 2 * times > len(networks) else L2_BASE  # else each network has its own VNI
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
    return found, l3, l2


def route_servers(run: Running) -> Iterator[list[Document]]:
    """How many spines of a role, pod and plane have EVPN sessions, where that may be stated."""
    evpn = [
        (its.role, its.pod, its.plane)
        for its in run.switches
        if its.role != LEAF
        and its.facts is not None
        and any(family.value == "evpn" for one in its.facts.neighbors() for family in one.families)
    ]
    counts = {*Counter(evpn).values(), *Counter(role for role, *_ in evpn).values()}
    yield [{"overlay": {"route_servers": count}} for count in sorted(counts)]


def _names(networks: Mapping[int, NetworkFacts]) -> dict[int, tuple[str, str]]:
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
            row |= ports.part([(use.spot, len(use.vlans)) for use in uses], {use.spot for use in mine})
        rows.append(row)
    return rows


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
            by_prefix = not all(target(leaf.nos).capabilities.imports for leaf in survey.leaves.values())
            if not its.limited and not by_prefix:
                found.append(source)
                continue
            others = outside.get(source, frozenset()) - outside.get(its.name, frozenset())
            whole = [*map(str, subnets[source]), *([] if subnets[source] else others or DEFAULT_ROUTES[:1])]
            inside = [
                text
                for text in its.prefixes
                if text in others or (text not in DEFAULT_ROUTES and any(_meets(net, text) for net in subnets[source]))
            ]
            stated = inside or (sorted(whole) if by_prefix else [])
            found.append({"from": source, "prefixes": stated} if stated else source)
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
            words = re.compile(rf"(?<![\w-]){re.escape(pattern.format(name))}(?:-[46])?(?![\w-])")
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
