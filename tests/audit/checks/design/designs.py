"""Small sound plans, and ways to break them, for the tests of the checks of the plan.

A case is a base design and one change to it: lines of the intent, or columns of the finished plan. The base says nothing
with the case's id, the changed design says exactly what the case expects.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any

import numpy as np

from fabric.audit.checks import Check, Design, Finding
from fabric.audit.checks.base import checks
from fabric.audit.checks.design.base import FabricCheck
from fabric.base import source
from fabric.configs import targets
from fabric.design.intent.load import validate
from fabric.design.planner.resolve import resolve
from fabric.design.planner.site import plan_site
from fabric.model.plan import FabricPlan, Links
from fabric.model.plan.lock_file import Lock

BACKEND = """\
version: 1
site: dc1
catalog: {servers: {node: {gpus: 4, nics: {compute: {count: 4, speed_gbps: 400}}}}}
management: {ntp: [192.0.2.10, 192.0.2.11], syslog: 192.0.2.20}
fabrics:
  backend:
    nos: sonic
    servers: {model: node, count: 8, name: gpu}
    topology:
      switch: sn5600
      rails: 2
      unit: {servers: 4}
      leaf: {uplinks: {speed_gbps: 400}}
      spine: {min_count: 4}
    underlay: {mtu: 9216}
    overlay: {kind: evpn-vxlan}
    tenants:
      - {name: red, servers: gpu-0001..0005}
      - {name: blue, servers: gpu-0006..0008}
    qos: {}
"""
FRONT = """\
version: 1
site: dc1
catalog: {servers: {web: {gpus: 0, nics: {frontend: {count: 1, ports: 2, speed_gbps: 100}}}}}
management: {ntp: [192.0.2.10, 192.0.2.11], syslog: 192.0.2.20}
fabrics:
  front:
    purpose: frontend
    nos: eos
    servers: {model: web, count: 8, name: web, per_rack: 4}
    topology:
      switch: 7050cx3-32s
      dual_tor: true
      attachments: [{name: wan, links: 2, external: {asn: 65010}}]
    overlay: {kind: evpn-vxlan}
    tenants:
      - {name: red, servers: web-0001..0005, networks: [{name: login, gateway: 10.20.0.0/24}]}
      - {name: blue, servers: web-0006..0008, networks: [{name: login, gateway: 10.30.0.0/24}]}
"""
PODS = """\
version: 1
site: dc1
catalog: {servers: {node: {gpus: 4, nics: {compute: {count: 4, speed_gbps: 400}}}}}
fabrics:
  backend:
    nos: frr
    servers: {model: node, count: 8, name: gpu}
    topology:
      switch: 32x400g
      tiers: 3
      unit: {servers: 2}
      pods: {units: 2}
      leaf: {oversubscription: 1}
    underlay: {addressing: ipv4}
"""
PLANES = """\
version: 1
site: dc1
catalog: {servers: {tray: {gpus: 2, nics: {compute: {count: 2, ports: 2, speed_gbps: 400}}}}}
fabrics:
  backend:
    nos: frr
    servers: {model: tray, count: 8, name: tray}
    topology: {switch: 32x400g, planes: 2, unit: {servers: 4}}
"""

Edit = tuple[str, str]
Change = Callable[[Design], Design]


@dataclass(frozen=True)
class Case:
    """What breaks a design, and the words about it; the usual hint of the check is added unless a line brings its own."""

    base: str
    change: Edit | Change
    says: Sequence[str]


Cases = Mapping[tuple[str, str], Case]


@cache
def design(text: str, fabric: str = "") -> Design:
    """The design of an intent's first fabric, or of the one named."""
    parsed = source.parse(text, "intent.yaml")
    site = validate(parsed)
    plan = plan_site(spec := resolve(site, parsed), Lock(), targets.choose(spec.fabrics))
    return Design(plan, plan.fabrics[fabric or next(iter(plan.fabrics))])


