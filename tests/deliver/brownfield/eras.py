"""A workbook of NVIDIA's net-configurator as its guide describes it, with what configs and a topology file of a site have.

The workbooks of the published architectures are binary files; this one is made of the same site in the same form.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_interface
from pathlib import Path

import openpyxl  # type: ignore[import-untyped]

from fabric.audit.checks.ends import is_management
from fabric.deliver.brownfield.sources.topology import Wire
from fabric.model.facts import Facts, Interface
from fabric.nos.target import cage, target

Row = Sequence[object]
PROFILES = ("Profile", "Port Mode", "Native/Access VLAN", "Allowed VLANs", "VRF", "LACP Bypass", "Speed", "Breakout", "Lanes")
LANES = 8  # of a cage


@dataclass
class Book:
    """A workbook while it is made.

    Attributes:
        devices: switches, as their configs were read.
        wires: cables of the topology file.
        speeds: switch and port → Gb/s.
    """

    devices: Sequence[Facts]
    wires: Sequence[Wire]
    speeds: dict[tuple[str, str], int]
    profiles: dict[Row, str] = field(default_factory=dict)

    def save(self, path: Path) -> Path:
        """Writes the sheets."""
        wires = [self._wire(wire) for wire in self.wires]
        book = openpyxl.Workbook()
        book.remove(book.active)
        for title, rows in (
            ("Settings", list(self._settings())),
            ("Nodes", list(self._nodes())),
            ("VLANs & Profiles", list(self._networks())),
            ("Wire Map", [("System Name (A)", "Port (A)", "System Name (B)", "Port (B)", "Network Profile"), *wires]),
            ("Loopbacks", list(self._loopbacks())),
        ):
            sheet = book.create_sheet(title)
            for row in rows:
                sheet.append(list(row))
        book.save(path)
        return path

    @property
    def _cores(self) -> list[Facts]:
        return [facts for facts in self.devices if facts.vnis]

    def _settings(self) -> Iterator[Row]:
        core = self._cores[0]
        services, asn = core.services, core.bgp[""].asn
        off = [name for name, its in core.cages.items() if its.ports is not None and not its.ports.value]
        yield from (("Setting", "Value"), ("GENERAL", ""), ("site_name", "default"), ("NETWORK", ""))
        yield "bgp_asn", asn.value if asn else ""
        yield "disabled_ports", ",".join(name.removeprefix("swp") for name in off)
        yield "ntp_servers", ",".join(dict.fromkeys(its.value for its in services.ntp))
        yield from (("ldap_base_dn", "dc=example,dc=com"), ("ldap_root_dn", "cn=admin,ou=Users,dc=example,dc=com"))
        yield from (("timezone", "Etc/Zulu"), ("ldap_enabled", "Yes"))
        yield from (("ldap_servers", ",".join(dict.fromkeys(its.value for its in services.ldap))),)
        yield from (("anycast_mac", core.anycast_mac.value if core.anycast_mac else ""), ("num_physical_ports", 64))
        yield from (("Switch Function", "Version"), ("core", "5.13.0"), ("oob", "5.13.0"))

    def _nodes(self) -> Iterator[Row]:
        switches = {facts.name for facts in self.devices}
        yield "Function", "Name", "Type", "MAC Address for ZTP", "Mgmt IP Address", "Prefix", "Enabled"
        for name in sorted({end for a, _, b, _ in self.wires for end in (a, b)}):
            yield name, "", "switch" if name in switches else "node", "", "", "", "Yes"

    def _networks(self) -> Iterator[Row]:
        core = self._cores[0]
        svi = target("cumulus").idiom.svi  # type: ignore[union-attr]
        relays: dict[str, tuple[str, ...]] = {}
        yield from ((), ("VLAN ID", "Name", "Purpose", "Subnet", "Gateway", "VRF", "VNI", "DHCP Relay Client"))
        for number, vni in sorted(core.vnis.items()):
            vlan = vni.vlan.value if vni.vlan else 0
            its = core.interfaces[svi.format(vlan)]
            gateway, vrf = ip_interface(its.gateways[0].value), its.vrf.value if its.vrf else ""
            if its.relays:
                relays[vrf] = tuple(dict.fromkeys(one.value for one in its.relays))
            yield vlan, f"vlan{vlan}", "", str(gateway.network), str(gateway.ip), vrf, number, vrf if its.relays else "No"
        yield from ((), ("VRFs",), ("VRF Name", "Description", "L3 VNI", "VLAN"))
        for name, own in core.vrfs.items():
            yield name, "", own.vni.value if own.vni else "", own.vlan.value if own.vlan else ""
        yield from ((), ("Port Profiles",), PROFILES)
        yield from ((name, *row) for row, name in self.profiles.items())
        yield from ((), ("DHCP Relay",), ("Server IP", "VRF", "Upstream Interface"))
        yield from ((",".join(servers), vrf, "vlan3001_l3") for vrf, servers in relays.items())

    def _wire(self, wire: Wire) -> Row:
        """A row of the wire map, with the profile of the upper port."""
        by_name = {facts.name: facts for facts in self.devices}
        ends = [(wire[0], wire[1]), (wire[2], wire[3])]
        ends.sort(key=lambda end: (end[0] in by_name, bool(by_name[end[0]].vnis) if end[0] in by_name else False))
        if is_management(ends[1][1]):
            ends.reverse()
        profile = self._profile(by_name[ends[1][0]], ends[1][1], ends[0][0] in by_name) if ends[1][0] in by_name else ""
        return *ends[0], *ends[1], profile

    def _profile(self, facts: Facts, port: str, between: bool) -> str:
        its = facts.interfaces.get(port)
        if its is None:
            return ""
        bond = facts.interfaces.get(its.bond.value) if its.bond else None
        own = bond or its
        tagged = [vlan.value for vlan in own.trunk if own.access is None or vlan.value != own.access.value]
        table = next((one.vrf for one in (its, *_slices(facts, port)) if one.vrf), None)
        mode = "L3" if its.link_local or table else "Trunk" if tagged else "Access"
        split = facts.cages.get(cage(facts.nos, port))
        parts = split.ports.value if split is not None and split.ports is not None and cage(facts.nos, port) != port else 0
        bypass = ("Yes" if bond.fallback and bond.fallback.value else "No") if bond and facts.vnis else ""
        row: Row = (
            mode,
            own.access.value if own.access else "",
            ",".join(map(str, tagged)),
            table.value if table else "",
            bypass,
            f"{self.speeds[facts.name, port]}G" if (facts.name, port) in self.speeds else "",
            parts or "",
            LANES // parts if parts else "",
        )
        return self.profiles.setdefault(row, f"{'ISL' if between and mode == 'L3' else 'Profile'} {len(self.profiles) + 1}")

    def _loopbacks(self) -> Iterator[Row]:
        yield "Switch", "Default"
        for facts in self._cores:
            yield facts.name, facts.vtep.value if facts.vtep else ""


def _slices(facts: Facts, port: str) -> list[Interface]:
    return [its for name, its in facts.interfaces.items() if name.startswith(f"{port}.")]
