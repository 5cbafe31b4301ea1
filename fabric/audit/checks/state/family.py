"""What the checks of state have in common: each takes up some kinds of faults."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from fabric.audit.checks import Check, Finding
from fabric.audit.verify.all_faults import AllFaults


class StateCheck(Check[AllFaults]):
    """Makes findings of the faults of its kinds, at the file that shows each."""

    subject, needs = "state", "intent, state"
    kinds: ClassVar[tuple[str, ...]] = ()

    def check(self, judged: AllFaults) -> Iterator[Finding]:
        for kind in self.kinds:
            for fault in judged.faults.get(kind, ()):
                hint = fault.hint or self.remediation
                yield Finding(
                    id=self.id,
                    severity=self.severity,
                    device=fault.device,
                    file=judged.file(fault),
                    line=0,
                    message=fault.message,
                    hint=hint,
                )
