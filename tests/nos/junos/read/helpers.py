"""What the tests of the Junos reader share."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

from fabric.model.facts import Facts, Located, Secret
from fabric.nos.junos.read.device import read

FILE = "juniper.conf"


def facts(text: str) -> Facts:
    return read("device", {FILE: text})


def configured(value: Any) -> Any:
    """Values with their lines, `(9144, 7)`, of everything that was reported; all else is left out."""
    if isinstance(value, Located):
        return str(value.value) if isinstance(value.value, Secret) else value.value, value.line
    if isinstance(value, list | tuple):
        return [configured(item) for item in value]
    if isinstance(value, dict):
        return {key: configured(item) for key, item in value.items()}
    if is_dataclass(value):
        found = {item.name: configured(getattr(value, item.name)) for item in fields(value)}
        return {name: item for name, item in found.items() if item not in (None, "", [], {}, False) and name != "file"}
    return value


def plain(value: Any) -> Any:
    """The same without any line."""
    if isinstance(value, Located):
        return value.value
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if is_dataclass(value):
        names = (item.name for item in fields(value) if item.name not in ("line", "statements"))
        return {name: plain(getattr(value, name)) for name in names}
    return value
