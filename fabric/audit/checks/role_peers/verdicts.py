"""Entries of policies and lists that permit on one device and deny on all others of its role, or the reverse.

The verdict is one word of the entry, but it is part of the path of all statements below the entry, and of the name of its
object. So entries are compared here word for word, before `forms` files statements by object.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from fabric.audit.checks.role_peers.outline import Outline, Row
from fabric.audit.checks.role_peers.thresholds import MIN_PEERS

VERDICT = re.compile(r"(?<![\w-])(permit|deny|accept|reject)(?![\w-])")


class Reversed(NamedTuple):
    """An entry with another verdict than on all other devices of the role that have it.

    Attributes:
        device: position among the devices.
        row: its statement.
        usual: that of the others.
        witnesses: positions of the others that have it.
    """

    device: int
    row: Row
    usual: Row
    witnesses: tuple[int, ...]


@dataclass
class Verdicts:
    """Entries of the devices of a role, one device after the other.

    Attributes:
        devices: how many were added.
        stated: entry without its verdict → verdict → position of a device → its statement.
    """

    devices: int = 0
    stated: dict[tuple[str, ...], dict[str, dict[int, Row]]] = field(default_factory=dict)

    def add(self, own: Outline) -> Outline:
        """Adds the entries of the next device, and gives its outline back."""
        for row in own.rows:
            found = VERDICT.findall(row.path[-1])
            if len(found) == 1:
                key = (*row.path[:-1], VERDICT.sub("*", row.path[-1]))
                self.stated.setdefault(key, {}).setdefault(found[0], {})[self.devices] = row
        self.devices += 1
        return own

    def reversed(self) -> Iterator[Reversed]:
        """Every entry that has another verdict on one device than on all others, if nearly all devices have the entry."""
        for verdicts in self.stated.values():
            if len(verdicts) != 2:
                continue
            few, many = sorted(verdicts.values(), key=len)
            if len(few) == 1 and len(many) >= max(MIN_PEERS, self.devices - 2) and not few.keys() & many.keys():
                ((device, row),) = few.items()
                yield Reversed(device, row, next(iter(many.values())), tuple(many))
