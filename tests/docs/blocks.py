"""Blocks of the documentation: files that a page shows are written, commands are run, their output is compared.

A block of a file begins with its path as a comment (`# intent/dc1.yaml`); later commands of the page find it there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tests import ROOT
from tests.system.test_readme import PAGES, run

FENCE = re.compile(r"^```(?P<kind>[^\s`]*)(?: (?P<path>\S+))?\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"^(?:#|//|\{#) (?P<path>[\w.-]+(?:/[\w.-]+)*\.\w+)(?: #\})?\n")


@dataclass(frozen=True)
class Block:
    """One fenced block of a page."""

    page: str  # path from the root of the repository
    line: int  # of its first line of text
    kind: str  # language of the fence; `console` also where only the prompt says so
    text: str

    @property
    def first(self) -> str:
        return self.text.partition("\n")[0]

    def __str__(self) -> str:
        return f"{self.page}:{self.line}: {self.first}"


def pages() -> list[Path]:
    """README, CONTRIBUTING and all pages below docs/."""
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(page: Path) -> Iterator[Block]:
    """Blocks of a page in their order."""
    text = page.read_text(encoding="utf-8")
    for found in FENCE.finditer(text):
        kind = "console" if found["text"].startswith("$ ") else found["kind"]
        line = text.count("\n", 0, found.start("text")) + 1
        yield Block(page.relative_to(ROOT).as_posix(), line, kind, found["text"])


def again(text: str, folder: Path, skip: frozenset[str] = frozenset()) -> str:
    """A page with every command run again in a folder; blocks that begin with a line of `skip` stay as they are."""

    def step(found: re.Match[str]) -> str:
        body = found["text"]
        if body.partition("\n")[0] in skip:
            return found[0]
        if named := NAMED.match(body):
            file = folder / named["path"]
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(body, encoding="utf-8")
        elif body.startswith("$ "):
            printed = "".join(f"$ {command}\n{run(command, folder)}" for command in commands(body))
            return found[0].replace(body, printed)
        return found[0]

    return FENCE.sub(step, text)


def commands(body: str) -> list[str]:
    """Command lines of a console block; one that ends with a backslash goes on in the next line."""
    joined = body.replace("\\\n", "\\\0")
    return [line[2:].replace("\0", "\n") for line in joined.split("\n") if line.startswith("$ ")]


DATA = Path(__file__).with_name("blocks.yaml")


@cache
def data() -> dict[str, Any]:
    """What other tests run, and what none does."""
    found: dict[str, Any] = yaml.safe_load(DATA.read_text(encoding="utf-8"))
    return found


def stated(part: str, block: Block) -> str:
    """Value of a block in one part of the data, by the beginning of the block; empty if nothing."""
    rows: dict[str, str] = data()[part].get(block.page, {})
    return next((value for begin, value in rows.items() if block.text.startswith(begin)), "")


def runner(block: Block) -> str:
    """What runs a console block or loads a YAML block; empty for those of `not_replayed`."""
    if stated("not_replayed", block):
        return ""
    if block.page in data()["elsewhere"]:
        return str(data()["elsewhere"][block.page])
    if block.kind == "console" and block.page in {page.relative_to(ROOT).as_posix() for page in PAGES}:
        return "tests/system/test_readme.py"
    return "tests/docs/test_blocks.py"


def all_blocks() -> list[Block]:
    """Console and YAML blocks of all pages."""
    return [block for page in pages() for block in blocks(page) if block.kind in ("console", "yaml")]


def main() -> None:
    """Prints how many blocks there are, and which are not run."""
    every = all_blocks()
    left = [block for block in every if not runner(block)]
    print(f"{len(every)} blocks, {len(every) - len(left)} replayed")
    for block in left:
        print(f"{block}\n    {stated('not_replayed', block)}")


if __name__ == "__main__":
    main()
