"""Names of NICs and GPUs as people write them, and the entry of a table that each one means."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

MAKER = re.compile(r"^(?:amd|broadcom|intel|mellanox|nvidia)\b[\s_-]*", re.IGNORECASE)


@cache
def folded(name: str) -> str:
    """`NVIDIA ConnectX 7` → `connectx7`: letters and digits, without the maker."""
    return re.sub(r"[^a-z0-9]+", "", MAKER.sub("", name.strip()).lower())


def entry_of(name: str, table: Iterable[str]) -> str:
    """The entry that a full name begins with, as `ConnectX-7` of "ConnectX-7, one port of each card"; "" for none."""
    return _entry_of(name, tuple(table))


@cache
def _entry_of(name: str, table: tuple[str, ...]) -> str:
    word = folded(name)
    found = [entry for entry in table if re.match(rf"{folded(entry)}(?![0-9])", word)]
    return max(found, key=len, default="")
