"""Equal-cost paths: how many a device may use, against how many its neighbors give it to one destination."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple, TypeAlias

from fabric.audit.checks import ERROR, WARNING, FilesCheck, Finding, Network, is_loopback, role, table_name, tunnel_addresses
from fabric.audit.checks.ends import is_management, subnet_of, vrf_of
from fabric.audit.checks.files.evpn_sessions import has_vtep, is_external
from fabric.audit.checks.files.session_ends import asn_at
from fabric.base.grouping import grouped
from fabric.model.facts import Bgp, Facts, Neighbor

MAX_KINDS = 64  # of destinations that are followed: time grows with them, and fabrics have a few
PASSES_ON = re.compile(r"spine|core|aggr?\b", re.I)  # in a role's name, where no device is known to have servers


class Multipath(FilesCheck):
    """Compares `maximum-paths`, or its default, with the number of neighbors that lead to one destination equally.

    A switch that installs one best path of sixteen sends all traffic over one uplink. Equal-cost paths must be allowed for
    all uplinks, and across AS numbers if each spine has its own. The paths of every destination are counted by themselves:
    a spine has many leaves, but one path to each. Destinations are the devices with tunnels or subnets of servers.
    """

    id = "FAB261"
    title = "The ECMP limit covers all equal-cost paths"
    severity = ERROR
    example = "`maximum-paths 1` on a leaf with four spines, or NX-OS without `maximum-paths`"
    remediation = "raise `maximum-paths`, and enable multipath across AS numbers; on Junos, also `forwarding-table export`"
    kinds: ClassVar = ("max_paths", "relax")

    def check(self, network: Network) -> Iterator[Finding]:
        graph = Sessions(network)
        widest, varied = graph.widest()
        for process, facts in graph.owners.values():
            paths, name = process.max_paths, table_name(process.vrf)
            count, several = widest.get(id(process), 0), varied.get(id(process), (0, 0))
            if paths is not None and paths.value < count:
                used = f"1 of {count} equal-cost paths is used" if paths.value == 1 else ""
                message = used or f"{paths.value} of {count} equal-cost paths are used"
                yield self.finding_at(facts, paths, f"{name}: {message}", severity="" if used else WARNING)
            elif process.relax is not None and not process.relax.value and several[1] > 1:
                got = f"{several[0]} paths with {several[1]} AS numbers are not used as equal-cost paths"
                yield self.finding_at(facts, process.relax, f"{name}: {got}")


class Edge(NamedTuple):
    """A session as one of its ends has it."""

    to: int  # `id()` of the BGP process at the other end
    asn: int


Parallel: TypeAlias = dict[tuple[int, Edge], Counter[tuple[str, str]]]  # (process, edge) → sessions by their two policies


@dataclass(slots=True)
class Sessions:
    """eBGP sessions that carry IP routes, between BGP processes by their `id()`."""

    network: Network
    owners: dict[int, tuple[Bgp, Facts]] = field(default_factory=dict)
    edges: dict[int, list[Edge]] = field(default_factory=dict)
    loops: set[int] = field(default_factory=set)  # processes that accept their own AS number

    def __post_init__(self) -> None:
        for facts in self.network.devices:
            self.owners |= {id(process): (process, facts) for process in facts.bgp.values()}
        parallel: Parallel = {}
        for _, process, peer in self.network.sessions():
            self._add(parallel, process, peer)
        for (key, edge), policies in parallel.items():
            self.edges.setdefault(key, []).extend([edge] * max(policies.values()))

    def _add(self, parallel: Parallel, process: Bgp, peer: Neighbor) -> None:
        """Of sessions between the same two processes, those with one policy have paths to the same destinations."""
        if peer.allowas_in is not None:
            self.loops.add(id(process))
        far = self.network.remote_end(peer)
        number = asn_at(far) if far else None
        if far is None or far.process is None or number is None or not (is_external(process, peer) and carries_ip(peer)):
            return
        policies = _policies(peer, far.reverse)
        if _denies(self.owners[id(process)][1], policies[0]) or _denies(far.facts, policies[1]):
            return
        parallel.setdefault((id(process), Edge(id(far.process), number.value)), Counter())[policies] += 1
        if far.reverse is not None and far.reverse.dynamic and process.asn:  # a listener has no session of its own
            edge = Edge(id(process), process.asn.value)
            parallel.setdefault((id(far.process), edge), Counter())[_policies(far.reverse, peer)] += 1

    # --- destinations ---------------------------------------------------------------------------------------------

    def _ends(self) -> set[int]:
        """Where traffic begins and ends; where no device is known to have servers, by the names of roles."""
        known = [key for key in self.owners if key in self.edges]
        ends = {key for key in known if _has_servers(*self.owners[key])}
        return ends or {key for key in known if not PASSES_ON.search(role(self.owners[key][1].name))} or set(known)

    def _groups(self, ends: set[int]) -> list[frozenset[int]]:
        """Processes that have one destination in common, most often one alone; two of each kind.

        Destinations whose neighbors are the same have the same paths, save to themselves.
        """
        ordered = [key for key in self.owners if key in ends]
        shared = grouped(
            (address, key)
            for key in ordered
            if not self.owners[key][0].vrf
            for address in sorted(tunnel_addresses(self.owners[key][1]))
        )
        groups = [frozenset([key]) for key in ordered] + [frozenset(keys) for keys in shared.values() if len(keys) > 1]
        kinds = grouped((frozenset(tuple(sorted(self.edges[key])) for key in group), group) for group in groups)
        return [group for same in list(kinds.values())[:MAX_KINDS] for group in same[:2]]

    # --- paths ----------------------------------------------------------------------------------------------------

    def widest(self) -> tuple[dict[int, int], dict[int, tuple[int, int]]]:
        """By process: most paths to a destination; (paths, AS numbers) of the one with most AS numbers."""
        most: dict[int, int] = {}
        varied: dict[int, tuple[int, int]] = {}
        ends = self._ends()
        for group in self._groups(ends):
            distances = self._distances(group, ends)
            numbers = {own.asn.value for key in group if (own := self.owners[key][0]).asn}
            for key, edges in self.edges.items():
                near = distances.get(key)
                own = self.owners[key][0]
                if not near or (own.asn and own.asn.value in numbers and key not in self.loops):
                    continue
                through = (edge for edge in edges if edge.to in group or edge.to not in ends)
                best = [edge for edge in through if distances.get(edge.to) == near - 1]
                most[key] = max(most.get(key, 0), len(best))
                found = len({edge.asn for edge in best})
                if len(group) == 1 and found > varied.get(key, (0, 0))[1]:
                    varied[key] = (len(best), found)
        return most, varied

    def _distances(self, group: frozenset[int], ends: set[int]) -> dict[int, int]:
        """Sessions on the shortest way to a destination; none leads through a device with servers."""
        distances = dict.fromkeys(group, 0)
        waiting = deque(group)
        while waiting:
            key = waiting.popleft()
            if distances[key] and key in ends:
                continue
            for edge in self.edges.get(key, ()):
                if edge.to not in distances:
                    distances[edge.to] = distances[key] + 1
                    waiting.append(edge.to)
        return distances


def _policies(own: Neighbor, far: Neighbor | None) -> tuple[str, str]:
    """What one end accepts, and what the other one advertises."""
    sent = far.export_filter if far else None
    return own.import_filter.value if own.import_filter else "", sent.value if sent else ""


def _denies(facts: Facts, policy: str) -> bool:
    """Whether a policy permits no route at all."""
    terms = facts.terms.get(policy, [])
    return bool(terms) and not any(one.value.permits for one in terms)


def carries_ip(peer: Neighbor) -> bool:
    """Whether a session has IP routes, not those of EVPN alone."""
    return any(fact.value != "evpn" for fact in peer.families) or not peer.families


def _has_servers(process: Bgp, facts: Facts) -> bool:
    """Whether a table is the end of traffic: of tunnels, or with a subnet for more than the two ends of a link."""
    if not process.vrf and has_vtep(facts):
        return True
    return any(
        vrf_of(port) == process.vrf and (port.gateways or any(_is_subnet(fact.value) for fact in port.addresses))
        for name, port in facts.interfaces.items()
        if not (is_management(name) or is_loopback(name))
    )


def _is_subnet(address: str) -> bool:
    return subnet_of(address).host_bits > 2
