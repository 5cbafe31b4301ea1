"""Finds the planned device of a host name, which LLDP may carry with its domain, in another case, or truncated."""

from __future__ import annotations

from collections.abc import Sequence

from fabric.base.grouping import grouped

MIN_CUT_NAME_LETTERS = 15  # letters of a name that may be the beginning of a longer one: tables cut no earlier


class Hosts:
    """The names of a plan's devices."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = list(names)
        self._exact = {name.lower(): at for at, name in enumerate(names)}
        short = grouped((name.lower().partition(".")[0], at) for at, name in enumerate(names))
        self._short = {name: found[0] for name, found in short.items() if len(found) == 1}
        self._found: dict[str, int | None] = {}

    def exact(self, name: str) -> int | None:
        """The device of that name in any letters."""
        return self._exact.get(name.lower())

    def find(self, name: str) -> int | None:
        """The device of a reported name: without its domain, and truncated if only one device matches."""
        if name not in self._found:
            self._found[name] = self._look(name.strip().lower())
        return self._found[name]

    def _look(self, name: str) -> int | None:
        if name in self._exact:
            return self._exact[name]
        head = name.partition(".")[0]
        if head in self._short:
            return self._short[head]
        if len(name) >= MIN_CUT_NAME_LETTERS:
            longer = [at for known, at in self._exact.items() if known.startswith(name)]
            return longer[0] if len(longer) == 1 else None
        return None
