"""Statements and files that could not be parsed: reported and counted, never ignored."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from fabric.audit.checks import (
    ERROR,
    NOTE,
    WARNING,
    Check,
    FilesCheck,
    Finding,
    Merge,
    Network,
    about,
    message,
    missing_files,
    misspelled,
    remediation,
    statement_differences,
    syntax_of,
    unexplained,
    unknown_addresses,
)
from fabric.audit.checks.incomplete_files import UNCLOSED, is_lost
from fabric.base.diagnostics import Place
from fabric.base.grouping import grouped
from fabric.base.reading import UnreadableError
from fabric.base.text import listed, plural
from fabric.configs.disk_state import GeneratedFolder
from fabric.model.facts import Facts, Located
from fabric.model.plan import SwitchView
from fabric.nos.reading import PART_REASON, SEVERAL_REASON, Folder, Kind

SHOWN = 5  # statements a device
NEAR = 3  # lines between mistakes of one cause, as in one block
NO_CONFIG = "nothing to do, unless the file is a config"
REPAIRS = {  # why a file was not read → what to do, where the file may well be a config
    "empty": "collect the config from the device again, or remove the file",
    PART_REASON: "put the whole config of a device into one file, with its host name and its interfaces",
    SEVERAL_REASON: "put the config of each device into a file of its own",
    "not UTF-8 text": "convert a config to UTF-8: `iconv -f latin1 -t utf-8 OLD > NEW`; remove any other file",
}


class Unreadable(FilesCheck):
    """Looks for files that are cut off or no valid JSON or YAML.

    A switch rejects such a file as well, and nothing in it is checked.
    """

    id = "FAB290"
    title = "Every file can be parsed"
    severity = ERROR
    example = "a `config_db.json` without its last bracket"
    remediation = "restore the file from git, or collect it from the device again"
    of_device: ClassVar = True

    def check(self, network: Network) -> Iterator[Finding]:
        for facts in network.devices:
            unclosed: dict[str, list[Located[str]]] = {}
            others: dict[str, list[Located[str]]] = {}
            for fact in facts.broken:
                (unclosed if fact.value.endswith(UNCLOSED) else others).setdefault(fact.file, []).append(fact)
            for places in others.values():
                for run in [[fact] for fact in places] if network.planned else _by_cause(places):
                    more = f"; {plural(len(run) - 1, 'more place')} of this file" if run[1:] else ""
                    yield self.finding_at(facts, run[0], run[0].value + more)
            for blocks in unclosed.values():  # the file ends in the innermost of them
                inner, outer = max(blocks, key=lambda fact: fact.line), plural(len(blocks) - 1, "block")
                also = f"; {outer} around it {'are' if blocks[2:] else 'is'} open as well" if blocks[1:] else ""
                yield self.finding_at(facts, inner, inner.value + also)

    @classmethod
    def of(cls, device: str, error: UnreadableError) -> Finding:
        """The finding about a file that its reader fails on."""
        hint = f"{cls.remediation}; if it is as the device printed it, run the command with --debug and report the output"
        return cls.in_file(device, error.file, error.line, str(error), hint)


def _by_cause(places: list[Located[str]]) -> list[list[Located[str]]]:
    """Mistakes of a file: what is a few lines below another one follows from it, and all from a structure that is lost."""
    rows = sorted(places, key=lambda fact: fact.line)
    runs: list[list[Located[str]]] = []
    for fact in rows:
        if runs and fact.line - runs[-1][-1].line <= NEAR:
            runs[-1].append(fact)
        else:
            runs.append([fact])
    return [rows] if len(runs) > SHOWN or any(is_lost(fact.value) for fact in rows) else runs


class FolderCheck(Check[Folder]):
    """Judges a folder of configs as a whole."""

    subject, needs = "files", "files"


class Unrecognized(FolderCheck):
    """Looks for files whose network OS is unknown.

    Without its network OS a file has no parser, so nothing in it is checked: if it is a config, a device is missing.
    """

    id = "FAB291"
    title = "The network OS of every file is recognized"
    severity = WARNING
    else_severity = "note for a file that is no config: output of commands, variables, text"
    example = "an IOS XR config in the folder of `--configs`"
    remediation = "remove files of other systems from the folder (supported: SONiC, Cumulus Linux, EOS, NX-OS, Junos, FRR)"

    def check(self, folder: Folder) -> Iterator[Finding]:
        homes, firsts = _homes(folder.unrecognized), dict[Kind, str]()
        for path, kind in sorted(folder.unrecognized.items()):
            home, text = homes[path], f"{{uses}} not read: {kind.reason}"
            if kind.config:
                name, severity = os.path.relpath(path, home), self.severity
                hint = kind.hint or REPAIRS.get(kind.reason, self.remediation)
                merge = Merge(text=f"{text}: {{names}}", names=(name,), noun="file", file=home)
            else:
                severity, hint = NOTE, NO_CONFIG
                merge = Merge(
                    text=f"{text}, such as {firsts.setdefault(kind, os.path.basename(path))}", noun="file", file=home
                )
            yield self.in_file("", path, 0, f"not read: {kind.reason}", hint, severity, merge=merge)


def _homes(unrecognized: Mapping[str, Kind]) -> dict[str, str]:
    """Path → the folder that a report names for it and its like.

    For a config it is its own; the one above that if each device has a folder with one such file. All others of a kind are
    one remark, at the folder that all of them are in.
    """
    homes: dict[str, str] = {}
    for kind, paths in grouped((kind, path) for path, kind in unrecognized.items()).items():
        by_folder = grouped((os.path.dirname(path), path) for path in paths)
        above = Counter(os.path.dirname(folder) for folder, inside in by_folder.items() if len(inside) == 1)
        absolute = all(map(os.path.isabs, by_folder))
        common = os.path.commonpath(folder if absolute else f"./{folder}" for folder in by_folder)
        for folder, inside in by_folder.items():
            up = os.path.dirname(folder)
            of_devices = up if len(inside) == 1 and above[up] > 1 else folder
            homes |= dict.fromkeys(inside, of_devices if kind.config else os.path.normpath(common))
    return homes


class NotUnderstood(FilesCheck):
    """Looks for statements that the parser does not support.

    No check covers these statements, so a mistake in them is not found.
    """

    id = "FAB292"
    title = "Every statement is parsed"
    severity = NOTE
    example = "`hardware profile portmode 48x25G`"
    remediation = "compare these lines with the documentation of the network OS: no check covers them"
    of_device: ClassVar = True

    def check(self, network: Network) -> Iterator[Finding]:
        shown: set[str] = set()  # on devices before
        for facts in network.devices:
            new = [fact for fact in facts.unread if _words(fact.value) not in shown][:SHOWN]
            for fact in new:
                yield self.finding_at(facts, fact, f"unknown statement: {fact.value[:100]}")
            shown |= {_words(fact.value) for fact in new}
            if rest := [fact for fact in facts.unread if fact not in new]:
                more = " more" if new else ""
                like = "" if new else "; similar ones are shown for other devices"
                yield self.finding_at(facts, rest[0], f"{len(rest)}{more} of {facts.statements} statements are unknown{like}")


def _words(statement: str) -> str:
    """A statement without its numbers, addresses and names with digits."""
    return " ".join(word for word in statement.split() if not any(letter.isdigit() for letter in word))


@dataclass(frozen=True)
class OnDisk:
    """The files in a site's folder against those that its plan makes."""

    place: Place  # of the site's name in the intent
    shown: str
    disk: GeneratedFolder
    stale: Sequence[str]  # files that an older intent made or that are missing
    line_ends: Sequence[str]  # files that differ in line ends alone

    @property
    def not_looked_at(self) -> str:
        return f"{self.shown}: files not checked ({self.disk.lost}); the output of `fabric generate` was checked instead"


