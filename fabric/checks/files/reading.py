"""What could not be read: said, counted, never passed over in silence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from fabric.checks.base import FilesCheck
from fabric.checks.finding import ERROR, NOTE, WARNING, Finding
from fabric.checks.network import Network

SHOWN = 5  # statements a device


class Unreadable(FilesCheck):
    """A file that is cut off, or no JSON or YAML at all, is refused by the switch as well; nothing that it was to say is
    checked."""

    id = "FAB290"
    title = "Files can be read"
    severity = ERROR
    mend = "restore the file"
    of_device: ClassVar = True

    def over(self, network: Network) -> Iterator[Finding]:
        for facts in network.devices:
            for said in facts.broken:
                yield self.on(facts, said, said.value)


class Unrecognised(FilesCheck):
    """A file whose network OS is not known is not checked at all."""

    id = "FAB291"
    title = "Every file is recognised"
    severity = WARNING
    mend = "readers exist for SONiC, Cumulus Linux, EOS, NX-OS, Junos and FRR; move other files elsewhere"


class NotUnderstood(FilesCheck):
    """Statements that no reader knows are not checked; they may well be right."""

    id = "FAB292"
    title = "Every statement is understood"
    severity = NOTE
    mend = "see for yourself what these lines do"
    of_device: ClassVar = True

    def over(self, network: Network) -> Iterator[Finding]:
        for facts in network.devices:
            for said in facts.unread[:SHOWN]:
                yield self.on(facts, said, f"not understood: {said.value[:100]}")
            if len(facts.unread) > SHOWN:
                rest = len(facts.unread) - SHOWN
                yield self.on(facts, facts.unread[SHOWN], f"{rest} more statements of {facts.statements} are not understood")


class OutOfDate(FilesCheck):
    """Files that an older intent made are not what this plan says, however right they were, and files that are missing say
    nothing. In their place the checks of files judge what `fabric generate` would write."""

    id = "FAB293"
    title = "Generated files are up to date"
    severity = ERROR
    mend = "run `fabric generate`"
    kinds: ClassVar = ()


class UnknownAddress(FilesCheck):
    """An address that neither the plan nor anything derived from it has is a typing error, or a line from elsewhere: in a
    filter it opens or closes the wrong door, in a prefix list it leaks or hides a route."""

    id = "FAB282"
    title = "Every address in a file is one of the plan's"
    severity = WARNING
    mend = "correct it; an address of your own in an override is silenced with its reason"


class Edited(FilesCheck):
    """A generated file that somebody edited says what the plan does not. What a reader knows is compared with the plan; of
    the other lines nothing is known but that they differ, and the next `fabric generate` knows nothing of them."""

    id = "FAB295"
    title = "No line of a generated file is edited that no other check names"
    severity = WARNING
    mend = "see for yourself what it does; what is meant goes into the intent or an override"


class Unfinished(FilesCheck):
    """A run of `fabric generate` that was killed while it renamed files leaves files of two designs, each of them whole. The
    next run finishes it, or takes it back."""

    id = "FAB297"
    title = "No run of `fabric generate` was stopped half-way"
    severity = ERROR
    mend = "run `fabric generate`"
    kinds: ClassVar = ()


class LineEnds(FilesCheck):
    """Files are compared byte by byte, and a switch may take the carriage return for a part of its line. Git makes CRLF of
    line ends where `core.autocrlf` is on and no .gitattributes forbids it."""

    id = "FAB298"
    title = "Generated files have the line ends they were generated with"
    severity = ERROR
    mend = (
        "`git config core.autocrlf false`, remove the folder, `git checkout -- FOLDER`; a line `generated/** -text` in "
        ".gitattributes keeps the files as they are in every checkout"
    )
    kinds: ClassVar = ()
