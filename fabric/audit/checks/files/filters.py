"""Filters that list the BGP neighbors of a device: one that is missing cannot open its session."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar

from fabric.audit.checks import WARNING, FilesCheck, Finding, Network, is_enabled, role, without_prefix_length
from fabric.model.facts import Facts, Located

LEAST = 3  # neighbors in a list before one more is expected in it
ADDRESS = re.compile(r"(?<![\w.:])(?:(?:\d{1,3}\.){3}\d{1,3}|[0-9A-Fa-f]{1,4}:[0-9A-Fa-f]*:[0-9A-Fa-f:]*)(?![\w.:])")
REPEATED = re.compile(r"(?:\*(?:/\d+)?[\s,;\"']*){2,}")
NUMBER = re.compile(r"\d+")
OTHER = re.compile(r"(?i)neighbor|descr|route[ -]|next-?hop")  # sessions, text and routes: no lists of who is let in
QUOTED = 60  # characters of a line
Kind = tuple[str, str, bool, bool]  # VRF, role or AS number of the far end, in a subnet of the device, IPv6
Listed = dict[str, int]  # address → line


class ListedNeighbors(FilesCheck):
    """Looks for a list with all BGP neighbors of one kind but one.

    Filters of the control plane let the neighbors in by their addresses and drop the rest. A neighbor that is missing in
    the list cannot open its session, as after a change of its address or a new cable.
    """

    id = "FAB2518"
    title = "Filters that list BGP neighbors list all of them"
    severity = WARNING
    example = "15 of 16 neighbors in the prefix list of the filter that protects BGP"
    remediation = "add the neighbor to the list, or correct its address there"
    of_device: ClassVar = True

    def check(self, network: Network) -> Iterator[Finding]:
        for facts in network.devices if not network.planned else ():
            kinds = [same for same in _neighbors(network, facts).values() if len(same) > LEAST]
            wanted = set().union(*kinds)
            for file, text in facts.texts.items() if kinds else ():
                for listed in _lists(text, wanted):
                    yield from self._missing(facts, file, listed, kinds)

    def _missing(self, facts: Facts, file: str, listed: Listed, kinds: list[set[str]]) -> Iterator[Finding]:
        for same in kinds:
            missing = same - listed.keys()
            if len(missing) == 1 and len(same & listed.keys()) >= LEAST:
                line = max(listed[address] for address in same & listed.keys())
                (address,) = missing
                shown = facts.texts[file].splitlines()[line - 1].strip()[:QUOTED]
                got = f"BGP neighbor {address} is not listed, but {len(same) - 1} others of its kind are (as in `{shown}`)"
                yield self.finding_at(facts, Located(None, line, file), got)


def _neighbors(network: Network, facts: Facts) -> dict[Kind, set[str]]:
    """Addresses of the neighbors that are to be let in for one reason."""
    found: dict[Kind, set[str]] = {}
    for peer in facts.neighbors():
        if is_enabled(peer) and not (peer.dynamic or peer.interface):
            far = network.remote_end(peer)
            who = role(far.facts.name) if far else str(peer.remote_as.value if peer.remote_as else "")
            direct = bool(network.near[id(facts)].own_addresses_in_subnet(peer.vrf, peer.peer))
            found.setdefault((peer.vrf, who, direct, ":" in peer.peer), set()).add(without_prefix_length(peer.peer))
    return found


def _lists(text: str, wanted: set[str]) -> Iterator[Listed]:
    """Lines that differ in addresses and numbers alone, with the addresses that are wanted."""
    found: dict[str, Listed] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if "neighbor" in line or not ("." in line or ":" in line):  # most lines, without a pattern
            continue
        addresses = {without_prefix_length(match) for match in ADDRESS.findall(line)} & wanted
        if addresses and not OTHER.search(line):
            form = NUMBER.sub("#", REPEATED.sub("*", ADDRESS.sub("*", line.strip(" \t,;"))))
            found.setdefault(form, {}).update(dict.fromkeys(addresses, number))
    yield from found.values()
