"""Files of subnet managers in a folder that was named: found by their content, and matched with the subnets of a plan."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePath

from fabric.audit.checks.files.subnets import FILE_KEYS, SubnetFiles
from fabric.base.diagnostics import InputError
from fabric.configs.infiniband.discovered import Discovered, knows, read
from fabric.configs.infiniband.files import Managed, files as planned_files
from fabric.configs.infiniband.guids import of_names
from fabric.configs.infiniband.read_files import (
    GUIDS,
    NAMES,
    PARTITIONS,
    SETTINGS,
    TOPOLOGY,
    ListedCable,
    StatedPartition,
    cables,
    kind_of,
    names,
    partitions,
    settings,
)

HEAD_BYTES = 64_000
MAX_BYTES = 200_000_000
DISCOVERY = "discovery"
NAMED = {SETTINGS: "opensm.conf", PARTITIONS: "partitions.conf", NAMES: "node-names.map", TOPOLOGY: "fabric.topo"}
LISTS = {"root": "root-guids.conf", "cn": "compute-guids.conf", "compute": "compute-guids.conf", "io": "storage-guids.conf"}


@dataclass(frozen=True)
class ManagerFiles:
    """The files of one subnet manager, under the names that `fabric generate` gives them."""

    folder: str
    texts: Mapping[str, str]
    paths: Mapping[str, str]
    discovery: Discovered | None = None  # output of ibnetdiscover beside them

    @cached_property
    def settings(self) -> dict[str, tuple[str, int]]:
        return settings(self.texts.get("opensm.conf", ""))

    @cached_property
    def names(self) -> dict[int, str]:
        """GUID of a node → its name."""
        found = {node.guid: node.name for node in self.discovery.nodes.values()} if self.discovery else {}
        return found | {guid: name for guid, name, _ in names(self.texts.get("node-names.map", ""))}

    @cached_property
    def ports(self) -> set[int]:
        """GUIDs of ports: of nodes with a name, of which those of ports count on, and of the lists of ports."""
        found = {guid + n for guid in self.names for n in range(5)}
        if self.discovery:
            found |= {guid for node in self.discovery.nodes.values() for guid in node.port_guids.values()}
        return found

    @cached_property
    def partitions(self) -> list[StatedPartition]:
        return partitions(self.texts.get("partitions.conf", ""))

    @cached_property
    def cables(self) -> list[ListedCable]:
        return cables(self.texts.get("fabric.topo", ""))

    def name(self, guid: int) -> str:
        known = next((self.names[guid - n] for n in range(5) if guid - n in self.names), "")
        return f"{known} ({guid:#018x})" if known else f"{guid:#018x}"


# --- found in a folder ------------------------------------------------------------------------------------------------


def collected(root: Path, others: frozenset[str]) -> list[ManagerFiles]:
    """A manager for each folder with such files; `others` are paths that are configs of switches."""
    found = []
    walked = os.walk(root) if root.is_dir() else [(str(root.parent), [], [root.name])]
    for folder, inside, file_names in walked:
        inside[:] = sorted(name for name in inside if not name.startswith("."))
        paths = (Path(folder) / name for name in sorted(file_names) if not name.startswith((".", "#")))
        texts = {str(path): text for path in paths if str(path) not in others and (text := _text(path))}
        if any(kind_of(text) in NAMED for text in texts.values()):
            found.append(_manager(folder, texts))
    return found


def _text(path: Path) -> str:
    """The text of a file that is one of these; "" for all others."""
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > MAX_BYTES:
            return ""
        with path.open(encoding="utf-8-sig") as stream:
            head = stream.read(HEAD_BYTES)
            whole = head.rpartition("\n")[0] if len(head) == HEAD_BYTES else head
            return head + stream.read() if kind_of(whole) or knows(whole) else ""
    except (OSError, UnicodeDecodeError):
        return ""


def _manager(folder: str, texts: Mapping[str, str]) -> ManagerFiles:
    by_name: dict[str, str] = {}
    stated: dict[str, str] = {}
    discovery = None
    lists = []
    for path, text in sorted(texts.items(), key=lambda file: "opensm" not in PurePath(file[0]).name):
        kind = kind_of(text)
        if kind in NAMED:
            by_name.setdefault(NAMED[kind], path)
        elif kind == GUIDS:
            lists.append(path)
        elif discovery is None:
            with suppress(InputError):  # cut off, or without a node
                discovery = read(text, path)
    if "opensm.conf" in by_name:
        known = settings(texts[by_name["opensm.conf"]])
        stated = {PurePath(known[key][0]).name: name for key, name in FILE_KEYS.items() if key in known}
    for path in lists:
        words = PurePath(path).stem.lower().replace("_", "-").split("-")
        name = stated.get(PurePath(path).name) or next((LISTS[word] for word in words if word in LISTS), "")
        if name:
            by_name.setdefault(name, path)
    return ManagerFiles(folder, {name: texts[path] for name, path in by_name.items()}, by_name, discovery)


# --- with a plan ------------------------------------------------------------------------------------------------------


def of_subnet(managed: Managed, managers: Sequence[ManagerFiles], shared: bool) -> SubnetFiles | None:
    """The files of a planned subnet: of the folder with its name, else of the one with most of its names.

    `shared`: the plan has other subnets as well.
    """
    wanted = {node.name for node in managed.subnet.nodes}
    scores = Counter({at: len(wanted & set(its.names.values())) for at, its in enumerate(managers)})
    same = next((at for at, its in enumerate(managers) if PurePath(its.folder).name == managed.subnet.name), None)
    best = same if same is not None else scores.most_common(1)[0][0] if scores else None
    if best is None or (same is None and not scores[best] and (shared or len(managers) > 1)):
        return None
    its = managers[best]
    own = {guid.node for guid in managed.guids.of}
    if managed.guids.placeholders and 2 * len(own & its.names.keys()) < len(own):
        managed = Managed(managed.subnet, of_names(managed.subnet, its.names.items()))
    planned = {path.rpartition("/")[2]: data.decode() for path, data in planned_files(managed)}
    return SubnetFiles(managed, its.folder, {**planned, **its.texts}, planned, its.paths)
