"""Where an intent comes from: its file, and the commit that changed it last."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Origin:
    """A file, and what git knows of it; without git its path alone."""

    path: str  # below the root of its repository; outside of one as it was given
    commit: str = ""  # the last that changed the file, 12 digits
    day: str = ""  # of that commit, `2026-11-24` in the committer's time zone
    changed: bool = False  # since that commit

    @property
    def words(self) -> str:
        """`commit 3be502d0a1b2 of 2026-11-24, changed since`."""
        if not self.commit:
            return "never committed" if self.changed else ""
        return f"commit {self.commit} of {self.day}{', changed since' if self.changed else ''}"
