"""Runs other programs, and several jobs at once."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


class LabError(Exception):
    """The lab cannot go on: what was tried, and what came."""


class CommandError(LabError):
    """A program ended badly."""

    def __init__(self, command: Sequence[str], output: str) -> None:
        super().__init__(f"{' '.join(command)}: {output.strip() or 'no output'}")
        self.output = output


def run(*command: str, text: str = "", check: bool = True, timeout_s: float = 120) -> subprocess.CompletedProcess[str]:
    """Runs a program to its end with `text` on its stdin. Raises CommandError, also for a `check`ed program that fails."""
    try:
        done = subprocess.run(
            command, input=text, capture_output=True, text=True, errors="replace", check=False, timeout=timeout_s
        )
    except FileNotFoundError:
        raise CommandError(command, "not installed") from None
    except subprocess.TimeoutExpired:
        raise CommandError(command, f"not finished after {timeout_s:.0f} s") from None
    if check and done.returncode:
        raise CommandError(command, done.stderr or done.stdout)
    return done


def at_once(work: Callable[[T], R], items: Iterable[T]) -> list[R]:
    """Work for every item, a few at a time; the first error ends it. Results in the order of the items."""
    with ThreadPoolExecutor(max_workers=2 * (os.cpu_count() or 1)) as pool:
        return list(pool.map(work, items))
