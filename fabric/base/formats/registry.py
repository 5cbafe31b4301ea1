"""Formats that something is written in, by the names that a command line knows; what makes one is imported when asked for."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any, Generic, TypeVar

Made = TypeVar("Made")


@dataclass(frozen=True)
class Format(Generic[Made]):
    """What it is in a few words, and the function that makes it of a value, as `module:function`.

    Some take more than the value, such as the number of a part.
    """

    what: str
    made_by: str

    def __call__(self, value: Any, **request: Any) -> Made:
        module, _, name = self.made_by.partition(":")
        made: Made = getattr(import_module(module), name)(value, **request)
        return made
