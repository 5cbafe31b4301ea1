"""The devices of a folder of configs, however it is laid out: a folder a device, or all files side by side."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from fabric.readback.facts import Facts
from fabric.readback.readers import read_device
from fabric.readback.recognise import FRR, INTERFACES, NO_CONFIG, SONIC, recognise

MOST_BYTES = 32_000_000  # no config of a switch is as large
_HOSTNAME = re.compile(
    r'^\s*(?:hostname|host-name|set system host-name|nv set system hostname)\s+"?([\w.-]+)'
    r'|"hostname":\s*"([\w.-]+)"',
    re.M,
)


@dataclass
class Device:
    """Files that make one device."""

    name: str
    nos: str
    files: dict[str, str] = field(default_factory=dict)  # path → text


@dataclass
class Folder:
    """What a folder holds. Paths are as a person at this prompt would name them."""

    root: str = ""
    devices: list[Device] = field(default_factory=list)
    unrecognised: dict[str, str] = field(default_factory=dict)  # path → why
    passed: list[str] = field(default_factory=list)  # no configs by their names: pages, tables, pictures

    def facts(self) -> Iterator[Facts]:
        """Every device read."""
        for device in self.devices:
            yield read_device(device.name, device.nos, device.files)


def scan(root: Path) -> Folder:
    """Looks at every file below a folder, or at a single file. Raises OSError when there is none."""
    found = Folder(str(root))
    texts: dict[str, dict[str, tuple[str, str]]] = {}  # folder → path → (kind, text)
    for path in _files(root):
        if path.suffix.lower() in NO_CONFIG:
            found.passed.append(str(path))
            continue
        try:
            if path.stat().st_size > MOST_BYTES:
                found.unrecognised[str(path)] = "too large for a config"
                continue
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            found.unrecognised[str(path)] = "not UTF-8 text"
            continue
        except OSError as error:
            found.unrecognised[str(path)] = (error.strerror or str(error)).lower()
            continue
        kind = recognise(str(path), text)
        if kind.nos:
            texts.setdefault(str(path.parent), {})[str(path)] = kind.nos, text
        else:
            found.unrecognised[str(path)] = kind.reason
    for folder, files in sorted(texts.items()):
        found.devices += _devices(folder, files, found)
    return found


def _files(root: Path) -> Iterator[Path]:
    """Every file in order; a site that was generated has its configs in one folder, the rest of it is no config."""
    if root.is_file():
        yield root
        return
    if not root.is_dir():
        raise FileNotFoundError(2, "no such file or folder", str(root))
    if (root / "manifest.txt").is_file() and (root / "configs").is_dir():
        root = root / "configs"
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if not name.startswith("."):
                yield Path(folder) / name


def _devices(folder: str, files: dict[str, tuple[str, str]], found: Folder) -> Iterator[Device]:
    """A folder is one device when its files are the parts of one; otherwise every name in it is one."""
    kinds = [kind for kind, _ in files.values() if kind != "companion"]
    whole = len(kinds) == len(set(kinds)) and set(kinds) in ({SONIC, FRR}, {FRR, INTERFACES}, {SONIC}, {FRR}, {INTERFACES})
    if whole or (len(kinds) == 1 and len(files) == 1):
        yield _device(PurePath(folder).name if whole else "", files)
        return
    groups: dict[str, dict[str, tuple[str, str]]] = {}
    for path, (kind, text) in files.items():
        if kind == "companion":
            found.passed.append(path)
            continue
        match = _HOSTNAME.search(text)
        name = (match[1] or match[2]) if match else PurePath(path).stem
        groups.setdefault(name, {})[path] = kind, text
    for own in groups.values():
        parts = [kind for kind, _ in own.values()]
        if len(parts) == len(set(parts)) and set(parts) <= {SONIC, FRR, INTERFACES}:
            yield _device("", own)
        else:
            for path, one in own.items():  # two devices of one name are told of, not merged
                yield _device("", {path: one})


def _device(folder: str, files: dict[str, tuple[str, str]]) -> Device:
    kinds = {kind for kind, _ in files.values()}
    nos = SONIC if SONIC in kinds else FRR if kinds & {FRR, INTERFACES} else next(iter(kinds - {"companion"}))
    match = next((found for _, text in files.values() if (found := _HOSTNAME.search(text))), None)
    stem = PurePath(next(iter(files))).stem
    usual = stem in ("startup-config", "juniper", "startup", "config_db", "frr", "interfaces", "running-config", "config")
    fallback = folder or (PurePath(next(iter(files))).parent.name if usual else stem)
    return Device((match[1] or match[2]) if match else fallback, nos, {path: text for path, (_, text) in files.items()})
