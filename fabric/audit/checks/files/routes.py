"""Static routes whose next hop is nowhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import ip_address, ip_network

from fabric.audit.checks import WARNING, FilesCheck, Finding, Network
from fabric.audit.checks.ends import within
from fabric.audit.checks.files.session_ends import has_addresses, kernel_unread
from fabric.base.grouping import grouped
from fabric.base.text import listed
from fabric.model.facts import MANAGEMENT, Facts, Located, Route

UNSTATED = re.compile(r"address dhcp|inet6? dhcp|dhcp-client|ip unnumbered|unnumbered-address")  # subnets of no statement


class NextHop(FilesCheck):
    """Looks for static routes with a next hop that is in no subnet, and that no other static route leads to.

    Such a route is inactive, and its traffic takes another route or is dropped. A next hop in a subnet of another device
    may be reached by a route of that device. A next hop outside of the files may be, too, if a neighbor advertises it.
    """

    id = "FAB2516"
    title = "The next hop of every static route is in a subnet"
    severity = WARNING
    example = "`ip route vrf red 10.3.4.0/24 192.0.2.1`; VRF red has no subnet with 192.0.2.1"
    remediation = "correct the next hop, or the VRF"

    def check(self, network: Network) -> Iterator[Finding]:
        for facts in network.devices:
            if not has_addresses(facts) or kernel_unread(facts) or any(map(UNSTATED.search, facts.texts.values())):
                continue
            lost = [route for route in facts.routes if _is_lost(network, facts, route)]
            for (table, via), routes in grouped(((route.table, route.via), route) for route in lost).items():
                prefixes = listed(list(dict.fromkeys(_net(route) for route in routes)), 2)
                where = f" of VRF {table}" if table else ""
                at = Located(None, routes[0].line, routes[0].file)
                yield self.finding_at(facts, at, f"next hop {via} of {prefixes} is in no subnet{where}")


def _is_lost(network: Network, facts: Facts, route: Route) -> bool:
    own = network.near[id(facts)]
    if not route.via or not any(table == route.table for table, _, _ in own.lengths):
        return False  # over an interface; or the files have no address of that table
    ip = ip_address(route.via.partition("%")[0])
    others = (other for other in facts.routes if other.vrf == route.table and _net(other) != _net(route))
    if ip.is_link_local or ip.is_unspecified or any(within(str(ip), _net(other)) for other in others):
        return False
    if own.own_addresses_in_subnet(route.table, str(ip)):
        return False
    if route.table == MANAGEMENT:  # without routing protocols
        return True
    return not any(
        near.own_addresses_in_subnet(table, str(ip)) for near in network.near.values() for table, _, _ in near.lengths
    )


def _net(route: Route) -> str:
    return str(ip_network(route.prefix, strict=False))