class OnDiskCheck(Check[OnDisk]):
    """Judges the folder that the files of a site were generated into."""

    subject, needs = "files", "files, intent"


class OutOfDate(OnDiskCheck):
    """Compares the files in the output folder with those that the plan generates.

    Files of an older intent, and missing files, do not match the plan. The checks of files then test what `fabric
    generate` would write.
    """

    id = "FAB293"
    title = "Generated files are up to date"
    severity = ERROR
    example = "a server was added to the intent, and `fabric generate` was not run"
    remediation = "run `fabric generate`"

    def check(self, found: OnDisk) -> Iterator[Finding]:
        if found.disk.lost and not found.disk.line_ends:
            yield self.at(found.place, found.not_looked_at)
        if found.stale:
            differ = "files differ" if len(found.stale) > 1 else "file differs"
            what = f"{len(found.stale)} {differ} from the plan: {listed(found.stale, 1)}"
            yield self.at(found.place, f"{found.shown}: {what}")


@dataclass(frozen=True)
class Rest:
    """The files of a switch after the checks of facts.

    Attributes:
        view: the planned switch.
        facts: what was read of its files.
        files: path → text.
        rendered: path → what the plan renders, of the files that are compared with it; all paths of a folder that was
            named, those that were edited by hand in the output folder.
        reported: findings so far.
    """

    view: SwitchView
    facts: Facts
    files: Mapping[str, str]
    rendered: Mapping[str, str]
    reported: Sequence[Finding]


