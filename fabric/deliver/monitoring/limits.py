"""Thresholds that the plan gives, by kind of port, kind of link and role: a handful of numbers for any size of fabric."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fabric.configs.targets import balances_by_load
from fabric.model.plan import (
    ATTACHED,
    BETWEEN_SWITCHES,
    CORE,
    KINDS,
    LEAF,
    LEAF_SPINE,
    SPINE,
    SPINE_CORE,
    SWITCH_ROLES,
    FabricPlan,
    Lossless,
)
from fabric.nos.target import lanes, pam4, target

# IEEE 802.3: PAUSE quanta are 512 bit times, a frame stops the sender for at most 65,535 of them (31B, 31D).
PAUSE_BITS = 512 * 65_535
# Bit error ratio before FEC that a receiver must live with: RS(544,514) 2.4e-4 (IEEE 802.3 clause 120), RS(528,514) 5e-5
# (clause 95).
FEC_BER = {True: 2.4e-4, False: 5e-5}
FEC_MARGIN = 10  # warn this factor before it
FRAME_BER = 1e-12  # what IEEE 802.3 lets pass without FEC, and far more than what passes it
DROP_SHARE = 1e-6  # of the packets of 1,500 bytes that a port can carry
QUEUE_PAIRS = 4  # of a server port at a time, each a flow to the hash
BALANCED = 1.25  # adaptive routing keeps the busiest uplink within this of the mean
SESSIONS_DOWN = 0.25


@dataclass(frozen=True, slots=True)
class PortClass:
    """Ports of one role, speed and cable length, which share their thresholds."""

    name: str
    speed_gbps: int
    pam4: bool | None  # None: too slow for FEC
    lossless: Lossless | None

    @property
    def speed_bits(self) -> float:
        return self.speed_gbps * 1e9

    @property
    def errors_per_s(self) -> float:
        """Bad frames: every wrong bit spoils one."""
        return self.speed_bits * FRAME_BER

    @property
    def symbol_errors_per_s(self) -> float | None:
        """A symbol has ten bits and is wrong when one of them is, so their rate is that of the bits."""
        return None if self.pam4 is None else self.speed_bits * FEC_BER[self.pam4] / FEC_MARGIN

    @property
    def drops_per_s(self) -> float:
        return self.speed_bits / (8 * 1500) * DROP_SHARE


class PortClasses:
    """The classes of a fabric's switch ports, and the class of every end."""

    def __init__(self, fabric: FabricPlan) -> None:
        self.fabric = fabric

    def name(self, link: int, end: int) -> str:
        """The class of end 0 (`a`) or 1 (`b`) of a link."""
        return self._names[self._code[end][link]]

    @cached_property
    def all(self) -> tuple[PortClass, ...]:
        """Every class that some port has, by name."""
        found = {}
        for end in (0, 1):
            _, first = np.unique(np.array(self._code[end]), return_index=True) if self._code[end] else ((), ())
            for link in first:
                made = self._class(int(link), end)
                if made is not None:
                    found[made.name] = made
        return tuple(found[name] for name in sorted(found))

    @cached_property
    def _keys(self) -> dict[tuple[str, str, int, int, bool], int]:
        return {}

    @cached_property
    def _code(self) -> tuple[list[int], list[int]]:
        fabric, columns = self.fabric, self.fabric.links.lists()
        attachments = fabric.spec.attachments
        lossy = {attachment.name for attachment in attachments if attachment.lossless is False or attachment.external}
        lengths = fabric.spec.length_m
        metres = [int(lengths[kind]) for kind in KINDS]
        several = len(fabric.spec.groups) > 1
        role = [(device.role, device.group if several and device.role == LEAF else "") for device in fabric.devices]
        cared = [device.role != ATTACHED or device.name not in lossy for device in fabric.devices]
        codes: tuple[list[int], list[int]] = ([], [])
        for kind, speed, a, b in zip(columns["kind"], columns["speed_gbps"], columns["a"], columns["b"], strict=True):
            for end, here, far in ((0, a, b), (1, b, a)):
                key = (*role[here], speed, metres[kind], cared[far])
                codes[end].append(self._keys.setdefault(key, len(self._keys)))
        return codes

    @cached_property
    def _names(self) -> list[str]:
        assert self._code is not None  # the keys are collected with the codes
        return [
            "-".join(filter(None, (role, group, f"{speed}g", f"{metres}m", "" if cared else "lossy")))
            for role, group, speed, metres, cared in self._keys
        ]

    def _class(self, link: int, end: int) -> PortClass | None:
        """The class of one end; None of a device that is not a switch."""
        fabric, side = self.fabric, "ab"[end]
        device = fabric.devices[int(getattr(fabric.links, side)[link])]
        if device.role not in SWITCH_ROLES:
            return None
        *_, speed, metres, cared = list(self._keys)[self._code[end][link]]
        model = {LEAF: fabric.spec.leaf, SPINE: fabric.spec.spine, CORE: fabric.spec.core}[device.role].model
        cage, split = (int(getattr(fabric.links, f"{side}_{part}")[link]) for part in ("cage", "split"))
        able = bool(device.nos) and target(device.nos).can(model, "lossless")
        lossless = None
        if fabric.lossless is not None and able and cared:
            lossless = fabric.lossless.of(device.role, device.group).ports.get((speed, metres))
        fec = None if speed < 25 else pam4(speed, max(1, lanes(model, cage) // split))
        return PortClass(self.name(link, end), speed, fec, lossless)


def sessions_down(fabric: FabricPlan) -> dict[str, float]:
    """Role → share of a switch's sessions whose loss no single neighbor explains, at least a quarter."""
    links, share_of = fabric.links, {}
    between = np.isin(links.kind, BETWEEN_SWITCHES)
    for role in SWITCH_ROLES:
        one = next((device for device in fabric.switches if device.role == role), None)
        if one is None:
            continue
        peers = Counter(
            [*links.b[between & (links.a == one.index)].tolist(), *links.a[between & (links.b == one.index)].tolist()]
        )
        if peers:
            share_of[role] = max(SESSIONS_DOWN, max(peers.values()) / sum(peers.values()))
    return share_of


def imbalance(fabric: FabricPlan) -> Iterator[tuple[str, float]]:
    """Kind of uplink → busiest over mean that hashing explains.

    m flows an uplink, thrown at w uplinks, leave the fullest with about m + sqrt(2 m ln w) (Raab, Steger, Balls into Bins,
    1998). Flows are the queue pairs of the server ports below.
    """
    sizing = fabric.sizing
    for kind, role in ((LEAF_SPINE, LEAF), (SPINE_CORE, SPINE)):
        lower = fabric.links.a[fabric.links.kind == kind]
        if not len(lower):
            continue
        width = int(np.bincount(lower).max())
        below = max(group.down for group in sizing.groups) if role == LEAF else width  # a spine passes on what it could
        flows = QUEUE_PAIRS * below / width
        device = next(device for device in fabric.switches if device.role == role)
        even = balances_by_load(fabric, device.nos, role, KINDS[kind])
        yield KINDS[kind], BALANCED if even or width < 2 else 1 + math.sqrt(2 * math.log(width) / flows)
