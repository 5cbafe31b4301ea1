"""The plan as a catalog of tests for ANTA, with the inventory of the switches: `anta nrfu -i inventory.yml -c catalog.yml`.

Every test has the name of its switch as tag, which ANTA gives each device by itself. The tests come from the network OS.
"""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any

from fabric.audit.verify.expected import expected
from fabric.audit.verify.site import Site, Switch
from fabric.base.formats import yaml
from fabric.model.plan import Plan
from fabric.nos.state.records import Tests
from fabric.nos.target import installed

HEAD = "# Site {}: made from its plan, do not edit\n"


def anta(plan: Plan) -> Mapping[str, str]:
    """`catalog.yml` and `inventory.yml`, of the switches whose network OS ANTA tests."""
    site = Site(plan, {})
    switches = [switch for switch in site.switches.values() if _catalog(switch) is not None]
    catalog: dict[str, list[dict[str, Any]]] = {}
    for switch in switches:
        for module, entries in _tests(site, switch).items():
            catalog.setdefault(module, []).extend(_tagged(entry, switch.name) for entry in entries)
    hosts = [_host(plan, switch) for switch in switches]
    head = HEAD.format(plan.site)
    return {
        "catalog.yml": head + yaml.dump_all([catalog]),
        "inventory.yml": head + yaml.dump_all([{"anta_inventory": {"hosts": hosts}}]),
    }


def _catalog(switch: Switch) -> Any:
    nos = installed(switch.view.device.nos)
    return nos.anta if nos is not None else None


def _tests(site: Site, switch: Switch) -> Tests:
    made: Tests = _catalog(switch).get()(expected(site, switch))
    return made


def _tagged(entry: dict[str, Any], name: str) -> dict[str, Any]:
    """A test for one switch alone."""
    ((test, inputs),) = entry.items()
    return {test: (inputs or {}) | {"filters": {"tags": [name]}}}


def _host(plan: Plan, switch: Switch) -> dict[str, Any]:
    device = switch.view.device
    address = ip_address(int(plan.fabrics[switch.view.fabric].management[device.index]))
    return {"host": str(address), "name": device.name, "tags": [switch.view.fabric, device.role]}
