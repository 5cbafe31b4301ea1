"""LLDP that contradicts itself: two devices with one name, two ports that receive one port. No one is sent to lay a cable."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from fabric.audit.cabling.compare import verify
from fabric.audit.cabling.finding import CableFault, CablingState
from fabric.audit.cabling.report import report
from fabric.nos.lldp import Neighbor
from tests.audit.cabling.helpers import SWITCHES, end, fresh, kinds, links, reported, site, verdict
from tests.audit.cabling.lldp_writers import WRITERS, Ear, Floor, write

LEAF = "backend-leaf001"


@dataclass
class Renamed(Floor):
    """Devices that call themselves otherwise."""

    called: dict[str, str] = field(default_factory=dict)

    def ears(self, device: str) -> Iterator[Ear]:
        yield from (replace(ear, system=self.called.get(ear.system, ear.system)) for ear in super().ears(device))


def of_role(floor: Floor, role: str) -> list[str]:
    """Devices of a role, in the order of the plan."""
    return [name for name, at in zip(floor.plan.hosts.names, floor.plan.roles, strict=True) if at == role]


def neighbors(floor: Floor, device: str) -> set[str]:
    return {floor.plan.hosts.names[floor.plan.device[at ^ 1]] for at in floor.ends[device]}


@pytest.mark.parametrize("name", WRITERS)
def test_a_cloned_server(name: str, tmp_path: Path) -> None:
    """Every network OS: the leaves receive the first server on the ports of the second too."""
    intent, writer = WRITERS[name]
    floor = Renamed(links(intent))
    servers = of_role(floor, "server")
    first = servers[0]
    second = next(other for other in servers[1:] if neighbors(floor, other) == neighbors(floor, first))
    floor.called[second] = first
    write(tmp_path, floor, writer)
    found, _ = verify(site(intent), [tmp_path])
    assert kinds(found) == ["duplicate-name"]
    finding = found.findings[0]
    assert {a.device for a, _ in finding.links} == {second}
    assert len(finding.links) == len(floor.ends[second])
    assert found.as_planned == len(floor.plan) - len(finding.links)
    assert (finding.at.device, [move.action for move in finding.moves]) == (second, ["check"])
    assert "lay" not in finding.moves[0].text


@pytest.mark.parametrize("name", ["ai-eos", "ai-junos", "ai-sonic"])
def test_a_cloned_leaf(name: str) -> None:
    floor = Renamed(links(name))
    first, second = [leaf for leaf in of_role(floor, "leaf") if leaf.startswith("backend")][:2]
    floor.called[second] = first
    messages = reported(floor, ("spine",))
    found = verdict(floor, messages)
    assert set(kinds(found)) == {"duplicate-name"}
    assert {finding.at.device for finding in found.findings} == {second}


def replace_at(floor: Floor, neighbors: list[Neighbor], port: int, **changes: str) -> None:
    at = next(at for at, item in enumerate(neighbors) if item.port == floor.plan.port_name[port])
    neighbors[at] = replace(neighbors[at], **changes)


def only(found: CablingState) -> CableFault:
    assert len(found.findings) == 1, [finding.message for finding in found.findings]
    return found.findings[0]


@pytest.mark.parametrize(("name", "port"), [("ai-junos", "et-0/0/"), ("ai-eos", "Ethernet"), ("starter", "Ethernet")])
@pytest.mark.parametrize("both", [False, True])
def test_two_ports_receive_one_port(name: str, port: str, both: bool) -> None:
    """`both`: the spine reports as well, and receives both leaf ports as planned: the only fault is the leaf's entry."""
    floor = fresh(name)
    plan = floor.plan
    spine = next(at for at in of_role(floor, "spine") if at.startswith("backend"))
    mine = [at ^ 1 for at in floor.ends[spine] if plan.device[at ^ 1] == plan.hosts.names.index(LEAF)][:2]
    messages = reported(floor, SWITCHES if both else ("leaf",))
    replace_at(floor, messages.devices[plan.device[mine[0]]].neighbors, mine[1], far_port=plan.port_name[mine[0] ^ 1])
    finding = only(verdict(floor, messages))
    if both:
        assert finding.kind == "one-way"
        return
    assert finding.kind == "contradiction"
    assert [(a.port, b.port) for a, b in finding.links] == [(plan.label[mine[1]], plan.label[mine[1] ^ 1])]
    names = [f"{LEAF} port {plan.label[at]} ({plan.port_name[at]})" for at in (mine[1], mine[0])]
    assert finding.message.startswith(f"{names[0]} and {names[1]} both report {spine} port ")
    assert finding.moves[0].action == "check"
    assert port in finding.message