def changed(case: Case) -> Design:
    """The design that a case speaks of."""
    if callable(case.change):
        return case.change(design(case.base))
    old, new = case.change
    assert case.base.count(old) == 1, old
    return design(case.base.replace(old, new))


def found(id_: str, about: Design) -> list[Finding]:
    """What the check of that id says."""
    return [finding for check in checks(FabricCheck) if check.id == id_ for finding in check.run(about)]


def verify(key: tuple[str, str], case: Case) -> None:
    """The base passes; the changed design says exactly what the case expects, at the place of the key to fix."""
    assert found(key[0], design(case.base)) == []
    remediation = Check.registry[key[0]].remediation
    expected = [line if "\n" in line else f"{line}\n    hint: {remediation}" for line in case.says]
    assert [str(finding) for finding in found(key[0], changed(case))] == expected


# --- ways to break a finished plan ---------------------------------------------------------------------------


def alter(about: Design, **values: Any) -> Design:
    """The design with other columns."""
    fabric: FabricPlan = replace(about.fabric, **values)
    plan = replace(about.plan, fabrics={**about.plan.fabrics, fabric.name: fabric})
    return Design(plan, fabric)


def at(about: Design, name: str) -> int:
    """Index of a device."""
    return about.fabric.by_name[name].index


def links(about: Design, one: str, other: str) -> list[int]:
    """The links from a lower device to an upper one."""
    columns = about.fabric.links
    both = (columns.a == at(about, one)) & (columns.b == at(about, other))
    assert both.any(), (one, other)
    return [int(row) for row in np.flatnonzero(both)]


def relink(about: Design, row: int, **values: int) -> Design:
    """One link with other ends, ports or another speed."""
    columns = {item.name: getattr(about.fabric.links, item.name).copy() for item in fields(Links)}
    for name, value in values.items():
        columns[name][row] = value
    return alter(about, links=Links(**columns))


def unlink(about: Design, rows: Sequence[int]) -> Design:
    """Without some links."""
    fabric = about.fabric
    kept = np.setdiff1d(np.arange(len(fabric.links)), rows)
    columns = Links(**{item.name: getattr(fabric.links, item.name)[kept] for item in fields(Links)})
    tenants = replace(fabric.tenancy, owner=fabric.tenancy.owner[kept], lag=fabric.tenancy.lag[kept])
    return alter(about, links=columns, subnet=fabric.subnet[kept], tenancy=tenants)


def redevice(about: Design, name: str, **values: Any) -> Design:
    """One device with other fields."""
    devices = list(about.fabric.devices)
    devices[at(about, name)] = replace(devices[at(about, name)], **values)
    return alter(about, devices=tuple(devices))


def put(array: Any, index: int, value: object) -> Any:
    """A copy of a column with another value in one place."""
    copy = array.copy()
    copy[index] = value
    return copy


def tenancy(about: Design, **values: Any) -> Design:
    """Other tenants."""
    return alter(about, tenancy=replace(about.fabric.tenancy, **values))


def retenant(about: Design, place: int, **values: Any) -> Design:
    """One tenant with other numbers."""
    tenants = list(about.fabric.tenancy.tenants)
    tenants[place] = replace(tenants[place], **values)
    return tenancy(about, tenants=tuple(tenants))


def role(about: Design, which: str, **values: Any) -> Design:
    """The lossless class of one role with other figures; `qos` and `buffer` name those of its classes and its buffer."""
    assert about.fabric.lossless is not None
    roles = dict(about.fabric.lossless.roles)
    key = next(key for key in roles if key[0] == which)
    qos, buffer = values.pop("qos", {}), values.pop("buffer", {})
    old = roles[key]
    roles[key] = replace(old, qos=replace(old.qos, **qos, buffer=replace(old.qos.buffer, **buffer)), **values)
    return alter(about, lossless=replace(about.fabric.lossless, roles=roles))
