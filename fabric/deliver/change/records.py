"""A change as it is planned: waves of switches, what the fabric keeps in each, and what does not respect the floor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from fabric.base.schemas.models import Amount, Count, Positive, Share, Text, described, enum_of, rounded
from fabric.model.plan import SWITCH_ROLES

DRAIN, UNDRAIN, REPLACE, UPGRADE, REBOOT = "drain", "undrain", "replace", "upgrade", "reboot"
ACTIONS = (DRAIN, UNDRAIN, REPLACE, UPGRADE, REBOOT)  # of switches of one design
INSTALL, RECABLE, CONFIGURE, REMOVE = "install", "re-cable", "configure", "remove"  # from one design to another
ALL_ACTIONS = (*ACTIONS, INSTALL, RECABLE, CONFIGURE, REMOVE)
LEAVES_SERVICE = frozenset((DRAIN, REPLACE, UPGRADE, REBOOT, RECABLE))  # traffic is led away before
DIGITS = 6

Rounded = Annotated[Amount, rounded(DIGITS)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What is done to one switch in a wave."""

    device: Text
    role: Annotated[str, enum_of(SWITCH_ROLES)]
    nos: Annotated[str, described('"" where it has none')]
    action: Annotated[str, enum_of(ALL_ACTIONS)]
    drained: Annotated[bool, described("traffic is led away before, and back after")]
    reason: Annotated[str, described('why, where it is not the action itself; ""')] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Jumper:
    """What is done at a patch panel, in place of a cable across the floor."""

    panel: Text
    lower: Annotated[Positive, described("port of the trunk to the lower device")]
    old: Annotated[Count, described("port of the trunk to the upper device; 0: none")]
    new: Annotated[Count, described("likewise")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """One cable of a wave."""

    action: Annotated[str, enum_of(("lay", "move", "pull"))]
    lower: Annotated[tuple[Text, Text], described("device and port")]
    old: Annotated[tuple[Text, ...], described("device and port of the upper end; empty where there is none", max_length=2)]
    new: Annotated[tuple[Text, ...], described("likewise", max_length=2)]
    jumper: Annotated[Jumper | None, described("a jumper of this panel; null: a cable across the floor")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """What a fabric keeps while switches are out of service."""

    capacity: Annotated[Rounded, described("share of the capacity before the change; see docs/change.md")]
    all_reduce_ms: Annotated[Rounded | None, described("of the job on the servers that are left; null: none runs")] = None
    step_ms: Annotated[Rounded | None, described("training step with --job; null without, and where none runs")] = None
    ports_down: Annotated[Count, described("server ports")] = 0
    cut_off: Annotated[tuple[Text, ...], described("servers without a port")] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Wave:
    """Switches that go together."""

    number: Positive
    fabric: Text
    title: Text
    tasks: tuple[Task, ...]
    moves: tuple[Move, ...] = ()
    left: Annotated[Left, described("while its drained switches are out of service")]
    worst: Annotated[Rounded, described("share of the capacity that is left if every switch of the wave fails")]
    before: Annotated[tuple[Text, ...], described("what must hold before it begins")]
    after: Annotated[tuple[Text, ...], described("what must hold before the next begins")]
    stop: Annotated[Text, described("state of the network when the work stops after it")]
    touched: Annotated[Share, rounded(DIGITS), described("links in service moved or pulled so far, of all before")] = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """Switches that no wave takes, because the floor does not allow it."""

    fabric: Text
    devices: tuple[Text, ...]
    capacity: Annotated[Rounded, described("share that would be left")]
    reason: Text


@dataclass(frozen=True, kw_only=True)
class Change:
    """A change of a site."""

    site: Text
    title: Text
    floor: Annotated[Share, described("of the capacity before the change, that every wave leaves")]
    waves: tuple[Wave, ...]
    refused: tuple[Refused, ...] = ()
    before: Annotated[Mapping[str, Left], described("by fabric")]
    after: Annotated[Mapping[str, Left], described("by fabric, when all waves are done")]
    notes: tuple[str, ...] = ()
    all_reduce: Annotated[str, described("call that `all_reduce_ms` is of")] = ""
    is_empty: Annotated[bool, described("nothing changes")] = False


@dataclass(frozen=True, kw_only=True)
class ChangeRequest:
    """How a change is planned.

    Attributes:
        floor: share of the capacity that every wave leaves.
        fabric: only this one; "" for all.
        planes_active: planes of every NIC that stay in service, with `drain`; 0: the switches that are named.
    """

    floor: float = 0.9
    fabric: str = ""
    planes_active: int = 0


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What a change was planned from, so that it can be planned again when it is carried out.

    Attributes:
        old: the intent, or the one before the change: a file or `git:REV`.
        new: the one after it; "" for an operation.
        action: the operation on the switches `names`; "" from one intent to another.
        waves: SHA-256 of the switches and cables of all waves.
    """

    old: str
    new: str = ""
    action: str = ""
    names: tuple[str, ...] = ()
    request: ChangeRequest = ChangeRequest()
    waves: str = ""
