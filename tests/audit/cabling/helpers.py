"""A site, its cables as they are laid, and what comes of comparing them."""

from __future__ import annotations

from functools import lru_cache

from fabric import pipeline
from fabric.audit.cabling.compare import compare
from fabric.audit.cabling.files import Collected, DeviceData
from fabric.audit.cabling.finding import CableFault, CablingState
from fabric.audit.cabling.planned import Planned, planned
from fabric.model.plan import Plan
from fabric.nos.lldp import LldpPort, Neighbor
from tests import ROOT
from tests.audit.cabling.lldp_writers import Ear, Floor

ALL = ("leaf", "spine", "core", "server", "attached")
SWITCHES = ("leaf", "spine", "core")


@lru_cache(maxsize=16)
def site(name: str) -> Plan:
    return pipeline.plan(pipeline.load(ROOT / "intent" / f"{name}.yaml"))


@lru_cache(maxsize=16)
def links(name: str) -> Planned:
    return planned(site(name))


def fresh(name: str) -> Floor:
    """The cables of an intent, laid as planned."""
    return Floor(links(name))


def end(plan: Planned, name: str) -> int:
    """`backend-leaf001 17` → its end; of a server in several fabrics `gpu-0001 compute1`."""
    found = [at for at in range(len(plan.device)) if plan.name(at) == name]
    assert len(found) == 1, (name, found)
    return found[0]


def reported(floor: Floor, roles: tuple[str, ...] = SWITCHES, *, states: bool = False) -> Collected:
    """What the switches of these roles say, without the way through files."""
    made, plan = Collected(), floor.plan
    for device, name in enumerate(plan.hosts.names):
        if plan.roles[device] not in roles:
            continue
        ears = list(floor.ears(name))
        switch = DeviceData([neighbor(ear) for ear in ears if ear.system], {}, True)
        if states:
            up = {ear.port: LldpPort(ear.port, ear.speed_gbps if ear.system else 0, bool(ear.system)) for ear in ears}
            switch.ports.update(up)
        made.devices[device] = switch
    return made


def neighbor(ear: Ear) -> Neighbor:
    return Neighbor(port=ear.port, system=ear.system, chassis=ear.mac, far_port=ear.far_port)


def verdict(floor: Floor, messages: Collected) -> CablingState:
    return compare(floor.plan, messages, lambda device: ("", 0), "dc1")


def kinds(found: CablingState) -> list[str]:
    return sorted(finding.kind for finding in found.findings)


def blamed(finding: CableFault) -> set[str]:
    """Planned links of a finding, by their lower end."""
    return {f"{a.device} {a.port}" for a, _ in finding.links}
