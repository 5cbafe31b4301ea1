"""Texts that are made to be slow to read, and how the time of a reader grows with their size.

python -m tests.fuzz.hostile [NAME…]    every reader, or those whose name has a word, with texts of 1 and 2 MB
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import random
import re
import sys
import time
from collections.abc import Callable, Iterator

from tests.fuzz.readers import Reading, readings

Make = Callable[[int], str]  # size in characters → text

MOST_GROWTH = 2.2  # over a linear one; quadratic is 8
MOST_PAIR = 2.2  # time of 2 MB in units of that of 1 MB
MOST_S, SHORT_S = 2.0, 0.02
RUNS = (
    *("\n", " ", "\t", "a", "1", "0", "\r", "\0", "\r\n", "é", "\u0661", '"', "'", "{", "}", "[", "(", ",", "-", "a ", "1,"),
    *(
        "1-",
        "a\n",
        " \n",
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
    ),
    *("|", "<<<<<<<\n", "set a\n"),
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


def growth(reading: Reading, make: Make, small: int = 2_000, large: int = 256_000) -> float:
    """By how much more the time grows than the size over the last three doublings; 0 where it is too short to judge."""
    size, times = small, list[float]()
    while size <= large and (not times or times[-1] < MOST_S):
        times.append(seconds(reading, make(size)))
        size *= 2
    doublings = min(3, len(times) - 1)
    return times[-1] / max(times[-1 - doublings], SHORT_S / 10) / 2**doublings if times[-1] > SHORT_S else 0.0


def pair(reading: Reading, make: Make, size: int = 1_000_000) -> tuple[float, float]:
    """(time of a text of twice the size in units of the time of the text, seconds of the larger one)."""
    first, second = (seconds(reading, make(one)) for one in (size, 2 * size))
    return second / max(first, 0.05), second


def main() -> int:
    """Exit code 1 where a text of 2 MB takes more than MOST_PAIR times as long as one of 1 MB."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.hostile", description=__doc__)
    parser.add_argument("--texts", type=int, default=4, help="lines of its samples that a reader gets as the begin of a text")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--whole", action="store_true", help="texts of 1 and 2 MB; else smaller ones, whose growth is looked at"
    )
    parser.add_argument(
        "--each", type=int, default=0, metavar="N", help="N of the texts of each reader, by the seed; else all"
    )
    parser.add_argument("words", nargs="*", help="readers whose name has one of these words")
    asked = parser.parse_args()
    count = failed = 0
    for name, reading in readings().items():
        if asked.words and not any(word in name for word in asked.words):
            continue
        dice = random.Random(f"{name} {asked.seed}")
        of_reader = list(texts(reading, dice, asked.texts))
        for what, make in dice.sample(of_reader, min(asked.each or len(of_reader), len(of_reader))):
            count += 1
            ratio = growth(reading, make)
            if asked.whole and ratio <= MOST_GROWTH:
                pairs = (pair(reading, make)[0] for _ in range(3))  # the next only where the one before was too slow
                ratio = next((first for first in pairs if first <= MOST_PAIR), MOST_PAIR + 1) / MOST_PAIR * MOST_GROWTH
            if ratio > MOST_GROWTH and growth(reading, make) > MOST_GROWTH:
                failed += 1
                print(f"{name}: {what}: {ratio:.1f}", flush=True)
    print(f"{count:,} texts for {len(readings())} readers in {time.process_time():.0f} s CPU: {failed} slow")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
