"""What the checks of the plan have in common: how they speak of a fabric, devices as columns, links of the lossless class."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fabric.audit.checks import Check, Design, Finding
from fabric.base.text import counted, listed
from fabric.hardware.catalog.models import SwitchModel
from fabric.model.plan import ATTACHMENT, CLOSED, CORE, LEAF, SPINE, Device, FabricPlan, of_nics
from fabric.nos.target import target

# --- fabric ---------------------------------------------------------------------------------------------------

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Path = tuple[str | int, ...]

NOUNS = {LEAF: "leaves", SPINE: "spines", CORE: "cores"}


class FabricCheck(Check[Design]):
    """Judges one fabric of a plan; its findings begin with the fabric's name.

    `infiniband`: it judges fabrics of InfiniBand as well.
    """

    subject, needs = "design", "intent"
    infiniband: ClassVar[bool] = False

    def applies(self, design: Design) -> bool:
        """Whether a fabric is one that it judges."""
        return self.infiniband or design.fabric.spec.ethernet

    def run(self, design: Design) -> list[Finding]:
        return super().run(design) if self.applies(design) else []

    def finding(self, design: Design, path: Path, text: str, *, hint: str = "", severity: str = "") -> Finding:
        """A finding at a key of the fabric in the intent."""
        message = f"fabric '{design.fabric.name}': {text}"
        return self.at(design.place(*path), message, hint=hint, severity=severity)


def before(design: Design) -> list[FabricPlan]:
    """The fabrics of the site that stand before this one; those behind it look at this one themselves."""
    names = list(design.plan.fabrics)
    known = (design.plan.fabrics[name] for name in names[: names.index(design.fabric.name)])
    return [fabric for fabric in known if fabric.spec.ethernet]


def column(fabric: FabricPlan, name: str) -> Ints:
    """A number of every device, for example `asn` or `plane`."""
    return np.array([getattr(device, name) for device in fabric.devices], dtype=np.int64)


def of_role(fabric: FabricPlan, role: str) -> Bools:
    """Which devices have a role."""
    return np.array([device.role == role for device in fabric.devices], dtype=bool)


def rows(fabric: FabricPlan, *kinds: int) -> Ints:
    """The links of some kinds."""
    return np.flatnonzero(np.isin(fabric.links.kind, kinds))


def per_device(fabric: FabricPlan, devices: NDArray[Any], weight: NDArray[Any] | None = None) -> Ints:
    """How often every device stands in a column, or the sum of the weights beside it."""
    return np.bincount(devices, weight, len(fabric.devices)).astype(np.int64)


def models(fabric: FabricPlan) -> dict[str, SwitchModel]:
    """Hardware by role."""
    spec = fabric.spec
    return {LEAF: spec.leaf.model, SPINE: spec.spine.model, CORE: spec.core.model}


def network_oses(fabric: FabricPlan) -> dict[str, str]:
    """Network OS of every role that there is, "" where none is known."""
    return {device.role: device.nos for device in reversed(fabric.switches)}


def named(fabric: FabricPlan, devices: Iterable[int]) -> str:
    """`leaf001`, `leaf001 and leaf002`, `leaf001 and 6 more`."""
    names = [fabric.devices[int(at)].name for at in devices]
    return " and ".join(names) if len(names) == 2 else listed(names, 1)


def in_all(count: int, noun: str, nouns: str = "") -> str:
    """` (8 links in all)` behind the first of several."""
    return f" ({counted(count, noun, nouns)} in all)" if count > 1 else ""


def link_ends(fabric: FabricPlan, link: int) -> str:
    """`leaf001 and spine002`: the devices that a link joins."""
    return f"{fabric.devices[fabric.links.a[link]].name} and {fabric.devices[fabric.links.b[link]].name}"


def pinned(design: Design, device: Device, key: str, otherwise: Path) -> Path:
    """The pin of a switch that says a thing, else the key of the fabric that it follows from."""
    for name, pin in design.fabric.spec.pins.items():
        if device.name in (name, pin.name) and getattr(pin, key) is not None:
            return "pins", name, key
    return otherwise


def switch_path(design: Design, role: str) -> Path:
    """The key that names the switches of a role."""
    own: Path = ("topology", role, "switch")
    return own if design.fabric.spec.stated(*own) else ("topology", "switch")


# --- lossless class -------------------------------------------------------------------------------------------


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
    """The links that need PFC: all that are up, less those of routers, NICs for TCP, attachments with `lossless: false`."""
    links = fabric.links
    out = {attachment.name for attachment in fabric.spec.attachments if attachment.external or attachment.lossless is False}
    plain = np.array([device.name in out for device in fabric.devices], dtype=bool)
    tcp = of_nics(fabric.spec, fabric.devices, links, fabric.spec.lossy)
    return np.flatnonzero((fabric.tenancy.owner != CLOSED) & ~((links.kind == ATTACHMENT) & plain[links.a]) & ~tcp)


def sorts(fabric: FabricPlan) -> list[tuple[str, str]]:
    """By device: its role and, of leaves, the server group. Devices of one sort have the same lossless class."""
    return [(device.role, device.group if device.role == LEAF else "") for device in fabric.devices]


def ends(fabric: FabricPlan) -> list[Ends]:
    """Every sort of link that PFC is meant for."""
    links, used = fabric.links, meant(fabric)
    known = sorted(set(sorts(fabric)))
    code = np.array([known.index(sort) for sort in sorts(fabric)], dtype=np.int64)
    table = np.stack([links.kind[used], links.speed_gbps[used], code[links.a[used]], code[links.b[used]]], axis=1)
    distinct, first, count = np.unique(table, axis=0, return_index=True, return_counts=True)
    return [
        Ends(kind, speed, (known[a], known[b]), int(used[at]), int(number))
        for (kind, speed, a, b), at, number in zip(distinct.tolist(), first.tolist(), count.tolist(), strict=True)
    ]
