"""Files that are no whole config of one device: truncated, two states of a device, fragments."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import PurePath

from fabric.audit.checks.ends import is_link, tunnel_addresses, vlan_of, vrf_of, without_prefix_length
from fabric.audit.checks.finding import ERROR, NOTE, WARNING, Finding
from fabric.audit.checks.network import Network
from fabric.audit.checks.role_peers.outline import names_of
from fabric.audit.checks.rows import is_loopback
from fabric.audit.checks.statements import syntax_of
from fabric.base.grouping import grouped
from fabric.base.text import plural
from fabric.model.facts import Facts
from fabric.nos.statements.syntax import PartText, Syntax

# --- truncated files ------------------------------------------------------------------------------------------

LEAST = 10  # planned statements that are missing behind the end of a file: fewer may be edits
CUT_OFF = "FAB290"
UNCLOSED = "never closed"  # end of what readers report about a block that the end of the file is in
LOST = ("not JSON", "not YAML", "a '}' that closes nothing")  # where readers guess the structure of the rest: so it begins
SESSIONS, ADDRESSES, BRACES = "FAB256", "FAB253", "FAB2517"
OF_ABSENCE = frozenset(  # checks that report what is missing, which may be behind the end of the file
    (
        "FAB253",
        "FAB256",
        "FAB257",
        "FAB259",
        "FAB260",
        "FAB261",
        "FAB272",
        "FAB273",
        "FAB276",
        "FAB281",
        "FAB283",
        "FAB2506",
        "FAB2509",
        "FAB2550",
        "FAB2551",
        "FAB2557",
    )
)


@dataclass(frozen=True)
class Cut:
    """A file that ends too early."""

    file: str
    line: int  # its last one
    missing: int  # planned statements behind it
    completed: str  # the text with the rest as it is planned

    def finding(self, device: str) -> Finding:
        lost = plural(self.missing, "statement")
        are = "are" if self.missing > 1 else "is"
        message = f"the file ends at line {self.line}; {lost} of the plan {are} missing behind it"
        return Finding(
            id=CUT_OFF,
            severity=ERROR,
            device=device,
            file=self.file,
            line=self.line,
            message=message,
            hint="collect the file from the device again",
        )


def cuts(nos: str, planned: Mapping[str, str], running: Mapping[str, str]) -> Iterator[Cut]:
    """The running files that have the beginning of a planned one and nothing of its rest.

    Args:
        nos: network OS of both.
        planned: path → text that the plan renders.
        running: path → text of the device.
    """
    syntax = syntax_of(nos)
    parts = {text.part: text for text in syntax.texts(planned)}
    for text in syntax.texts(running):
        whole = parts.get(text.part)
        if whole is not None and len(text.text) < len(whole.text) and (cut := _cut(syntax, whole, text)):
            yield cut


def _cut(syntax: Syntax, whole: PartText, text: PartText) -> Cut | None:
    planned, running = syntax.read_texts([whole]), syntax.read_texts([text])
    both = [(place.line, planned[path].line) for path, place in running.items() if path in planned]
    if not both:
        return None
    last, end = max(both)
    missing = [path for path, place in planned.items() if place.line > end]
    unknown = sum(place.line > last for place in running.values())  # the one that was cut in two
    if len(missing) < LEAST or unknown > 1 or any(path in running for path in missing):
        return None
    lines = text.text.splitlines()
    completed = "\n".join([*lines[:last], *whole.text.splitlines()[end:], ""])
    return Cut(text.file, len(text.text.rstrip().splitlines()), len(missing), completed)


def cut_files(facts: Facts) -> set[str]:
    """Files whose reader met their end inside a block or a value, or lost the structure of the rest."""
    last = {file: len(text.rstrip().splitlines()) for file, text in facts.texts.items()}
    return {fact.file for fact in facts.broken if is_lost(fact.value) or 0 < last.get(fact.file, 0) <= fact.line}


def is_lost(mistake: str) -> bool:
    """Whether a reader guesses the structure of the rest of a file, after what it could not read."""
    return mistake.endswith(UNCLOSED) or mistake.startswith(LOST)


def without_consequences(devices: Sequence[Facts], findings: list[Finding]) -> list[Finding]:
    """Without what follows from a file that cannot be read to its end, on its device and on those that it is cabled to.

    That device may well have the address or the session that its neighbors miss.
    """
    cut = {facts.name for facts in devices if cut_files(facts)}
    broken = {facts.name for facts in devices if facts.broken}
    return [one for one in findings if not _follows(one, cut, broken)] if broken else findings


def _follows(finding: Finding, cut: set[str], broken: set[str]) -> bool:
    if finding.device in cut:
        return finding.id in OF_ABSENCE or finding.id == BRACES
    if finding.id not in (SESSIONS, ADDRESSES) or finding.device in broken:
        return False
    return (bool(cut) and finding.severity == NOTE) or not broken.isdisjoint(finding.about.devices)


# --- duplicate devices ----------------------------------------------------------------------------------------
# Two states of one device under two names, or a device that has the config of another one: files cannot tell which.
#
# What contradicts between the rest of the network and such a pair follows from that. Many pairs are two states of a network.

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
    addresses = ((port, fact.value) for port in facts.interfaces.values() for fact in port.addresses)
    if not loopbacks:
        return {
            (vrf_of(port), without_prefix_length(value))
            for port, value in addresses
            if not is_loopback(port.name) and is_link(value)
        }
    speaks = {process.router_id.value for process in facts.bgp.values() if process.router_id}
    loopback_addresses = {(vrf_of(port), without_prefix_length(value)) for port, value in addresses if is_loopback(port.name)}
    shared = tunnel_addresses(facts)
    return {(vrf, address) for vrf, address in loopback_addresses if (address in speaks if speaks else address not in shared)}


# --- fragments: what one lacks, the rest may have -------------------------------------------------------------

AS_NUMBERS = "FAB255"
OF_PARTS = OF_ABSENCE | {"FAB258", "FAB267", "FAB2500", "FAB2501", "FAB2515"}  # what is not there may be in the rest


def mark_steps(sites: Iterable[Sequence[Facts]]) -> None:
    """Marks files without host name that use what another folder defines for their device.

    They are steps of an exercise, each of which adds to those before.
    """
    unnamed = ((facts.name.lower(), facts) for site in sites for facts in site if facts.hostname is None)
    for states in grouped(unnamed).values():
        names = [[name for name, _ in names_of(facts)] if len(states) > 1 else [] for facts in states]
        known = [{(name.kind, name.scope, name.text) for name in names_of_state if not name.used} for names_of_state in names]
        for at, facts in enumerate(states):
            used = {(name.kind, name.scope, name.text) for name in names[at] if name.used}
            facts.partial = any((used - known[at]) & defined for defined in known)


def mark_pieces(sites: Iterable[Sequence[Facts]]) -> None:
    """Marks files without host name whose name has that of a device beside them, as `EVPN_leaf1` beside `BASE_leaf1`.

    They are pieces for that device, often several for one exercise each.
    """
    folders = grouped((PurePath(facts.files[0]).parent, facts) for site in sites for facts in site if facts.files)
    for devices in folders.values():
        hosts = {facts.hostname.value.lower() for facts in devices if facts.hostname}
        for facts in devices:
            if facts.hostname is None:
                name = facts.name.lower()
                facts.partial |= any(host in name and host != name and _has_word(name, host) for host in hosts)


def _has_word(text: str, word: str) -> bool:
    return re.search(rf"(?<![^\W_]){re.escape(word)}(?![^\W_])", text) is not None


def is_part(facts: Facts) -> bool:
    """Whether the files hold statements to be added to a config: no host name, and no port or no address of one.

    Without BGP, addresses of VLAN interfaces are no sign of a whole config: they come with the VLANs that are added.
    """
    ports = [port for port in facts.interfaces.values() if not is_loopback(port.name)]
    routed = [port for port in ports if facts.bgp or vlan_of(port.name) is None]
    return facts.partial or (facts.hostname is None and not any(port.addresses for port in routed))


def without_parts(devices: Sequence[Facts], findings: list[Finding]) -> list[Finding]:
    """Without what a part lacks; what contradicts between it and others may be the same device, in two of its parts."""
    parts = {facts.name for facts in devices if is_part(facts)}
    return [_weaker(one, parts) for one in findings if not _of_part(one, parts)] if parts else findings


def _of_part(finding: Finding, parts: set[str]) -> bool:
    ends = {finding.device, *finding.about.devices} if finding.id == "FAB256" else {finding.device}
    return not parts.isdisjoint(ends) and (finding.id in OF_PARTS or (finding.id == AS_NUMBERS and finding.about.absent))


def _weaker(finding: Finding, parts: set[str]) -> Finding:
    met = not parts.isdisjoint({finding.device, *finding.about.devices})
    return replace(finding, severity=WARNING) if met and finding.id in OF_OTHERS and finding.severity == ERROR else finding
