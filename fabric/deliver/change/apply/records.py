"""How a change is carried out, and what came of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from fabric.base.schemas.models import CheckId, Positive, Text, described, enum_of
from fabric.deliver.change.files import MINUTES

CARRIED_OUT, TAKEN_BACK, STOPPED, BY_HAND, STUCK, TRIED, EARLIER, OPEN = (
    *("carried out", "taken back", "stopped", "by hand", "not taken back", "dry run", "carried out earlier", "not begun"),
)
STATES = (CARRIED_OUT, TAKEN_BACK, STOPPED, BY_HAND, STUCK, TRIED, EARLIER, OPEN)
BEFORE, REFUSED_DRY, REFUSED, LOST, UNREACHABLE, AFTER, CARRYING, NOT_CONFIRMED, NOT_BACK, HALF, HANDS = (
    *("FAB560", "FAB561", "FAB562", "FAB563", "FAB564", "FAB565", "FAB566", "FAB567", "FAB568", "FAB569", "FAB570"),
)

Tell = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Options:
    """How a change is carried out.

    Attributes:
        only: number of the last wave that is carried out; 0: all.
        dry_run: only what the switches say to the next wave.
        resume: go on after a run that was stopped.
        limit_s: until the network is as it should be after a step. Less than the time of a change that is not confirmed.
        every_s: between two looks at it.
        back_s: until a switch that does not answer is given up, when a wave is taken back.
        workers: switches at once.
    """

    only: int = 0
    dry_run: bool = False
    resume: bool = False
    limit_s: float = MINUTES * 60 * 0.8
    every_s: float = 5.0
    back_s: float = MINUTES * 60 + 120.0
    workers: int = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """What is wrong in a wave."""

    id: CheckId
    wave: Positive
    device: Annotated[str, described('"" where no single switch is meant')] = ""
    message: Text
    hint: str = ""

    def __str__(self) -> str:
        where = f"wave {self.wave}" + (f": {self.device}" if self.device else "")
        return f"{where}: error[{self.id}]: {self.message}" + (f"\n    hint: {self.hint}" if self.hint else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What a switch says to a dry run."""

    device: Text
    typed: Annotated[tuple[str, ...], described("what the wave types there")]
    answer: Annotated[str, described('what it would take; "" where its network OS cannot say')] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WaveResult:
    """What came of one wave."""

    number: Positive
    fabric: Text
    title: Text
    state: Annotated[str, enum_of(STATES)]
    remarks: tuple[Remark, ...] = ()
    shown: tuple[Shown, ...] = ()
    by_hand: Annotated[str, described("work that a person has to do before `--resume`")] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of a run."""

    site: Text
    title: Text
    folder: Text
    waves: tuple[WaveResult, ...]

    @property
    def failed(self) -> bool:
        return any(wave.remarks for wave in self.waves)

    @property
    def waits(self) -> bool:
        """Whether a person has to do something first."""
        return any(wave.state == BY_HAND for wave in self.waves)
