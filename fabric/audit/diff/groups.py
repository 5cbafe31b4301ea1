"""Groups switches with the same change of config, apart from names, ports, addresses and AS numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from fabric.audit.diff.configs import DeviceChange
from fabric.nos.target import port_pattern

ADDRESS = r"(?:\d+\.){3}\d+(?:/\d+)?(?::\d+)?"
HEX = r"[0-9a-fA-F]{0,4}(?:[:.][0-9a-fA-F]{0,4}){2,}(?:/\d+)?"  # IPv6, MAC addresses, Ethernet segments
WORD = r"[A-Za-z0-9][\w-]*(?:\.[\w-]+)*"


@dataclass(frozen=True)
class Group:
    """Changes that read alike; the first stands for all."""

    changes: tuple[DeviceChange, ...]
    same: bool  # to the letter

    @property
    def first(self) -> DeviceChange:
        return self.changes[0]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(change.device for change in self.changes)


def groups(changes: Iterable[DeviceChange], names: frozenset[str]) -> list[Group]:
    """The changes in groups, in the order of their first. `names` are words that differ from switch to switch."""
    found: dict[object, list[DeviceChange]] = {}
    for change in changes:
        text = tuple((file.path, file.form.name, masked("\n".join(file.lines), names, change.nos)) for file in change.files)
        found.setdefault((change.nos, change.state, text), []).append(change)
    return [Group(tuple(part), all(change.files == part[0].files for change in part)) for part in found.values()]


def masked(text: str, names: frozenset[str] = frozenset(), nos: str = "") -> str:
    """The text with addresses, ports and some names taken out: what reads alike for several devices is equal then.

    `nos`: the network OS whose ports it has, "" for any.
    """

    def mask(match: re.Match[str]) -> str:
        return match[0] if match.lastgroup == "word" and match[0] not in names else f"<{match.lastgroup}>"

    return _token(nos).sub(mask, text)


@cache
def _token(nos: str) -> re.Pattern[str]:
    port = port_pattern(nos).pattern
    return re.compile(f"(?P<address>{ADDRESS})|(?P<hex>{HEX})|(?P<port>{port})|(?P<word>{WORD})")
