"""What carrying out a change asks of the network: switches that take lines, their state, and hands for cables."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from fabric.deliver.change.records import Wave


class UnreachableError(Exception):
    """A switch does not answer, refuses the login, or its session ended; the text says which and where it stood."""


class ByHandError(Exception):
    """Work that a person has to do at the switches before the wave can go on; the text says what."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a switch answers to the lines of one file.

    Attributes:
        refused: the first line that it did not take, and what it says; "" where it took all.
        dropped: the session ended before the last line was answered; `typed` lines are known to be taken.
    """

    text: str
    typed: int
    refused: str = ""
    dropped: bool = False


class Connection(Protocol):
    """A session at one switch."""

    def type(self, lines: Sequence[str]) -> Answer:
        """Types the lines of one file (`2-apply`) as they stand there; stops at the first that is refused."""
        ...

    def running(self) -> Mapping[str, str]:
        """Path → text of the running config, as `fabric drift` reads it. Raises UnreachableError."""
        ...

    def close(self) -> None: ...


class Network(Protocol):
    """The switches of a site."""

    def connect(self, device: str) -> Connection:
        """Raises UnreachableError."""
        ...

    def state(self, devices: Collection[str]) -> Mapping[str, str]:
        """Path → text of what switches show, as `fabric verify` reads it. Raises UnreachableError."""
        ...

    def by_hand(self, wave: Wave) -> None:
        """Cables of a wave, new switches and old ones. Raises ByHandError where a person has to do it."""
        ...
