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

from fabric.nos.reading.reader import Signs
from fabric.nos.reading.readers import readers

HEAD_BYTES = 200_000  # signs stand early
FIRST_BYTES = 4_000  # enough for most files: the rest is read where they leave a doubt
CERTAIN = 4  # points of the first kind before the second, which no further sign changes
OTHER = "other"
_FOREIGN: Signs = (  # of network OSes without a reader
    (2, r"^interface (?:GigabitEthernet|TenGig\w+|HundredGig\w+|FortyGig\w+|Bundle-Ether|TwentyFiveGig\w+)"),
    (3, r"^version 1[2-7]\.\d"),
    (3, r"^service timestamps "),
    (3, r"^boot-start-marker"),
    (4, r"^ ip address \d+\.\d+\.\d+\.\d+ 255\."),  # IOS: FRR takes no mask, EOS and NX-OS indent by more
    (3, r"^net add \S"),
    (3, r"^!! IOS XR"),
    (3, r"^sysname "),
    (2, r"^/interface "),
    (3, r"^config vdom|^config system global"),
    (3, r"^(?:set|delete) / (?:system|interface|network-instance|acl) "),  # SR Linux
    (3, r"^! Version 10\.\d+\.\d+\.\d+$"),  # OS10
    (3, r"^RP/\d+/\S+#"),  # a session with IOS XR
    (9, r"^// vyos-config-version|^ {4}(?:ethernet eth|vxlan vxlan|bridge br)\d+ \{$"),  # VyOS, in braces as Junos
)

# Endings and names of what lies beside configs: topologies, licences. Without a sign of a network OS they are hardly meant.
BESIDE = frozenset((".drawio", ".gns3", ".unl", ".virl", ".xml", ".ini", ".json", ".lock", ".toml", ".yaml", ".yml"))
BESIDE_NAMES = frozenset(("dockerfile", "jenkinsfile", "license", "makefile", "readme", "vagrantfile"))

# What is no config of a switch, by its ending.
NO_CONFIG = frozenset((
    ".csv", ".docx", ".gif", ".gz", ".html", ".j2", ".jpeg", ".jpg", ".log", ".md", ".pcap", ".pdf", ".pkt", ".png", ".pptx",
    ".py", ".pyc", ".sh", ".svg", ".vsdx", ".xlsx", ".zip",
))  # fmt: skip


@dataclass(frozen=True, slots=True)
class Kind:
    """`nos` is one of the readers', another kind of file that one has (`interfaces`), "companion", or "" for what cannot be
    read."""

    nos: str
    reason: str = ""  # why it cannot be read


@cache
def _signs() -> Mapping[str, list[tuple[int, re.Pattern[str]]]]:
    """Kind of file → its signs; the kind that stands first wins where two have as many."""
    kinds = {nos: reader.signs for nos, reader in readers().items()}
    for reader in readers().values():
        kinds |= reader.other_kinds
    return {
        kind: [(weight, re.compile(sign, re.M)) for weight, sign in signs]
        for kind, signs in (kinds | {OTHER: _FOREIGN}).items()
    }


def recognize(path: str, text: str) -> Kind:
    """The kind of a file."""
    name = PurePath(path).name
    if "\0" in text[:HEAD_BYTES]:
        return Kind("", "binary")
    if text.lstrip()[:5] == "<?xml":  # topologies of labs, with configs in them
        return Kind("", "a document in XML")
    if any(name in reader.companions for reader in readers().values()):
        return Kind("companion")
    if text.lstrip()[:1] in ("{", "[") and (nos := _json_kind(text)):
        return Kind(nos)
    scores = _scores(text)
    for nos, reader in readers().items():
        if text.strip() and reader.file_names and re.search(reader.file_names, name, re.I):
            scores[nos] += 2
    best = max(scores, key=lambda kind: scores[kind])
    if scores[best] < 2:
        return Kind("", "no sign of a network OS that can be read here" if text.strip() else "empty")
    if best == OTHER:
        return Kind("", "looks like a network OS that has no reader here")
    return Kind(best)


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


def beside(path: str) -> bool:
    """Whether a file lies beside configs by its name and is hardly meant to be one."""
    name = PurePath(path)
    return name.suffix.lower() in BESIDE or name.stem.lower() in BESIDE_NAMES
