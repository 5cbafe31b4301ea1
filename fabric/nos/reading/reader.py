"""What a network OS says of its files, so that they are known among others and read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from fabric.model.facts import Facts
from fabric.nos.lazy import Lazy

Read: TypeAlias = Callable[[str, Mapping[str, str]], Facts]  # name, path → text; called in a guard
Signs: TypeAlias = tuple[tuple[int, str], ...]  # weight, pattern: 3 decides, 1 is shared with some other kind of file


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """How the files of a network OS are known and read. Stems and names of files are in small letters."""

    read: Lazy[Read]
    signs: Signs  # what its configs have and others have not
    rank: int = 100  # where two have as many signs, the lower one it is
    is_json: bool = False  # a text that is JSON and has one of the signs is of this network OS
    file_names: str = ""  # pattern of a file's name that says as much as a sign
    host_name: str = ""  # pattern of the line that tells the host name, which is its group
    other_forms: tuple[tuple[str, str], ...] = ()  # pattern of a config in JSON or XML that is not read, command to collect
    script: str = ""  # pattern of a command: a file that consists of them is read whatever its name ends in
    usual: frozenset[str] = frozenset()  # names, or stems of names, that a file has on every device
    disk_folders: frozenset[str] = frozenset()  # folders of a switch's disk above its configs, `frr` of `/etc/frr/frr.conf`
    part: str = ""  # pattern of what ends the stem of a file beside others of its device, `frr` of `leaf1-frr.conf`
    companions: frozenset[str] = frozenset()  # files that hold no routing: they belong to the device whose folder they lie in
    other_kinds: Mapping[str, Signs] = field(default_factory=dict)  # further kinds of file of a device
    together: frozenset[str] = frozenset()  # kinds of file, those of other network OSes too, that make one device
