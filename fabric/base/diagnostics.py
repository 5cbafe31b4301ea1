"""Everything the tool has to say about its input: one record a mistake, all mistakes of a stage together.

Codes: FAB0xx the file and its YAML, FAB1xx the intent language, FAB13x to FAB17x planning and output,
FAB18x and FAB19x warnings. FAB2xx and up belong to the checks.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, NoReturn, TypeVar

from fabric.base.text import listed, printable, style

S = TypeVar("S")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Place:
    """A position in an input file; line and column count from 1, 0 when the whole line or file is meant."""

    file: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        file = printable(self.file)
        return ":".join([file, *(str(number) for number in (self.line, self.column) if number and self.line)])


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding about the input."""

    code: str
    place: Place
    message: str
    hint: str = ""
    severity: str = "error"  # "error" | "warning"

    def __str__(self) -> str:
        head = f"{self.place}: {style(self.severity, f'{self.severity}[{self.code}]')}: {self.message}"
        return f"{head}\n    hint: {self.hint}" if self.hint else head

    def as_dict(self) -> dict[str, str | int]:
        """The shape of a finding in `--json` output."""
        return {
            "id": self.code,
            "severity": self.severity,
            "file": self.place.file,
            "line": self.place.line,
            "column": self.place.column,
            "message": self.message,
            "hint": self.hint,
        }


Warnings = tuple[Diagnostic, ...]


