"""Other devices on leaf ports: routers with their sessions, gateways, and the management ports of switches."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address, ip_interface, ip_network
from itertools import permutations
from typing import Any

from fabric.deliver.brownfield.sections.probes import Document
from fabric.deliver.brownfield.sections.running import most_common
from fabric.deliver.brownfield.sections.tenant_facts import PortUse, TenantSurvey
from fabric.deliver.brownfield.sections.tenants import Found
from fabric.deliver.brownfield.survey.nic_numbers import MANAGEMENT_PORTS
from fabric.deliver.brownfield.survey.ports import tenant_of, with_subinterfaces
from fabric.deliver.brownfield.survey.records import Cable
from fabric.model.facts import DENIED, Neighbor
from fabric.model.plan import DEFAULT_ROUTES, LEAF

ANY_ASN = 65_010  # of routers whose sessions take every number but the own one
MOST_PERMUTED = 3  # attachments whose every order is tried
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class _Session:
    """A session with a router, and the VRF that it is in."""

    vrf: str
    address: str
    tag: int
    neighbor: Neighbor


def find(survey: TenantSurvey, found: Found) -> list[Document]:
    """`topology.attachments`."""
    run = survey.run
    by_device: dict[str, list[PortUse]] = {}
    for use in survey.uses:
        host = run.survey.hosts.get(use.cable.a)
        if host is None:
            by_device.setdefault(MANAGEMENT_PORTS, []).append(use)
        elif host.attached:
            by_device.setdefault(host.name, []).append(use)
    rows: list[tuple[Any, Document]] = []
    for name, uses in by_device.items():
        uses.sort(key=lambda use: (_port_number(use.cable), use.spot))
        sessions = [session for use in uses for session in _sessions(survey, use)]
        row: Document = {"name": name, "links": len(uses)}
        speed = most_common(use.cable.speed_gbps for use in uses)
        if speed != _usual_speed(survey):
            row["speed_gbps"] = speed
        if sessions:
            row["external"] = _external(survey, found, sessions)
        else:
            row |= _inside(survey, found, uses)
        order = min((int(ip_interface(its.address)) for its in sessions if its.tag), default=0)
        rows.append(((order == 0, order, name), row))
    return [row for _, row in sorted(rows, key=lambda item: item[0])]


def _port_number(cable: Cable) -> int:
    digits = _DIGITS.findall(cable.a_port)
    return int(digits[-1]) if digits else 0


def _usual_speed(survey: TenantSurvey) -> int | None:
    if survey.run.fabric is not None:
        return survey.run.fabric.sizing.groups[0].down_gbps
    hosts = survey.run.survey.hosts
    return most_common(use.cable.speed_gbps for use in survey.uses if (host := hosts.get(use.cable.a)) and not host.attached)


# --- Routers --------------------------------------------------------------------------------------------------


def _sessions(survey: TenantSurvey, use: PortUse) -> Iterator[_Session]:
    """Sessions whose far end is in a subnet of a port, or of a subinterface of it."""
    facts, nos = survey.facts(use.cable.b), survey.leaves[use.cable.b].nos
    for port in with_subinterfaces(facts, use.cable.b_port):
        for process in facts.bgp.values():
            for neighbor in process.neighbors.values():
                if neighbor.interface and neighbor.peer == port.name:
                    yield _Session(tenant_of(nos, neighbor.vrf), "", 0, neighbor)
        for address in port.addresses:
            net = ip_network(address.value, strict=False)
            for process in facts.bgp.values():
                for neighbor in process.neighbors.values():
                    if not neighbor.interface and not neighbor.dynamic and _within(neighbor.peer, net):
                        tag = port.tag.value if port.tag else 0
                        yield _Session(tenant_of(nos, neighbor.vrf), address.value, tag, neighbor)


def _within(text: str, net: Any) -> bool:
    try:
        address = ip_address(text)
    except ValueError:
        return False
    return address.version == net.version and address in net


def _external(survey: TenantSurvey, found: Found, sessions: Sequence[_Session]) -> Document:
    numbers = [its.neighbor.remote_as.value for its in sessions if its.neighbor.remote_as]
    asn = most_common(number for number in numbers if isinstance(number, int))
    if asn is None:
        asn = ANY_ASN
        survey.run.note(f"fabric {survey.run.name}", f"AS number {asn} (assumed)", "sessions with any other AS number")
    row: Document = {"asn": asn}
    served = {its.vrf for its in sessions if its.vrf}
    names = [tenant["name"] for tenant in found.tenants]
    if served and served != set(names):
        row["tenants"] = [name for name in names if name in served]
    accepts = most_common(tuple(its_accepts) for its in sessions if (its_accepts := _accepts(survey, its.neighbor)))
    if accepts and accepts not in (("0.0.0.0/0",), ("::/0",)):
        row["accept"] = _ordered(survey, accepts)
    return row


def _ordered(survey: TenantSurvey, accepts: Sequence[str]) -> list[str]:
    """In the order of a list of an upper switch that has them all, or of a leaf's that does not begin with the default route,
    as lists of sessions with routers do.
    """
    for switch in sorted(survey.run.switches, key=lambda its: its.role == LEAF):
        for entries in switch.facts.prefixes.values() if switch.facts is not None else ():
            texts = [entry.value.partition(" ")[0] for entry in entries]
            if set(accepts) <= set(texts):
                order = sorted(accepts, key=texts.index)
                if switch.role != LEAF or order[0] not in DEFAULT_ROUTES:
                    return order
    return list(accepts)


def _accepts(survey: TenantSurvey, neighbor: Neighbor) -> list[str]:
    """What a session lets in."""
    leaf = next((leaf for leaf in survey.leaves if any(one is neighbor for one in survey.facts(leaf).neighbors())), "")
    if not leaf or neighbor.import_filter is None:
        return []
    facts = survey.facts(leaf)
    name = neighbor.import_filter.value  # of a policy, or of a prefix list itself
    lists = [its.value for its in facts.policies.get(name, ())] or [name]
    entries = [entry.value for its in lists for entry in facts.prefixes.get(its, ())]
    return list(dict.fromkeys(text.partition(" ")[0] for text in entries if not text.startswith(DENIED)))


def orders(rows: Sequence[Document]) -> Iterator[list[Document]]:
    """Other orders of routers, and of what they send: fabric lists have all of it in this order."""
    if any("accept" in row.get("external", {}) for row in rows):
        every = (
            permutations(rows)
            if len(rows) <= MOST_PERMUTED
            else ([row, *(one for one in rows if one is not row)] for row in rows)
        )
        yield [{"topology": {"attachments": [_turned(row, turn) for row in order]}} for order in every for turn in (1, -1)]


def _turned(row: Document, turn: int) -> Document:
    external = row.get("external", {})
    return {**row, "external": {**external, "accept": external["accept"][::turn]}} if "accept" in external else row


def outside(survey: TenantSurvey) -> Mapping[str, frozenset[str]]:
    """What routers send to each tenant."""
    found: dict[str, set[str]] = {}
    for use in survey.uses:
        host = survey.run.survey.hosts.get(use.cable.a)
        for session in _sessions(survey, use) if host is not None and host.attached else ():
            found.setdefault(session.vrf, set()).update(_accepts(survey, session.neighbor))
    return {name: frozenset(prefixes) for name, prefixes in found.items()}


# --- Devices inside -------------------------------------------------------------------------------------------


def _inside(survey: TenantSurvey, found: Found, uses: Sequence[PortUse]) -> Document:
    """Tenant, network, bond and lossless class of a device that is no router."""
    row: Document = {}
    if tenant := most_common(name for use in uses if (name := found.of_port.get(use.spot))):
        row["tenant"] = tenant
    own = [vlan for vlan, (owner, _) in found.names.items() if owner == tenant]
    vlans = most_common(use.vlans for use in uses)
    if vlans and len(vlans) == 1 and len(own) > 1 and vlans[0] in found.names:
        row["network"] = found.names[vlans[0]][1]
    if any(use.bond for use in uses):
        row["bond"] = True
    paused = [survey.paused(use) for use in uses]
    if survey.lossless and not any(paused) and not all(use.closed for use in uses):
        row["lossless"] = False
    return row
