"""Reads a folder of state: one folder or file per switch, or files of several switches; the content decides.

Every reader of every network OS examines every JSON value, in whatever envelope it is, so names of files do not matter
as long as one file is of one switch. A file that cannot be read is listed and does not stop the others.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from fabric.audit.cabling import outputs as lldp
from fabric.audit.cabling.files import UnknownDeviceError, by_name, device_of, every_file
from fabric.audit.cabling.outputs import CODE, DEEPEST, prompt_of, split
from fabric.audit.cabling.planned import Hosts
from fabric.audit.verify.reported_state import ReportedState
from fabric.base.diagnostics import InputError, Place, Report
from fabric.base.reading import UnreadableError, guarded, refuse_folder, text_of
from fabric.nos.lldp import JSON, TEXT, LldpPart
from fabric.nos.state.readers import Failed, StateReader
from fabric.nos.state.records import Part
from fabric.nos.target import targets

WHAT = "state of a switch"


@dataclass
class Collected:
    """The state of the planned switches by name, and what else the folder has."""

    folder: str
    seen: dict[str, ReportedState] = field(default_factory=dict)
    unplanned: dict[str, str] = field(default_factory=dict)  # file of a device that the plan does not have → reason
    unread: dict[str, str] = field(default_factory=dict)  # file → reason
    files: int = 0


@dataclass(frozen=True, slots=True)
class Output:
    """One output that at least one reader understood."""

    part: Part | None
    lldp: LldpPart | None
    under: tuple[str, ...] = ()

    @property
    def host(self) -> str:
        return (self.part.host if self.part else "") or (self.lldp.host if self.lldp else "")


@cache
def readers() -> tuple[StateReader, ...]:
    """The readers of every installed network OS, in order of their names."""
    return tuple(reader for nos in targets().values() if nos.state is not None for reader in nos.state.get())


@cache
def _failures() -> tuple[Failed, ...]:
    return tuple(failed for nos in targets().values() if nos.failed is not None for failed in nos.failed.get())


def read(folder: Path, names: Sequence[str]) -> Collected:
    """The state in a folder, or in one file.

    Args:
        names: devices of the plan.

    Raises:
        InputError: the folder is missing, or none of its files is recognized.
    """
    report, hosts, collected = Report(), Hosts(names), Collected(str(folder))
    if not folder.exists():
        report.fail(CODE, Place(str(folder)), f"expected {WHAT}, got no such file or folder")
    paths = list(every_file([folder], report, WHAT))
    report.raise_errors()
    for path in paths:
        collected.files += 1
        _read_file(collected, path, hosts)
    if not (collected.seen or collected.unplanned):
        refuse_folder(str(folder), WHAT, collected.unread, "docs/verify.md has the commands whose output is read")
    return collected


def of_switch(texts: Mapping[str, str]) -> ReportedState:
    """The state of one switch from its outputs: name of each → text."""
    state = ReportedState()
    for file, text in texts.items():
        values, lines = _values(text, file)
        for output in (*(output for value in values for output in _within(value)), *_of_text(lines)):
            state.files += [] if file in state.files else [file]
            if output.part is not None:
                state.take(output.part, file)
            if output.lldp is not None:
                state.take_lldp(output.lldp, file)
    return state


def _read_file(collected: Collected, path: Path, hosts: Hosts) -> None:
    file = str(path)
    try:
        text = text_of(path, WHAT)
        with guarded(file):
            values, lines = _values(text, file)
            results = [output for value in values for output in _within(value)]
            results += _of_text(lines)
        if not results:
            collected.unread[file] = "empty" if not text.strip() else "no known output of a switch"
            return
        reported, prompt = [output.host for output in results if output.host], prompt_of(lines)
        for output in results:
            name = hosts.names[device_of(path, output.under, reported, prompt, "", hosts)]
            state = collected.seen.setdefault(name, ReportedState())
            if file not in state.files:
                state.files.append(file)
            if (output.host or prompt) and not any(output.under):
                _stray(collected, path, name, hosts)
            if output.part is not None:
                state.take(output.part, file)
            if output.lldp is not None:
                state.take_lldp(output.lldp, file)
    except UnknownDeviceError as error:
        collected.unplanned[file] = error.diagnostic.message
    except InputError as error:
        collected.unread[file] = error.diagnostics[0].message
    except UnreadableError as error:
        collected.unread[file] = str(error)


def _stray(collected: Collected, path: Path, name: str, hosts: Hosts) -> None:
    """Notes a file that is named after another switch than the one that its content names."""
    named = {hosts.names[device] for device in by_name(path, hosts)}
    if named and name not in named:
        collected.seen.setdefault(min(named), ReportedState()).strays[str(path)] = name


def _values(text: str, file: str) -> tuple[list[Any], list[str]]:
    """A file that is one JSON value as a whole is the usual case, and by far the fastest."""
    try:
        return [json.loads(text)], []
    except (ValueError, RecursionError):
        return split(text, file)


def _of_text(lines: Sequence[str]) -> Iterator[Output]:
    """LLDP tables that are no JSON, and what a daemon that is down leaves."""
    if not any(line.strip() for line in lines):
        return
    for reader in lldp.readers():
        if reader.takes == TEXT and reader.knows(lines):
            yield Output(None, reader.read(lines))
    failures = [line.strip() for line in lines if any(failed.pattern.search(line) for failed in _failures())]
    if failures:
        yield Output(Part(kinds=frozenset(), failures=tuple(dict.fromkeys(failures))), None)


def _within(value: Any, under: tuple[str, ...] = ()) -> Iterator[Output]:
    """The outputs within a JSON value, whatever is wrapped around them."""
    part = next((reader.read(value) for reader in readers() if reader.knows(value)), None)
    neighbors = next((reader.read(value) for reader in lldp.readers() if reader.takes == JSON and reader.knows(value)), None)
    if part is not None or neighbors is not None:
        yield Output(part, neighbors, under)
        return
    if len(under) >= DEEPEST:
        return
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _inside(inner, (*under, key))
    elif isinstance(value, list):
        for inner in value:
            yield from _inside(inner, (*under, ""))


def _inside(value: Any, under: tuple[str, ...]) -> Iterator[Output]:
    """Ansible and NAPALM keep the text of a command as a string."""
    if isinstance(value, dict | list):
        yield from _within(value, under)
    elif isinstance(value, str) and value[:1] in ("{", "[") and len(value) > 2:
        for inner in _several(value):
            yield from _within(inner, under)
    elif isinstance(value, str) and "\n" not in value and any(failed.pattern.search(value) for failed in _failures()):
        yield Output(Part(kinds=frozenset(), failures=(value.strip(),)), None, under)


def _several(text: str) -> Iterator[Any]:
    """The JSON values in a string, up to one that is none; some commands print several, one after the other."""
    decoder, position = json.JSONDecoder(), 0
    while position < len(text):
        try:
            value, position = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            return
        yield value
        while position < len(text) and text[position].isspace():
            position += 1
