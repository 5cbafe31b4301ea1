"""The tables that a reader searches: what their rows are and where the values of each column stand."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from ipaddress import IPv4Address
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabric.model.plan import ATTACHMENT, SERVER, SERVER_LEAF, SWITCH_ROLES, FabricPlan
from fabric.solver import Ints

# --- columns of a JSON document -------------------------------------------------------------------------------

Column = list[Any] | dict[str, Any]
LETTERS = "".join(map(chr, range(35, 92))) + "".join(map(chr, range(93, 127)))  # 91 that JSON does not escape


class Pool:
    """Texts, each once, by their number; "" is 0."""

    def __init__(self) -> None:
        self._number: dict[str, int] = {"": 0}

    def __call__(self, text: str) -> int:
        return self._number.setdefault(text, len(self._number))

    def column(self, texts: Iterable[str]) -> list[int]:
        return [self._number.setdefault(text, len(self._number)) for text in texts]

    @property
    def texts(self) -> list[str]:
        return list(self._number)


def packed(values: NDArray[Any]) -> Column:
    """A column of integers as a list, or as differences where fewer of those are distinct: they compress better."""
    whole = np.asarray(values, dtype=np.int64)
    if len(whole) < 2:
        return [int(value) for value in whole]
    steps = np.diff(whole, prepend=0)
    if len(np.unique(steps)) < len(np.unique(whole)):
        return {"delta": steps.tolist()}
    found: list[int] = whole.tolist()
    return found


def lettered(values: NDArray[Any]) -> Column:
    """A column of integers of few distinct values: these, and one letter per row as the index."""
    whole = np.asarray(values, dtype=np.int64)
    distinct, at = np.unique(whole, return_inverse=True)
    if len(whole) < 2 or len(distinct) > len(LETTERS):
        return packed(whole)
    return {"of": distinct.tolist(), "letters": "".join(LETTERS[place] for place in at.tolist())}


def numbered(texts: Iterable[str]) -> list[str | int]:
    """IPv4 addresses as the difference from the one before, which is mostly 1; other texts stay."""
    values, last = list[str | int](), 0
    for text in texts:
        parts = text.split(".")
        if len(parts) == 4 and all(part.isdigit() for part in parts):
            address = int(IPv4Address(text))
            values.append(address - last)
            last = address
        else:
            values.append(text)
    return values


def unpacked(column: Column) -> list[Any]:
    """What `packed` was given."""
    if isinstance(column, dict):
        found: list[Any] = (
            [column["of"][LETTERS.index(letter)] for letter in column["letters"]]
            if "of" in column
            else np.cumsum(column["delta"]).tolist()
        )
        return found
    return column


def ranges(rows: NDArray[Any]) -> list[list[int]]:
    """Row numbers as [first, end) ranges, in their order."""
    if not len(rows):
        return []
    starts = np.flatnonzero(np.r_[True, np.diff(rows) != 1])
    ends = np.r_[starts[1:], len(rows)]
    return [[int(rows[start]), int(rows[end - 1]) + 1] for start, end in zip(starts, ends, strict=True)]


# --- tables ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Field:
    """One column. `via` are the steps from a row to its value, as the data document describes them."""

    title: str
    via: tuple[str, ...]
    number: bool = False
    add: int = 0
    blank: bool = False  # 0 shows as nothing

    def as_dict(self) -> dict[str, Any]:
        found: dict[str, Any] = {"title": self.title, "via": list(self.via)}
        for key in ("number", "add", "blank"):
            if getattr(self, key):
                found[key] = getattr(self, key)
        return found


@dataclass(frozen=True)
class Table:
    """Rows of a fabric's devices or links."""

    id: str
    title: str
    rows: Ints
    columns: tuple[Field, ...]

    def as_dict(self, fabric: int) -> dict[str, Any]:
        columns = [column.as_dict() for column in self.columns]
        return {"id": self.id, "title": self.title, "fabric": fabric, "rows": ranges(self.rows), "columns": columns}


def _device(title: str, name: str, *, text: bool = False, counts: bool = False, blank: bool = False) -> Field:
    """A column of the row's own device; `counts`: from 0 in the data, from 1 for a reader."""
    via = (f"devices.{name}", "strings") if text else (f"devices.{name}",)
    number = not text and name not in ("name", "loopback", "management")
    return Field(title, via, number, int(counts), blank)


