"""Which machine is which switch: MAC addresses and serial numbers of an inventory, and ports of the out-of-band fabric."""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from fabric.base.diagnostics import Place, Report, nearest, show
from fabric.base.reading import text_of
from fabric.base.text import is_unicast, listed
from fabric.configs.port_names import PortNames
from fabric.model.plan import Plan
from fabric.nos.target import installed

FORM, UNKNOWN, TWICE = "FAB701", "FAB702", "FAB703"
COLUMNS = ("switch", "mac", "serial")
SERIAL = re.compile("[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9])?")
HEADER = "the first line names the columns: `switch,mac,serial`; other columns and lines with # are ignored"


@dataclass(frozen=True, slots=True)
class Machine:
    """A line of the inventory; "" where it states nothing."""

    mac: str  # "52:54:00:00:00:01"
    serial: str
    place: Place


def read(path: Path, switches: Collection[str], report: Report) -> dict[str, Machine]:
    """Switch → its machine. Mistakes go to the report, each with its line.

    Raises:
        InputError: a file that cannot be read.
    """
    inventory = _Inventory(str(path), text_of(path, "an inventory of switches in CSV"), switches, report)
    return dict(inventory.machines())


class _Inventory:
    def __init__(self, name: str, text: str, switches: Collection[str], report: Report) -> None:
        self.name = name
        self.lines = ["" if line.startswith("#") else line for line in text.splitlines()]
        self.switches, self.report = switches, report
        self.seen: dict[str, dict[str, Place]] = {column: {} for column in COLUMNS}

    def machines(self) -> Iterator[tuple[str, Machine]]:
        rows = self._rows()
        header = next((row for _, row in rows if row), [])
        columns = {title.strip().lower(): at for at, title in reversed(list(enumerate(header)))}
        if "switch" not in columns or not columns.keys() & {"mac", "serial"}:
            self.report.fail(
                FORM,
                Place(self.name, 1, 1),
                f"expected columns switch and mac or serial, got {', '.join(map(show, header)) or 'none'}",
                HEADER,
            )
        for line, row in rows:
            if any(cell.strip() for cell in row):
                stated = {c: row[columns[c]].strip() if c in columns and columns[c] < len(row) else "" for c in COLUMNS}
                yield from self._machine(line, stated)
        self._refuse_parts()

    def _rows(self) -> Iterator[tuple[int, list[str]]]:
        reader = csv.reader(self.lines, strict=True)
        try:
            for row in reader:
                yield reader.line_num, row
        except csv.Error as error:
            self.report.fail(
                FORM, Place(self.name, reader.line_num, 1), f"expected CSV, got {error}", 'quote with " and separate with ,'
            )

    def _machine(self, line: int, stated: Mapping[str, str]) -> Iterator[tuple[str, Machine]]:
        place, name, errors = self._place(line, stated["switch"]), stated["switch"], len(self.report.errors)
        if not name:
            self.report.error(FORM, place, "expected the name of a switch, got none", HEADER)
        elif name not in self.switches:
            message = f"{show(name)} is no switch of this plan"
            self.report.error(UNKNOWN, place, message, nearest(name, self.switches))
        mac, serial = self._mac(line, stated["mac"]), stated["serial"]
        if serial and not SERIAL.fullmatch(serial):
            message = f"expected a serial number of letters, digits and inner . _ -, got {show(serial)}"
            self.report.error(FORM, self._place(line, serial), message)
        if not (stated["mac"] or serial):
            self.report.error(FORM, place, f"expected a MAC address or a serial number of {show(name)}, got neither")
        for column, value in (("switch", name), ("mac", mac), ("serial", serial)):
            self._once(column, value, self._place(line, stated[column]))
        if len(self.report.errors) == errors:
            yield name, Machine(mac, serial, place)

    def _mac(self, line: int, text: str) -> str:
        """In small letters with colons, from any usual form."""
        digits = re.sub("[:.-]", "", text).lower()
        mac = ":".join(digits[at : at + 2] for at in range(0, 12, 2))
        if text and (not re.fullmatch("[0-9a-f]{12}", digits) or not is_unicast(mac)):
            message = f"expected the MAC address of one station, such as 52:54:00:12:34:56, got {show(text)}"
            self.report.error(FORM, self._place(line, text), message)
            return ""
        return mac if text else ""

    def _once(self, column: str, value: str, place: Place) -> None:
        if not value:
            return
        if (first := self.seen[column].setdefault(value, place)) is not place:
            what = {"switch": "switch", "mac": "MAC address", "serial": "serial number"}[column]
            self.report.error(TWICE, place, f"{what} {value} is in line {first.line} as well", "one line per switch")

    def _refuse_parts(self) -> None:
        """A DHCP server may look for a serial number anywhere in what a switch sends."""
        serials = sorted(self.seen["serial"])
        joined = "\n".join(serials)
        for serial in serials:
            if joined.count(serial) > 1:
                longer = next(other for other in serials if serial in other and serial != other)
                message = f"serial number {serial} is a part of {longer}: a DHCP server could take one switch for the other"
                self.report.error(TWICE, self.seen["serial"][serial], message, "state the MAC addresses of both instead")

    def _place(self, line: int, text: str) -> Place:
        """Where a value stands in its line."""
        at = self.lines[line - 1].find(text) if text and line <= len(self.lines) else 0
        return Place(self.name, line, max(at, 0) + 1)


# --- Ports of the out-of-band fabric --------------------------------------------------------------------------


def circuit_ids(plan: Plan, report: Report) -> dict[str, bytes]:
    """Switch → what the relay agent of its out-of-band leaf inserts, where a leaf port is planned and the form is known."""
    found: dict[str, bytes] = {}
    for fabric in plan.fabrics.values():
        names, stated = PortNames(fabric), fabric.spec.management.day_zero
        for link, switch in fabric.management_ports.items():
            leaf, ref = fabric.devices[int(fabric.links.b[link])], fabric.ref(link, "b")
            target = installed(leaf.nos)
            first_boot = target.day_zero.get() if target is not None and target.day_zero is not None else None
            form = (stated.circuit_id if stated else None) or (first_boot.circuit_id if first_boot else "")
            if target is None or not form:
                continue
            port = names.port_name(leaf, ref)
            model = fabric.spec.leaf.model
            alias = target.port_alias(model, ref, leaf.model) if target.port_alias else port
            found[switch.name] = form.format(switch=leaf.name, port=port, alias=alias).encode()
    _refuse_equal(plan, found, report)
    return found


def _refuse_equal(plan: Plan, found: Mapping[str, bytes], report: Report) -> None:
    by_id: dict[bytes, list[str]] = {}
    for name, circuit in found.items():
        by_id.setdefault(circuit, []).append(name)
    for circuit, names in by_id.items():
        if len(names) > 1:
            message = f"circuit id {show(circuit.decode())} would be that of {listed(sorted(names), 3)}"
            hint = "state `circuit_id` with {switch} and {port}, and configure the relay agents to insert it"
            report.error(TWICE, plan.at("management", "day_zero", "circuit_id"), message, hint)
