"""What the checks of state have in common: each takes up some kinds of faults."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from fabric.audit.checks import Check, Finding
from fabric.audit.verify.judged import Judged


class StateCheck(Check[Judged]):
    """Makes findings of the faults of its kinds, at the file that shows each."""

    subject, needs = "state", "intent, state"
    kinds: ClassVar[tuple[str, ...]] = ()

    def check(self, judged: Judged) -> Iterator[Finding]:
        for kind in self.kinds:
            for fault in judged.faults.get(kind, ()):
                hint = fault.hint or self.remediation
                yield Finding(self.id, self.severity, fault.device, judged.file(fault), 0, fault.message, hint)
