"""The lock file in `generated/`: ids and blocks that growth must not change, small, sorted and mergeable.

version: 1
fabrics:
  backend:
    wiring:
      leaf-spine: ["uppers=16 links=dgx-h100:2 lowers=32"]
    blocks:
      address/loopback/leaf: ["rows=0-127 columns=0-0 base=10.0.0.0 stride=1 step=1"]
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from fabric.diagnostics import Place, Report
from fabric.intent import source
from fabric.planner.ledger import Area, Block
from fabric.planner.pattern import Epoch

VERSION = 1
FILE = "lock.yaml"
MOST_M = 100_000  # of a cable, as in the intent
_BLOCK = re.compile(r"rows=(\d+)-(\d+) columns=(\d+)-(\d+) base=([0-9a-fA-F:.]+) stride=(\d+) step=(\d+)")
_EPOCH = re.compile(r"uppers=(\d+) links=([\w,:-]+) lowers=(\d+)")


@dataclass(frozen=True)
class FabricLock:
    """What is kept of one fabric."""

    blocks: Mapping[str, tuple[Block, ...]] = field(default_factory=dict)
    wiring: Mapping[str, tuple[Epoch, ...]] = field(default_factory=dict)
    shape: Mapping[str, int] = field(default_factory=dict)
    attachments: Mapping[str, tuple[tuple[int, int], ...]] = field(default_factory=dict)  # box → (leaf number, slot)
    tenants: Mapping[str, int] = field(default_factory=dict)  # tenant, or tenant/network → its number
    lengths: Mapping[str, int] = field(default_factory=dict)  # kind of link → metres that headroom is computed for


@dataclass(frozen=True)
class Lock:
    """What is kept of a site."""

    fabrics: Mapping[str, FabricLock] = field(default_factory=dict)


def read(path: Path, shown: Path | None = None) -> Lock:
    """Reads a lock file; a file that is not there is an empty lock. Raises InputError on one that is damaged."""
    if not path.exists():
        return Lock()
    report, name = Report(), str(shown or path)
    _check_whole(path, name, report)
    return of(source.read(path, name))


def of(text: source.Source) -> Lock:
    """The lock that a parsed file holds. Raises InputError."""
    report, data = Report(), text.data
    if data.get("version") != VERSION:
        report.fail(
            "FAB150",
            text.place(("version",)),
            f"lock file version: expected {VERSION}, got {data.get('version')!r}",
            "it was written by another version of this program; upgrade, or restore the file from git",
        )
    fabrics = data.get("fabrics")
    if not isinstance(fabrics, dict):
        report.fail("FAB150", text.place(("fabrics",)), "lock file: expected a mapping of fabrics", _HINT)
    result = {name: _fabric(name, entry, text, report) for name, entry in fabrics.items()}
    report.raise_errors()
    return Lock(result)


def _check_whole(path: Path, name: str, report: Report) -> None:
    """A file that was cut or merged by hand is told by what it is, not by the YAML it is not."""
    with path.open("rb") as stream:
        head = stream.read(source.MAX_BYTES).decode("utf-8", "replace")
    if not head.strip():
        report.fail("FAB150", Place(name, 1, 1), "lock file: expected the numbers in use, got an empty file", _HINT)
    for at, line in enumerate(head.splitlines(), 1):
        if line.startswith(("<<<<<<<", "=======", ">>>>>>>")):
            report.fail("FAB150", Place(name, at, 1), "lock file: expected no merge conflict, got its markers", _HINT)


_HINT = "restore the file from git; after a merge, keep the lines of both sides and generate again"


def _fabric(name: str, entry: Any, text: source.Source, report: Report) -> FabricLock:
    def lines(section: str) -> dict[str, list[tuple[str, Place]]]:
        table = entry.get(section, {}) if isinstance(entry, dict) else None
        if not isinstance(table, dict) or not all(isinstance(rows, list) for rows in table.values()):
            report.error("FAB150", text.place(("fabrics", name)), f"lock file: '{section}' is damaged", _HINT)
            return {}
        return {
            key: [(str(row), text.place(("fabrics", name, section, key, at))) for at, row in enumerate(rows)]
            for key, rows in table.items()
        }

    def parse(row: str, where: Place, form: re.Pattern[str]) -> tuple[str, ...] | None:
        match = form.fullmatch(row)
        if match is None:
            report.error("FAB150", where, f"lock file: expected {_form(form)}, got {row[:60]!r}", _HINT)
        return match.groups() if match else None

    blocks = {
        key: tuple(_block(found) for row, where in rows if (found := parse(row, where, _BLOCK)))
        for key, rows in lines("blocks").items()
    }
    wiring = {
        key: tuple(
            Epoch(int(found[0]), _links(found[1]), int(found[2]))
            for row, where in rows
            if (found := parse(row, where, _EPOCH))
        )
        for key, rows in lines("wiring").items()
    }
    boxes = {
        key: tuple(
            (int(found[0]), int(found[1])) for row, where in rows if (found := parse(row, where, re.compile(r"(\d+):(\d+)")))
        )
        for key, rows in lines("attachments").items()
    }

    def whole(section: str) -> dict[str, int]:
        table = entry.get(section, {}) if isinstance(entry, dict) else {}
        if not isinstance(table, dict) or not all(isinstance(value, int) for value in table.values()):
            report.error("FAB150", text.place(("fabrics", name)), f"lock file: '{section}' is damaged", _HINT)
            return {}
        return {str(key): value for key, value in table.items()}

    lengths = whole("lengths")
    for key, metres in lengths.items():
        if not 1 <= metres <= MOST_M:
            where = text.place(("fabrics", name, "lengths", key))
            report.error("FAB150", where, f"lock file: {key}: expected a length of 1 to {MOST_M:,} m, got {metres}", _HINT)
    return FabricLock(blocks, wiring, whole("shape"), boxes, whole("tenants"), lengths)


def _form(pattern: re.Pattern[str]) -> str:
    return {_BLOCK: "a block", _EPOCH: "a wiring"}.get(pattern, "leaf:slot")


def _links(text: str) -> tuple[tuple[str, int], ...]:
    pairs = (part.rpartition(":") for part in text.split(","))
    return tuple((group, int(count)) for group, _, count in pairs if count.isdigit())


def _block(found: tuple[str, ...]) -> Block:
    row, row_end, column, column_end = int(found[0]), int(found[1]) + 1, int(found[2]), int(found[3]) + 1
    base = int(found[4]) if found[4].isdigit() else int(ip_address(found[4]))
    return Block(row, row_end, column, column_end, base, int(found[5]), int(found[6]))


def text(lock: Lock) -> str:
    """The lock as the file that is committed."""
    out = [
        "# Numbers that are in use. `fabric generate` keeps this file; commit it with the configs.",
        f"version: {VERSION}",
        "fabrics:" if lock.fabrics else "fabrics: {}",
    ]
    for name, entry in sorted(lock.fabrics.items()):
        out.append(f"  {_key(name)}:")
        for section, table in (("shape", entry.shape), ("tenants", entry.tenants), ("lengths", entry.lengths)):
            if table:
                out.append(f"    {section}:")
                out += [f"      {_key(key)}: {value}" for key, value in sorted(table.items())]
        _section(out, "wiring", {key: [_epoch_text(e) for e in epochs] for key, epochs in entry.wiring.items()})
        _section(out, "attachments", {k: [f"{n}:{s}" for n, s in places] for k, places in entry.attachments.items()})
        _section(out, "blocks", {key: [_block_text(key, b) for b in blocks] for key, blocks in entry.blocks.items()})
    return "\n".join(out) + "\n"


def _section(out: list[str], name: str, table: Mapping[str, list[str]]) -> None:
    if table:
        out.append(f"    {name}:")
        for key, rows in sorted(table.items()):
            out.append(f"      {_key(key)}:")
            out += [f"        - '{row}'" for row in rows]


_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9._/-]*")
_WORDS = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})


def _key(name: str) -> str:
    """A name as a key of the file: quoted where YAML would read a number, a date or a word of its own (`no`, `null`)."""
    return name if _PLAIN.fullmatch(name) and name.lower() not in _WORDS else f"'{name}'"


def _epoch_text(epoch: Epoch) -> str:
    links = ",".join(f"{group}:{count}" for group, count in epoch.links)
    return f"uppers={epoch.uppers} links={links} lowers={epoch.lowers}"


def _block_text(key: str, block: Block) -> str:
    base = str(ip_address(block.base)) if key.startswith("address/") else str(block.base)
    return (
        f"rows={block.row}-{block.row_end - 1} columns={block.column}-{block.column_end - 1} "
        f"base={base} stride={block.stride} step={block.step}"
    )


def blocks_of(areas: Mapping[str, Area], prefix: str) -> dict[str, tuple[Block, ...]]:
    """The blocks of one fabric's areas, with the fabric's name taken off their keys."""
    return {key.removeprefix(prefix): area.blocks for key, area in areas.items() if key.startswith(prefix)}
