"""Changes of Junos: `set`, `delete` and `insert`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path as FilePath

from fabric.nos.dialect import Dialect, SetLines
from fabric.nos.hierarchy import Config, Hierarchy
from fabric.nos.junos.read.text import TOKEN
from fabric.nos.junos.statements import MARK, is_whole, statements

INACTIVE = re.compile(r"^inactive: |^deactivate .*$", re.MULTILINE)


def config(text: str) -> Config:
    """Statements of a config, inactive ones too. Raises ValueError where its braces do not match."""
    if not is_whole(text):
        raise ValueError("a brace without the other one")
    if "inactive:" in text:
        text = "\n".join(_rows(text))
    every = [path for path, _ in statements(text)]
    marked = [(*path[:-1], *path[-1].split(MARK, 1)) for path in every if MARK in path[-1] and path[-1][0] != '"']
    if marked:
        every = [path for path, _ in statements(INACTIVE.sub("", text))]
    return Config(tuple(every), tuple(marked))


def _rows(text: str) -> Iterator[str]:
    """A text with one statement or one brace per line."""
    row: list[str] = []
    for token in TOKEN.findall(text):
        if token != "\n" and token[0] != "#" and not token.startswith("/*"):
            row.append(token)
            if token in ("{", ";", "}"):
                yield " ".join(row)
                row = []


@cache
def hierarchy() -> Hierarchy:
    """What the statements are."""
    return Hierarchy.load(FilePath(__file__).with_name("candidate.yaml"))


SET = SetLines(name="set", title="set and delete lines", config=config, hierarchy=hierarchy)
DIALECT = Dialect({"juniper.conf": SET})
