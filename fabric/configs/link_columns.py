"""Columns beside the links: the addresses that ports really have, and what tenants make of the ports."""

from __future__ import annotations

import socket
from collections.abc import Callable
from ipaddress import IPv6Address, ip_address

import numpy as np
from numpy.typing import NDArray

from fabric.base.text import ipv4
from fabric.model.plan import ATTACHMENT, SERVER_LEAF, FabricPlan


def routed(fabric: FabricPlan) -> NDArray[np.bool_]:
    """Per link whether the ports have the link's own subnet: not where layer 2 or subinterfaces take its place."""
    if not fabric.spec.ethernet:
        return np.zeros(len(fabric.links), dtype=bool)
    there = np.asarray(fabric.subnet >= 0, dtype=bool) & ~fabric.tenancy.bridged
    there[[connection.link for connection in fabric.tenancy.external_connections if connection.address is not None]] = False
    return there


def addresses(fabric: FabricPlan) -> tuple[list[str], list[str]]:
    """Of the ends `a` and `b`. A server in networks has one in each that has a gateway; several are divided by blanks."""
    text = _speller(fabric)
    served = np.isin(fabric.links.kind, (SERVER_LEAF, ATTACHMENT)).tolist()  # there the leaf, the upper end, has the first
    a, b = [""] * len(served), [""] * len(served)
    subnet = fabric.subnet.tolist()
    for link in np.flatnonzero(routed(fabric)).tolist():
        low, lower = subnet[link], served[link]
        a[link], b[link] = text(low + lower), text(low + (not lower))
    for link, numbers in _in_networks(fabric).items():
        a[link] = " ".join(str(ip_address(number)) for _, number in sorted(numbers))
    return a, b


def tenants(fabric: FabricPlan) -> tuple[list[str], list[str], list[object]]:
    """Tenant, VLANs and bond of every link, "" where it has none. VLANs of several networks come tagged."""
    tenancy = fabric.tenancy
    owner = np.array([*(tenant.name for tenant in tenancy.tenants), "", ""], dtype=object)[tenancy.owner].tolist()
    tags = [" ".join(str(vlan) for vlan in sorted(n.vlan for n in tenant.networks)) for tenant in tenancy.tenants]
    vlans = np.array([*tags, "", ""], dtype=object)[tenancy.owner].tolist()
    for link in tenancy.chosen:
        vlans[link] = str(tenancy.networks(link)[0].vlan)
    slices: dict[int, list[int]] = {}
    for connection in tenancy.external_connections:
        if connection.tenant >= 0:
            slices.setdefault(connection.link, []).append(connection.tenant)
    for link, served in slices.items():
        owner[link] = " ".join(tenancy.tenants[at].name for at in served)
        vlans[link] = " ".join(str(tenancy.tenants[at].tag) for at in served)
    return owner, vlans, [lag or "" for lag in tenancy.lag.tolist()]


def _in_networks(fabric: FabricPlan) -> dict[int, list[tuple[int, int]]]:
    """Link → VLAN and address of its server in every network."""
    found: dict[int, list[tuple[int, int]]] = {}
    for (at, n), given in fabric.tenancy.hosts.items():
        vlan = fabric.tenancy.tenants[at].networks[n].vlan
        for link, number in given.items():
            found.setdefault(link, []).append((vlan, number))
    return found


def _speller(fabric: FabricPlan) -> Callable[[int], str]:
    return _ipv6 if fabric.subnet_length == 127 else ipv4


def _ipv6(number: int) -> str:
    """Several times as fast as the ipaddress module; that one spells what may look like IPv4."""
    if number >> 48 == 0 or number >> 32 == 0xFFFF:
        return str(IPv6Address(number))
    return socket.inet_ntop(socket.AF_INET6, number.to_bytes(16, "big"))
