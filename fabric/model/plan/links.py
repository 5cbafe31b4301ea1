"""The links of a fabric as columns: one row per logical Ethernet link, the lower end first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

KINDS = ("server-leaf", "leaf-leaf", "leaf-spine", "spine-core", "attachments")
SERVER_LEAF, LEAF_LEAF, LEAF_SPINE, SPINE_CORE, ATTACHMENT = range(len(KINDS))

Ints = NDArray[np.int32]


@dataclass(frozen=True, kw_only=True)
class Links:
    """Columns of equal length. `a` is the lower end (server, leaf or spine), `b` the upper.

    A port is (cage, sub, split): front-panel number from 1, which of the cage's ports from 0, how many the cage
    carries. On a server `cage` is the NIC from 1 and `sub` the NIC's port.
    """

    kind: Ints
    speed_gbps: Ints
    a: Ints  # device index
    a_cage: Ints
    a_sub: Ints
    a_split: Ints
    b: Ints
    b_cage: Ints
    b_sub: Ints
    b_split: Ints
    row: Ints  # coordinates of the link's subnet in its address area: the lower switch (or the leaf, for servers) …
    column: Ints  # … and its port slot; they do not change when the other end does

    def __len__(self) -> int:
        return len(self.kind)

    @cached_property
    def by_device(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Ends sorted by device, cage and sub: (start of each device's ends, link of each end, end 0 = a or 1 = b)."""
        count = len(self)
        device = np.concatenate([self.a, self.b])
        cage = np.concatenate([self.a_cage, self.b_cage])
        sub = np.concatenate([self.a_sub, self.b_sub])
        order = np.lexsort((sub, cage, device))
        devices = int(device.max()) + 1 if count else 0
        starts = np.searchsorted(device[order], np.arange(devices + 1))
        return starts, order % max(count, 1), order // max(count, 1)

    def of(self, device: int) -> Iterator[tuple[int, int]]:
        """(link, end) of every end at a device, in port order."""
        starts, link, end = self.by_device
        if device + 1 < len(starts):
            here = slice(starts[device], starts[device + 1])
            yield from zip(link[here].tolist(), end[here].tolist(), strict=True)

    def lists(self) -> dict[str, list[Any]]:
        """The columns as Python lists: faster than arrays when a loop reads single values."""
        return self._lists

    @cached_property
    def _lists(self) -> dict[str, list[Any]]:
        return {item.name: getattr(self, item.name).tolist() for item in fields(self)}


def concatenate(parts: list[Links]) -> Links:
    """One table of several."""
    return Links(
        **{
            item.name: np.concatenate([getattr(part, item.name) for part in parts]).astype(np.int32)
            if parts
            else np.empty(0, np.int32)
            for item in fields(Links)
        }
    )
