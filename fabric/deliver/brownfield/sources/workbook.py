"""The workbook of NVIDIA's net-configurator: its switches as facts, as if their configs had been read, and its cables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from ipaddress import ip_interface
from pathlib import Path
from typing import Any, TypeVar

from fabric.base.diagnostics import Place, Report
from fabric.base.formats import yaml
from fabric.base.formats.workbooks import CODE, Rows, read_sheets
from fabric.model.facts import Bgp, Cage, Facts, Interface, Located, Neighbor, Services, Vni, Vrf
from fabric.nos.target import cage, target

Wire = tuple[str, str, str, str]  # device and port of both ends
T = TypeVar("T")
NUMBER = re.compile(r"\d{1,10}")
HINT = "docs/import.md has the sheets and columns that are read"


@dataclass(frozen=True, kw_only=True)
class Workbook:
    """What a workbook says.

    Attributes:
        site: name of the site, "" for none.
        devices: the switches.
        wires: cables between switches and with hosts.
    """

    site: str
    devices: Sequence[Facts]
    wires: Sequence[Wire]


def read_workbook(path: Path) -> Workbook:
    """The switches and cables of a workbook. Raises InputError with the sheet and row of every mistake."""
    return _Reader(path).read()


@cache
def _words() -> Mapping[str, Any]:
    return dict(yaml.read(files(__package__).joinpath("workbook.yaml")))


@dataclass(frozen=True)
class _Row:
    """A row by the heads of its columns."""

    sheet: str
    number: int
    cells: Mapping[str, str]

    def __getitem__(self, column: str) -> str:
        return next((self.cells[head] for head in _words()["columns"][column] if head in self.cells), "")


@dataclass
class _Reader:
    path: Path
    report: Report = field(default_factory=Report)
    devices: dict[str, Facts] = field(default_factory=dict)
    nodes: dict[str, _Row] = field(default_factory=dict)
    wires: dict[Wire, str] = field(default_factory=dict)  # → profile

    def read(self) -> Workbook:
        titles: Mapping[str, str] = _words()["sheets"]
        sheets = read_sheets(self.path, list(titles.values()))
        for kind in ("nodes", "wires"):
            if titles[kind] not in sheets:
                self.report.error(CODE, Place(str(self.path)), f"expected a sheet '{titles[kind]}', got none", HINT)
        self.report.raise_errors()
        settings = {row[0]: row[1] for row in sheets.get(titles["settings"], ()) if len(row) > 1 and row[1]}
        networks = sheets.get(titles["networks"], ())
        self._read_nodes(_table(titles["nodes"], sheets[titles["nodes"]], "function"))
        self._read_wires(_table(titles["wires"], sheets[titles["wires"]], "system name (a)", "function (a)", "system role"))
        releases = {row[0]: row[1] for row in _below(sheets.get(titles["settings"], ()), "switch function") if len(row) > 1}
        for facts in self.devices.values():
            self._settings(facts, settings, releases)
        self._networks(networks, settings)
        for row in _table(titles["loopbacks"], sheets.get(titles["loopbacks"], ()), "switch"):
            self._loopback(row)
        if not self.devices:
            self.report.error(CODE, Place(str(self.path)), f"sheet '{titles['nodes']}': expected switches, got none", HINT)
        self.report.raise_errors()
        return Workbook(site=settings.get("site_name", ""), devices=list(self.devices.values()), wires=list(self.wires))

    def _wrong(self, row: _Row, message: str) -> None:
        self.report.error(CODE, Place(str(self.path)), f"sheet '{row.sheet}', row {row.number}: {message}", HINT)

    def _at(self, value: T, row: _Row | None = None) -> Located[T]:
        return Located(value, row.number if row else 0, str(self.path))

    # nodes

    def _read_nodes(self, rows: Iterator[_Row]) -> None:
        for row in rows:
            name = row["name"] or row["function"]
            if not name or row["enabled"].lower() in ("no", "air"):
                continue
            if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}", name):
                self._wrong(row, f"expected a name of letters, digits, '.', '-' and '_', got {name!r}")
            elif name in self.nodes:
                self._wrong(row, f"name {name} is also in row {self.nodes[name].number}")
            else:
                self.nodes[name] = row
                if row["type"].lower() == "switch" or (
                    not row["type"] and re.fullmatch(_words()["switches"], row["function"])
                ):
                    self.devices[name] = self._switch(name, row)

    def _switch(self, name: str, row: _Row) -> Facts:
        facts = Facts(name=name, nos=_words()["nos"], files=(str(self.path),), hostname=self._at(name, row))
        if row["management"]:
            self._address(facts, self._idiom.management, f"{row['management'].partition('/')[0]}/{row['prefix'] or 24}", row)
        return facts

    @property
    def _idiom(self) -> Any:
        return target(_words()["nos"]).idiom

    def _interface(self, facts: Facts, name: str, row: _Row | None = None) -> Interface:
        return facts.interfaces.setdefault(name, Interface(name=name, line=row.number if row else 0, file=str(self.path)))

    def _address(self, facts: Facts, interface: str, text: str, row: _Row) -> None:
        try:
            address = str(ip_interface(text))
        except ValueError:
            self._wrong(row, f"expected an address, got {text!r}")
            return
        self._interface(facts, interface, row).addresses.append(self._at(address, row))

    # cables

    def _read_wires(self, rows: Iterator[_Row]) -> None:
        taken: dict[tuple[str, str], _Row] = {}
        for row in rows:
            profile = row["profile"]
            ends = ((row["a"], row["a_port"]), (row["b"], row["b_port"]))
            if not all(map(all, ends)) or profile.lower().startswith(_words()["simulated"]):
                continue
            if re.search(_words()["disabled"], profile.lower()) or not {row["a"], row["b"]} <= self.nodes.keys():
                continue
            for end in ends:
                if end[0] in self.devices and (other := taken.setdefault(end, row)) is not row:
                    self._wrong(row, f"port {end[1]} of {end[0]} is also in row {other.number}")
            wire = (*ends[0], *ends[1])
            self.wires[wire] = profile
            for (device, port), (far, far_port) in (ends, ends[::-1]):
                if device in self.devices:
                    text = f"{far}:{far_port}" if far not in self.devices else f"{far} {far_port}"
                    self._interface(self.devices[device], port, row).description = self._at(text, row)

    # values of all switches

    def _settings(self, facts: Facts, settings: Mapping[str, str], releases: Mapping[str, str]) -> None:
        function = self.nodes[facts.name]["function"]
        if NUMBER.fullmatch(asn := settings.get("bgp_asn", "")) and self._routes(facts.name):
            facts.bgp[""] = Bgp(vrf="", line=0, file=str(self.path), asn=self._at(int(asn)))
        release = next((its for name, its in releases.items() if name and function.startswith(name)), "")
        lines = [_words()["release"].format(facts.name, release)] if release else []
        stated = {name: text for name, text in _words()["statements"].items() if "'" not in settings.get(name, "'")}
        lines += [text.format(settings[name]) for name, text in stated.items()] if self._routes(facts.name) else []
        facts.texts = {_words()["text"]: "\n".join([*lines, ""])} if lines else {}
        facts.services = Services(
            ntp=[self._at(name) for name in re.split(r"[,\s]+", settings.get("ntp_servers", "")) if name],
            ldap=[self._at(name) for name in re.split(r"[,\s]+", settings.get("ldap_servers", "")) if name]
            if settings.get("ldap_enabled", "").lower() == "yes"
            else [],
        )
        if mac := settings.get("anycast_mac"):
            facts.anycast_mac = self._at(mac.lower())

    def _routes(self, name: str) -> bool:
        """Whether a switch has gateways and tunnels."""
        return re.fullmatch(_words()["tiers"], self.nodes[name]["function"]) is not None

    def _networks(self, rows: Rows, settings: Mapping[str, str]) -> None:
        """VLANs, VRFs, profiles of ports and DHCP servers, tables below each other."""
        title = _words()["sheets"]["networks"]
        marks = {"vlan id", "vrf name", "vrf", "profile", "server ip"}
        heads = [at for at, row in enumerate(rows) if row and row[0].lower() in marks]
        parts = {rows[at][0].lower(): (at, end) for at, end in zip(heads, [*heads[1:], len(rows)], strict=True)}
        tables = {name: list(_table(title, rows[at:end], name, first=at + 1)) for name, (at, end) in parts.items()}
        profiles = {row.cells["profile"].lower(): row for row in tables.get("profile", ()) if row.cells.get("profile")}
        relays = {
            row.cells.get("vrf", ""): re.findall(r"[\d.]+", row.cells["server ip"]) for row in tables.get("server ip", ())
        }
        for name, facts in self.devices.items():
            if self._routes(name):
                for row in [*tables.get("vrf name", ()), *tables.get("vrf", ())]:
                    self._vrf(facts, row)
                self._leaks(facts)
                for row in tables.get("vlan id", ()):
                    self._vlan(facts, row, relays)
        for (a, a_port, b, b_port), profile in self.wires.items():
            row = profiles.get(profile.lower())
            for device, port, far in ((a, a_port, b), (b, b_port, a)) if row else ():
                if device in self.devices and row is not None:
                    self._port(device, port, far, row)
        for name, facts in self.devices.items():
            if self._routes(name):
                self._panel(facts, settings)

    def _vrf(self, facts: Facts, row: _Row) -> None:
        name = row.cells.get("vrf name") or row.cells.get("vrf", "")
        if name and NUMBER.fullmatch(vni := row.cells.get("l3 vni", "")):
            vlan = row.cells.get("vlan", "")
            facts.vrfs[name] = Vrf(
                name=name,
                line=row.number,
                file=str(self.path),
                vni=self._at(int(vni), row),
                vlan=self._at(int(vlan), row) if NUMBER.fullmatch(vlan) else None,
            )

    def _leaks(self, facts: Facts) -> None:
        """Routes that tables exchange: no sheet has them, the generator writes them."""
        shared = [name for name in facts.vrfs if name not in (_words()["exit"], _words()["alone"])]
        for name in shared if _words()["exit"] in facts.vrfs else ():
            facts.vrfs[name].leaks.append(self._at(_words()["exit"]))
            facts.vrfs[_words()["exit"]].leaks.append(self._at(name))

    def _panel(self, facts: Facts, settings: Mapping[str, str]) -> None:
        """Every cage of a switch with as many as the settings have, and those that give their lanes to others."""
        ports, pattern = settings.get("num_physical_ports", ""), _words()["port"]
        parts = {cage(facts.nos, name) for name in facts.interfaces}
        for name in map(pattern.format, range(1, int(ports) + 1 if NUMBER.fullmatch(ports) else 1)):
            if name not in parts:
                self._interface(facts, name)
        for name in map(pattern.format, re.findall(r"\d+", settings.get("disabled_ports", ""))):
            facts.cages[name] = Cage(name=name, line=0, file=str(self.path), ports=self._at(0))

    def _vlan(self, facts: Facts, row: _Row, relays: Mapping[str, Sequence[str]]) -> None:
        if not NUMBER.fullmatch(text := row.cells.get("vlan id", "")):
            return
        vlan = int(text)
        stated = row.cells.get("vni", "")
        vni = int(stated) if NUMBER.fullmatch(stated) else vlan + int(_words()["vni_offset"])
        facts.vnis[vni] = Vni(number=vni, line=row.number, file=str(self.path), vlan=self._at(vlan, row))
        interface = self._interface(facts, self._idiom.svi.format(vlan), row)
        if vrf := row.cells.get("vrf", ""):
            interface.vrf = self._at(vrf, row)
        clients = [name.strip() for name in row.cells.get("dhcp relay client", "").split(",")]
        interface.relays += [self._at(server, row) for name in clients for server in relays.get(name, ())]
        gateway, subnet = row.cells.get("gateway", ""), row.cells.get("subnet", "")
        if gateway and "/" in subnet:
            interface.gateways.append(self._at(f"{gateway.partition('/')[0]}/{subnet.partition('/')[2]}", row))

    def _port(self, device: str, name: str, far: str, row: _Row) -> None:
        facts, mode = self.devices[device], row.cells.get("port mode", "").lower()
        interface = own = self._interface(facts, name)
        between = far in self.devices and self._routes(device) and self._routes(far)
        if row.cells.get("lacp bypass") and mode in ("access", "trunk") and not between:
            own = self._bond(facts, interface, row)
        native = row.cells.get("native/access vlan", "")
        if mode in ("access", "trunk") and NUMBER.fullmatch(native) and not between:
            own.access = self._at(int(native), row)
        if mode == "trunk" and not between:
            vlans = re.findall(r"\d+", row.cells.get("allowed vlans", ""))
            own.trunk = [self._at(int(vlan), row) for vlan in vlans if vlan != native]
        if mode == "l3" or between:
            interface.link_local = True
            if vrf := row.cells.get("vrf", ""):
                interface.vrf = self._at(vrf, row)
                self._session(facts, name, far, row)
        if match := re.fullmatch(r"(\d+)\s*g(?:b/?s|bps)?", row.cells.get("speed", "").lower()):
            interface.speed_gbps = self._at(int(match[1]), row)
        split = row.cells.get("breakout", "")
        if NUMBER.fullmatch(split) and (of := cage(facts.nos, name)) != name:
            facts.cages[of] = Cage(name=of, line=row.number, file=str(self.path), ports=self._at(int(split), row))

    def _bond(self, facts: Facts, port: Interface, row: _Row) -> Interface:
        """The bond of a port, which both switches of a pair have on the same port."""
        name = self._idiom.bond.format("-" + port.name)
        bond = self._interface(facts, name, row)
        port.bond = self._at(name, row)
        bond.fallback = self._at(row.cells["lacp bypass"].lower() == "yes", row)
        return bond

    def _session(self, facts: Facts, port: str, far: str, row: _Row) -> None:
        """A session with a router at a port of a table."""
        vrf = row.cells["vrf"]
        if far in self.devices:
            return
        process = facts.bgp.setdefault(vrf, Bgp(vrf=vrf, line=row.number, file=str(self.path)))
        process.asn = facts.bgp[""].asn if "" in facts.bgp else None
        external: Located[int | str] = Located("external", row.number, str(self.path))
        process.neighbors[port] = Neighbor(
            vrf=vrf, peer=port, line=row.number, file=str(self.path), remote_as=external, interface=True
        )

    def _loopback(self, row: _Row) -> None:
        facts = self.devices.get(row.cells.get("switch", ""))
        address = next((row.cells[head] for head in ("default", "lo", "loopback") if row.cells.get(head)), "")
        if facts is not None and address:
            text = address if "/" in address else f"{address}/32"
            self._address(facts, self._idiom.loopback, text, row)
            if facts.vnis:
                facts.vtep = self._at(text.partition("/")[0], row)


def _below(rows: Rows, head: str) -> Rows:
    """The rows behind the one that begins with a head."""
    at = next((at for at, row in enumerate(rows) if row and row[0].lower() == head), len(rows))
    return rows[at + 1 :]


def _table(sheet: str, rows: Rows, *heads: str, first: int = 1) -> Iterator[_Row]:
    """The rows below the one whose cells have one of some heads."""
    at = next((at for at, row in enumerate(rows) if {cell.lower() for cell in row} & set(heads)), None)
    if at is None:
        return
    names = [cell.lower() for cell in rows[at]]
    for number, row in enumerate(rows[at + 1 :], first + at + 1):
        if any(row):
            yield _Row(sheet, number, {name: cell for name, cell in zip(names, row, strict=False) if name})
