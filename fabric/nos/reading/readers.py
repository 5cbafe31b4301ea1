"""The readers of the installed network OSes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from fabric.facts import Facts
from fabric.nos.reading.reader import Reader
from fabric.nos.target import target, targets


@cache
def readers() -> Mapping[str, Reader]:
    """Network OS → its reader, in the order of their ranks; a network OS without one is left out."""
    found = {name: own.reader.get() for name, own in targets().items() if own.reader is not None}
    return dict(sorted(found.items(), key=lambda item: item[1].rank))


def is_read(nos: str) -> bool:
    """Whether the files of a network OS can be read and compared with a plan."""
    return target(nos).reader is not None and target(nos).idiom is not None


def read_device(name: str, nos: str, files: Mapping[str, str]) -> Facts:
    """The facts of one device. `name` is used where no file tells its host name. KeyError where it has no reader."""
    reader = target(nos).reader
    if reader is None:
        raise KeyError(nos)
    facts = reader.get().read.get()(name, files)
    facts.texts = files
    return facts
