"""LLDP output of switches and servers: a file taken apart into JSON values and lines of text, and the readers of each."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from fabric.audit.cabling.subnet_files import COMMANDS, SOURCE
from fabric.base.diagnostics import Place, Report
from fabric.nos.lldp import JSON, TEXT, LldpPart, Neighbor, Reader, first, known_text, medium_gbps, rows, text
from fabric.nos.target import targets

# --- lldpd ----------------------------------------------------------------------------------------------------
# lldpd of servers, SONiC and Cumulus Linux: `lldpctl -f json`, `-f json0`, and its plain text.
#
# In `json` the list of interfaces becomes a mapping when there is one alone, and a chassis is filed under its name, or not at
# all when it sent none. `json0` has lists and `{"value": …}` everywhere. SONiC's `show lldp neighbors` is the plain text.
# Source: lldpd 1.0 (Debian package lldpd) as it prints, and lldpcli(8).

_INTERFACE = re.compile(r"Interface:\s+(\S+?),? +via:|Interface:\s+(\S+?),?\s*$")
_FIELD = re.compile(r"\s+(ChassisID|SysName|PortID|PortDescr|MAU oper type):\s+(.*?)\s*$")


def knows(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    found = value.get("lldp")
    if found in ({}, [{}], []):
        return len(value) == 1  # no neighbor
    return "interface" in first(found) or "local-chassis" in value


def read(value: dict[str, Any]) -> LldpPart:
    system, chassis = _chassis(first(value.get("local-chassis")).get("chassis"))
    neighbors = tuple(_neighbor(name, row) for name, row in _interfaces(value.get("lldp")))
    return LldpPart(system, chassis, neighbors, listens="lldp" in value)


def _interfaces(found: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Port and neighbor, however they are wrapped."""
    for block in rows(found):
        for row in rows(block.get("interface")):
            if "name" in row and "chassis" in row:
                yield text(row["name"]), row
            else:
                yield from ((name, entry) for name, found in row.items() for entry in rows(found))


def _neighbor(name: str, row: dict[str, Any]) -> Neighbor:
    system, chassis = _chassis(row.get("chassis"))
    port = first(row.get("port"))
    speed = medium_gbps(first(port.get("auto-negotiation")).get("current"))
    return Neighbor(
        port=name,
        system=system,
        chassis=chassis,
        far_port=known_text(port.get("id")),
        description=known_text(port.get("descr")),
        far_speed_gbps=speed,
    )


def _chassis(found: Any) -> tuple[str, str]:
    """System name and chassis id."""
    chassis = first(found)
    if "id" in chassis and ("value" in first(chassis["id"])):
        return known_text(chassis.get("name")), known_text(chassis["id"])
    for name, entry in chassis.items():
        return name, known_text(first(entry).get("id"))
    return "", ""


def knows_text(lines: Sequence[str]) -> bool:
    return any(line.startswith("LLDP neighbors:") for line in lines) or any(_INTERFACE.match(line) for line in lines)


def read_text(lines: Sequence[str]) -> LldpPart:
    """Blocks of fields under each `Interface:`; ids come with the word for their kind before them."""
    blocks: list[tuple[str, dict[str, str]]] = []
    for line in lines:
        if found := _INTERFACE.match(line):
            blocks.append((found[1] or found[2], {}))
        elif blocks and (field := _FIELD.match(line)):
            blocks[-1][1].setdefault(field[1], field[2])
    return LldpPart(neighbors=tuple(_block(port, fields) for port, fields in blocks), listens=True)


def _block(port: str, fields: dict[str, str]) -> Neighbor:
    chassis, identity = (fields.get(key, "").partition(" ")[2] or fields.get(key, "") for key in ("ChassisID", "PortID"))
    system, described = fields.get("SysName", ""), fields.get("PortDescr", "")
    far_speed_gbps = medium_gbps(fields.get("MAU oper type"))
    return Neighbor(
        port=port, system=system, chassis=chassis, far_port=identity, description=described, far_speed_gbps=far_speed_gbps
    )


READERS = (
    Reader(name="lldpd", commands="lldpctl -f json, -f json0, lldpcli show chassis -f json", knows=knows, read=read, rank=40),
    Reader(
        name="lldpd", commands="lldpctl, show lldp neighbors (SONiC)", knows=knows_text, read=read_text, takes=TEXT, rank=40
    ),
)


# --- readers --------------------------------------------------------------------------------------------------
# Readers of LLDP output: those of the installed network OSes, and that of servers.
#
# The content distinguishes the outputs: every reader examines every JSON value of a file, so that the envelopes of eAPI,
# NX-API and Ansible, and several commands in one file, need no option.


