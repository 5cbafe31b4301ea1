"""Checking third-party configs: no plan, the files are compared with each other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fabric.audit.checks.base import FilesCheck
from fabric.audit.checks.causes import without_undefined_sources
from fabric.audit.checks.config_fragments import is_part, mark_pieces, mark_steps, without_parts
from fabric.audit.checks.duplicate_devices import without_doubles
from fabric.audit.checks.files.duplicates import OneOwner
from fabric.audit.checks.files.igp import not_judged
from fabric.audit.checks.files.reading import FolderCheck, Unreadable
from fabric.audit.checks.files.role_peers import Compared, EqualsCheck
from fabric.audit.checks.files.services import HostNames
from fabric.audit.checks.files.session_ends import addresses_unread
from fabric.audit.checks.finding import NOTE, Finding
from fabric.audit.checks.misspellings import without_results_of_slips
from fabric.audit.checks.network import Network
from fabric.audit.checks.planes import planes
from fabric.audit.checks.registry import ids, run
from fabric.audit.checks.role_peers.compare import Comparison, compared
from fabric.audit.checks.role_peers.roles import Outlines
from fabric.audit.checks.site import Checked
from fabric.audit.checks.truncated_files import without_consequences
from fabric.audit.checks.verdict import Read
from fabric.base.text import listed
from fabric.model.facts import Facts
from fabric.nos.reading import Folder


def check_folder(folder: Folder) -> Checked:
    """Every check that needs no plan, over all devices of a folder."""
    result = Checked()
    sites = [planes(devices) for devices in folder.sites()]
    devices = [network for site in sites for network in site]
    mark_steps(devices)
    mark_pieces(devices)
    networks = [Network(tuple(devices)) for site in sites for devices in site]
    for network in networks:
        found, skipped = check_network(network)
        result.findings += found
        result.skipped += skipped
    result.ran |= ids("files")
    read = [facts for network in networks for facts in network.devices]
    result.findings += [Unreadable.of(device, error) for device, error in folder.unreadable.items()]
    result.findings += run(FolderCheck, folder) + apart(folder)
    result.findings += [alike(site) for site in sites if len(site) > 1]
    result.read.append(
        Read(
            what=f"configs in {folder.root}",
            path=folder.root,
            devices=len(read),
            files=sum(len(device.files) for device in folder.devices) + len(folder.unrecognized),
            statements=sum(facts.statements for facts in read),
            unread=tuple(fact for facts in read for fact in facts.unread),
        )
    )
    return result


def check_network(network: Network, outlines: Outlines | None = None) -> tuple[list[Finding], list[tuple[str, str]]]:
    """(findings about devices without a plan, what could not be compared and why)."""
    read = outlines or Outlines()
    findings, skipped = _judged(network, read)
    findings = without_results_of_slips(network, findings, lambda corrected: _judged(corrected, read.copy())[0])
    return without_parts(network.devices, findings), skipped


def _judged(network: Network, outlines: Outlines) -> tuple[list[Finding], list[tuple[str, str]]]:
    comparison = compared(network.devices, outlines)  # reads every statement, with the names in it
    outlines.read(network.devices)
    found = run(FilesCheck, replace(network, names=outlines.names))
    findings = without_undefined_sources(without_consequences(network.devices, found))
    subject = Compared(network, findings, outlines, comparison)
    skipped = [*_not_compared(comparison), *not_judged(subject), *addresses_unread(network), *_parts(network)]
    return without_doubles(network, findings + run(EqualsCheck, subject)), skipped


def _not_compared(comparison: Comparison) -> Iterator[tuple[str, str]]:
    subject = "comparison of devices of one role"
    if comparison.alone:
        yield subject, f"fewer than 3 devices of a role: {listed(comparison.alone)}"
    if comparison.apart:
        yield subject, f"too different from the devices with similar names: {listed(comparison.apart)}"


def _parts(network: Network) -> Iterator[tuple[str, str]]:
    if parts := [facts.name for facts in network.devices if facts.statements and is_part(facts)]:
        yield "what configs lack", f"parts of configs: {listed(parts)}"


def apart(folder: Folder) -> list[Finding]:
    """A note for every folder that is taken for a network of its own."""
    message = "checked as a separate network: the folder has several states of a network"
    hint = "check one folder at a time if both contain configs of the same network"
    return [
        Finding(id=HostNames.id, severity=NOTE, device="", file=path, line=0, message=message, hint=hint)
        for path in folder.apart
    ]


def alike(site: list[list[Facts]]) -> Finding:
    """A note for networks that have the same link addresses."""
    names = listed([network[0].name for network in site], 3)
    message = f"{len(site)} networks with the same link addresses ({names}): each was checked separately"
    hint = "check one folder at a time if they are versions of one network"
    first = site[0][0]
    return Finding(id=OneOwner.id, severity=NOTE, device=first.name, file=first.files[0], line=0, message=message, hint=hint)
