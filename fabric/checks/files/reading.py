"""What could not be read: said, counted, never passed over in silence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from fabric.checks import ERROR, NOTE, WARNING, Check, FilesCheck, Finding, Network, edits, unknown_addresses
from fabric.diagnostics import Place
from fabric.facts import Facts
from fabric.nos.reading import Folder, beside
from fabric.plan import SwitchView
from fabric.standing import Standing
from fabric.text import listed, plural

SHOWN = 5  # statements a device


class Unreadable(FilesCheck):
    """A file that is cut off, or no JSON or YAML at all, is refused by the switch as well; nothing that it was to say is
    checked."""

    id = "FAB290"
    title = "Files can be read"
    severity = ERROR
    remediation = "restore the file"
    of_device: ClassVar = True

    def judge(self, network: Network) -> Iterator[Finding]:
        for facts in network.devices:
            for said in facts.broken:
                yield self.on(facts, said, said.value)


class FolderCheck(Check[Folder]):
    """Judges a folder of configs as a whole."""

    subject, needs = "files", "files"


class Unrecognised(FolderCheck):
    """A file whose network OS is not known is not checked at all."""

    id = "FAB291"
    title = "Every file is recognised"
    severity = WARNING
    remediation = "readers exist for SONiC, Cumulus Linux, EOS, NX-OS, Junos and FRR; move other files elsewhere"

    def judge(self, folder: Folder) -> Iterator[Finding]:
        for path, reason in sorted(folder.unrecognised.items()):
            severity = NOTE if beside(path) else self.severity
            yield Finding(self.id, severity, "", path, 0, f"not read: {reason}", self.remediation)


class NotUnderstood(FilesCheck):
    """Statements that no reader knows are not checked; they may well be right."""

    id = "FAB292"
    title = "Every statement is understood"
    severity = NOTE
    remediation = "see for yourself what these lines do"
    of_device: ClassVar = True

    def judge(self, network: Network) -> Iterator[Finding]:
        for facts in network.devices:
            for said in facts.unread[:SHOWN]:
                yield self.on(facts, said, f"not understood: {said.value[:100]}")
            if len(facts.unread) > SHOWN:
                rest = len(facts.unread) - SHOWN
                yield self.on(facts, facts.unread[SHOWN], f"{rest} more statements of {facts.statements} are not understood")


@dataclass(frozen=True)
class OnDisk:
    """The files in a site's folder against those that its plan makes."""

    place: Place  # of the site's name in the intent
    shown: str
    disk: Standing
    stale: Sequence[str]  # files that an older intent made or that are missing
    line_ends: Sequence[str]  # files that differ in line ends alone

    @property
    def not_looked_at(self) -> str:
        return f"{self.shown}: not looked at, {self.disk.lost}; checked is what `fabric generate` would write"


class OnDiskCheck(Check[OnDisk]):
    """Judges the folder that the files of a site were generated into."""

    subject, needs = "files", "files, intent"


class OutOfDate(OnDiskCheck):
    """Files that an older intent made are not what this plan says, however right they were, and files that are missing say
    nothing. In their place the checks of files judge what `fabric generate` would write."""

    id = "FAB293"
    title = "Generated files are up to date"
    severity = ERROR
    remediation = "run `fabric generate`"

    def judge(self, found: OnDisk) -> Iterator[Finding]:
        if found.disk.lost and not found.disk.line_ends:
            yield self.at(found.place, found.not_looked_at)
        if found.stale:
            what = f"{plural(len(found.stale), 'file')} not what this plan makes: {listed(found.stale, 1)}"
            yield self.at(found.place, f"{found.shown}: {what}")


@dataclass(frozen=True)
class Rest:
    """What the files of a switch say beyond what the other checks found."""

    view: SwitchView
    facts: Facts
    files: Mapping[str, str]
    edited: Mapping[str, str]  # path → what the plan makes of a file that was edited by hand
    found: Sequence[Finding]


class RestCheck(Check[Rest]):
    """The last net: judges what no other check has named, after them."""

    subject, needs = "files", "files, intent"


class UnknownAddress(RestCheck):
    """An address that neither the plan nor anything derived from it has is a typing error, or a line from elsewhere: in a
    filter it opens or closes the wrong door, in a prefix list it leaks or hides a route."""

    id = "FAB282"
    title = "Every address in a file is one of the plan's"
    severity = WARNING
    remediation = "correct it; an address of your own in an override is silenced with its reason"

    def judge(self, rest: Rest) -> Iterator[Finding]:
        told = {(finding.file, finding.line) for finding in rest.found}
        for said in unknown_addresses(rest.view, rest.files):
            if (said.file, said.line) not in told:  # another check has said more of the line
                message = f"{said.value} is in no part of the plan that this switch has to do with"
                yield self.on(rest.facts, said, message)


class Edited(RestCheck):
    """A generated file that somebody edited says what the plan does not. What a reader knows is compared with the plan; of
    the other lines nothing is known but that they differ, and the next `fabric generate` knows nothing of them."""

    id = "FAB295"
    title = "No line of a generated file is edited that no other check names"
    severity = WARNING
    remediation = "see for yourself what it does; what is meant goes into the intent or an override"

    def judge(self, rest: Rest) -> Iterator[Finding]:
        for path, planned in rest.edited.items():
            told = {finding.line for finding in rest.found if finding.file == path}
            for line, message in edits(planned, rest.files[path], told):
                yield Finding(self.id, self.severity, rest.facts.name, path, line, message, self.remediation)


class Unfinished(OnDiskCheck):
    """A run of `fabric generate` that was killed while it renamed files leaves files of two designs, each of them whole. The
    next run finishes it, or takes it back."""

    id = "FAB297"
    title = "No run of `fabric generate` was stopped half-way"
    severity = ERROR
    remediation = "run `fabric generate`"

    def judge(self, found: OnDisk) -> Iterator[Finding]:
        if found.disk.unfinished:
            message = f"{found.shown}: a run was stopped half-way: files of two designs may lie there"
            yield self.at(found.place, message)


class LineEnds(OnDiskCheck):
    """Files are compared byte by byte, and a switch may take the carriage return for a part of its line. Git makes CRLF of
    line ends where `core.autocrlf` is on and no .gitattributes forbids it."""

    id = "FAB298"
    title = "Generated files have the line ends they were generated with"
    severity = ERROR
    remediation = (
        "`git config core.autocrlf false`, remove the folder, `git checkout -- FOLDER`; a line `generated/** -text` in "
        ".gitattributes keeps the files as they are in every checkout"
    )

    def judge(self, found: OnDisk) -> Iterator[Finding]:
        if found.disk.lost and found.disk.line_ends:
            yield self.at(found.place, found.not_looked_at)
        if found.line_ends:
            what = f"{plural(len(found.line_ends), 'file')} with CRLF line ends: {listed(found.line_ends, 1)}"
            yield self.at(found.place, f"{found.shown}: {what}")
