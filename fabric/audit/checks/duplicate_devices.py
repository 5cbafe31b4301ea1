"""Two states of one device under two names, or a device that has the config of another one: files cannot tell which.

What contradicts between the rest of the network and such a pair follows from that. Many pairs are two states of a network.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

from fabric.audit.checks.ends import is_link, tunnel_addresses, vlan_of, vrf_of, without_prefix_length
from fabric.audit.checks.finding import ERROR, WARNING, Finding
from fabric.audit.checks.network import Network
from fabric.audit.checks.rows import is_loopback
from fabric.base.grouping import grouped
from fabric.model.facts import Facts

ADDRESS = "FAB252"
OF_PAIR = frozenset((ADDRESS, "FAB253", "FAB258"))
OF_OTHERS = OF_PAIR | {"FAB255", "FAB256", "FAB265", "FAB266", "FAB2504"}
PAIRS = 3  # of devices with a common address, each device in one pair, where two states of a network are mixed
SHARE = 3  # … if they are at least one device in so many


def without_doubles(network: Network, findings: Sequence[Finding]) -> list[Finding]:
    """One error for each pair; what others have to do with one of its devices is a warning."""
    pairs = [frozenset((one.name, other.name)) for one, other in _doubles(network.devices)]
    names = frozenset().union(*pairs, *_of_one_name(network.devices))
    if _mixed(network):
        return [replace(one, severity=WARNING) if one.id in OF_OTHERS and one.severity == ERROR else one for one in findings]
    return list(_kept(findings, pairs, names)) if names else list(findings)


def _kept(findings: Sequence[Finding], pairs: Sequence[frozenset[str]], names: frozenset[str]) -> Iterator[Finding]:
    reported: set[frozenset[str]] = set()
    for one in findings:
        about = names & {one.device, *one.about.devices} if one.id in OF_OTHERS else frozenset()
        pair = next((pair for pair in pairs if pair <= about), None) if one.id in OF_PAIR else None
        if pair is None:
            yield replace(one, severity=WARNING) if about and one.severity == ERROR else one
        elif one.id == ADDRESS and one.device in pair and pair not in reported:
            reported.add(pair)
            yield one


def _doubles(devices: Sequence[Facts]) -> Iterator[tuple[Facts, Facts]]:
    """Pairs with one loopback address and one address of a point-to-point link in common."""
    by_loopback = grouped((address, facts) for facts in devices for address in _addresses(facts, loopbacks=True))
    seen: set[tuple[int, int]] = set()
    for same in by_loopback.values():
        for one, other in combinations(same, 2):
            common = _addresses(one, loopbacks=False) & _addresses(other, loopbacks=False)
            if common and one.name != other.name and (id(one), id(other)) not in seen:
                seen.add((id(one), id(other)))
                yield one, other


def _mixed(network: Network) -> bool:
    """Whether a folder has two states of a network: many pairs share a router ID, or an address of links or of BGP.

    VLAN interfaces do not count, as every MLAG pair may have one subnet for its peer link.
    """
    owners = grouped((key, facts) for facts in network.devices for key in _routed(facts))
    paired: set[int] = set()
    for same in owners.values():
        two = {id(facts) for facts in same}
        if len(same) == 2 == len({facts.name.lower() for facts in same}) and paired.isdisjoint(two):
            paired |= set() if network.are_apart(*same) else two
    return len(paired) >= 2 * PAIRS and len(paired) * SHARE >= len(network.devices)


def _routed(facts: Facts) -> set[tuple[str, str]]:
    ports = (port for port in facts.interfaces.values() if not is_loopback(port.name) and vlan_of(port.name) is None)
    links = {
        (vrf_of(port), without_prefix_length(fact.value)) for port in ports for fact in port.addresses if is_link(fact.value)
    }
    if facts.hostname:  # not a part of a config
        links |= {("router ID", process.router_id.value) for process in facts.bgp.values() if process.router_id}
    return links | _addresses(facts, loopbacks=True)


def _of_one_name(devices: Sequence[Facts]) -> Iterator[frozenset[str]]:
    for same in grouped((facts.name.lower(), facts) for facts in devices).values():
        if len(same) > 1:
            yield frozenset(facts.name for facts in same)


def _addresses(facts: Facts, *, loopbacks: bool) -> set[tuple[str, str]]:
    """(VRF, address) of its point-to-point links, or by which a device speaks BGP.

    Where no router ID is stated, that is any loopback save those of tunnels, which a pair shares.
    """
    found = ((port, fact.value) for port in facts.interfaces.values() for fact in port.addresses)
    if not loopbacks:
        return {
            (vrf_of(port), without_prefix_length(value))
            for port, value in found
            if not is_loopback(port.name) and is_link(value)
        }
    speaks = {process.router_id.value for process in facts.bgp.values() if process.router_id}
    own = {(vrf_of(port), without_prefix_length(value)) for port, value in found if is_loopback(port.name)}
    shared = tunnel_addresses(facts)
    return {(vrf, address) for vrf, address in own if (address in speaks if speaks else address not in shared)}
