"""Texts that are made to be slow to read, and how the time of a reader grows with their size.

python -m tests.fuzz.hostile [NAME…]    every reader, or those whose name has a word, with texts of 1 and 2 MB
"""

from __future__ import annotations

import contextlib
import gc
import random
import re
import sys
import time
from collections.abc import Callable, Iterator

from tests.fuzz.readers import Reading, readings

Make = Callable[[int], str]  # size in characters → text

RUNS = (
    "\n",
    " ",
    "\t",
    "a",
    "1",
    "0",
    "\r",
    "\0",
    "\r\n",
    "é",
    "\u0661",
    '"',
    "'",
    "{",
    "}",
    "[",
    "(",
    ",",
    "-",
    "a ",
    "1,",
    "1-",
    "a\n",
    " \n",
)
RUNS += (
    "{\n",
    "a {\n",
    "[1,",
    '{"a":',
    "- ",
    "a: ",
    "/*",
    "!\n",
    "#\n",
    "\\",
    '"a" ',
    "a=",
    "x/",
    "1.",
    ":",
    "|",
    "<<<<<<<\n",
    "set a\n",
)


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
                re.sub(r"\d+", lambda found, at=at: str(int(found[0]) + at) if len(found[0]) < 9 else found[0], line, count=1)
                + "\n"
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
    gc.collect()
    gc.disable()  # its time grows with what the whole process has
    try:
        for _ in range(times):
            start = time.process_time()
            with contextlib.suppress(Exception):
                reading.read(text)
            best = min(best, time.process_time() - start)
    finally:
        gc.enable()
    return best


def growth(
    reading: Reading, make: Make, small: int = 2_000, large: int = 256_000, most_s: float = 2.0
) -> tuple[float, float, int]:
    """(by how much more the time grows than the size over the last three doublings, seconds, size)."""
    size, times = small, list[float]()
    while size <= large and (not times or times[-1] < most_s):
        times.append(seconds(reading, make(size)))
        size *= 2
    base, last = (times[-4] if len(times) > 3 else times[0]), times[-1]
    doublings = min(3, len(times) - 1)
    return last / max(base, 2e-3) / 2**doublings, last, size // 2


if __name__ == "__main__":
    number = int(sys.argv[1])
    words = sys.argv[2:]
    for name, reading in readings().items():
        if words and not any(word in name for word in words):
            continue
        dice = random.Random(f"{name} 1")
        begin = time.process_time()
        for what, make in texts(reading, dice, number):
            ratio, cost, size = growth(reading, make)
            if ratio > 2.2 and cost > 0.1:
                print(f"{name}: {what}: x{ratio:.1f} at {size:,}: {cost:.2f} s", flush=True)
        print(f"   {name} done {time.process_time() - begin:.0f} s", flush=True)
