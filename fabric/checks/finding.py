"""What a check has to say: one record a finding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

ERROR, WARNING, NOTE = "error", "warning", "note"
SEVERITIES = (ERROR, WARNING, NOTE)  # the worst first


@dataclass(frozen=True, slots=True)
class Finding:
    """One broken property at one place; line and column count from 1, 0 when the whole file is meant."""

    id: str
    severity: str
    device: str  # "" where no single device is meant
    file: str
    line: int
    message: str
    hint: str = ""
    column: int = 0
    silenced: str = ""  # the intent's reason why it does not apply here

    def __str__(self) -> str:
        place = self.file + (f":{self.line}" if self.line else "") + (f":{self.column}" if self.column else "")
        device = f"{self.device}: " if self.device else ""
        head = f"{place}: {self.severity}[{self.id}]: {device}{self.message}"
        return f"{head}\n    hint: {self.hint}" if self.hint else head

    def as_dict(self) -> dict[str, Any]:
        """The shape of a finding in `--json` output."""
        shown = {
            "id": self.id,
            "severity": self.severity,
            "device": self.device,
            "file": self.file,
            "line": self.line,
            "column": self.column,
            "message": self.message,
            "hint": self.hint,
        }
        return shown | ({"silenced": self.silenced} if self.silenced else {})

    @property
    def order(self) -> tuple[Any, ...]:
        return self.file, self.line, self.column, self.id, self.device, self.message
