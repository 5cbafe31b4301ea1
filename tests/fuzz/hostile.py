"""Texts that are made to be slow to read, and how the time of a reader grows with their size.

    python -m tests.fuzz.hostile [NAME…]    every reader, or those whose name has a word, with texts of 1 and 2 MB
"""

from __future__ import annotations

import random
import re
import sys
import time
from collections.abc import Callable, Iterator

from tests.fuzz.readers import Reading, readings

Make = Callable[[int], str]  # size in characters → text

RUNS = ("\n", " ", "\t", "a", "1", "0", "\r", "\0", "\r\n", "é", "\u0661", '"', "'", "{", "}", "[", "(", ",", "-", "a ", "1,", "1-", "a\n", " \n")
RUNS += ("{\n", "a {\n", "[1,", '{"a":', "- ", "a: ", "/*", "!\n", "#\n", "\\", '"a" ', "a=", "x/", "1.", ":", "|", "<<<<<<<\n", "set a\n")


def texts(reading: Reading, dice: random.Random, number: int) -> Iterator[tuple[str, Make]]:
    """(what it is, how it is made): runs, repeated samples, and a run behind the begin of a line of a sample."""
    for run in RUNS:
        yield f"run of {run!r}", lambda size, run=run: run * (size // len(run))  # type: ignore[misc]
    yield "indented deeper and deeper", _stairs
    for at, sample in enumerate(reading.samples[:2]):
        yield f"sample {at} repeated", lambda size, sample=sample: sample * (size // len(sample) + 1)  # type: ignore[misc]
    lines = sorted({line for sample in reading.samples for line in sample.split("\n") if line.strip()})
    for _ in range(number if lines else 0):
        line, run = dice.choice(lines), dice.choice(RUNS)
        cuts = [match.end() for match in re.finditer(r"\w+|\W", line)]
        begin = line[: dice.choice(cuts)]
        yield f"{begin[-60:]!r} and a run of {run!r}", lambda size, begin=begin, run=run: begin + run * (size // len(run))  # type: ignore[misc]
        yield f"{begin[-60:]!r} many times", lambda size, begin=begin: (begin + "\n") * (size // (len(begin) + 1))  # type: ignore[misc]
        yield (
            f"{line[:60]!r} numbered",
            lambda size, line=line: "".join(  # type: ignore[misc]
                re.sub(r"\d+", lambda found, at=at: str(int(found[0]) + at) if len(found[0]) < 9 else found[0], line, count=1) + "\n"
                for at in range(size // (len(line) + 4))
            ),
        )


def _stairs(size: int) -> str:
    """Each line one blank deeper than the one above."""
    lines, used = list[str](), 0
    while used < size:
        lines.append(" " * len(lines) + "a")
        used += len(lines) + 2
    return "\n".join(lines)


def seconds(reading: Reading, text: str, times: int = 1) -> float:
    """CPU time of one reading; what the reader refuses counts as read."""
    best = float("inf")
    for _ in range(times):
        start = time.process_time()
        try:
            reading.read(text)
        except Exception:  # noqa: BLE001 - the time is asked here, not the outcome
            pass
        best = min(best, time.process_time() - start)
    return best


def exponent(reading: Reading, make: Make, small: int = 4_000, most_s: float = 1.0) -> tuple[float, float, int]:
    """(ratio of times of a doubled size, seconds of the larger one, size)."""
    size = small
    first = seconds(reading, make(size))
    while size < 256_000:
        size *= 2
        second = seconds(reading, make(size))
        if second > most_s or (second > 0.08 and second / max(first, 1e-4) > 2.8):
            return second / max(first, 1e-4), second, size
        first = second
    return 0.0, first, size


if __name__ == "__main__":
    number = int(sys.argv[1])
    words = sys.argv[2:]
    for name, reading in readings().items():
        if words and not any(word in name for word in words):
            continue
        dice = random.Random(f"{name} 1")
        begin = time.process_time()
        for what, make in texts(reading, dice, number):
            ratio, cost, size = exponent(reading, make)
            if ratio:
                print(f"{name}: {what}: x{ratio:.1f} at {size:,}: {cost:.2f} s", flush=True)
        print(f"   {name} done {time.process_time() - begin:.0f} s", flush=True)
