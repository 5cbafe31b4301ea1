"""Objects of a cluster from files: what `kubectl get … -o yaml` writes, or what was exported and edited since."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fabric.base import source
from fabric.base.diagnostics import Diagnostic, InputError, Place
from fabric.base.reading import text_of
from fabric.base.source import Source
from fabric.configs.cluster import kinds

WHAT = "YAML of a cluster's objects"
ENDINGS = (".yaml", ".yml", ".json")
COMMAND = (
    "kubectl get cidrpools,nicinterfacenametemplates,nicconfigurationtemplates,spectrumxrailpoolconfigs -A -o yaml, and "
    "the ConfigMap of the profile"
)
_START = re.compile(r"^---(?=\s|$)", re.MULTILINE)


@dataclass(frozen=True)
class Thing:
    """An object, and where its fields stand."""

    data: Mapping[str, Any]
    source: Source
    path: tuple[str | int, ...] = ()  # of the object in its document

    @property
    def kind(self) -> str:
        return str(self.data.get("kind", ""))

    @property
    def name(self) -> str:
        metadata = self.data.get("metadata")
        return str(metadata.get("name", "")) if isinstance(metadata, Mapping) else ""

    def line(self, *path: str | int) -> int:
        """Where a field stands, or the nearest above it."""
        return self.source.place((*self.path, *path)).line

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


def things(folder: Path) -> list[Thing]:
    """The objects of a folder that say something of the network. Raises InputError, OSError."""
    folder.stat()  # a folder that is not there is an error
    paths = sorted(path for path in folder.rglob("*") if path.suffix.lower() in ENDINGS and path.is_file())
    found = [thing for path in paths for thing in _in_file(path, str(path)) if _ours(thing)]
    if not found:
        message = f"expected objects of the Network Operator, got none in {len(paths)} files"
        raise InputError([Diagnostic("FAB159", Place(str(folder)), message, COMMAND)])
    return found


def _in_file(path: Path, shown: str) -> Iterator[Thing]:
    text = text_of(path, WHAT, shown)
    starts = [0, *(match.end() for match in _START.finditer(text))]
    for first, end in zip(starts, [*(match.start() for match in _START.finditer(text)), len(text)], strict=True):
        part = text[first:end]
        if all(not line.strip() or line.lstrip().startswith("#") for line in part.splitlines()):
            continue
        document = source.parse("\n" * text.count("\n", 0, first) + part, shown)  # lines count through the file
        yield from _objects(document, document.data, ())


def _objects(document: Source, data: Any, path: tuple[str | int, ...]) -> Iterator[Thing]:
    """An object, or those of a `List`."""
    if not isinstance(data, Mapping):
        return
    items = data.get("items")
    if str(data.get("kind", "")).endswith("List") and isinstance(items, list):
        for at, item in enumerate(items):
            yield from _objects(document, item, (*path, "items", at))
    else:
        yield Thing(data, document, path)


def _ours(thing: Thing) -> bool:
    """Whether an object is one of the operator's, also of another version of its API, or a ConfigMap."""
    group = str(thing.data.get("apiVersion", "")).partition("/")[0]
    return thing.kind in kinds.SPECS or thing.kind == "ConfigMap" or (group in kinds.GROUPS and not thing.kind)
