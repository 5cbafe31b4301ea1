"""Servers and their leaves: the files of a server compared with those of its leaves, one cable at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from fabric.audit.checks.finding import Finding
from fabric.audit.checks.registry import run
from fabric.audit.checks.servers import Server, ServerCheck, of_server
from fabric.base.rounding import ceil_div
from fabric.configs.hosts.leaf_side import end_of
from fabric.configs.hosts.mismatches import DAMAGED, HostFiles, SwitchEnd, disagreements as of_host
from fabric.configs.hosts.view import hosts, sides
from fabric.model.facts import Facts
from fabric.model.plan import SERVER, Plan, SwitchView
from fabric.nos.target import target

Ends: TypeAlias = dict[tuple[str, str], SwitchEnd]  # (server, its port) → the switch's end of the cable
ECHOED = frozenset(("FAB251", "FAB254", "FAB270", "FAB272", "FAB273", "FAB278"))  # wrong at the leaf: servers would repeat it
MOST = 256  # servers; their files differ in addresses alone


@dataclass(frozen=True)
class Sample:
    """The servers that are compared: all of them, or a spread of many."""

    servers: frozenset[str]
    of: int
    step: int = 1  # one server in so many

    @classmethod
    def of_site(cls, made: Plan, *, whole: bool = False) -> Sample:
        """`whole`: all servers, however many."""
        if not made.settings.output.hosts:
            return cls(frozenset(), 0)
        names = sorted({d.name for fabric in made.fabrics.values() for d in fabric.devices if d.role == SERVER})
        step = 1 if whole else ceil_div(len(names), MOST) or 1
        return cls(frozenset(names[::step]), len(names), step)

    @property
    def skipped(self) -> list[tuple[str, str]]:
        if len(self.servers) == self.of:
            return []
        return [
            (
                f"{self.of - len(self.servers)} of {self.of} servers",
                f"only 1 in {self.step} servers is compared with its leaves; use --all-servers to compare all",
            )
        ]


def ends(view: SwitchView, facts: Facts, sample: Sample) -> Ends:
    """The switch's end of the cables of the servers in the sample."""
    name = target(view.device.nos).port_name
    found: Ends = {}
    for port in view.ports:
        if port.kind == "server" and port.peer and port.peer.device.name in sample.servers:
            interface = facts.interfaces.get(name(view.model, port.ref, view.device.model))
            if interface is not None:
                found[port.peer.device.name, port.peer.port_name] = end_of(facts, interface)
    return found


def disagreements(
    plan: Plan, ends: Ends, files: Iterator[tuple[str, bytes]], look: Callable[[str, bytes], bytes], shown: str
) -> Iterator[Finding]:
    """What servers and leaves say differently. `look`: path, fresh file → what is to be judged, that or what lies there."""
    texts = {path: look(path, data).decode("utf-8", "replace") for path, data in files}
    by_server: dict[str, dict[str, SwitchEnd]] = {}
    for (server, port), end in ends.items():
        by_server.setdefault(server, {})[port] = end
    for host in hosts(sides(plan)):
        planned_host = by_server.get(host.name)
        paths = _paths(host.name, host.group)
        if planned_host is None or paths["60-fabric.yaml"] not in texts:  # of a fabric for controllers alone no file is made
            continue
        read = HostFiles(*(texts.get(path, "") for path in paths.values()))
        differs = Server(tuple(of_host(host, read, planned_host)), paths, shown)
        yield from (of_server(differs, one) for one in differs.found if one.id == DAMAGED)
        yield from run(ServerCheck, differs)


def _paths(host: str, group: str) -> Mapping[str, str]:
    shared = f"hosts/_groups/{group}"
    return {
        "60-fabric.yaml": f"hosts/{host}/60-fabric.yaml",
        "roce.sh": f"{shared}.roce.sh",
        "nccl.env": f"{shared}.nccl.env",
    }
