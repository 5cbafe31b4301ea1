"""What a reader of state is."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from fabric.nos.state.records import Part

Knows: TypeAlias = Callable[[Any], bool]


@dataclass(frozen=True, slots=True)
class StateReader:
    """One command of a network OS: which outputs are its own, and what they say."""

    name: str  # of the network OS
    command: str  # for help and docs
    knows: Knows  # of one JSON value
    read: Callable[[Any], Part]


@dataclass(frozen=True, slots=True)
class Failed:
    """How a network OS says in text that it cannot answer: `bgpd is not running`."""

    pattern: re.Pattern[str]
