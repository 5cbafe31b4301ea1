"""Did Batfish read the files for what they are? Also of configs without a plan: do they contradict each other?"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

from fabric.audit.checks import ERROR, WARNING, Finding
from fabric.audit.checks.batfish.checks import BatfishCheck, FileAnalysis, file_lines, name_of
from fabric.audit.checks.batfish.client import Server, Unanswered, view_of
from fabric.audit.checks.batfish.routing import Owners, Sessions, spelled
from fabric.audit.checks.batfish.snapshot import Texts, write
from fabric.base.diagnostics import MissingError
from fabric.base.formats import yaml
from fabric.nos.batfish import JOIN, Context, Copies
from fabric.nos.reading import Device, Folder

READ = ("PASSED", "PARTIALLY_UNRECOGNIZED")  # unrecognized lines have warnings of their own


class Formats(BatfishCheck):
    """Compares the format that Batfish detects with that of the network OS.

    Batfish detects the format by a few words. A wrong guess is no failure: it parses an EOS file as IOS, reports success,
    and models a switch that does not exist. So the format is checked before any other result.
    """

    id = "FAB301"
    title = "Batfish parses every file in its own format"
    severity = ERROR
    example = "expected ARISTA, got CISCO_IOS"
    remediation = "restore the line by which Batfish detects the format, or remove the override that changes it"

    def check(self, analysis: FileAnalysis) -> Iterator[Finding]:
        rows = {row["File_Name"]: row for row in analysis.answers.file_status()}
        for copies in analysis.snapshot.copies.values():
            for copy in copies.copies:
                row = rows.get(copy.path)
                if row is None:
                    yield from self.in_copy(
                        analysis, copy.path, 0, f"Batfish reports no format for this file; expected {copy.format}"
                    )
                elif row["File_Format"] != copy.format:
                    yield from self.in_copy(
                        analysis, copy.path, 0, f"file format: expected {copy.format}, got {row['File_Format']}"
                    )
                elif row["Status"] not in READ:
                    yield from self.in_copy(
                        analysis, copy.path, 0, f"Batfish cannot parse this file: {row['Status'].lower()}"
                    )


class Warnings(BatfishCheck):
    """Compares the parse warnings of Batfish with the list of lines that it does not support.

    A line that cannot be parsed has a typing error, or Batfish does not support it. The second kind is on a list with a
    reason for each; every other warning is a finding.
    """

    id = "FAB302"
    title = "Batfish reports no parse errors in supported syntax"
    severity = ERROR
    example = "`neighbor 10.64.0.1 remot-as 65101`"
    remediation = "correct the line, or suppress FAB302 with a reason if the line is valid and Batfish does not support it"

    def check(self, analysis: FileAnalysis) -> Iterator[Finding]:
        for row in analysis.answers.init_issues():
            line, details = (row["Line_Text"] or "").strip(), (row["Details"] or "").strip()
            message = f"{row['Type']}: {details.splitlines()[0][:160] if details else 'no details'}"
            for path, number in file_lines(row["Source_Lines"]):
                copy = analysis.snapshot.copy_at(path)
                if copy and not reason(copy.nos, *_subject(line, details), copy.context(path, number)):
                    yield from self.in_copy(analysis, path, number, f"{message}: {line}" if line else message)
            for node in map(name_of, row["Nodes"] or ()):
                copies = analysis.snapshot.copies.get(node)
                if copies and not reason(copies.nos, *_subject(line, details)):
                    yield from self.at_switch(analysis, node, message)


def _subject(line: str, details: str) -> tuple[str, str]:
    """What a warning is about, as the list has it: a line, or else its own text."""
    return ("lines", line) if line else ("details", details)


class References(BatfishCheck):
    """Looks for structures that Batfish reports as used and not defined.

    A policy that references a missing list permits everything or nothing, depending on the network OS.
    """

    id = "FAB303"
    title = "Batfish finds no undefined references"
    severity = ERROR
    example = "`match ip address prefix-list LOOPBACKS`, and no list LOOPBACKS"
    remediation = "define the structure, or remove the reference to it"

    def check(self, analysis: FileAnalysis) -> Iterator[Finding]:
        for row in analysis.answers.undefined():
            what = f"{row['Struct_Type']} {row['Ref_Name']}"
            for path, line in file_lines(row["Lines"]):
                copies = analysis.snapshot.copy_at(path)
                if copies and not reason(copies.nos, "references", what, paths=copies.paths):
                    yield from self.in_copy(analysis, path, line, f"{what} is used ({row['Context']}), but not defined")


# --- allow ----------------------------------------------------------------------------------------------------
# The warnings that say nothing about a configuration, as the lists of each network OS have them with their reasons.
#
# They are about valid lines that Batfish does not know, or knows and does not model; every other warning is a finding.
# `lines` are regular expressions over the whole line, `details` over the whole message of a warning that names no line,
# `references` over "kind name" of something that is used and not defined. `within` is one over the heads of all blocks that
# the line stands in, joined by " / ": the same line elsewhere is a finding. `defined` is one over such a path to a line of
# the same switch: a reference to a name that no line defines is a finding.

KINDS = ("lines", "details", "references")
Paths: TypeAlias = Callable[[], Iterable[str]]  # every line of a switch, "router bgp 65001 / vrf red / rd 10.0.0.1:1"


@dataclass(frozen=True, slots=True)
class Allowed:
    """One pattern, and why what it matches is no finding."""

    kind: str  # "lines" | "details" | "references"
    pattern: re.Pattern[str]
    reason: str
    within: re.Pattern[str] | None = None  # the blocks of the line, "router bgp 65001 / vrf red"; None: any
    defined: str = ""  # pattern of the line that defines `{name}`, behind the blocks that it stands in; "": none is needed

    def matches(self, kind: str, text: str, context: Context, paths: Paths) -> bool:
        """Whether a warning is this one: about a line in the named blocks, about a name that the switch does define."""
        if kind != self.kind:
            return False
        match = self.pattern.fullmatch(text)
        if not match or (self.within is not None and not self.within.fullmatch(JOIN.join(context))):
            return False
        if not self.defined:
            return True
        definition = re.compile(self.defined.replace("{name}", re.escape(match["name"])))
        return any(definition.fullmatch(path) for path in paths())


def nothing() -> Iterable[str]:
    """The paths of a switch without lines."""
    return ()


@cache
def allowed(nos: str) -> tuple[Allowed, ...]:
    """Every pattern of the lists of a network OS."""
    view = view_of(nos)
    lists: list[list[dict[str, Any]]] = [yaml.read(path) for path in (view.allow if view is not None else ())]
    return tuple(
        Allowed(
            kind,
            re.compile(text, re.DOTALL),
            entry["reason"].strip(),
            re.compile(entry["within"]) if "within" in entry else None,
            entry.get("defined", ""),
        )
        for entries in lists
        for entry in entries
        for kind in KINDS
        for text in entry.get(kind, ())
    )


def reason(nos: str, kind: str, text: str, context: Context = (), paths: Paths = nothing) -> str:
    """Why a warning about a line, message or reference is none, "" when it is one.

    `context` has the blocks of the line, `paths` gives every line of the switch behind the blocks that it stands in.
    """
    return next((entry.reason for entry in allowed(nos) if entry.matches(kind, text, context, paths)), "")


# --- configs without a plan -----------------------------------------------------------------------------------

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
            reported, rows = judge_files(FileAnalysis(texts, server))
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


def judge_files(analysis: FileAnalysis) -> tuple[list[Finding], list[Pair]]:
    """The findings of every question that needs no plan, and the files that could not be judged."""
    misread = dict(_misread(analysis))
    findings = [
        *Warnings().answered(Warnings().check(analysis)),
        *References().answered(References().check(analysis)),
        *Owners().answered(_owners(analysis)),
        *Sessions().answered(_sessions(analysis)),
    ]
    kept = [finding for finding in findings if finding.file not in misread]
    rows = [
        (f"Batfish: {file}", f"{why}; covered by the checks of files (FAB250 to FAB299)") for file, why in misread.items()
    ]
    warned = [
        finding if finding.id == References.id or not finding.file else replace(finding, severity=WARNING) for finding in kept
    ]
    return warned, rows


def _misread(analysis: FileAnalysis) -> Iterator[Pair]:
    """Files that Batfish takes for another format, or cannot read: what it says about them is about another network."""
    rows = {row["File_Name"]: row for row in analysis.answers.file_status()}
    for copies in analysis.snapshot.copies.values():
        for copy in copies.copies:
            row = rows.get(copy.path)
            if row is None or row["File_Format"] != copy.format:
                yield copy.source, f"expected format {copy.format}, got {row['File_Format'] if row else 'none'}"
            elif row["Status"] not in READ:
                yield copy.source, f"not parsed: {row['Status'].lower()}"


def _owners(analysis: FileAnalysis) -> Iterator[Finding]:
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


def _sessions(analysis: FileAnalysis) -> Iterator[Finding]:
    """Sessions with an address of another device of the folder that has none back. A far end outside is nothing wrong."""
    check: BatfishCheck = Sessions()
    for row in analysis.answers.compatibility():
        status, remote = row["Configured_Status"], row["Remote_IP"]
        peer = remote["value"] if isinstance(remote, dict) else remote
        if status == ONE_SIDED and peer:
            where = "" if row["VRF"] == "default" else f"VRF {row['VRF']}: "
            words = (f"neighbor {peer} remote-as", f"neighbor {peer}", str(peer))
            message = f"{where}session with {peer}: no matching session at the far end"
            yield from check.at_switch(analysis, name_of(row["Node"]), message, *words)
