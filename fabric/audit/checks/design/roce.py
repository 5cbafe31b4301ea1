"""What the checks of the lossless class have in common: who can do it, and the links that it is meant for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fabric.audit.checks import Design
from fabric.audit.checks.design.family import NOUNS, FabricCheck, Ints, models, network_oses
from fabric.model.plan import ATTACHMENT, CLOSED, LEAF, FabricPlan
from fabric.nos.target import target


class LosslessCheck(FabricCheck):
    """A check of fabrics with a lossless class."""

    def applies(self, design: Design) -> bool:
        return super().applies(design) and design.fabric.lossless is not None


def capable(fabric: FabricPlan, what: str) -> dict[str, bool]:
    """Role → whether its network OS and hardware can do something."""
    hardware = models(fabric)
    return {role: bool(nos) and target(nos).can(hardware[role], what) for role, nos in network_oses(fabric).items()}


def switches(fabric: FabricPlan, key: tuple[str, str]) -> str:
    """`sn5600 leaves`: the switches of a role, and of a server group where there are several."""
    role, group = key
    behind = f" for server group '{group}'" if group and len(fabric.spec.groups) > 1 else ""
    return f"{getattr(fabric.spec, role).switch} {NOUNS[role]}{behind}"


@dataclass(frozen=True, slots=True)
class Ends:
    """Equal links: one kind and speed, between devices of the same two sorts."""

    kind: int
    speed_gbps: int
    sorts: tuple[tuple[str, str], tuple[str, str]]  # role and server group of either end; of servers the role alone
    first: int  # a link of this sort
    count: int


def meant(fabric: FabricPlan) -> Ints:
    """The links that need PFC: all that are up, except to routers and to attachments with `lossless: false`."""
    links = fabric.links
    out = {attachment.name for attachment in fabric.spec.attachments if attachment.external or attachment.lossless is False}
    plain = np.array([device.name in out for device in fabric.devices], dtype=bool)
    return np.flatnonzero((fabric.tenancy.owner != CLOSED) & ~((links.kind == ATTACHMENT) & plain[links.a]))


def sorts(fabric: FabricPlan) -> list[tuple[str, str]]:
    """By device: its role and, of leaves, the server group. Devices of one sort have the same lossless class."""
    return [(device.role, device.group if device.role == LEAF else "") for device in fabric.devices]


def ends(fabric: FabricPlan) -> list[Ends]:
    """Every sort of link that PFC is meant for."""
    links, used = fabric.links, meant(fabric)
    known = sorted(set(sorts(fabric)))
    code = np.array([known.index(sort) for sort in sorts(fabric)], dtype=np.int64)
    table = np.stack([links.kind[used], links.speed_gbps[used], code[links.a[used]], code[links.b[used]]], axis=1)
    found, first, count = np.unique(table, axis=0, return_index=True, return_counts=True)
    return [
        Ends(kind, speed, (known[a], known[b]), int(used[at]), int(number))
        for (kind, speed, a, b), at, number in zip(found.tolist(), first.tolist(), count.tolist(), strict=True)
    ]
