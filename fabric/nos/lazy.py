"""Records of a network OS that are loaded late: each is named by its module, imported when it is first asked for.

A plan needs names of ports and what a switch can do; how its files are made, read, compared or put to Batfish is no part of
that, and its modules must not cost `fabric plan` any time.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any, Generic, TypeVar, cast

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Lazy(Generic[T]):
    """`Lazy(__package__, "lldp:READERS")`: the name `READERS` of the module `lldp` in the package of the network OS."""

    package: str
    where: str

    def get(self) -> T:
        module, _, name = self.where.partition(":")
        return cast(T, getattr(import_module(f"{self.package}.{module}"), name))

    def __call__(self, *given: Any) -> Any:
        """What it returns, where it is a function: one that is late stands wherever a function does."""
        return cast(Any, self.get())(*given)
