"""What a site's template may cost. Counted, not timed, so that the same template fails on every machine or on none."""

from __future__ import annotations

import threading
from collections.abc import ItemsView, Iterable, Iterator, KeysView, ValuesView
from contextlib import contextmanager
from typing import Any

from jinja2.exceptions import SecurityError
from jinja2.runtime import LoopContext, Undefined

STEPS = 500_000  # of one file; the files of the shipped examples take up to 2,100
CHARACTERS = 16_000_000  # printed, or built while one file is rendered
NUMBER_BITS = 4096
WIDTH = 10_000  # of a padded, indented or numbered text
_CHUNK = 512  # characters that are read in one step


class LimitError(SecurityError):
    """A site's template costs more than one file may."""


class Meter(threading.local):
    """Steps and characters of the file that is being printed."""

    steps = 0
    characters = 0

    @contextmanager
    def running(self) -> Iterator[None]:
        """Counts one file, from zero."""
        before = self.steps, self.characters
        self.steps = self.characters = 0
        try:
            yield
        finally:
            self.steps, self.characters = before

    def spend(self, steps: int) -> None:
        """Raises LimitError when the file has taken too many."""
        self.steps += steps
        if self.steps > STEPS:
            raise LimitError(f"expected at most {STEPS:,} steps for one file, got more: are its loops nested too deep?")

    def write(self, characters: int) -> None:
        """Counts text before it is made. Raises LimitError when the file has too much of it."""
        self.characters += characters
        if self.characters > CHARACTERS:
            raise LimitError(f"expected at most {CHARACTERS:,} characters built for one file, got more")
        self.spend(characters // _CHUNK)

    def weigh(self, value: Any) -> None:
        """Counts what reading a value costs, with all that lies in it: a list that holds one list twice counts it twice."""
        if isinstance(value, str):
            self.spend(1 + len(value) // _CHUNK)
            return
        self.spend(1)
        waiting = [value]
        while waiting:
            one = waiting.pop()
            if isinstance(one, str):
                self.spend(len(one) // _CHUNK)
            elif isinstance(one, (list, tuple, set, frozenset)):
                self.spend(len(one))
                waiting += one
            elif isinstance(one, dict):
                self.spend(2 * len(one))
                waiting += one.keys()
                waiting += one.values()
            elif isinstance(one, range):
                self.spend(len(one))

    def settle(self, value: Any) -> Any:
        """The value, weighed; what would be worked out later, such as `map`, is worked out now and is a list."""
        if isinstance(value, (Iterator, KeysView, ValuesView, ItemsView)) and not isinstance(value, LoopContext):
            return self.listed(value)
        self.weigh(value)
        return value

    def listed(self, values: Iterable[Any]) -> list[Any]:
        """Every value, each of them counted before the next."""
        result = []
        for value in values:
            self.weigh(value)
            result.append(value)
        return result


METER = Meter()


def number(value: int) -> int:
    """Raises LimitError for a number of thousands of digits."""
    if value.bit_length() > NUMBER_BITS:
        raise LimitError(f"expected a number of at most {NUMBER_BITS} bits, got {value.bit_length()}")
    return value


def width(value: Any) -> Any:
    """Raises LimitError for a width, count or precision that no line of a config has."""
    if isinstance(value, (int, float)) and abs(value) > WIDTH:
        raise LimitError(f"expected a width or count of at most {WIDTH:,}, got a larger one")
    return value


def printable(value: Any) -> Any:
    """Raises SecurityError for what has no text of its own: printed lists and objects are mistakes."""
    if value is None or isinstance(value, (str, int, float, Undefined)):  # Undefined says itself what is missing
        return value
    raise SecurityError(f"expected a text or a number to print, got a {type(value).__name__}")


def text_of(value: Any) -> str:
    """A printable value as text."""
    printable(value)
    if isinstance(value, int):
        number(value)
    return str(value)
