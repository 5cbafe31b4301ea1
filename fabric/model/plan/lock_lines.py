"""The lines of a lock file: what each kind holds, and within which limits.

A kind is a row of `KINDS`: its keys, each with its least and greatest value, and the function that takes what was read. A
kind whose lines are numbers by name is a row and four lines of code; see `length`, of which the greatest value holds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address

from fabric.base.diagnostics import Place, Report, nearest, show
from fabric.model.plan.lock import (
    Block,
    CageSplits,
    Epoch,
    FabricLock,
    PortSpot,
    Record,
    Shape,
    TenantNumber,
    rank,
    split_gbps,
)

HINT = "restore the file from git; after a merge keep the lines of both sides and run `fabric generate`"

MAX_ROWS = 2**24
MAX_LEAF_ROWS = 2**20  # units of a fabric, all lines together
MAX_COLUMNS = 2**16
MAX_SWITCH_PORTS = 2**13  # of a switch
MAX_BLOCK_NUMBERS = 2**48  # of a block

_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,199}", re.ASCII)
_NUMBER = re.compile(r"0|[1-9][0-9]{0,39}", re.ASCII)
_RANGE = re.compile(r"(0|[1-9][0-9]{0,39})-(0|[1-9][0-9]{0,39})", re.ASCII)
_ADDRESS = re.compile(r"[0-9A-Fa-f:.]{2,45}", re.ASCII)
_SPLITS = re.compile(r"[1-9][0-9]?x[1-9][0-9]{0,4}(,[1-9][0-9]?x[1-9][0-9]{0,4})*", re.ASCII)
_LINKS = re.compile(r"[A-Za-z0-9._-]+:[1-9][0-9]{0,3}(,[A-Za-z0-9._-]+:[1-9][0-9]{0,3})*", re.ASCII)


@dataclass(kw_only=True)
class Lines:
    """The facts of one fabric while its lines are read."""

    blocks: dict[str, set[Block]] = field(default_factory=dict)
    wiring: dict[str, set[Record]] = field(default_factory=dict)
    attachments: dict[str, set[PortSpot]] = field(default_factory=dict)
    tenants: dict[str, set[TenantNumber]] = field(default_factory=dict)
    lengths: dict[str, int] = field(default_factory=dict)
    switches: dict[str, set[CageSplits]] = field(default_factory=dict)

    def lock(self) -> FabricLock:
        """The facts in an order that follows from them alone."""
        return FabricLock(
            blocks={key: tuple(sorted(found, key=_block_rank)) for key, found in sorted(self.blocks.items())},
            wiring={key: tuple(sorted(found, key=rank)) for key, found in sorted(self.wiring.items())},
            attachments={key: tuple(sorted(found)) for key, found in sorted(self.attachments.items())},
            tenants={key: tuple(sorted(found)) for key, found in sorted(self.tenants.items())},
            lengths=dict(sorted(self.lengths.items())),
            switches={key: tuple(sorted(found)) for key, found in sorted(self.switches.items())},
        )


def _block_rank(block: Block) -> tuple[int, ...]:
    return block.row, block.column, block.base, block.row_end, block.column_end, block.stride, block.step


@dataclass(frozen=True)
class Text:
    """One line, and how its mistakes are reported; `at` turns a column of the line into a place of the file."""

    line: str
    at: Callable[[int], Place]
    report: Report

    def error(self, code: str, column: int, message: str, hint: str = HINT) -> None:
        self.report.error(code, self.at(column), f"lock file: {message}", hint)


@dataclass(frozen=True)
class Values:
    """The `key=value` words of a line. A value that is wrong is reported, and read as its least."""

    text: Text
    words: Mapping[str, tuple[str, int]]  # value and column
    wrong: list[str] = field(default_factory=list)

    def fail(self, key: str, message: str) -> None:
        value, column = self.words[key]
        self.wrong.append(key)
        self.text.error("FAB156", column, f"{key}: {message}, got {show(value)}")

    def whole(self, key: str, least: int, most: int) -> int:
        value = self.words[key][0]
        if not _NUMBER.fullmatch(value) or not least <= int(value) <= most:
            self.fail(key, f"expected a whole number from {least} to {most}")
            return least
        return int(value)

    def name(self, key: str) -> str:
        """The name of a device, "" where the line has none."""
        value = self.words[key][0] if key in self.words else ""
        if value and not _WORD.fullmatch(value):
            self.fail(key, "expected the name of a device")
        return value

    def range(self, key: str, most: int) -> tuple[int, int]:
        match = _RANGE.fullmatch(self.words[key][0])
        first, last = (int(match[1]), int(match[2])) if match else (0, -1)
        if not first <= last < most:
            self.fail(key, f"expected FIRST-LAST within 0 and {most - 1}")
            return 0, 1
        return first, last + 1


def read(text: Text, into: dict[str, Lines]) -> None:
    """Reads a line: fabric, kind or area, name unless it is an area, and `key=value` words. Mistakes go to the report."""
    words = [(match[0], match.start()) for match in re.finditer(r"[^ ]+", text.line)]
    plain = [(word, column) for word, column in words if "=" not in word]
    pairs = [(word, column) for word, column in words if "=" in word]
    kind = plain[1][0] if len(plain) > 1 else ""
    area = "/" in kind
    if (area and (key := _area(kind)) is None) or (not area and kind not in KINDS):
        column = plain[1][1] if len(plain) > 1 else 0
        hint = nearest(kind, [*KINDS, *(f"{name}/…" for name in _AREAS)]) if kind else HINT
        text.error("FAB155", column, f"expected FABRIC KIND KEY=VALUE …, got {show(text.line)}", hint)
        return
    form = _BLOCK if area else KINDS[kind]
    if not area and len(plain) == 3 and not form.names.fullmatch(plain[2][0]):
        text.error("FAB155", plain[2][1], f"{kind}: unknown name {show(plain[2][0])}")
        return
    if len(plain) != (2 if area else 3) or not all(_WORD.fullmatch(word) for word, _ in plain):
        text.error("FAB155", 0, f"expected FABRIC {kind}{'' if area else ' NAME'} KEY=VALUE …, got {show(text.line)}")
        return
    values = _values(text, form, pairs)
    if values is None:
        return
    lines = into.setdefault(plain[0][0], Lines())
    if area:
        assert key is not None
        _read_block(values, kind, key, lines)
    else:
        form.take(values, plain[2][0], lines)


@dataclass(frozen=True)
class Kind:
    """A kind of line: its keys in their order, those that may be missing, and what takes the values."""

    keys: tuple[str, ...]
    take: Callable[[Values, str, Lines], None]
    optional: tuple[str, ...] = ()
    names: re.Pattern[str] = _WORD


def _values(text: Text, form: Kind, pairs: list[tuple[str, int]]) -> Values | None:
    """The words by key; None when one is unknown, missing or there twice."""
    words: dict[str, tuple[str, int]] = {}
    errors = len(text.report.errors)
    for word, column in pairs:
        key, _, value = word.partition("=")
        if key not in (*form.keys, *form.optional):
            text.error("FAB155", column, f"unknown key {show(key)}", nearest(key, [*form.keys, *form.optional]))
        elif key in words:
            text.error("FAB155", column, f"expected {key} once, got it twice")
        words[key] = (value, column + len(key) + 1)
    missing = [key for key in form.keys if key not in words]
    if missing:
        text.error("FAB155", 0, f"expected {', '.join(f'{key}=' for key in form.keys)}, got no {missing[0]}")
    return Values(text, words) if len(text.report.errors) == errors else None


# --- areas --------------------------------------------------------------------------------------------------

_IDS, _ASNS, _V4, _V6, _ANY = "ids", "AS numbers", "IPv4 addresses", "IPv6 addresses", "addresses"
_AREAS = {
    **{f"id/{kind}": _IDS for kind in ("unit", "rack", "pod", "leaf", "spine", "core")},
    "asn": _ASNS,
    **{f"address/{kind}": _V4 for kind in ("loopback", "vtep")},
    "address/loopback6": _V6,
    **{f"address/{kind}": _ANY for kind in ("p2p", "servers", "management", "network")},
}
_MAX_NUMBER = {_IDS: 2**31, _ASNS: 2**32 - 1, _V4: 2**32, _V6: 2**128}


def _area(key: str) -> str | None:
    """What an area numbers; None for an area that no fabric has."""
    first, _, rest = key.partition("/")
    return _AREAS.get(first) or _AREAS.get(f"{first}/{rest.partition('/')[0]}")


def _read_block(values: Values, key: str, numbers: str, lines: Lines) -> None:
    row, row_end = values.range("rows", MAX_LEAF_ROWS if key.startswith("id/leaf/") else MAX_ROWS)
    column, column_end = values.range("columns", MAX_COLUMNS)
    base, limit = _base(values, numbers)
    step = values.whole("step", 1, 2**127)
    width = (column_end - column) * step
    stride = values.whole("stride", 1, 2**127)
    if not values.wrong and stride < width:
        values.fail("stride", f"expected at least {width}, the width of a row: rows do not overlap")
    if not values.wrong and (row_end - row) * stride > MAX_BLOCK_NUMBERS:
        values.fail("stride", f"expected rows of at most {MAX_BLOCK_NUMBERS} numbers together")
    end = base + (row_end - row) * stride
    if not values.wrong and end > limit:
        values.fail("base", f"expected {numbers} below {limit}, the last row ends at {end}")
    if not values.wrong:
        lines.blocks.setdefault(key, set()).add(
            Block(row=row, row_end=row_end, column=column, column_end=column_end, base=base, stride=stride, step=step)
        )


def _base(values: Values, numbers: str) -> tuple[int, int]:
    """The first number of a block, and the limit of its numbers."""
    if numbers in (_IDS, _ASNS):
        return values.whole("base", 0 if numbers == _IDS else 1, _MAX_NUMBER[numbers]), _MAX_NUMBER[numbers]
    try:
        written = values.words["base"][0]
        address = ip_address(written if _ADDRESS.fullmatch(written) else "")
    except ValueError:
        values.fail("base", f"expected an address ({numbers})")
        return 0, 0
    right = (4 if numbers == _V4 else 6, 4 if numbers == _ANY else 0)
    if address.version not in right or (address.version == 6 and int(address) < 2**120):
        values.fail("base", f"expected {numbers} of a pool")
        return 0, 0
    return int(address), _MAX_NUMBER[_V4 if address.version == 4 else _V6]


def _no_name(values: Values, name: str, lines: Lines) -> None:
    raise AssertionError("areas are read by _read_block")


_BLOCK = Kind(("rows", "columns", "base", "stride", "step"), _no_name)


# --- kinds with a name --------------------------------------------------------------------------------------


def _length(values: Values, name: str, lines: Lines) -> None:
    metres = values.whole("metres", 0, 100_000)
    if not values.wrong:
        lines.lengths[name] = max(metres, lines.lengths.get(name, 0))


def _switch(values: Values, name: str, lines: Lines) -> None:
    first, end = values.range("cages", MAX_SWITCH_PORTS)
    splits = values.words["splits"][0].split(",")
    if not _SPLITS.fullmatch(",".join(splits)) or len({split.partition("x")[2] for split in splits}) != len(splits):
        values.fail("splits", "expected PORTSxGBPS,… with each speed once")
    if not values.wrong:
        by_speed = tuple(sorted(splits, key=split_gbps, reverse=True))
        lines.switches.setdefault(name, set()).add(CageSplits(first, end, by_speed))


def _tenant(values: Values, name: str, lines: Lines) -> None:
    number = values.whole("number", 1, 16_777_215)
    vlan = values.whole("vlan", 2, 4094) if "vlan" in values.words else 0
    if not values.wrong:
        lines.tenants.setdefault(name, set()).add(TenantNumber(number, vlan))


def _wiring(values: Values, name: str, lines: Lines) -> None:
    place, uppers = values.whole("epoch", 1, 1_000_000), values.whole("uppers", 1, MAX_SWITCH_PORTS)
    lowers, after = values.whole("lowers", 0, 2**24), values.whole("after", 0, 2**24)
    shape = Shape(
        values.whole("tiers", 1, 3),
        values.whole("networks", 1, 4096),
        values.whole("uplink_gbps", 1, 12_800),
        values.whole("units_per_pod", 0, 10_000_000),
        values.whole("spines_per_core", 1, MAX_SWITCH_PORTS) if "spines_per_core" in values.words else 1,
    )
    written = values.words["links"][0]
    pairs = [part.rpartition(":") for part in written.split(",")]
    if not _LINKS.fullmatch(written) or len({group for group, *_ in pairs}) != len(pairs):
        values.fail("links", "expected GROUP:LINKS,… with each group once")
    elif not values.wrong and uppers * max(int(count) for *_, count in pairs) > MAX_SWITCH_PORTS:
        values.fail("links", f"expected at most {MAX_SWITCH_PORTS} uplinks per switch with {uppers} upper switches")
    if not values.wrong:
        links = tuple(sorted((group, int(count)) for group, _, count in pairs))
        lines.wiring.setdefault(name, set()).add(Record(place, shape, after, Epoch(uppers, links, lowers)))


def _attachment(values: Values, name: str, lines: Lines) -> None:
    spot = PortSpot(
        values.whole("port", 1, MAX_COLUMNS),
        values.whole("leaf", 1, 2**31),
        values.whole("slot", 0, MAX_SWITCH_PORTS),
        values.name("switch"),
    )
    if not values.wrong:
        lines.attachments.setdefault(name, set()).add(spot)


KINDS = {
    "length": Kind(("metres",), _length),
    "switch": Kind(("cages", "splits"), _switch),
    "tenant": Kind(("number",), _tenant, names=re.compile(r"[A-Za-z0-9-]+", re.ASCII)),
    "network": Kind(("number",), _tenant, ("vlan",), re.compile(r"[A-Za-z0-9-]+/[A-Za-z0-9-]+", re.ASCII)),
    "wiring": Kind(
        ("epoch", "uppers", "links", "lowers", "after", "tiers", "networks", "uplink_gbps", "units_per_pod"),
        _wiring,
        ("spines_per_core",),
        re.compile("leaf-spine|spine-core"),
    ),
    "attachment": Kind(("port", "leaf", "slot"), _attachment, ("switch",)),
}


# --- writing ------------------------------------------------------------------------------------------------


def of(fabric: str, entry: FabricLock) -> Iterator[str]:
    """The lines of a fabric, sorted."""
    for name, metres in sorted(entry.lengths.items()):
        yield f"{fabric} length {name} metres={metres}"
    for name, cages in sorted(entry.switches.items()):
        for first, end, splits in sorted(cages):
            yield f"{fabric} switch {name} cages={first}-{end - 1} splits={','.join(splits)}"
    for name, numbers in sorted(entry.tenants.items()):
        for number, vlan in sorted(numbers):
            kind = "network" if "/" in name else "tenant"
            yield f"{fabric} {kind} {name} number={number}" + (f" vlan={vlan}" if vlan else "")
    for kind, records in sorted(entry.wiring.items()):
        yield from (f"{fabric} wiring {kind} {_record(record)}" for record in sorted(records, key=rank))
    for name, spots in sorted(entry.attachments.items()):
        for port, leaf, slot, switch in sorted(spots):
            yield f"{fabric} attachment {name} port={port} leaf={leaf} slot={slot}" + (f" switch={switch}" if switch else "")
    for key, blocks in sorted(entry.blocks.items()):
        yield from (f"{fabric} {key} {_block(key, block)}" for block in sorted(blocks, key=_block_rank))


def _record(record: Record) -> str:
    epoch, shape = record.epoch, record.shape
    links = ",".join(f"{group}:{count}" for group, count in epoch.links)
    shared = f" spines_per_core={shape.spines_per_core}" if shape.spines_per_core > 1 else ""
    return (
        f"epoch={record.place} uppers={epoch.uppers} links={links} lowers={epoch.lowers} after={record.after} "
        f"tiers={shape.tiers} networks={shape.networks} uplink_gbps={shape.uplink_gbps} units_per_pod={shape.units_per_pod}"
        f"{shared}"
    )


def _block(key: str, block: Block) -> str:
    base = str(ip_address(block.base)) if key.startswith("address/") else str(block.base)
    return (
        f"rows={block.row}-{block.row_end - 1} columns={block.column}-{block.column_end - 1} "
        f"base={base} stride={block.stride} step={block.step}"
    )
