"""`fabric cabling verify` on what ibnetdiscover, iblinkinfo and UFM report: as planned, and with planted mistakes."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from fabric.audit.cabling.compare import verify
from fabric.audit.cabling.finding import CablingState
from fabric.base.diagnostics import InputError
from fabric.configs.infiniband.files import Managed
from tests.configs.infiniband.designs import plan, subnets

End = tuple[int, int]  # place of a node in the subnet, port


@dataclass
class Wired:
    """The cables of a subnet, as they are laid."""

    managed: Managed
    peers: dict[End, End] = field(default_factory=dict)
    speeds: dict[End, int] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)

    @classmethod
    def of(cls, name: str, at: int = 0) -> Wired:
        managed = subnets(name)[at]
        its = cls(managed, dict(managed.subnet.peers))
        its.names = {place: node.name for place, node in enumerate(managed.subnet.nodes)}
        for cable in managed.subnet.cables:
            its.speeds[cable.a, cable.a_port] = its.speeds[cable.b, cable.b_port] = cable.speed_gbps
        return its

    def find(self, name: str) -> int:
        return next(at for at, node in enumerate(self.managed.subnet.nodes) if node.name == name)

    def cut(self, end: End) -> None:
        del self.peers[self.peers.pop(end)]

    def swap(self, one: End, other: End) -> None:
        """The far ends of two ports change places."""
        far, other_far = self.peers[one], self.peers[other]
        for a, b in ((one, other_far), (other, far)):
            self.peers[a], self.peers[b] = b, a

    def guid(self, at: int) -> str:
        return f"{self.managed.guids.of[at].node:016x}"

    def lanes(self, end: End) -> str:
        return {200: "4xHDR", 400: "4xNDR", 800: "4xXDR"}[self.speeds[end]]

    # --- formats ---------------------------------------------------------------------------------------------------

    def netdiscover(self) -> str:
        lines = ["#", "# Topology file: generated on Fri Nov 27 20:19:55 2026", "#"]
        for at, node in enumerate(self.managed.subnet.nodes):
            kind, letter = ("Switch", "S") if node.switch else ("Ca", "H")
            lines += ["", "vendid=0x2c9", f"{'switch' if node.switch else 'ca'}guid=0x{self.guid(at)}({self.guid(at)})"]
            lines.append(f'{kind}\t{node.ports} "{letter}-{self.guid(at)}"\t\t# "{self.names[at]}"')
            for (place, port), (far, far_port) in sorted(self.peers.items()):
                if place == at:
                    far_letter = "S" if self.managed.subnet.nodes[far].switch else "H"
                    what = f'# "{self.names[far]}" lid 7 {self.lanes((place, port))}'
                    lines.append(f'[{port}]\t"{far_letter}-{self.guid(far)}"[{far_port}] \t\t{what}')
        return "\n".join(lines) + "\n"

    def linkinfo(self, line: bool = True) -> str:
        lines = []
        for at, node in enumerate(self.managed.subnet.nodes):
            if not node.switch:
                continue
            lines += [] if line else [f"Switch: 0x{self.guid(at)} {self.names[at]}:"]
            for port in range(1, node.ports + 1):
                head = f'0x{self.guid(at)} "{self.names[at]:>30}"' if line else "      "
                far = self.peers.get((at, port))
                if far is None:
                    lines.append(f'{head}   13   {port:2}[  ] ==(                Down/ Polling)==>             [  ] "" ( )')
                    continue
                rate = {200: 53.125, 400: 106.25, 800: 212.5}[self.speeds[at, port]]
                mark = f"0x{self.guid(far[0])} " if line else ""
                there = f'{mark}   69   {far[1]:2}[  ] "{self.names[far[0]]}" ( )'
                lines.append(f"{head}   13   {port:2}[  ] ==( 4X         {rate} Gbps Active/  LinkUp)==>  {there}")
        return "\n".join(lines) + "\n"

    def ufm(self) -> str:
        rows = []
        for (at, port), (far, far_port) in sorted(self.peers.items()):
            node = self.managed.subnet.nodes[at]
            rows.append(
                {
                    "guid": self.guid(at),
                    "systemID": self.guid(at),
                    "name": f"{self.guid(at)}_{port}",
                    "number": port,
                    "system_name": node.device.name,
                    "node_description": f"{self.names[at]}:{port}" if node.switch else self.names[at],
                    "path": f"default / {'Switch' if node.switch else 'Computer'}: {node.device.name} / {port}",
                    "peer": f"{self.guid(far)}_{far_port}",
                    "peer_port_dname": str(far_port),
                    "active_speed": self.lanes((at, port))[2:],
                    "active_width": "4x",
                }
            )
        return json.dumps(rows)


FORMS = {
    "ibnetdiscover": Wired.netdiscover,
    "iblinkinfo -l": Wired.linkinfo,
    "iblinkinfo": lambda its: its.linkinfo(line=False),
    "ufm": Wired.ufm,
}


def verdict(name: str, text: str, tmp_path: Path, form: str = "") -> CablingState:
    file = tmp_path / "found.txt"
    file.write_text(text)
    found, warnings = verify(plan(name), [file], form=form)
    assert not [one for one in warnings if one.severity == "error"]
    return found


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["two-tiers", "partial", "three-tiers", "planes", "tenants"])
def test_as_planned(name: str, form: str, tmp_path: Path) -> None:
    found = verdict(name, FORMS[form](Wired.of(name)), tmp_path)
    assert found.findings == ()
    assert found.as_planned == len(subnets(name)[0].subnet.cables)


@pytest.mark.parametrize("form", FORMS)
def test_planted(form: str, tmp_path: Path) -> None:
    """Two swapped server cables, a leaf whose cables to one spine are missing, a slow link: each with its place."""
    its = Wired.of("two-tiers")
    leaf, other, spine = its.find("backend-leaf003"), its.find("backend-leaf005"), its.find("backend-spine002")
    its.swap((leaf, 1), (leaf, 2))
    for end, far in [*its.peers.items()]:
        if end[0] == other and far[0] == spine:
            its.cut(end)
    slow = next(end for end, far in its.peers.items() if end[0] == leaf and far[0] == spine)
    its.speeds[slow] = its.speeds[its.peers[slow]] = 200
    found = verdict("two-tiers", FORMS[form](its), tmp_path)
    assert found.counts == {"swapped": 1, "missing": 2, "wrong-speed": 1}
    places = {(fault.kind, fault.at.device, fault.at.port) for fault in found.findings}
    label = its.managed.subnet.port_label(*slow)
    assert ("wrong-speed", "backend-leaf003", label) in places
    missing = [fault for fault in found.findings if fault.kind == "missing"]
    assert all("backend-leaf005" in fault.message and "backend-spine002" in fault.message for fault in missing)
    (swapped,) = [fault for fault in found.findings if fault.kind == "swapped"]
    assert {end.device for link in swapped.links for end in link} == {"backend-leaf003", "dgx-h100-0001", "dgx-h100-0002"}


def test_switches_without_names_are_known_by_their_cables(tmp_path: Path) -> None:
    """With the names of servers alone, also where two cables are wrong."""
    its = Wired.of("two-tiers")
    leaf = its.find("backend-leaf003")
    its.swap((leaf, 1), (leaf, 2))
    its.names |= {at: "Quantum Mellanox Technologies" for at, node in enumerate(its.managed.subnet.nodes) if node.switch}
    found = verdict("two-tiers", its.netdiscover(), tmp_path)
    assert found.counts == {"swapped": 1}


def test_aggregation_nodes_of_switches_are_no_hosts(tmp_path: Path) -> None:
    text = Wired.of("two-tiers").netdiscover()
    guid = Wired.of("two-tiers").guid(0)
    name = "Mellanox Technologies Aggregation Node"
    text += f'\ncaguid=0x5\nCa\t1 "H-0000000000000005"\t\t# "{name}"\n[1]\t"S-{guid}"[41]\t# "x"\n'
    assert verdict("two-tiers", text, tmp_path).findings == ()


def test_a_cable_to_a_device_of_no_plan(tmp_path: Path) -> None:
    its = Wired.of("two-tiers")
    text = re.sub(r'"dgx-h100-0001 mlx5_0"', '"probe HCA-1"', its.netdiscover())
    at = its.guid(its.find("backend-leaf001"))
    text = text.replace(f'[1]\t"S-{at}"[1]', f'[1]\t"S-{at}"[9]')
    found = verdict("two-tiers", text, tmp_path)
    assert any("probe" in fault.message for fault in found.findings)


def test_another_network_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "other.txt"
    file.write_text('Switch\t64 "S-0c42a10300001000"\t# "other"\n[1]\t"H-946dae0300000000"[1]\t# "z mlx5_0"\n')
    with pytest.raises(InputError, match="none of its 2 nodes is in the plan"):
        verify(plan("two-tiers"), [file])


def test_only_that_source(tmp_path: Path) -> None:
    its = Wired.of("two-tiers")
    assert verdict("two-tiers", its.netdiscover(), tmp_path, "infiniband").findings == ()
    (tmp_path / "lldp.txt").write_text("nothing")
    with pytest.raises(InputError, match="expected output of ibnetdiscover"):
        verify(plan("two-tiers"), [tmp_path / "lldp.txt"], form="infiniband")
