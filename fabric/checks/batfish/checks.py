"""What a check of Batfish's answers is, and what all of them ask of a snapshot."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fabric.checks.base import Check
from fabric.checks.batfish.ask import Answers, Unanswered
from fabric.checks.batfish.expect import Expected
from fabric.checks.batfish.snapshot import Snapshot
from fabric.checks.finding import ERROR, Finding

UNANSWERED = "look at the server's log; give it more memory, or take a later version of it"


@dataclass(frozen=True)
class Asked:
    """A snapshot that a server has, what it answers about it, and what the plan expects."""

    snapshot: Snapshot
    answers: Answers
    expected: Expected


class BatfishCheck(Check):
    """Judges what Batfish makes of the rendered files."""

    def over(self, asked: Asked) -> Iterator[Finding]:
        raise NotImplementedError

    def run(self, asked: Asked) -> list[Finding]:
        """The findings; a question without an answer is one."""
        try:
            return sorted(self.over(asked), key=lambda finding: finding.order)
        except Unanswered as error:
            return [Finding(self.id, ERROR, "", "", 0, f"Batfish gave no answer: {error}", UNANSWERED)]
        except KeyError as error:  # of another version of the server
            return [Finding(self.id, ERROR, "", "", 0, f"Batfish's answer has no column {error}", UNANSWERED)]

    def in_copy(self, asked: Asked, path: str, line: int, message: str) -> Iterator[Finding]:
        """A finding on a line of the snapshot, in the file that the line is from; nothing on what is no copy."""
        found = asked.snapshot.origin(path, line)
        if found:
            device, file, at = found
            yield Finding(self.id, self.severity, device, file, at, message, self.mend)

    def at_switch(self, asked: Asked, node: str, message: str, *words: str) -> Iterator[Finding]:
        """A finding on a switch, on the first line of its files that has one of the words; nothing on others."""
        copies = asked.snapshot.copies.get(node)
        if copies:
            file, line = copies.find(*words)
            yield Finding(self.id, self.severity, copies.device, file, line, message, self.mend)


def name_of(cell: Any) -> str:
    """The name in a cell that holds a node, or the cell itself."""
    return str(cell["name"] if isinstance(cell, dict) else cell)


def file_lines(cell: Any) -> Iterator[tuple[str, int]]:
    """(file, line) of a cell that holds lines of one file or of many."""
    for entry in cell if isinstance(cell, list) else [cell] if cell else []:
        for line in entry.get("lines") or [0]:
            yield entry["filename"], line
