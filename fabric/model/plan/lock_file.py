"""The lock file in `generated/`: numbers that growth must not change. Each line is independent of the others.

version: 2
numbers:
  - backend switch qfx5130-32cd cages=1-32 splits=1x400,1x100
  - backend tenant red number=1
  - backend wiring leaf-spine epoch=1 uppers=16 links=dgx-h100:2 lowers=32 after=0 tiers=2 networks=1 …
  - backend attachment ufm port=1 leaf=25 slot=31
  - backend address/loopback/leaf rows=0-127 columns=0-0 base=10.0.0.0 stride=1 step=1

Growth adds lines and leaves those that hold numbers as they are, so `git merge` can keep the lines of both sides.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fabric.base import source
from fabric.base.diagnostics import Place, Report, show
from fabric.base.source import Path_, Source
from fabric.model.plan import lock_lines
from fabric.model.plan.lock import (
    Area,
    Block,
    FabricLock as FabricLock,
    Lock as Lock,
    PortSpot as PortSpot,
    TenantNumber as TenantNumber,
)
from fabric.model.plan.lock_lines import HINT, Lines, Text

VERSION = 2
FILE = "lock.yaml"
MANIFEST = "manifest.txt"  # lists the files of the folder, this one too
MAX_LINES = 100_000
MAX_AREA_LINES = 5_000

_VERSION = re.compile(r"version:[ \t]*(.*?)[ \t]*(?:#.*)?")
_ITEM = re.compile(r"([ \t]*-[ \t]+)(.*?)[ \t]*")
_OTHER = re.compile(r"[ \t]*(#.*)?|numbers:[ \t]*(?:(\[\])[ \t]*)?(#.*)?")


def read(path: Path, shown: Path | None = None) -> Lock:
    """Reads a lock file. One that is not there is an empty lock, unless the manifest beside it lists it.

    Raises InputError with every mistake, or when the file is lost.
    """
    report, name = Report(), str(shown or path)
    try:
        with path.open("rb") as stream:
            raw = stream.read(source.MAX_BYTES + 1)
    except FileNotFoundError:
        if _listed(path):
            report.fail("FAB154", Place(name), "the lock file is missing, its numbers are in use", _GONE.format(file=name))
        return Lock()
    except OSError as error:
        report.fail("FAB001", Place(name), f"cannot be read: {(error.strerror or str(error)).lower()}", HINT)
    if len(raw) > source.MAX_BYTES:
        limit = f"at most {source.MAX_BYTES // 1_000_000} MB"
        report.fail("FAB157", Place(name, 1, 1), f"lock file: expected {limit}, got more", HINT)
    try:
        return parse(raw.decode("utf-8-sig"), name)
    except UnicodeDecodeError as error:
        before = raw[: error.start]
        column = error.start - (before.rfind(b"\n") + 1) + 1
        place = Place(name, before.count(b"\n") + 1, column)
        report.fail("FAB003", place, f"lock file: expected UTF-8 text, got the byte 0x{raw[error.start]:02x}", HINT)


_GONE = (
    "restore it from git: `git checkout HEAD -- {file}`. Without it `fabric generate --renumber INTENT` gives out all "
    "numbers again: names, AS numbers, addresses and ports of devices in service may change"
)


def _listed(path: Path) -> bool:
    """Whether the manifest of the folder lists the lock file."""
    try:
        listed = (path.parent / MANIFEST).read_bytes()
    except OSError:
        return False
    return re.search(rb"(?m)^[0-9a-f]{64}  " + re.escape(path.name.encode()) + rb"\r?$", listed) is not None


def parse(text: str, name: str) -> Lock:
    """The lock that a text holds. Raises InputError with every mistake."""
    report = Report()
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    if not text.strip():
        report.fail("FAB150", Place(name, 1, 1), "lock file: the file is empty", HINT)
    for number, line in enumerate(lines, 1):
        if line.startswith(("<<<<<<<", "|||||||", "=======", ">>>>>>>")):
            report.fail("FAB150", Place(name, number, 1), "lock file: expected no merge conflict, got its markers", _MARKERS)
    if _version(lines, name, report) == 1:
        facts_by_fabric = read_version_1(source.parse(text, name), report)
    else:
        facts_by_fabric = _facts(lines, name, report)
    _check_size(facts_by_fabric, name, report)
    report.raise_errors()
    return Lock({fabric: facts.lock() for fabric, facts in sorted(facts_by_fabric.items())})


_MARKERS = "delete the marker lines, keep the lines of both sides, then run `fabric generate`"


def _version(lines: list[str], name: str, report: Report) -> int:
    """The one version that the file states."""
    stated = [(number, match[1]) for number, line in enumerate(lines, 1) if (match := _VERSION.fullmatch(line))]
    if not stated:
        report.fail("FAB150", Place(name, 1, 1), f"lock file: expected `version: {VERSION}`, got none", HINT)
    for number, version in stated:
        if version not in ("1", str(VERSION)):
            report.fail(
                "FAB150",
                Place(name, number, 10),
                f"lock file version: expected {VERSION}, got {show(version)}",
                "another version of fabric wrote it: upgrade fabric, or restore the file from git",
            )
    if len({version for _, version in stated}) > 1:
        report.fail(
            "FAB150",
            Place(name, stated[-1][0], 1),
            "lock file: two format versions in one file: merged from a branch of an older version of fabric",
            "abort the merge, run `fabric generate` on the branch of the older version, commit, and merge again",
        )
    return int(stated[0][1])


def _facts(lines: list[str], name: str, report: Report) -> dict[str, Lines]:
    facts: dict[str, Lines] = {}
    for at, line in enumerate(lines, 1):
        if item := _ITEM.fullmatch(line):
            quoted = len(item[2]) > 1 and item[2][0] == item[2][-1] and item[2][0] in "'\""
            begin = len(item[1]) + 1 + quoted
            fact = item[2][1:-1] if quoted else item[2]
            lock_lines.read(Text(fact, lambda column, at=at, begin=begin: Place(name, at, begin + column), report), facts)  # type: ignore[misc]
        elif not _OTHER.fullmatch(line) and not _VERSION.fullmatch(line):
            report.error("FAB155", Place(name, at, 1), f"lock file: expected `  - FABRIC KIND …`, got {show(line)}", HINT)
    return facts


def _check_size(facts_by_fabric: Mapping[str, Lines], name: str, report: Report) -> None:
    """Rejects a file with more lines than a real history has: it would only slow down the planner."""
    total = 0
    for fabric, facts in facts_by_fabric.items():
        counts = {key: len(blocks) for key, blocks in facts.blocks.items()}
        counts |= {key: len(records) for key, records in facts.wiring.items()}
        total += sum(counts.values()) + sum(map(len, facts.attachments.values())) + sum(map(len, facts.tenants.values()))
        total += sum(map(len, facts.switches.values()))
        for key, lines in counts.items():
            if lines > MAX_AREA_LINES:
                message = f"lock file: expected at most {MAX_AREA_LINES:,} lines of {fabric} {key}, got {lines:,}"
                report.error("FAB157", Place(name), message, HINT)
        leaves = [block for key, blocks in facts.blocks.items() if key.startswith("id/leaf/") for block in blocks]
        if sum(block.row_end - block.row for block in leaves) > lock_lines.MAX_LEAF_ROWS:
            limit = f"at most {lock_lines.MAX_LEAF_ROWS:,} rows of id/leaf"
            report.error("FAB157", Place(name), f"lock file: fabric '{fabric}': expected {limit}, got more", HINT)
    if total > MAX_LINES:
        report.error("FAB157", Place(name), f"lock file: expected at most {MAX_LINES:,} lines, got {total:,}", HINT)


def text(lock: Lock) -> str:
    """The lock as the file that is committed."""
    lines = [f"  - {line}" for name, entry in sorted(lock.fabrics.items()) for line in lock_lines.of(name, entry)]
    head = [
        "# Numbers that are in use. `fabric generate` keeps this file; commit it with the configs.",
        f"version: {VERSION}",
        "numbers:" if lines else "numbers: []",
    ]
    return "\n".join([*head, *lines]) + "\n"


def blocks_of(areas: Mapping[str, Area], prefix: str) -> dict[str, tuple[Block, ...]]:
    """The blocks of one fabric's areas, with the fabric's name taken off their keys."""
    return {key.removeprefix(prefix): area.blocks for key, area in areas.items() if key.startswith(prefix)}


# --- Version 1, where fabric and section stand above the lines ------------------------------------------------

_SHAPE = {"tiers": 2, "networks": 1, "uplink_gbps": 1, "units_per_pod": 0}


def read_version_1(text: Source, report: Report) -> dict[str, Lines]:
    """The facts of a file by fabric. Mistakes go to the report."""
    facts: dict[str, Lines] = {}
    fabrics = text.data.get("fabrics") if isinstance(text.data, dict) else None
    if not isinstance(fabrics, dict):
        report.error("FAB150", text.place(("fabrics",)), "lock file: expected a mapping of fabrics", HINT)
        return facts
    for fabric, entry in fabrics.items():
        facts.setdefault(str(fabric), Lines())
        for path, line in _lines(text, str(fabric), entry, report):
            lock_lines.read(Text(line, _at(text.place(path)), report), facts)
    return facts


def _at(place: Place) -> Any:
    """Where a word of a line stands: at the row, as the line was put together of several places."""
    return lambda column: place


def _lines(text: Source, fabric: str, entry: Any, report: Report) -> Iterator[tuple[Path_, str]]:
    """The lines of one fabric, with the path of the row that each comes from."""
    home = ("fabrics", fabric)
    if not isinstance(entry, dict):
        report.error("FAB150", text.place(home), f"lock file: expected a mapping, got {show(entry)}", HINT)
        return
    for section in entry:
        if section not in ("blocks", "wiring", "attachments", "shape", "tenants"):
            place = text.place((*home, section), key=True)
            report.error("FAB155", place, f"lock file: unknown section {show(section)}", HINT)
    shape = {**_SHAPE, **dict(_numbers(text, (*home, "shape"), entry.get("shape", {}), report))}
    for key, number, row in _rows(text, (*home, "blocks"), entry.get("blocks", {}), report):
        yield (*home, "blocks", key, number), f"{fabric} {key} {row}"
    for key, number, row in _rows(text, (*home, "attachments"), entry.get("attachments", {}), report):
        leaf, _, slot = row.partition(":")
        yield (*home, "attachments", key, number), f"{fabric} attachment {key} port={number + 1} leaf={leaf} slot={slot}"
    after = "0"
    for key, number, row in _rows(text, (*home, "wiring"), entry.get("wiring", {}), report):
        after = after if number else "0"
        words = " ".join(f"{name}={value}" for name, value in shape.items())
        yield (*home, "wiring", key, number), f"{fabric} wiring {key} epoch={number + 1} {row} after={after} {words}"
        after = row.rpartition("lowers=")[2]
    numbers = dict(_numbers(text, (*home, "tenants"), entry.get("tenants", {}), report))
    for key, number in numbers.items():
        vlan = numbers.get(f"{key}/vlan")
        if key.count("/") < 2:
            kind = "network" if "/" in key else "tenant"
            words = f"number={number}" + (f" vlan={vlan}" if vlan and kind == "network" else "")
            yield (*home, "tenants", key), f"{fabric} {kind} {key} {words}"


def _rows(text: Source, path: Path_, table: Any, report: Report) -> Iterator[tuple[str, int, str]]:
    """(key, place in its list, row) of a section that is a mapping of lists."""
    if not isinstance(table, dict) or not all(isinstance(rows, list) for rows in table.values()):
        report.error("FAB150", text.place(path), f"lock file: expected lists by name in '{path[-1]}'", HINT)
        return
    for key, rows in table.items():
        yield from ((str(key), at, str(row)) for at, row in enumerate(rows))


def _numbers(text: Source, path: Path_, table: Any, report: Report) -> Iterator[tuple[str, int]]:
    """The numbers of a section that is a mapping of numbers."""
    if not isinstance(table, dict):
        report.error("FAB150", text.place(path), f"lock file: expected numbers by name in '{path[-1]}'", HINT)
        return
    for key, value in table.items():
        if type(value) is int:
            yield str(key), value
        else:
            place = text.place((*path, key))
            report.error("FAB156", place, f"lock file: {show(key)}: expected a whole number, got {show(value)}", HINT)
