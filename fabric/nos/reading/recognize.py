"""Which network OS a file is for: recognized by its content, not by its name.

Each kind has signs, patterns that its configs have and others have not. The kind with the most signs wins; a text with
none is no config that can be read here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import PurePath

from fabric.nos.reading.readers import host_name, readers
from fabric.nos.reading.unread import (
    FOREIGN,
    PART_REASON,
    SEVERAL_REASON,
    foreign,
    is_data,
    is_output,
    is_part,
    is_play,
    named_as_config,
)
from fabric.nos.target import target

HEAD_BYTES = 200_000  # signs stand early
FIRST_BYTES = 4_000  # enough for most files: the rest is read where they leave a doubt
CERTAIN = 4  # points of the first kind before the second, which no further sign changes
OTHER = "other"
SEVERAL = 3  # host names in one file: a second one may replace the first

# What is no config of a switch, by its ending.
NO_CONFIG = frozenset((
    ".csv", ".docx", ".gif", ".gz", ".html", ".j2", ".jinja", ".jinja2", ".jpeg", ".jpg", ".log", ".md", ".part", ".pcap",
    ".pdf", ".pkt", ".png", ".pptx", ".py", ".pyc", ".sh", ".svg", ".tmpl", ".tpl", ".vsdx", ".xlsx", ".zip",
))  # fmt: skip
# Of these, what a file of commands may be called as well.
SCRIPTS = frozenset((".log", ".part", ".sh"))


@dataclass(frozen=True, slots=True)
class Kind:
    """`nos` is one of the readers', another kind of file that one has (`interfaces`), "companion", or "" for what cannot be
    read."""

    nos: str
    reason: str = ""  # why it cannot be read
    config: bool = False  # it cannot be read, and yet is a config, or may well be: a device is missing
    hint: str = ""  # what to do about it, where that is particular to the file


@cache
def _signs() -> Mapping[str, list[tuple[int, re.Pattern[str]]]]:
    """Kind of file → its signs; the kind that stands first wins where two have as many."""
    kinds = {nos: reader.signs for nos, reader in readers().items()}
    for reader in readers().values():
        kinds |= reader.other_kinds
    return {
        kind: [(weight, re.compile(sign, re.M)) for weight, sign in signs]
        for kind, signs in (kinds | {OTHER: [sign for signs in FOREIGN.values() for sign in signs]}).items()
    }


def recognize(path: str, text: str) -> Kind:
    """The kind of a file."""
    name = PurePath(path).name
    if "\0" in text[:HEAD_BYTES]:
        return Kind("", "binary")
    if text.lstrip()[:1] in ("{", "[", "<") and (kind := _other_form(text)):
        return kind
    if text.lstrip()[:5] == "<?xml":  # topologies of labs, with configs in them
        return Kind("", "a document in XML")
    if any(name in reader.companions for reader in readers().values()):
        return Kind("companion")
    if text.lstrip()[:1] in ("{", "[") and (nos := _json_kind(text)):
        return Kind(nos)
    text = _without_blank_lines(text[:HEAD_BYTES])
    scores = _scores(text)
    for nos, reader in readers().items():
        if text and reader.file_names and re.search(reader.file_names, name, re.I):
            scores[nos] += 2
    best = max(scores, key=lambda kind: scores[kind])
    if scores[best] < 2 or is_play(text):
        return _unread(path, text)
    if best == OTHER:
        return Kind("", f"{foreign(text)} config, and there is no reader for this network OS", config=True)
    hosts = {name for match in host_name().finditer(text) for name in match.groups() if name}
    return Kind("", SEVERAL_REASON, config=True) if len(hosts) >= SEVERAL else Kind(best)


def _other_form(text: str) -> Kind | None:
    """A config in JSON or XML of a network OS whose reader takes its text."""
    for nos, reader in readers().items():
        for pattern, command in reader.other_forms:
            if re.search(pattern, text[:HEAD_BYTES]):
                form = "XML" if text.lstrip()[0] == "<" else "JSON"
                hint = f"replace the file by the output of `{command}`"
                return Kind("", f"{target(nos).title} config in {form}", config=True, hint=hint)
    return None


def is_script(text: str) -> bool:
    """Whether most lines of a text are commands of a network OS that set its config, one over several lines counts once."""
    lines = [line for line in text[:HEAD_BYTES].replace("\\\n", " ").split("\n") if line.strip() and line.lstrip()[0] != "#"]
    return any(sum(bool(command.match(line)) for line in lines) * 2 > len(lines) for command in _commands())


@cache
def _commands() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(reader.script) for reader in readers().values() if reader.script)


def _unread(path: str, text: str) -> Kind:
    """What a text is that has no sign of a network OS."""
    if not text:
        return Kind("", "empty", named_as_config(path))
    if is_part(text):
        return Kind("", PART_REASON, config=True)
    if is_output(path, text):
        return Kind("", "output of commands")
    if is_data(path, text):
        return Kind("", "YAML or JSON data")
    return Kind("", "no sign of a network OS", named_as_config(path))


def _without_blank_lines(text: str) -> str:
    """Signs begin with any number of blanks: their time would grow with the square of that of blank lines."""
    return "\n".join(line for line in text.split("\n") if line.strip())


def _json_kind(text: str) -> str:
    """The network OS of a text in brackets, "" for none."""
    kinds = [nos for nos, reader in readers().items() if reader.is_json]
    return next((nos for nos in kinds if any(sign.search(text, 0, HEAD_BYTES) for _, sign in _signs()[nos])), "")


def _scores(text: str) -> dict[str, int]:
    """Kind of file → the weight of its signs in the text. The head of the text decides where it leaves no doubt."""
    for length in (FIRST_BYTES, HEAD_BYTES):
        scores = {
            kind: sum(weight for weight, sign in signs if sign.search(text, 0, length)) for kind, signs in _signs().items()
        }
        first, second = sorted(scores.values(), reverse=True)[:2]
        if first - second >= CERTAIN or len(text) <= length:
            break
    return scores