def test_nothing_speaks_for_either_port() -> None:
    """Both ports are planned to other neighbors: neither is believed, and no cable is moved on such a word."""
    floor = fresh("ai-eos")
    plan = floor.plan
    ports = [at for at in floor.ends[LEAF] if plan.roles[plan.device[at ^ 1]] == "server"]
    claimed = ports[-1] ^ 1
    who, what = plan.hosts.names[plan.device[claimed]], plan.label[claimed]
    messages = reported(floor, ("leaf",))
    switch = messages.devices[plan.device[ports[0]]]
    for port in ports[:2]:
        replace_at(floor, switch.neighbors, port, system=who, far_port=what)
    switch.neighbors[:] = [item for item in switch.neighbors if item.port != plan.port_name[ports[-1]]]
    found = verdict(floor, messages)
    assert "contradiction" in kinds(found) or "duplicate-name" in kinds(found)
    assert not {"wrong-port", "wrong-device", "swapped"} & set(kinds(found))
    assert not any(move.action in ("move", "remove") for finding in found.findings for move in finding.moves)


def test_a_cloned_server_that_sends_mac_addresses() -> None:
    """Its name is all that is known: the first server has no port left that the extra ones could be."""
    floor = Renamed(links("ai-eos"))
    servers = of_role(floor, "server")
    floor.called[servers[1]] = servers[0]
    messages = reported(floor, ("leaf",))
    for switch in messages.devices.values():
        switch.neighbors[:] = [
            replace(item, far_port=item.chassis) if item.system.startswith(servers[0].rpartition("-")[0]) else item
            for item in switch.neighbors
        ]
    found = verdict(floor, messages)
    assert kinds(found) == ["duplicate-name"]
    assert {a.device for a, _ in found.findings[0].links} == {servers[1]}


def test_a_port_that_the_plan_does_not_use() -> None:
    floor = fresh("ai-eos")
    plan = floor.plan
    port = end(plan, f"{LEAF} 1/1") if f"{LEAF} 1/1" in map(plan.name, range(len(plan.device))) else floor.ends[LEAF][0]
    messages = reported(floor, ("leaf",))
    switch = messages.devices[plan.device[port]]
    reported_ports = next(item for item in switch.neighbors if item.port == plan.port_name[port])
    switch.neighbors.append(
        replace(reported_ports, port="Ethernet64/1" if plan.port_name[port] != "Ethernet64/1" else "Ethernet63/1")
    )
    used = {plan.port_name[at] for at in floor.ends[LEAF]}
    if switch.neighbors[-1].port in used:
        pytest.skip("every port of the leaf has a cable")
    finding = only(verdict(floor, messages))
    assert (finding.kind, finding.links) == ("contradiction", ())
    assert "the plan has no cable at the first" in finding.message


@pytest.mark.parametrize("form", ["text", "json", "csv", "junit"])
def test_every_format_has_the_kind(form: str) -> None:
    floor = Renamed(links("ai-eos"))
    servers = of_role(floor, "server")
    floor.called[servers[1]] = servers[0]
    text = report(form, verdict(floor, reported(floor, ("leaf",))))
    assert "duplicate-name" in text or "two devices with one name" in text
    assert servers[1] in text