@cache
def readers() -> tuple[Reader, ...]:
    """Every reader, in the order in which they are asked."""
    own = [reader for nos in targets().values() if nos.lldp is not None for reader in nos.lldp.get()]
    return tuple(sorted((*own, *READERS), key=lambda reader: reader.rank))


def sources() -> tuple[str, ...]:
    """The names of the readers, as `--source` takes them."""
    return tuple(dict.fromkeys([*(reader.name for reader in readers()), SOURCE]))


# --- JSON and text of a session -------------------------------------------------------------------------------

CODE = "FAB175"
WHAT = "LLDP neighbor output of a device"
DEEPEST = 6  # wrappings around an output: host, result, list, ins_api, outputs, output
_NO_JSON = re.compile(r"\{[a-z][^\"{}]*\}\s*$")  # Junos' `{master:0}`
_PROMPTS = re.compile(  # leaf001#show …   admin@leaf001:~$ show …   user@leaf001> show …
    r"(?:[A-Za-z0-9_.-]+@)?([A-Za-z0-9][A-Za-z0-9_.-]*)(?::[^\s$#]*)?[$#>] *"
    r"(?:sudo |docker exec |nv |lldp|show |sonic-db-dump)"
)


@dataclass(frozen=True, slots=True)
class Output:
    """One output that was understood, and the keys that it was found under."""

    reader: Reader
    part: LldpPart
    under: tuple[str, ...] = ()


def outputs(text: str, file: str, form: str = "") -> tuple[list[Output], str]:
    """Every output in a file, and the host name of its prompts. Raises InputError if no reader recognizes the content.

    Args:
        form: of the readers, those of this name alone.
    """
    asked = [reader for reader in readers() if form in ("", reader.name)]
    values, lines = split(text, file)
    result = [output for value in values for output in _within(value, asked)]
    for reader in asked:
        if reader.takes == TEXT and reader.knows(lines):
            result.append(Output(reader, reader.read(lines)))
    if not result:
        _refuse(text, file, form)
    return result, prompt_of(lines)


def _within(value: Any, readers: Sequence[Reader], under: tuple[str, ...] = ()) -> Iterator[Output]:
    """The outputs within a JSON value, whatever is wrapped around them."""
    for reader in readers:
        if reader.takes == JSON and reader.knows(value):
            yield Output(reader, reader.read(value), under)
            return
    if len(under) >= DEEPEST:
        return
    if isinstance(value, dict):
        for key, inner in value.items():
            if isinstance(inner, dict | list):
                yield from _within(inner, readers, (*under, key))
    elif isinstance(value, list):
        for inner in value:
            if isinstance(inner, dict | list):
                yield from _within(inner, readers, (*under, ""))


def split(text: str, file: str) -> tuple[list[Any], list[str]]:
    """JSON values that begin a line, and the lines that belong to none."""
    decoder, values, lines, position = json.JSONDecoder(), [], [], 0
    only = text.lstrip().startswith("[")  # in a session a bracket may begin a prompt
    while position < len(text):
        end = text.find("\n", position)
        end = len(text) if end < 0 else end
        line = text[position:end]
        start = position + len(line) - len(line.lstrip())
        if text[start : start + 1] in (("{", "[") if only else ("{",)) and not _NO_JSON.match(line.strip()):
            value, end = _decode(decoder, text, start, file)
            values.append(value)
        else:
            lines.append(line.rstrip("\r"))
        position = end + 1
    return values, lines


def _decode(decoder: json.JSONDecoder, text: str, start: int, file: str) -> tuple[Any, int]:
    report = Report()
    try:
        value, end = decoder.raw_decode(text, start)
    except json.JSONDecodeError as error:
        place = Place(file, error.lineno, error.colno)
        report.fail(CODE, place, f"not JSON: {error.msg.lower()}", "collect the output again: it may be incomplete")
    except (RecursionError, ValueError) as error:
        line = text.count("\n", 0, start) + 1
        what = "nested too deep" if isinstance(error, RecursionError) else "a number has too many digits"
        report.fail(CODE, Place(file, line, 1), f"not the output of a device: {what}", f"expected {WHAT}")
    return value, end


def prompt_of(lines: Sequence[str]) -> str:
    """The name at the prompts, "" where there are none or several."""
    names = {found[1] for line in lines if (found := _PROMPTS.match(line.strip()))}
    return names.pop() if len(names) == 1 else ""


def _refuse(text: str, file: str, form: str) -> None:
    known = dict.fromkeys([reader.commands for reader in readers() if form in ("", reader.name)] + [COMMANDS] * (form == ""))
    what = f"expected an output of {form}" if form else f"expected {WHAT}"
    got = "an empty file" if not text.strip() else "an unknown format"
    Report().fail(CODE, Place(file, 1, 1), f"{what}, got {got}", "supported: " + "; ".join(known))
