"""Where the keys of an intent stand in its file: what a finding of a plan points at."""

from __future__ import annotations

from dataclasses import dataclass

from fabric.base.diagnostics import Place
from fabric.base.source import Source


@dataclass(frozen=True)
class Positions:
    """The place of every key, and whether it is stated. The values are the plan's own records."""

    _source: Source

    @property
    def file(self) -> str:
        return self._source.file

    def at(self, *path: str | int, key: bool = False) -> Place:
        """Where the value of a key stands, or its nearest ancestor that is written down; `key`: the key itself."""
        return self._source.place(path, key=key)

    def stated(self, *path: str | int) -> bool:
        """Whether the intent writes this key."""
        return self._source.has(path)
