"""Batfish on configs without a plan: does it read them, do they contradict each other, and are their tables alike?

    devices of a folder ──copies, cables──▶ Batfish ──answers──▶ tables ──comparisons of the checks of files──▶ findings

What is expected comes from the devices themselves: the same comparisons as those of `fabric.audit.checks.files.tables` and
`fabric_ports`, with routes and packets that Batfish computed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fabric.audit.checks import (
    NOTE,
    WARNING,
    Finding,
    Network,
    is_enabled,
    is_loopback,
    is_management,
    is_up,
    vlan_of,
    vrf_of,
)
from fabric.audit.checks.batfish.checks import BatfishCheck, FileAnalysis, name_of
from fabric.audit.checks.batfish.client import Server, Unanswered, is_modeled, view_of
from fabric.audit.checks.batfish.computed import OWN, Computed, FabricPackets, Pair
from fabric.audit.checks.batfish.parsing import Formats, References, Warnings, misread
from fabric.audit.checks.batfish.reach import Loops
from fabric.audit.checks.batfish.routing import DEFAULT, Owners, Routes, Sessions, TenantRoutes, spelled
from fabric.audit.checks.batfish.snapshot import Texts, write
from fabric.audit.checks.ends import End, network_of
from fabric.audit.checks.files.routes import IGP
from fabric.audit.checks.network import planes
from fabric.base.diagnostics import MissingError
from fabric.base.grouping import grouped
from fabric.base.reading import UnreadableError
from fabric.model.facts import MANAGEMENT, Facts, Interface
from fabric.nos.batfish import UNNUMBERED, Copies, marked
from fabric.nos.reading import Device, Folder

SHARED = re.compile(r"(?:vlan|irb|bridge|br|lo|loopback|mgmt|management|eth0|re0|fxp0|em0)[\d.:-]*", re.I)
ONE_SIDED = "HALF_OPEN"  # a far end that the folder has, without a session back; UNKNOWN_REMOTE is one outside of it
NOT_JUDGED = "planned sessions and routes, isolation by packets, and the failure of a spine"
ERRORS = frozenset({References.id, FabricPackets.id})  # the others are warnings: the folder may lack a part of the network
SUBINTERFACE = re.compile(r"\.\d+$")

# --- the snapshot ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Configs(Texts):
    """The files of devices without a plan, with the cables that these files show."""

    network: Network = field(kw_only=True)

    @cached_property
    def nodes(self) -> Mapping[str, Facts]:
        """The devices that Batfish has, by the name that it gives them."""
        return {facts.name.lower(): facts for facts in reversed(self.network.devices) if facts.name.lower() in self.copies}

    @cached_property
    def cabled(self) -> set[int]:
        """`id()` of the interfaces whose cable is in the snapshot."""
        return {id(end.interface) for link in self.links for end in link}

    @cached_property
    def wired(self) -> set[str]:
        """Nodes with a cable: of two of them Batfish takes no other ports for connected."""
        return {end.facts.name.lower() for link in self.links for end in link}

    @cached_property
    def links(self) -> list[tuple[End, End]]:
        """Cables between physical ports or subinterfaces of devices that are known to have no other neighbors in a subnet.

        A session of an interface needs its cable; where the cables of a device are not all known, addresses tell more.
        """
        links = [
            link
            for link in self.network.links
            if all(end.facts.name.lower() in self.copies and is_up(end.interface) and _is_port(end) for end in link)
        ]
        known = {id(end.interface) for link in links for end in link}
        partly = {id(facts) for facts in self.nodes.values() if self._is_partly(facts, known)}
        needed = {id(facts.interfaces.get(peer.peer)) for facts, _, peer in self.network.sessions() if peer.interface}
        return [
            link
            for link in links
            if any(id(end.interface) in needed for end in link) or not any(id(end.facts) in partly for end in link)
        ]

    def _is_partly(self, facts: Facts, known: set[int]) -> bool:
        """Whether a session or an interior protocol goes over a port without a known cable, to another device."""
        ports = [port for port in facts.interfaces.values() if _is_routed(port) and id(port) not in known]
        addresses = [
            fact
            for port in ports
            for fact in (*port.addresses, *port.gateways)
            if "/" in fact.value and self._subnets.get((vrf_of(port), str(network_of(fact.value))), set()) - {id(facts)}
        ]
        if addresses and any(map(IGP.search, facts.texts.values())):
            return True
        near = self.network.near[id(facts)]
        peers = (peer for peer in facts.neighbors() if is_enabled(peer) and self.network.remote_end(peer) is not None)
        own = {id(fact) for peer in peers for fact in near.own_addresses_in_subnet(peer.vrf, peer.peer)}
        return any(id(fact) in own for fact in addresses)

    @cached_property
    def _subnets(self) -> dict[tuple[str, str], set[int]]:
        rows = (
            ((vrf_of(port), str(network_of(fact.value))), id(facts))
            for facts in self.nodes.values()
            for port in facts.interfaces.values()
            for fact in (*port.addresses, *port.gateways)
            if _is_routed(port) and "/" in fact.value
        )
        return {key: set(users) for key, users in grouped(rows).items()}

    def edges(self) -> Iterable[dict[str, Any]]:
        """Every cable once, though several subinterfaces may share it."""
        rows = [[(end.facts.name.lower(), SUBINTERFACE.sub("", end.interface.name)) for end in link] for link in self.links]
        for pair in dict.fromkeys(tuple(sorted(row)) for row in rows):
            nodes = ({"hostname": host, "interfaceName": port} for host, port in pair)
            yield dict(zip(("node1", "node2"), nodes, strict=True))


def _is_routed(port: Interface) -> bool:
    """Whether packets of the fabric may pass a port."""
    return is_up(port) and not is_loopback(port.name) and not is_management(port.name) and vrf_of(port) != MANAGEMENT


def _is_port(end: End) -> bool:
    name = end.interface.name
    bonded = any(port.bond and port.bond.value == name for port in end.facts.interfaces.values())
    return vlan_of(name) is None and not is_loopback(name) and not bonded


@dataclass(frozen=True)
class ConfigsAnalysis(FileAnalysis):
    """The snapshot of configs alone, and what a server answers about it."""

    snapshot: Configs

    def asn(self, node: str) -> int:
        facts = self.snapshot.nodes.get(node)
        process = facts.bgp.get("") if facts else None
        return process.asn.value if process and process.asn else 0


def configs_of(devices: Iterable[tuple[Device, Facts]]) -> Configs:
    """Copies of the files of every device that Batfish has a reader for, each with its format in its first line."""
    copies: dict[str, Copies] = {}
    read = []
    for device, facts in devices:
        name, known = device.name.lower(), view_of(device.nos)
        if known is not None and name not in copies:
            made = known.reads(name, device.files)
            made = [marked(copy, known.comment) for copy in made] if known.comment else made
            copies[name] = Copies(device=device.name, nos=device.nos, files=device.files, copies=tuple(made))
            read.append(facts)
    return Configs(copies, network=Network(tuple(read)))


# --- one run --------------------------------------------------------------------------------------------------


def run_folder(folder: Folder, host: str) -> tuple[list[Finding], list[Pair], frozenset[str]]:
    """Asks the server at `host` about the configs of a folder; each of its networks by itself.

    Returns the findings, what was not looked at and why, and the ids of the checks that had something to judge.
    Raises MissingError where no server answers, or its client is missing.
    """
    findings, ran = list[Finding](), set[str]()
    skipped = [(f"Batfish: {NOT_JUDGED}", "add the intent to the command: the expected values come from its plan")]
    for devices in _networks(folder):
        server = Server(host, f"fabric-configs-{os.getpid()}")
        try:
            configs = configs_of(devices)
            if configs.copies:
                with TemporaryDirectory(prefix="fabric-batfish-") as path:
                    write(configs, Path(path))
                    server.upload(Path(path))
                reported, rows, judged = judge_configs(ConfigsAnalysis(configs, server))
                findings += reported
                skipped += rows
                ran |= judged
        except Unanswered as error:
            raise MissingError(f"the Batfish server at {host} rejected the snapshot: {error}") from error
        finally:
            server.close()
        others = sorted({device.nos for device, _ in devices if view_of(device.nos) is None})
        skipped += [(f"Batfish: switches with {nos}", "not supported by Batfish") for nos in others]
    return findings, skipped, frozenset(ran)


def _networks(folder: Folder) -> Iterator[list[tuple[Device, Facts]]]:
    """The devices of every network: of a site, those of each set with the same link addresses by themselves."""
    for site in dict.fromkeys(device.site for device in folder.devices):
        read = {}
        for device in folder.devices:
            if device.site == site:
                with suppress(UnreadableError):  # a finding of the checks of files
                    facts = device.facts
                    read[id(facts)] = device, facts
        yield from ([read[id(facts)] for facts in plane] for plane in planes([facts for _, facts in read.values()]))


def judge_configs(analysis: ConfigsAnalysis) -> tuple[list[Finding], list[Pair], set[str]]:
    """The findings of every question that needs no plan, what could not be judged and why, and the checks that judged."""
    misreads = Formats().answered(_misread(analysis))
    left = {finding.file for finding in misreads}
    known = Computed(analysis, left)
    findings = [
        *Warnings().answered(Warnings().check(analysis)),
        *References().answered(References().check(analysis)),
        *Owners().answered(_owners(analysis)),
        *Sessions().answered(_sessions(analysis)),
        *Routes().answered(known.routes()),
        *TenantRoutes().answered(known.tenants()),
        *Loops().answered(Loops().check(analysis)),
        *FabricPackets().answered(known.filters()),
    ]
    warned = [
        finding if finding.id in ERRORS or not finding.file else replace(finding, severity=WARNING)
        for finding in findings
        if not finding.file or finding.file not in left
    ]
    rows = [(f"Batfish: {finding.file}", f"{finding.message}; {OWN}") for finding in misreads if finding.file]
    always = {check.id for check in (Formats, Warnings, References, Owners, Sessions, Loops)}
    return [*misreads, *warned], [*rows, *known.skipped], always | known.judged


def _misread(analysis: ConfigsAnalysis) -> Iterator[Finding]:
    """Notes: a file that Batfish cannot read may well be right, and is not judged further."""
    for copy, message in misread(analysis):
        yield from (replace(finding, severity=NOTE) for finding in Formats().in_copy(analysis, copy.path, 0, message))


def _owners(analysis: ConfigsAnalysis) -> Iterator[Finding]:
    """Addresses with two owners, one of which is a routed port: gateways and the VTEPs of pairs are shared on purpose."""
    owners: dict[tuple[str, str], set[tuple[str, str]]] = {}
    for row in analysis.answers.owners():
        owners.setdefault((row["VRF"], row["IP"]), set()).add((name_of(row["Node"]), str(row["Interface"])))
    for (_, address), ports in sorted(owners.items()):
        if address.startswith("127.") or all(SHARED.fullmatch(port) for _, port in ports):
            continue
        for node, port in sorted(ports) if len(ports) > 1 else ():
            others = ", ".join(f"{name} {other}" for name, other in sorted(ports - {(node, port)}))
            yield from Owners().at_switch(
                analysis, node, f"{port}: {address} is also the address of {others}", *spelled(address)
            )


def _sessions(analysis: ConfigsAnalysis) -> Iterator[Finding]:
    """Sessions with another device of the folder that has none back. A far end outside is nothing wrong."""
    check: BatfishCheck = Sessions()
    for row in analysis.answers.compatibility():
        status, remote, node = row["Configured_Status"], row["Remote_IP"], name_of(row["Node"])
        peer = remote["value"] if isinstance(remote, dict) else remote
        local = row["Local_Interface"] if not peer else None
        port = local["interface"] if isinstance(local, dict) else str(local or "")
        if (
            status != ONE_SIDED
            or not (peer or port)
            or not _is_seen(analysis.snapshot, node, row["VRF"], str(peer or ""), port)
        ):
            continue
        where = "" if row["VRF"] == DEFAULT else f"VRF {row['VRF']}: "
        words = (f"neighbor {peer or port} remote-as", f"neighbor {peer or port}", str(peer or port))
        message = f"{where}session with {peer or port}: no matching session at the far end"
        yield from check.at_switch(analysis, node, message, *words)


def _is_seen(configs: Configs, node: str, vrf: str, peer: str, port: str) -> bool:
    """Whether Batfish knows that the ends of a session are connected: by their addresses, or by the cable between them."""
    facts = configs.nodes.get(node)
    if facts is None:
        return True
    if port:
        link = next(
            (link for link in configs.links if any(end.facts is facts and end.interface.name == port for end in link)), ()
        )
        return bool(link) and all(is_modeled(end.facts.nos, UNNUMBERED) for end in link)
    own = configs.network.near[id(facts)].own_addresses_in_subnet("" if vrf == DEFAULT else vrf, peer)
    ports = [other for other in facts.interfaces.values() if any(fact in (*other.addresses, *other.gateways) for fact in own)]
    return node not in configs.wired or not ports or any(id(other) in configs.cabled for other in ports)