PLACE = (
    *(_device("pod", "pod", counts=True), _device("unit", "unit", counts=True), _device("plane", "plane", counts=True)),
    *(_device("rail", "rail", counts=True), _device("rack", "rack", text=True), _device("RU", "ru", blank=True)),
)
SWITCHES = (
    *(_device("switch", "name"), Field("role", ("devices.role", "roles")), _device("model", "model", text=True), *PLACE),
    *(_device("ASN", "asn", blank=True), _device("loopback", "loopback"), _device("management", "management")),
)
SERVERS = (_device("server", "name"), _device("model", "model", text=True), _device("group", "group", text=True), *PLACE)
LINKS = (
    Field("kind", ("links.kind", "kinds")),
    *(Field("A", ("links.a", "devices.name")), Field("A port", ("links.aport", "strings"))),
    *(Field("B", ("links.b", "devices.name")), Field("B port", ("links.bport", "strings"))),
    *(Field("Gb/s", ("links.speed",), True), Field("length, m", ("links.length",), True)),
    Field("medium", ("links.medium", "strings")),
    *(Field("A rack", ("links.a", "devices.rack", "strings")), Field("B rack", ("links.b", "devices.rack", "strings"))),
)
SESSIONS = (
    *(Field("switch", ("links.a", "devices.name")), Field("port", ("links.aport", "strings"))),
    *(Field("ASN", ("links.a", "devices.asn"), True), Field("address", ("links.aaddr", "addresses"))),
    *(Field("peer", ("links.b", "devices.name")), Field("peer port", ("links.bport", "strings"))),
    *(Field("peer ASN", ("links.b", "devices.asn"), True), Field("peer address", ("links.baddr", "addresses"))),
)


def tables(fabric: FabricPlan) -> list[Table]:
    """The tables of one fabric that have rows."""
    devices, links = fabric.devices, fabric.links
    switches = np.array([device.index for device in fabric.switches], dtype=np.int64)
    servers = np.array([device.index for device in devices if device.role == SERVER], dtype=np.int64)
    speaks = np.array([device.role in SWITCH_ROLES and device.asn > 0 for device in devices])
    between = (links.kind != SERVER_LEAF) & (links.kind != ATTACHMENT)
    sessions = np.flatnonzero(between & speaks[links.a] & speaks[links.b])
    every_table = (
        Table("switches", "Switches", switches, SWITCHES),
        Table("links", "Links and cables", np.arange(len(links)), LINKS),
        Table("sessions", "BGP sessions of the underlay", sessions, SESSIONS),
        Table("servers", "Servers", servers, SERVERS),
    )
    return [replace(table, columns=_telling(fabric, table)) for table in every_table if len(table.rows)]


def _telling(fabric: FabricPlan, table: Table) -> tuple[Field, ...]:
    """The columns without those of the devices that are empty throughout, or say that there is one plane."""
    if table.id not in ("switches", "servers"):
        return table.columns
    devices = [fabric.devices[at] for at in table.rows.tolist()]
    kept = {key: any(getattr(device, key) >= 0 for device in devices) for key in ("pod", "unit", "rail")}
    kept |= {"plane": fabric.spec.planes > 1, "asn": any(device.asn for device in devices)}
    if table.id == "switches":
        kept["loopback"] = bool((fabric.loopback[table.rows] >= 0).any())
    return tuple(column for column in table.columns if kept.get(column.via[0].removeprefix("devices."), True))


def cells(document: dict[str, Any], table: dict[str, Any], most: int) -> list[list[str]]:
    """The first rows as text, read from the data document the way the page's script reads it."""
    rows = [row for first, end in table["rows"] for row in range(first, end)][:most]
    fabric = document["fabrics"][table["fabric"]]
    columns = [_values(document, fabric, column, rows) for column in table["columns"]]
    return [list(row) for row in zip(*columns, strict=True)]


def _values(document: dict[str, Any], fabric: dict[str, Any], column: dict[str, Any], rows: list[int]) -> list[str]:
    values: list[Any] = list(rows)
    for step in column["via"]:
        part, _, name = step.partition(".")
        known = unpacked(fabric[part][name] if name else document[part])
        values = [known[at] if at >= 0 else -1 for at in values]
    number = isinstance(values[0], int) if values else False
    if number:
        return ["" if at < 0 or (column.get("blank") and not at) else str(at + column.get("add", 0)) for at in values]
    return ["" if value == -1 else str(value) for value in values]
