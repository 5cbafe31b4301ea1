"""The readers of the installed network OSes."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import PurePath

from fabric.base.reading import UnreadableError, guarded, refuse_long_numbers
from fabric.model.facts import Facts, Located
from fabric.nos.reading.reader import Read, Reader
from fabric.nos.target import target, targets

HOST_NAME = r'^[ \t]*hostname\s+"?([\w.-]+)'  # as most have it


@cache
def readers() -> Mapping[str, Reader]:
    """Network OS → its reader, in the order of their ranks; a network OS without one is left out."""
    found = {name: own.reader.get() for name, own in targets().items() if own.reader is not None}
    return dict(sorted(found.items(), key=lambda item: item[1].rank))


def is_read(nos: str) -> bool:
    """Whether the files of a network OS can be read and compared with a plan."""
    return target(nos).reader is not None and target(nos).idiom is not None


def read_device(name: str, nos: str, files: Mapping[str, str]) -> Facts:
    """The facts of one device.

    Args:
        name: used where no file tells its host name.
        nos: its network OS.
        files: path → text.

    Raises:
        KeyError: the network OS has no reader.
        UnreadableError: a file that the reader fails on.
    """
    reader = target(nos).reader
    if reader is None:
        raise KeyError(nos)
    read = reader.get().read.get()
    try:
        facts = _read(read, name, files)
    except UnreadableError as error:
        for path, text in files.items() if len(files) > 1 else ():
            _read(read, name, {path: text})  # the file that is meant
        raise error from None
    facts.texts = files
    _settle_names(facts)
    _report_conflicts(facts)
    return facts


def _read(read: Read, name: str, files: Mapping[str, str]) -> Facts:
    for path, text in files.items():
        with guarded(path):
            refuse_long_numbers(text)
    with guarded(next(iter(files), "")):
        return read(name, files)


def _report_conflicts(facts: Facts) -> None:
    """A file with the markers of a git merge is broken at the first of them, whatever its parser made of them."""
    for path, text in facts.texts.items():
        if (start := _CONFLICT.search(text)) is None:
            continue
        line = text.count("\n", 0, start.start()) + 1
        markers = {number for number, one in enumerate(text.splitlines(), 1) if _MARKER.match(one)}
        facts.broken = [fact for fact in facts.broken if fact.file != path]
        facts.broken.append(Located("unresolved merge conflict: expected no marker lines of git", line, path))
        facts.unread = [fact for fact in facts.unread if fact.file != path or fact.line not in markers]


@cache
def host_name() -> re.Pattern[str]:
    """A line with a host name, in the words of any network OS."""
    return re.compile("|".join(filter(None, (HOST_NAME, *(reader.host_name for reader in readers().values())))), re.M)


@lru_cache(maxsize=10_000)  # texts of one folder, each of which several steps ask for
def named(text: str) -> re.Match[str] | None:
    """The line with the host name of a text: a later one overrides an earlier one."""
    return next(iter(deque(host_name().finditer(text), maxlen=1)), None)


def _settle_names(facts: Facts) -> None:
    """The name that most files of a device have, else the first, is its own; the others are noted.

    A name in the only file of its form, a database beside files of daemons, is that of the device.
    """
    found = [_located(path, text, match) for path, text in facts.texts.items() if (match := named(text))]
    counts = Counter(_short(name.value) for name in found)
    if len(counts) < 2:
        return
    forms, own = Counter(PurePath(path).suffix for path in facts.texts), facts.hostname
    usual = max(counts, key=counts.__getitem__)
    if own and forms[PurePath(own.file).suffix] == 1 and _short(own.value) in counts:
        usual = _short(own.value)
    facts.others = [name for name in found if _short(name.value) != usual]
    if own and _short(own.value) != usual:
        facts.hostname = next(name for name in found if _short(name.value) == usual)
        facts.name = facts.hostname.value


def _located(path: str, text: str, match: re.Match[str]) -> Located[str]:
    return Located(next(filter(None, match.groups()), ""), text.count("\n", 0, match.end()) + 1, path)


def _short(name: str) -> str:
    """A host name without its domain."""
    return name.partition(".")[0].lower()


_CONFLICT = re.compile(r"^(?:<{7}|>{7})(?: .*)?\r?$", re.M)
_MARKER = re.compile(r"(?:<{7}|\|{7}|={7}|>{7})(?: |$)")  # `=======` alone may be a line of a banner