class InputError(Exception):
    """Bad input: carries every diagnostic of the stage that found it. The command line turns it into exit code 2."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics: tuple[Diagnostic, ...] = tuple(sorted(set(diagnostics), key=_order))
        super().__init__("\n".join(map(str, self.diagnostics)))

    def __reduce__(self) -> tuple[type[InputError], tuple[tuple[Diagnostic, ...]]]:
        return InputError, (self.diagnostics,)  # worker processes send it pickled


class MissingError(Exception):
    """Something outside is missing (a server, a daemon, root): exit code 3 and one line."""


class Report:
    """Collects the diagnostics of one stage, so that a person sees all mistakes at once."""

    def __init__(self) -> None:
        self.errors: list[Diagnostic] = []
        self.warnings: list[Diagnostic] = []

    def error(self, code: str, place: Place, message: str, hint: str = "") -> None:
        """Adds an error."""
        self.errors.append(Diagnostic(code, place, message, hint))

    def warn(self, code: str, place: Place, message: str, hint: str = "") -> None:
        """Adds a warning."""
        self.warnings.append(Diagnostic(code, place, message, hint, "warning"))

    def fail(self, code: str, place: Place, message: str, hint: str = "") -> NoReturn:
        """Records an error after which the stage cannot go on."""
        self.error(code, place, message, hint)
        raise InputError(self.errors)

    def raise_errors(self) -> None:
        """Raises InputError if anything was recorded as an error."""
        if self.errors:
            raise InputError(self.errors)


def nearest(word: object, words: Iterable[str]) -> str:
    """`did you mean 'x'?`, or what there is to choose from when nothing comes close; "" where there is no choice."""
    choices = sorted(words)
    lower = str(word).lower()[:100]
    folder = lower.rpartition("/")[0]
    beside = [choice for choice in choices if folder and choice.startswith(f"{folder}/")]
    choices = beside or choices
    if same := [choice for choice in choices if lower[-1:].isdigit() and _parts(choice.lower()) == _parts(lower)]:
        return _did_you_mean(same)  # leaf01 for leaf001
    longer = [choice for choice in choices if len(lower) > 1 and choice.lower().startswith(lower)]
    if longer:  # a name that was cut short: the shortest that go on from it
        least = min(map(len, longer))
        return _did_you_mean([choice for choice in longer if len(choice) <= least + 2])
    spelled = {choice.lower(): choice for choice in choices}
    close = difflib.get_close_matches(lower, spelled, n=5, cutoff=0.6)
    if close:
        return _did_you_mean([spelled[max(close, key=lambda choice: (_alike(lower, choice), _prefix(lower, choice)))]])
    inner = [choice for choice in choices if len(lower) > 3 and _is_part(lower, choice.lower())]
    return _did_you_mean(inner or beside) if inner or beside else one_of(choices) if choices else ""


def _did_you_mean(choices: Sequence[str], most: int = 3) -> str:
    """One name, or a few that are as near; a list of more."""
    if 0 < len(choices) <= most:
        return "did you mean " + " or ".join(f"'{choice}'" for choice in choices) + "?"
    return one_of(choices)


def _is_part(word: str, choice: str) -> bool:
    """Whether the words and numbers of `spine1` stand one after the other in `backend-spine001`, or the file in a path."""
    parts = _parts(word)
    at, whole = 0, _parts(choice)
    for part in whole:
        at += at < len(parts) and part == parts[at]
    return bool(parts) and at == len(parts)


def _parts(name: str) -> list[str]:
    """The words and numbers of a name, numbers without zeros in front."""
    return [part.lstrip("0") or "0" if part.isdigit() else part for part in re.findall("[a-z]+|[0-9]+", name)]


def _prefix(word: str, choice: str) -> int:
    """Letters that both begin with."""
    return next((at for at, (a, b) in enumerate(zip(word, choice, strict=False)) if a != b), min(len(word), len(choice)))


def _alike(word: str, choice: str) -> float:
    return difflib.SequenceMatcher(None, choice, word).ratio()


def one_of(choices: Sequence[str], most: int = 12) -> str:
    """`one of a, b, c`, cut where a person stops reading."""
    return f"one of {listed(choices, most)}"


def show(value: object, most: int = 60) -> str:
    """A value as a message may quote it: on one line, no control characters, not longer than a line."""
    if isinstance(value, bool):
        text = "true" if value else "false"
    elif value is None:
        text = "nothing"
    elif isinstance(value, dict):
        text = "a mapping"
    elif isinstance(value, list | tuple):
        text = "a list"
    else:
        text = ascii(value) if isinstance(value, str) and not value.isprintable() else repr(value)
    return text if len(text) <= most else text[: most - 1] + "…"


def _order(item: Diagnostic) -> tuple[str, int, int, str, str]:
    return item.place.file, item.place.line, item.place.column, item.code, item.message


def tried(items: Iterable[S], make: Callable[[S], T]) -> tuple[list[T], list[Diagnostic]]:
    """What is made of every item, and the mistakes of those that nothing can be made of."""
    made, mistakes = list[T](), list[Diagnostic]()
    for item in items:
        try:
            made.append(make(item))
        except InputError as error:
            mistakes += error.diagnostics
    return made, mistakes


# --- The codes of each subject --------------------------------------------------------------------------------


class Subject(NamedTuple):
    """A range of codes and its subject."""

    name: str
    first: int
    last: int
    about: str
    has_checks: bool = False

    @property
    def span(self) -> str:
        """`FAB201 to FAB249`."""
        return f"FAB{self.first:03}" + (f" to FAB{self.last:03}" if self.last > self.first else "")


SUBJECTS = (
    Subject("report", 0, 0, "the report itself"),
    Subject("file", 1, 99, "reading an intent or another file"),
    Subject("language", 100, 129, "keys and values of the intent, and of options"),
    Subject("refusal", 130, 179, "a design or request that cannot be planned, generated, estimated or exported"),
    Subject("remark", 180, 199, "warnings and notes about a valid plan"),
    Subject("silence", 200, 200, "suppressions in the intent", has_checks=True),
    Subject("design", 201, 249, "checks of the plan", has_checks=True),
    Subject("files", 250, 299, "checks of switch configs", has_checks=True),
    Subject("batfish", 300, 349, "checks with a Batfish server", has_checks=True),
    Subject("state", 350, 399, "checks of the state of switches", has_checks=True),
    Subject("choice", 400, 449, "what the planner chooses where the intent leaves it open"),
    Subject("servers", 450, 459, "checks of server configs against their leaves", has_checks=True),
    Subject("cluster", 460, 499, "checks of a cluster's objects against leaves and servers", has_checks=True),
    Subject("lab", 500, 549, "the lab, and limits set by an option"),
    Subject("carrying-out", 550, 599, "carrying out a change: `fabric change apply`"),
    Subject("infiniband", 600, 649, "InfiniBand: GUIDs, subnets and routing"),
    Subject("day-zero", 700, 749, "the first start of switches: `fabric export day-zero`"),
)


def subject_of(code: str) -> Subject | None:
    """The subject whose range contains a code; None where there is none."""
    digits = re.fullmatch(r"FAB([0-9]{3})[0-9]?", code)
    number = int(digits[1]) if digits else -1
    return next((subject for subject in SUBJECTS if subject.first <= number <= subject.last), None)
