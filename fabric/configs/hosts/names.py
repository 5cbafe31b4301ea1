"""What the kernel calls a port. The plan's name is what the cable's label says; it is also the name used, where it can be."""

from __future__ import annotations

import re
import zlib
from functools import lru_cache

from fabric.hardware.catalog.models import NicSet

MAX_INTERFACE_NAME = 15  # IFNAMSIZ less the final zero
_FITS = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,14}")


@lru_cache(maxsize=4096)
def interface_name(label: str, nic: NicSet, number: int, port: int) -> str:
    """The maker's name where the catalog has it, else the label, else a shorter form of the label.

    `number` counts from 1, `port` from 0.
    """
    at = (number - 1) * nic.ports + port
    if at < len(nic.interfaces):
        return nic.interfaces[at]
    if _FITS.fullmatch(label):
        return label
    suffix = re.search(r"(?<![0-9])[0-9]+(p[0-9]+)?$", label)
    tail = suffix[0] if suffix else ""
    head = label[: len(label) - len(tail)]
    return f"n{zlib.crc32(head.encode()) & 0xFFFFFF:06x}-{tail}"[:MAX_INTERFACE_NAME]


def vlan_name(interface: str, tag: int, ordinal: int) -> str:
    """`bond0.101`; where that is longer than a name may be, `vlan101n7` with the port's ordinal."""
    name = f"{interface}.{tag}"
    return name if len(name) <= MAX_INTERFACE_NAME else f"vlan{tag}n{ordinal}"
