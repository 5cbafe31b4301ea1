"""Faults of routes in the default table: prefixes and equal-cost paths against the plan, each at the switch that loses them.

A route that a switch lacks because its next hop lacks it is no fault of the switch. If no switch has a
prefix from a neighbor, the neighbor is at fault; if others have it, the switch that does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from fabric.audit.cabling.planned import canonical
from fabric.audit.verify.sessions import OUTSIDE, OVERLAY, UNDERLAY, Paths, Planned
from fabric.audit.verify.site import Fault, Site, Switch
from fabric.base.grouping import grouped
from fabric.base.text import listed, plural
from fabric.nos.state.records import BGP, EVPN, ROUTES, Hop, Table

HOME, ROUTE, PATHS, ACCEPTED = "home", "route", "paths", "accepted"
DEFAULT = ""
Lost = tuple[str, str, int]  # prefix, its switch, next hops there


def route_faults(site: Site) -> Iterator[Fault]:
    """Faults of the default tables, and of prefix counts where tables were not collected."""
    for switch in site.known(ROUTES):
        yield from _home(site, switch)
    for fabric, switches in site.fabrics.items():
        yield from _Fabric(site, switches, site.paths[fabric]).faults() if any(map(_listed, switches)) else ()
        yield from _counts(site, switches)


def _listed(switch: Switch) -> bool:
    return ROUTES in switch.seen.lists


def _home(site: Site, switch: Switch) -> Iterator[Fault]:
    """Loopback and tunnel address of a switch, in its own table."""
    if not _listed(switch):
        return
    for prefix in switch.originates:
        if prefix not in switch.view.aggregates and not site.announces(switch, prefix):
            yield Fault(HOME, switch.name, f"{prefix}, its own, is not in its table", ROUTES, "restore the loopback address")
    yield from _from_outside(site, switch)


def _from_outside(site: Site, switch: Switch) -> Iterator[Fault]:
    """Default routes that a router outside must announce while its session is established."""
    lost: dict[tuple[str, str], list[str]] = {}  # (prefix, router) → tables
    for external in switch.view.externals:
        end = next((end for end in switch.sessions if end.kind == OUTSIDE and end.peer == external.peer_address), None)
        if end is None or not site.established(end):
            continue
        for prefix in external.accepts:
            if prefix.endswith("/0") and prefix not in switch.seen.routes.get(end.vrf, {}):
                lost.setdefault((prefix, end.peer_node), []).append(end.vrf or "the default VRF")
    for (prefix, router), tables in lost.items():
        words = f"{prefix} from {router} is not in the table of {listed(tables, 3)}, though the session is established"
        yield Fault(ROUTE, switch.name, words, ROUTES, f"check what {router} announces, and the import policy")


class _Fabric:
    """The tables of one fabric."""

    def __init__(self, site: Site, switches: Sequence[Switch], paths: Paths) -> None:
        self.site, self.switches, self.paths = site, switches, paths
        self.fabric = switches[0].view.fabric
        self.prefixes = [
            (prefix, switch.name, paths.index[switch.name])
            for switch in switches
            for prefix in switch.originates
            if site.announces(switch, prefix)
        ]
        self.columns = np.array([column for _, _, column in self.prefixes], np.int64)
        self.tables = {switch.name: switch.seen.routes.get(DEFAULT, {}) for switch in switches if _listed(switch)}
        self.lost: dict[str, list[tuple[str, str, int, int]]] = {}  # switch → (prefix, origin, expected, got)
        self.other: dict[str, dict[str, str]] = {}  # switch → prefix → next hops that are not planned

    def faults(self) -> Iterator[Fault]:
        for switch in self.switches:
            if _listed(switch):
                self._compare(switch)
        lacks = {name: {prefix for prefix, _, _, got in lost if not got} for name, lost in self.lost.items()}
        # neighbor → switch → what it does not take from it
        missing: dict[str, dict[str, list[Lost]]] = {}
        for name, lost in self.lost.items():
            row = self.paths.index[name]
            for prefix, origin, _, got in lost:
                ends = self._absent(name, row, prefix, origin)
                blamed = [end for end in ends if prefix not in lacks.get(end.peer_node, ())]
                for end in blamed:
                    missing.setdefault(end.peer_node, {}).setdefault(name, []).append((prefix, origin, got))
        partial: dict[str, dict[str, list[Lost]]] = {}  # switch → neighbor → what others have from the neighbor
        for via, by_switch in missing.items():
            yield from self._unsent(via, by_switch, partial)
        for name, by_via in partial.items():
            yield from self._partial(name, by_via)
        for name, by_prefix in self.other.items():
            yield from self._beyond(name, by_prefix)

    def _compare(self, switch: Switch) -> None:
        """Adds what a table lacks, prefixes with fewer next hops than planned, and next hops that are not planned."""
        if not self.prefixes:
            return
        row = self.paths.index[switch.name]
        most = switch.view.underlay.max_paths
        expected = np.minimum(self.paths.count[row, self.columns], most).tolist()
        table = self.tables[switch.name]
        neighbors = self._neighbors(switch)
        right = self._right(row, table, neighbors)
        lost: list[tuple[str, str, int, int]] = []
        other: dict[str, str] = {}
        for (prefix, origin, column), planned_hops, reported_hops in zip(self.prefixes, expected, right, strict=True):
            if not planned_hops or column == row:
                continue
            hops = table.get(prefix, ())
            if reported_hops < planned_hops:
                lost.append((prefix, origin, planned_hops, reported_hops))
            if reported_hops < len(hops) and (strange := self._strange(row, hops, column, neighbors)):
                other[prefix] = strange
        if lost:
            self.lost[switch.name] = lost
        if other:
            self.other[switch.name] = other

    def _right(self, row: int, table: Table, neighbors: Mapping[str, int]) -> list[int]:
        """How many planned next hops each prefix has. Tables repeat few sets of next hops: each set is looked at once."""
        groups: dict[tuple[int, ...], list[int]] = {}
        sets: dict[tuple[int, ...], Sequence[Hop]] = {}
        for position, (prefix, _, _) in enumerate(self.prefixes):
            if hops := table.get(prefix, ()):
                key = tuple(map(id, hops))
                groups.setdefault(key, []).append(position)
                sets[key] = hops
        hop_counts = np.zeros(len(self.prefixes), np.int64)
        for key, positions in groups.items():
            columns = self.columns[positions]
            for hop in sets[key]:
                via = _neighbor(neighbors, hop)
                if via is not None:
                    hop_counts[positions] += self.paths.lead(row, via, columns)
        return hop_counts.tolist()

    def _neighbors(self, switch: Switch) -> dict[str, int]:
        """Interface and address of each session → row of the neighbor."""
        ends = [end for end in switch.sessions if end.kind == UNDERLAY and end.peer_node in self.paths.index]
        rows = {canonical(end.interface): self.paths.index[end.peer_node] for end in ends if end.interface}
        return rows | {end.peer: self.paths.index[end.peer_node] for end in ends}

    def _strange(self, row: int, hops: Sequence[Hop], column: int, neighbors: Mapping[str, int]) -> str:
        """The next hops of a prefix that the plan does not have. Those over a session that is down are not strange, here or
        further on: tables and sessions are not collected at one moment."""
        plan = self.site.intended(self.fabric)
        strange = [hop for hop in hops if (via := _neighbor(neighbors, hop)) is None or not plan.leads(row, via, column)]
        shown = [" ".join(filter(None, (hop.interface, hop.gateway and f"({hop.gateway})"))) for hop in strange]
        return listed(list(dict.fromkeys(shown)), 3)

    def _absent(self, name: str, row: int, prefix: str, origin: str) -> list[Planned]:
        """The session ends that a switch should have a prefix over and has not."""
        used = set(self._used(self.tables[name].get(prefix, ())))
        column = self.paths.index[origin]
        return [
            end
            for end in self.site.switches[name].sessions
            if end.kind == UNDERLAY
            and end.peer_node in self.paths.index
            and self.paths.leads(row, self.paths.index[end.peer_node], column)
            and self.site.lives(end)
            and not {canonical(end.interface), end.peer} & used
        ]

    def _used(self, hops: Sequence[Hop]) -> Iterator[str]:
        for hop in hops:
            yield from (canonical(hop.interface), hop.gateway)

    def _unsent(
        self, via: str, lost_by_switch: dict[str, list[Lost]], partial: dict[str, dict[str, list[Lost]]]
    ) -> Iterator[Fault]:
        """Faults of a neighbor from which no switch has a prefix; what some have from it is added to `partial`."""
        silent: set[str] = set()
        receivers = [name for name in self.tables if name in self._beside(via)]
        by_prefix = grouped((prefix, name) for name, lost in lost_by_switch.items() for prefix, _, _ in lost)
        for prefix, names in by_prefix.items():
            able = [name for name in receivers if self._expects(name, via, prefix)]
            if len(able) > 1 and set(able) <= set(names):
                silent.add(prefix)
        origins = {prefix: origin for lost in lost_by_switch.values() for prefix, origin, _ in lost}
        for is_own in (True, False):
            prefixes = sorted(prefix for prefix in silent if (origins[prefix] == via) is is_own)
            if prefixes:
                whose = "its own" if is_own else f"of {listed(sorted({origins[prefix] for prefix in prefixes}), 2)}"
                yield self._silent(via, prefixes, whose, lost_by_switch)
        for name, lost in lost_by_switch.items():
            rest = [row for row in lost if row[0] not in silent]
            if rest:
                partial.setdefault(name, {})[via] = rest

    def _beside(self, via: str) -> set[str]:
        return {end.peer_node for end in self.site.switches[via].sessions if end.kind == UNDERLAY and self.site.lives(end)}

    def _expects(self, name: str, via: str, prefix: str) -> bool:
        column = next(column for known, _, column in self.prefixes if known == prefix)
        return self.paths.leads(self.paths.index[name], self.paths.index[via], column)

    def _silent(self, via: str, prefixes: Sequence[str], whose: str, found: dict[str, list[Lost]]) -> Fault:
        names = [name for name, lost in found.items() if any(prefix in prefixes for prefix, _, _ in lost)]
        words = f"{listed(list(prefixes), 3)} ({whose}): no neighbor has it from {via}; missing at {listed(names, 3)}"
        hint = f"check the export policy of {via}" + (" and its network statements" if whose == "its own" else "")
        return Fault(ROUTE, via, words, ROUTES, hint)

    def _partial(self, name: str, by_via: dict[str, list[Lost]]) -> Iterator[Fault]:
        """A switch that lacks routes that others have: missing prefixes, then those with fewer paths than planned."""
        expected = {prefix: planned_hops for prefix, _, planned_hops, _ in self.lost[name]}
        for kind in (ROUTE, PATHS):
            missing: dict[tuple[str, str, int], list[str]] = {}
            for via, lost in by_via.items():
                for row in lost:
                    if (row[2] == 0) is (kind == ROUTE):
                        missing.setdefault(row, []).append(via)
            if not missing:
                continue
            prefix, origin, got = next(iter(missing))
            many = f" and {plural(len(missing) - 1, 'other prefix', 'other prefixes')}" if len(missing) > 1 else ""
            words = f"{prefix} of {origin}{many}: expected {plural(expected[prefix], 'path')}, got {got}"
            if instead := self.other.get(name, {}).get(prefix):
                words += f", {instead} instead"
                for explained, _, _ in missing:
                    self.other[name].pop(explained, None)
            vias = sorted({via for of_switch in missing.values() for via in of_switch})
            over = self._absent(name, self.paths.index[name], prefix, origin)
            if len(vias) == 1 or kind == ROUTE:
                words += f"; not over {listed([f'{end.interface or end.peer} ({end.peer_node})' for end in over], 3)}"
                hint = f"check the import policy of {name} and the export policy of {listed(vias, 2)}"
            else:
                words += "; each over other interfaces"
                hint = f"check `maximum-paths` and multipath-relax of {name}"
            yield Fault(kind, name, words, ROUTES, hint)

    def _beyond(self, name: str, by_prefix: Mapping[str, str]) -> Iterator[Fault]:
        """Next hops beside the planned ones: traffic takes a path that the plan does not have."""
        for strange, prefixes in grouped((words, prefix) for prefix, words in by_prefix.items()).items():
            many = f" and {plural(len(prefixes) - 1, 'other prefix', 'other prefixes')}" if len(prefixes) > 1 else ""
            words = f"{prefixes[0]}{many}: also over {strange}, expected the planned next hops only"
            yield Fault(PATHS, name, words, ROUTES, f"find out what announces it to {name}")


def _neighbor(neighbors: Mapping[str, int], hop: Hop) -> int | None:
    """Row of the neighbor that a next hop leads to; None where it leads to none of the plan."""
    return neighbors.get(hop.gateway, neighbors.get(canonical(hop.interface)) if hop.interface else None)


def _counts(site: Site, switches: Sequence[Switch]) -> Iterator[Fault]:
    """Prefixes that a session accepts at least, where the table of the switch was not collected."""
    pending = [switch for switch in switches if switch.has(BGP) and not _listed(switch)]
    if not pending:
        return
    paths = site.paths[pending[0].view.fabric]
    weight = np.zeros(len(paths.index), np.int64)
    for switch in switches:
        weight[paths.index[switch.name]] = sum(site.announces(switch, prefix) for prefix in switch.originates)
    for switch in pending:
        row = paths.index[switch.name]
        empty: list[str] = []
        for end in switch.sessions:
            accepted = _accepted(switch, end)
            if accepted is None or not site.lives(end):
                continue
            if end.kind == OVERLAY and switch.leaf and not accepted and EVPN not in switch.seen.lists:
                empty.append(f"{end.peer_node} ({end.peer})")
            if end.kind != UNDERLAY or end.peer_node not in paths.index:
                continue
            via = paths.index[end.peer_node]
            leads = (paths.level[via] >= 0) & (paths.level[via] + 1 == paths.level[row])
            if not paths.passes[via]:
                leads &= np.arange(len(weight)) == via
            least = int(weight[leads].sum())
            if accepted < least:
                words = f"{end.shown}: accepted prefixes: expected at least {least:,}, got {accepted:,}"
                yield Fault(ACCEPTED, switch.name, words, BGP)
        if empty and sum(switch.leaf for switch in switches) > 1:
            words = f"EVPN sessions with {listed(empty, 3)}: accepted prefixes: expected routes of other leaves, got 0"
            yield Fault(ACCEPTED, switch.name, words, BGP)


def _accepted(switch: Switch, end: Planned) -> int | None:
    """Prefixes that a session has accepted in its family, None where that is not reported."""
    peer, name = switch.peer(end), "evpn" if end.kind == OVERLAY else switch.view.underlay.family
    return next((one.accepted for one in peer.families if one.name == name), None) if peer is not None else None
