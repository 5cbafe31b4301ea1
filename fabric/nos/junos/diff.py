"""Changes of Junos: `set`, `delete` and `insert`."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path as FilePath

from fabric.nos.dialect import Dialect, SetLines
from fabric.nos.hierarchy import Config, Hierarchy
from fabric.nos.junos.statements import MARK, is_whole, statements

INACTIVE = re.compile(r"""^([^"#\n]*?)\binactive: |^deactivate .*$""", re.MULTILINE)


def config(text: str) -> Config:
    """Statements of a config, inactive ones too. Raises ValueError where its braces do not match."""
    if not is_whole(text):
        raise ValueError("a brace without the other one")
    every = [path for path, _ in statements(text)]
    marked = [(*path[:-1], *path[-1].split(MARK, 1)) if _is_inactive(path) else () for path in every]
    if any(marked):
        every = [path for path, _ in statements(INACTIVE.sub(r"\1", text))]
    return Config(tuple(every), tuple(path for path in marked if path))


def _is_inactive(path: tuple[str, ...]) -> bool:
    return MARK in path[-1] and not path[-1].startswith('"')


@cache
def hierarchy() -> Hierarchy:
    """What the statements are."""
    return Hierarchy.load(FilePath(__file__).with_name("candidate.yaml"))


DIALECT = Dialect({"juniper.conf": SetLines("set", "set and delete lines", config=config, hierarchy=hierarchy)})
