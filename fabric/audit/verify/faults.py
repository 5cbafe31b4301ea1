"""A fault in the state of a site: one cause, the switch to look at, and what was expected and found."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fault:
    """One cause.

    Attributes:
        kind: what a check of `fabric/audit/checks/state` takes up.
        device: switch to look at.
        message: expected and found.
        state: kind of state that shows it, for the file of the finding.
        hint: what to do, where it is known better than for the kind as a whole.
    """

    kind: str
    device: str
    message: str
    state: str
    hint: str = ""
