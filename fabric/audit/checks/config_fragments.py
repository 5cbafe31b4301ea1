"""Parts of configs: statements to be added to a config that is not in the file. What a part lacks, the rest may have."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import PurePath

from fabric.audit.checks.duplicate_devices import OF_OTHERS
from fabric.audit.checks.ends import vlan_of
from fabric.audit.checks.finding import ERROR, WARNING, Finding
from fabric.audit.checks.role_peers.outline import names_of
from fabric.audit.checks.rows import is_loopback
from fabric.audit.checks.truncated_files import OF_ABSENCE
from fabric.base.grouping import grouped
from fabric.model.facts import Facts

AS_NUMBERS = "FAB255"
OF_PARTS = OF_ABSENCE | {"FAB258", "FAB267", "FAB2500", "FAB2501", "FAB2515"}  # what is not there may be in the rest


def mark_steps(sites: Iterable[Sequence[Facts]]) -> None:
    """Marks files without host name that use what another folder defines for their device.

    They are steps of an exercise, each of which adds to those before.
    """
    unnamed = ((facts.name.lower(), facts) for site in sites for facts in site if facts.hostname is None)
    for states in grouped(unnamed).values():
        names = [[name for name, _ in names_of(facts)] if len(states) > 1 else [] for facts in states]
        known = [{(name.kind, name.scope, name.text) for name in own if not name.used} for own in names]
        for at, facts in enumerate(states):
            used = {(name.kind, name.scope, name.text) for name in names[at] if name.used}
            facts.partial = any((used - known[at]) & there for there in known)


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