class RestCheck(Check[Rest]):
    """The last net: judges what no other check has named, after them."""

    subject, needs = "files", "files, intent"


class UnknownAddress(RestCheck):
    """Looks for addresses that neither the plan nor anything derived from it contains.

    Such an address is a typing error, or a line of another device: in a filter it permits or denies the wrong traffic, in
    a prefix list it leaks or hides a route.
    """

    id = "FAB282"
    title = "Every address in a file belongs to the plan"
    severity = WARNING
    example = "`permit 10.46.0.0/16`; the pool is 10.64.0.0/16"
    remediation = "correct the address, or suppress FAB282 with a reason if an override needs the address"

    def check(self, rest: Rest) -> Iterator[Finding]:
        reported = {(finding.file, finding.line) for finding in rest.reported}
        for fact in unknown_addresses(rest.view, rest.files):
            if (fact.file, fact.line) not in reported:  # another check reports the line with more detail
                message = f"{fact.value} is not in the plan of this switch"
                yield self.finding_at(rest.facts, fact, message)


class Statements(RestCheck):
    """Compares every statement of a config with those that the plan renders, where no check of facts has a finding.

    A statement that is missing, changed, added or moved changes what the switch does, even where no parsed setting shows
    it: `next-hop-unchanged` on a spine, `retain route-target all`, an entry of a filter. Statements without effect, such as
    defaults and lines that the network OS adds, are listed with their sources in docs/statements.md and are silent.
    """

    id = "FAB295"
    title = "Every statement of a config is in the plan, and every planned statement is in the config"
    severity = ERROR
    else_severity = "warning for text without effect (descriptions, banners) and for a file that was not collected"
    example = "`neighbor EVPN next-hop-unchanged` was removed on a spine"
    remediation = "restore the statement, or add the change to the intent or to an override"

    def check(self, rest: Rest) -> Iterator[Finding]:
        if not rest.rendered:
            return
        pulled = rest.rendered.keys().isdisjoint(rest.files)  # from devices, under names of their own
        running = rest.files if pulled else rest.rendered.keys() & rest.files.keys()
        texts = {path: rest.files[path] for path in rest.files if path in running}
        if pulled:
            yield from self._missing_files(rest)
        syntax = syntax_of(rest.facts.nos)
        differences = statement_differences(rest.facts.nos, rest.rendered, texts)
        for one in unexplained(list(misspelled(differences)), rest.reported):
            severity, fix = WARNING if one.label else self.severity, remediation(syntax, one)
            place, text = one.place, message(syntax, one)
            yield self.in_file(rest.facts.name, place.file, place.line, text, fix, severity, about=about(syntax, one))

    def _missing_files(self, rest: Rest) -> Iterator[Finding]:
        for name in missing_files(rest.facts.nos, rest.rendered, rest.files):
            text = f"no {name} in the folder: the statements of this file were not compared"
            file = min(rest.files)
            hint = f"collect {name} from the device as well"
            yield self.in_file(rest.facts.name, file, 0, text, hint, WARNING)


class Unfinished(OnDiskCheck):
    """Looks for the journal of an interrupted `fabric generate`.

    A run that was killed while it renamed files leaves files of two designs, each complete. The next run completes it or
    rolls it back.
    """

    id = "FAB297"
    title = "No run of `fabric generate` was interrupted"
    severity = ERROR
    example = "`fabric generate` was killed after half of its files"
    remediation = "run `fabric generate`"

    def check(self, found: OnDisk) -> Iterator[Finding]:
        if found.disk.unfinished:
            message = f"{found.shown}: after an interrupted run, the folder may contain files of two designs"
            yield self.at(found.place, message)


class LineEnds(OnDiskCheck):
    """Looks for generated files with CRLF line endings.

    Files are compared byte by byte, and a switch may read the carriage return as part of a line. Git writes CRLF where
    `core.autocrlf` is on and no .gitattributes prevents it.
    """

    id = "FAB298"
    title = "Generated files have LF line endings"
    severity = ERROR
    example = "a checkout on Windows with `core.autocrlf true`"
    remediation = (
        "add the line `generated/** -text` to .gitattributes, run `git config core.autocrlf false`, remove the folder, and "
        "run `git checkout -- FOLDER`"
    )

    def check(self, found: OnDisk) -> Iterator[Finding]:
        if found.disk.lost and found.disk.line_ends:
            yield self.at(found.place, found.not_looked_at)
        if found.line_ends:
            what = f"{plural(len(found.line_ends), 'file')} with CRLF line endings: {listed(found.line_ends, 1)}"
            yield self.at(found.place, f"{found.shown}: {what}")
