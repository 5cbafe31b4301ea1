"""Damaged texts for every reader, in one process: none ends a run, takes long for its size, or fills the memory.

    python -m tests.fuzz.reading --cases 100000

A reader may refuse a text, with InputError or UnreadableError. `--open` counts what the guard of the engine would turn into
a finding as a failure too: the mistakes of the readers themselves.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fabric.base.diagnostics import InputError
from fabric.base.output.site_folder import OutputError
from fabric.base.reading import GUARD, UnreadableError
from tests.fuzz import damage
from tests.fuzz.case import rng
from tests.fuzz.guard import OverTimeError, peak_mb, reset_peak
from tests.fuzz.readers import Reading, readings

BASE_S, S_PER_KB = 2.0, 0.02  # CPU time that a text may take: of any, and by its size
BASE_MB, MB_PER_KB = 150.0, 1.0  # memory, above what the process has
ODD: tuple[Any, ...] = (
    None,
    True,
    [],
    {},
    "",
    -1,
    0,
    10**30,
    10**400,
    1e308,
    float("nan"),
    float("inf"),
    -0.5,
    [[]],
    {"": None},
)
ODD += ("\u202e", "None", "a b", "1" * 500, "0-99999999", "1-4094", "\u00b2", [{"a": [None]}], "2026-11-22", "0x10", "\0")


@dataclass(frozen=True)
class Result:
    """How the reading of one text ended."""

    reading: str
    text: str
    refused: str = ""
    failure: str = ""
    trace: str = ""


def hurt(dice: random.Random, text: str) -> str:
    """A damaged text: other values in a document, or bytes, words and lines of any text."""
    if text.lstrip()[:1] in ("{", "[") and dice.random() < 0.6:
        text = swapped(dice, text)
        if dice.random() < 0.7:
            return text
    kinds = damage.GENTLE if dice.random() < 0.5 else damage.YAML
    return damage.damaged(dice, text.encode("utf-8", "surrogatepass"), kinds).decode("utf-8", "replace")


def swapped(dice: random.Random, text: str) -> str:
    """JSON with one to five values of other types; the text itself where it is none."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    for _ in range(dice.choice((1, 1, 2, 5))):
        at = value
        while isinstance(at, dict | list) and at:
            key: Any = dice.choice(list(at) if isinstance(at, dict) else range(len(at)))
            below = at[key]
            if not isinstance(below, dict | list) or dice.random() < 0.25:
                odd = (*ODD, [below], {"x": below}, [below, below], str(below)[:2000])
                at[key] = deepcopy(dice.choice(odd))
                if isinstance(at, dict) and dice.random() < 0.1:
                    at[dice.choice(("", "a|b", "Ethernet999999999", "\u00b2", "x" * 300))] = at.pop(key)
                break
            at = below
    return json.dumps(value, indent=dice.choice((None, 1)))


def case(seed: int, number: int, words: Sequence[str] = ()) -> tuple[Reading, str]:
    """Case `number`: a reader, in turn, and a damaged text of its own kind, or now and then of another one."""
    names = [name for name in readings() if not words or any(word in name for word in words)]
    reading = readings()[names[number % len(names)]]
    dice = rng(reading.name, seed, number)
    of = reading if dice.random() < 0.95 else readings()[dice.choice(names)]
    return reading, hurt(dice, dice.choice(of.samples))


def run(reading: Reading, text: str) -> Result:
    """Reads a text in the limits of time and memory."""
    size_kb = len(text.encode("utf-8", "replace")) / 1000
    most_s, most_mb = BASE_S + S_PER_KB * size_kb, BASE_MB + MB_PER_KB * size_kb
    refused = failure = trace = ""
    before = reset_peak()
    start = time.process_time()
    try:
        signal.setitimer(signal.ITIMER_PROF, 2 * most_s)
        reading.read(text)
    except (InputError, OutputError, UnreadableError) as error:
        refused = type(error).__name__
    except OverTimeError:
        trace = traceback.format_exc()
    except Exception as error:
        failure, trace = f"{type(error).__name__}: {error}"[:200], traceback.format_exc()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    spent, grown = time.process_time() - start, peak_mb() - before
    if spent > most_s:
        failure = f"{spent:.1f} s CPU for {size_kb:.0f} KB"
    elif grown > most_mb:
        failure = f"{grown:.0f} MB for {size_kb:.0f} KB"
    return Result(reading.name, text, refused, failure, trace)


def main() -> int:
    """Exit code 1 when a case failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.reading", description=__doc__)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--open", action="store_true", help="count mistakes of readers that the guard turns into findings")
    parser.add_argument("--keep", type=Path, default=Path("fuzz-failures"))
    parser.add_argument("words", nargs="*", help="readers whose name has one of these words")
    asked = parser.parse_args()
    signal.signal(signal.SIGPROF, late)
    GUARD.open = asked.open
    ends, failed = Counter[str](), Counter[str]()
    start = time.process_time()
    for number in range(asked.first, asked.first + asked.cases):
        reading, text = case(asked.seed, number, asked.words)
        result = run(reading, text)
        ends[(result.failure and "failed") or result.refused or "read"] += 1
        if result.failure:
            where = [line.strip() for line in result.trace.splitlines() if "/fabric/" in line][-1:]
            failed[f"{result.failure} {where[0] if where else reading.name}"[:260]] += 1
            if failed.total() <= 200:
                asked.keep.mkdir(exist_ok=True)
                name = f"{reading.name.replace(' ', '-').replace('/', '-')}-{asked.seed}-{number}"
                (asked.keep / f"{name}.txt").write_text(text, "utf-8", errors="replace")
                (asked.keep / f"{name}.trace").write_text(f"{result.failure}\n{result.trace}", "utf-8", errors="replace")
    for what, count in failed.most_common():
        print(f"{count} x {what}")
    counts = ", ".join(f"{count:,} {end}" for end, count in sorted(ends.items()))
    print(f"{asked.cases:,} texts for {len(readings())} readers in {time.process_time() - start:.0f} s CPU: {counts}")
    return 1 if failed else 0


def late(number: int, frame: object) -> None:
    """Ends a reading that takes too long."""
    raise OverTimeError


if __name__ == "__main__":
    sys.exit(main())
