"""Did Batfish read the files for what they are?"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

from fabric.audit.checks import ERROR, Finding
from fabric.audit.checks.batfish.checks import BatfishCheck, FileAnalysis, file_lines, name_of
from fabric.audit.checks.batfish.client import view_of
from fabric.base.formats import yaml
from fabric.nos.batfish import JOIN, Context, Copy

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
        for copy, message in misread(analysis):
            yield from self.in_copy(analysis, copy.path, 0, message)


def misread(analysis: FileAnalysis) -> Iterator[tuple[Copy, str]]:
    """Files that Batfish takes for another format, or cannot read: what it says about them is about another network."""
    rows = {row["File_Name"]: row for row in analysis.answers.file_status()}
    for copy in (copy for copies in analysis.snapshot.copies.values() for copy in copies.copies):
        row = rows.get(copy.path)
        if row is None:
            yield copy, f"Batfish reports no format for this file; expected {copy.format}"
        elif row["File_Format"] != copy.format:
            yield copy, f"file format: expected {copy.format}, got {row['File_Format']}"
        elif row["Status"] not in READ:
            yield copy, f"Batfish cannot parse this file: {row['Status'].lower()}"


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
