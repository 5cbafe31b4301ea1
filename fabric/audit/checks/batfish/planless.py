"""Batfish on configs without a plan: whether it parses them, and whether they contradict each other.

Batfish parses fewer statements than the switches, and third-party configs have statements that were never tested with it. So
a statement unknown to it is a warning here. Without an intent the expected sessions and routes are unknown, and not judged.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from fabric.audit.checks import WARNING, Finding
from fabric.audit.checks.batfish.checks import AskedFiles, BatfishCheck, name_of
from fabric.audit.checks.batfish.client import Server, Unanswered
from fabric.audit.checks.batfish.parsing import READ, References, Warnings
from fabric.audit.checks.batfish.routing import Owners, Sessions, spelled
from fabric.audit.checks.batfish.snapshot import Texts, write
from fabric.audit.checks.batfish.visibility import view_of
from fabric.base.diagnostics import MissingError
from fabric.nos.batfish import Copies
from fabric.nos.reading import Device, Folder

Pair = tuple[str, str]
SHARED = re.compile(r"(?:vlan|irb|bridge|br|lo|loopback|mgmt|management|eth0|re0|fxp0|em0)[\d.:-]*", re.I)
ONE_SIDED = "HALF_OPEN"  # a far end that the folder has, without a session back; UNKNOWN_REMOTE is one outside of it
NOT_JUDGED = "planned sessions, routes, isolation and the failure of a spine"
IDS = frozenset({Warnings.id, References.id, Owners.id, Sessions.id})


def run_folder(folder: Folder, host: str) -> tuple[list[Finding], list[Pair], frozenset[str]]:
    """Asks the server at `host` about the configs of a folder; each of its networks by itself.

    Returns the findings, what was not looked at and why, and the ids of the checks that had a file to judge.
    Raises MissingError where no server answers, or its client is missing.
    """
    judged = False
    findings, skipped = (
        list[Finding](),
        [(f"Batfish: {NOT_JUDGED}", "add the intent to the command: the expected values come from its plan")],
    )
    for site in dict.fromkeys(device.site for device in folder.devices):
        devices = [device for device in folder.devices if device.site == site]
        server = Server(host, f"fabric-configs-{os.getpid()}")
        try:
            texts = texts_of(devices)
            judged = judged or bool(texts.copies)
            with TemporaryDirectory(prefix="fabric-batfish-") as path:
                write(texts, Path(path))
                server.upload(Path(path))
            reported, rows = judge_files(AskedFiles(texts, server))
        except Unanswered as error:
            raise MissingError(f"the Batfish server at {host} rejected the snapshot: {error}") from error
        finally:
            server.close()
        findings += reported
        skipped += rows
        others = sorted({device.nos for device in devices if view_of(device.nos) is None})
        skipped += [(f"Batfish: switches with {nos}", "not supported by Batfish") for nos in others]
    return findings, skipped, IDS if judged else frozenset()


def texts_of(devices: Iterable[Device]) -> Texts:
    """Copies of the files of every device that Batfish has a reader for."""
    copies = {}
    for device in devices:
        name, known = device.name.lower(), view_of(device.nos)
        if known is not None and name not in copies:
            copies[name] = Copies(
                device=device.name, nos=device.nos, files=device.files, copies=tuple(known.reads(name, device.files))
            )
    return Texts(copies)


def judge_files(asked: AskedFiles) -> tuple[list[Finding], list[Pair]]:
    """The findings of every question that needs no plan, and the files that could not be judged."""
    misread = dict(_misread(asked))
    findings = [
        *Warnings().answered(Warnings().check(asked)),
        *References().answered(References().check(asked)),
        *Owners().answered(_owners(asked)),
        *Sessions().answered(_sessions(asked)),
    ]
    kept = [finding for finding in findings if finding.file not in misread]
    rows = [
        (f"Batfish: {file}", f"{why}; covered by the checks of files (FAB250 to FAB299)") for file, why in misread.items()
    ]
    return [replace(one, severity=WARNING) if one.id != References.id and one.file else one for one in kept], rows


def _misread(asked: AskedFiles) -> Iterator[Pair]:
    """Files that Batfish takes for another format, or cannot read: what it says about them is about another network."""
    rows = {row["File_Name"]: row for row in asked.answers.file_status()}
    for copies in asked.snapshot.copies.values():
        for copy in copies.copies:
            row = rows.get(copy.path)
            if row is None or row["File_Format"] != copy.format:
                yield copy.source, f"expected format {copy.format}, got {row['File_Format'] if row else 'none'}"
            elif row["Status"] not in READ:
                yield copy.source, f"not parsed: {row['Status'].lower()}"


def _owners(asked: AskedFiles) -> Iterator[Finding]:
    """Addresses with two owners, one of which is a routed port: gateways and the VTEPs of pairs are shared on purpose."""
    owners: dict[tuple[str, str], set[tuple[str, str]]] = {}
    for row in asked.answers.owners():
        owners.setdefault((row["VRF"], row["IP"]), set()).add((name_of(row["Node"]), str(row["Interface"])))
    for (_, address), found in sorted(owners.items()):
        if address.startswith("127.") or all(SHARED.fullmatch(port) for _, port in found):
            continue
        for node, port in sorted(found) if len(found) > 1 else ():
            others = ", ".join(f"{name} {other}" for name, other in sorted(found - {(node, port)}))
            yield from Owners().at_switch(
                asked, node, f"{port}: {address} is also the address of {others}", *spelled(address)
            )


def _sessions(asked: AskedFiles) -> Iterator[Finding]:
    """Sessions with an address of another device of the folder that has none back. A far end outside is nothing wrong."""
    check: BatfishCheck = Sessions()
    for row in asked.answers.compatibility():
        status, remote = row["Configured_Status"], row["Remote_IP"]
        peer = remote["value"] if isinstance(remote, dict) else remote
        if status == ONE_SIDED and peer:
            where = "" if row["VRF"] == "default" else f"VRF {row['VRF']}: "
            words = (f"neighbor {peer} remote-as", f"neighbor {peer}", str(peer))
            message = f"{where}session with {peer}: no matching session at the far end"
            yield from check.at_switch(asked, name_of(row["Node"]), message, *words)
