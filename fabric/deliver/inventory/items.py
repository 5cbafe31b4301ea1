"""What a system is to hold, and how it is found again: objects by their natural key, tables in the order of their making."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fabric.base.formats import json_line

Key = tuple[str, ...]
Row = Mapping[str, Any]  # an object as the server's API has it


@dataclass(frozen=True, slots=True)
class Ref:
    """Another object, by table and key; it becomes the server's id."""

    table: str
    key: Key


@dataclass(frozen=True, slots=True)
class Term:
    """One end of a cable, where the API wants type and id together."""

    type: str
    of: Ref


@dataclass(frozen=True, slots=True)
class NameFilter:
    """The name of another object in a filter: NetBox 4.7 and Nautobot refuse a filter by a name that they do not have."""

    of: Ref


@dataclass(frozen=True, slots=True)
class Item:
    """An object. `once` is set when it is made and then left to people: a status that they move on."""

    key: Key
    fields: Mapping[str, Any]
    once: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Objects of one kind. Of `key`, each part is a field, and the table that it refers to ("" for a plain value)."""

    name: str
    endpoint: str  # "dcim.devices"
    key: tuple[tuple[str, str], ...]
    items: Sequence[Item]
    find: Sequence[Mapping[str, Any]] = ({},)  # filters that together give all objects that may be meant
    key_of: Callable[[Row], Key] | None = None  # where a key is no matter of fields
    tagged: bool = True  # has tags
    own: bool = False  # of this site alone: tagged as its own, and pruned
    adopt: bool = False  # the server makes some of them by itself, so those found are tagged too
    late_tags: bool = False  # the server ignores the tags of a create request
    only_new: bool = False  # parts of an object that stays unchanged if it belongs to others
    part_of: str = ""  # field that names this something
    patch: bool = False  # a second pass over objects of another table: nothing is made here
    ends: Callable[[Key], tuple[Key, ...]] | None = None  # what an object takes for itself: a cable, two ports
    falls_with: tuple[str, str] | None = None  # field, and table of what takes it along when it is deleted
    joins: str = ""  # table whose objects this one ties to others; without tags, pruned where those are ours


def document(rows: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """Objects by endpoint as JSON, an object a line."""
    parts = [
        f" {json_line(name)}: [\n" + ",\n".join(f"  {json_line(row, ensure_ascii=False)}" for row in some) + "\n ]"
        for name, some in rows.items()
    ]
    return "{\n" + ",\n".join(parts) + "\n}\n"
