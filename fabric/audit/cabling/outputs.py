"""A file of outputs taken apart: JSON values among the prompts and commands of a session, and the lines of text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from fabric.audit.cabling.readers import readers
from fabric.base.diagnostics import Place, Report
from fabric.nos.lldp import JSON, TEXT, LldpPart, Reader

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
    known = dict.fromkeys(reader.commands for reader in readers() if form in ("", reader.name))
    what = f"expected an output of {form}" if form else f"expected {WHAT}"
    got = "an empty file" if not text.strip() else "an unknown format"
    Report().fail(CODE, Place(file, 1, 1), f"{what}, got {got}", "supported: " + "; ".join(known))
