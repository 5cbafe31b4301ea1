"""What Batfish computes of configs without a plan: their tables and filters, compared as those of the files are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from ipaddress import IPv4Network
from typing import TYPE_CHECKING, Any, ClassVar

from fabric.audit.checks import ERROR, End, Finding
from fabric.audit.checks.batfish.checks import BatfishCheck, FileAnalysis, name_of
from fabric.audit.checks.batfish.client import Flow, is_modeled
from fabric.audit.checks.batfish.routing import DEFAULT, Routes, TenantRoutes
from fabric.audit.checks.files.fabric_ports import ROCE_PORT, FabricPorts, Probe
from fabric.audit.checks.files.tables import Subnets, Table, Tables, groups_of, in_no_other, neighbors_of
from fabric.audit.checks.files.tenants import imports_of
from fabric.base.grouping import grouped
from fabric.base.text import listed, plural
from fabric.nos.batfish import ACL, TYPE5, UNNUMBERED, VRF
from fabric.nos.target import target

if TYPE_CHECKING:
    from fabric.audit.checks.batfish.configs import ConfigsAnalysis

Pair = tuple[str, str]  # what was not looked at; why, and what covers it
OWN = "covered by the checks of files (FAB250 to FAB299)"
CONNECTED = "connected"  # protocol of a route, as Batfish names it
SHOWN = 3  # subnets in a finding
MAX_QUESTIONS = 200  # about filters


class FabricPackets(BatfishCheck):
    """Searches the packet filters of links between switches for a packet of the fabric that passes.

    Sessions (BGP, BFD), tunnels (VXLAN) and packets between servers, RoCEv2 among them, must pass the links between
    switches. A filter that lets none of one kind pass cuts the fabric in two, or silently drops the traffic that it is for.
    """

    id = "FAB313"
    title = "Filters on links between switches let the traffic of the fabric pass"
    severity = ERROR
    example = "`deny udp any any eq 4791` in the filter of a leaf's uplink"
    remediation = "permit the traffic before the rule that denies it, or remove the filter from the link"

    needs = "files, Batfish"
    of_plans: ClassVar = False

    def check(self, analysis: FileAnalysis) -> Iterator[Finding]:
        """With a plan, FAB310 and FAB311 follow the packets themselves."""
        yield from ()


@dataclass
class Computed:
    """The tables and filters of configs, as Batfish has them.

    `skipped` and `judged` are filled while the questions are asked.
    """

    analysis: ConfigsAnalysis
    misread: set[str]  # files
    skipped: list[Pair] = field(default_factory=list)
    judged: set[str] = field(default_factory=set)

    @cached_property
    def groups(self) -> dict[str, list[Table]]:
        """The tables of every VRF that Batfish models on all devices, and on the way between them."""
        found = {}
        for name, tables in self.analysis.snapshot.network.once(groups_of).items():
            why = self._unseen(name, tables)
            if why:
                what = f"routes of VRF {name}" if name else "routes of the default table"
                self.skipped.append((f"Batfish: {what}", f"{why}; {OWN}"))
            elif len(tables) > 1:
                found[name] = tables
        return found

    def _unseen(self, name: str, tables: list[Table]) -> str:
        devices = [table.facts for table in tables]
        needs = {VRF} if name else set[str]()
        needs |= {TYPE5} if any(vrf.vni for facts in devices if (vrf := facts.vrfs.get(name))) else set()
        needs |= {UNNUMBERED} if any(peer.interface for facts in devices for peer in facts.neighbors()) else set()
        lacking = sorted({facts.nos for facts in devices for need in needs if not is_modeled(facts.nos, need)})
        if lacking:
            return f"not modeled by Batfish on {' and '.join(target(nos).title for nos in lacking)}"
        wrong = sorted({facts.name for facts in devices if self.misread.intersection(facts.files)})
        return f"Batfish does not read the files of {listed(wrong, SHOWN)}" if wrong else ""

    @cached_property
    def rows(self) -> dict[tuple[str, str], dict[IPv4Network, str]]:
        """(node, table) → its prefixes, each with its protocol."""
        found: dict[tuple[str, str], dict[IPv4Network, str]] = {}
        nodes = sorted(self.analysis.snapshot.nodes)
        for row in self.analysis.answers.every_route(nodes) if nodes else ():
            table = found.setdefault((name_of(row["Node"]), str(row["VRF"])), {})
            net, protocol = IPv4Network(row["Network"]), str(row["Protocol"])
            table[net] = protocol if table.get(net) != CONNECTED else CONNECTED
        return found

    def tables(self, tables: list[Table]) -> Tables:
        """The subnets of servers in the tables of one VRF; a subnet whose interface is down in Batfish is none."""
        own = [
            replace(table, own={net: fact for net, fact in table.own.items() if net in self._of(table)}) for table in tables
        ]
        subnets = Subnets(sorted({net for table in own for net in table.own}))
        has = [subnets.mask(self._covered(table, subnets.nets)) for table in own]
        return Tables(subnets, own, has, neighbors_of(self.analysis.snapshot.network))

    def _of(self, table: Table) -> Mapping[IPv4Network, str]:
        return self.rows.get((table.facts.name.lower(), table.name or DEFAULT), {})

    def _covered(self, table: Table, nets: Iterable[IPv4Network]) -> Iterator[IPv4Network]:
        """The subnets that a table has a route to, the default route left out."""
        prefixes = self._of(table)
        lengths = sorted({net.prefixlen for net in prefixes if net.prefixlen})
        for net in nets:
            if any(net.supernet(new_prefix=length) in prefixes for length in lengths if length <= net.prefixlen):
                yield net

    def routes(self) -> Iterator[Finding]:
        """Subnets that are in no other table, and tables that lack what those of their role have."""
        for name, tables in self.groups.items():
            known = self.tables(tables)
            self.judged |= {Routes.id} if known.subnets.nets else set()
            for table, nets in known.alone():
                fact = table.own[nets[0]]
                message = f"{_where(name)}{in_no_other(table, nets)}"
                yield from Routes().at_line(self.analysis, table.facts.name.lower(), fact.file, fact.line, message)
            for table, nets, others in known.short():
                node = table.facts.name.lower()
                count = f"{plural(len(nets), 'subnet')}, {listed([str(net) for net in nets], SHOWN)}"
                message = f"{_where(name)}no route to {count}, which {listed(others, 2)} have"
                yield from Routes().at_line(self.analysis, node, *self.analysis.block(node, table.name or DEFAULT), message)

    def tenants(self) -> Iterator[Finding]:
        """Subnets of another VRF in a table, unless both VRFs share routes."""
        named = {name: tables for name, tables in self.groups.items() if name}
        shares = imports_of(self.analysis.snapshot.network.once(groups_of))
        owners = {net: name for name, tables in named.items() for table in tables for net in table.own}
        self.judged |= {TenantRoutes.id} if len(named) > 1 else set()
        for name, tables in named.items():
            own = {net for table in tables for net in table.own}
            for table in tables:
                routes = [net for net, protocol in self._of(table).items() if net in owners and protocol != CONNECTED]
                for other, nets in grouped((owners[net], net) for net in routes if net not in own).items():
                    if other == name or (other in shares[name] and name in shares[other]):
                        continue
                    node = table.facts.name.lower()
                    shown = listed([str(net) for net in sorted(nets)], SHOWN)
                    message = f"VRF {name}: routes to {shown} of '{other}'"
                    yield from TenantRoutes().at_line(self.analysis, node, *self.analysis.block(node, table.name), message)

    # --- filters ------------------------------------------------------------------------------------------------

    def filters(self) -> Iterator[Finding]:
        """Filters on links between switches that let nothing of a kind pass."""
        links = FabricPorts(self.analysis.snapshot.network)
        bound = self._bound()
        asked = 0
        for here, far in links.ends() if bound else ():
            node = here.facts.name.lower()
            for column, sent in (("Incoming_Filter_Name", False), ("Outgoing_Filter_Name", True)):
                name = bound.get((node, here.interface.name), {}).get(column) or ""
                whole = False
                for probe in links.probes(here, far) if name and is_modeled(here.facts.nos, ACL) else ():
                    asked += 1
                    if asked > MAX_QUESTIONS:
                        self.skipped.append(
                            ("Batfish: further filters on links", f"more than {MAX_QUESTIONS} questions; {OWN}")
                        )
                        return
                    self.judged.add(FabricPackets.id)
                    probe = probe.back if sent else probe
                    if not (whole and probe.port == ROCE_PORT) and not self._passes(node, name, probe):
                        whole |= not probe.port
                        yield from self._denied(here, name, probe)

    def _bound(self) -> dict[tuple[str, str], Mapping[str, Any]]:
        """(node, interface as files have it) → the row with its filters; none of a node without any."""
        configs = self.analysis.snapshot
        nodes = sorted(
            node for node, facts in configs.nodes.items() if any(port.filters for port in facts.interfaces.values())
        )
        found: dict[tuple[str, str], Mapping[str, Any]] = {}
        for row in self.analysis.answers.filters(nodes) if nodes else ():
            node, port = row["Interface"]["hostname"], row["Interface"]["interface"]
            facts = configs.nodes.get(node)
            found[node, port if facts is None or port in facts.interfaces else port.removesuffix(".0")] = row
        return found

    def _passes(self, node: str, name: str, probe: Probe) -> bool:
        return bool(self.analysis.answers.filtered(node, name, "permit", _flow(probe)))

    def _denied(self, here: End, name: str, probe: Probe) -> Iterator[Finding]:
        """At the rule, where files have its text; else where the filter is bound to the port."""
        node = here.facts.name.lower()
        rows = self.analysis.answers.filtered(node, name, "deny", _flow(probe))
        text = str(rows[0]["Line_Content"] or "").strip() if rows else ""
        file, line = self.analysis.snapshot.copies[node].find(*filter(None, (text,)))
        if not line and here.interface.filters:
            fact = here.interface.filters[0]
            file, line = fact.file, fact.line
        message = f"{here.interface.name}: filter {name} denies {probe.what}"
        yield from FabricPackets().at_line(self.analysis, node, file, line, message)


def _flow(probe: Probe) -> Flow:
    sources, targets = (", ".join(map(str, nets)) for nets in (probe.sources, probe.targets))
    return Flow(probe.protocol, sources, targets, probe.port)


def _where(vrf: str) -> str:
    return f"VRF {vrf}: " if vrf else ""
