"""The plan as a catalog of tests for ANTA, with the inventory of the switches: `anta nrfu -i inventory.yml -c catalog.yml`.

Every test has the name of its switch as tag, which ANTA gives each device by itself. The tests come from the network OS.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from ipaddress import ip_address
from typing import Any

from fabric.audit.checks.finding import Subject
from fabric.audit.checks.planned import planned_ports
from fabric.audit.checks.rows import Key
from fabric.audit.verify.sessions import OVERLAY, TENANT, UNDERLAY
from fabric.audit.verify.site import Site, Switch
from fabric.base.formats import yaml
from fabric.model.plan import Plan
from fabric.nos.state.records import Expected, ExpectedPort, ExpectedSession, Tests
from fabric.nos.target import installed

# --- expected state of each switch ----------------------------------------------------------------------------

MAX_SWITCHES = 128  # switches of a fabric whose routes are listed: each has a route to every other one


def expected(site: Site, switch: Switch) -> Expected:
    """The expected state of one switch."""
    view, nos = switch.view, installed(switch.view.device.nos)
    assert nos is not None
    used = {one.name for one in switch.ports.values()}
    every = [nos.port_name(view.model, port.ref, view.device.model) for port in view.ports]
    vnis: dict[int, int | str] = {network.vni: network.vlan for network in view.networks}
    vnis |= {vrf.vni: switch.vrf(vrf.name) for vrf in view.vrfs if vrf.vni is not None}
    overlay = view.overlay is not None and view.overlay.vtep is not None
    return Expected(
        ports=tuple(_ports(switch)),
        unused=tuple(name for name in every if name not in used),
        sessions=tuple(_sessions(switch)),
        hold_s=view.underlay.hold_s,
        keepalive_s=view.underlay.keepalive_s,
        mtu=view.underlay.mtu,
        lossless_priority=view.qos.priority if view.qos else None,
        routes=dict(_routes(site, switch)) if len(site.fabrics[view.fabric]) <= MAX_SWITCHES else {},
        vnis=vnis if overlay else {},
        vteps=tuple(_vteps(site, switch)) if overlay else (),
        vtep_interface=nos.idiom.vtep if nos.idiom is not None else "",
    )


def _ports(switch: Switch) -> Iterator[ExpectedPort]:
    rows = planned_ports(switch.view)
    for one in switch.ports.values():
        mtu = rows.get(Key("mtu", Subject(one.name)), 0)
        routed = bool(one.port.address) and not one.port.bridged and not one.port.lag
        yield ExpectedPort(
            name=one.name,
            speed_gbps=one.port.ref.speed_gbps,
            mtu=mtu if isinstance(mtu, int) and not one.port.bridged and not one.port.lag else 0,
            address=one.port.address or "" if routed else "",
            far_device=one.far_device,
            far_port=one.far_port,
        )


def _sessions(switch: Switch) -> Iterator[ExpectedSession]:
    for end in switch.sessions:
        family = "evpn" if end.kind == OVERLAY else "ipv6" if ":" in end.peer else switch.view.underlay.family
        bfd = switch.view.underlay.bfd and end.kind in (UNDERLAY, TENANT)
        yield ExpectedSession(end.peer, end.peer == end.interface, end.vrf, family, bfd)


def _routes(site: Site, switch: Switch) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Next hops by address; a fabric without addresses on its links has none to list."""
    paths = site.paths[switch.view.fabric]
    row = paths.index[switch.name]
    ends = [end for end in switch.sessions if end.kind == UNDERLAY]
    if any(end.peer == end.interface for end in ends):
        return
    for other in site.fabrics[switch.view.fabric]:
        column = paths.index[other.name]
        hops = [end.peer for end in ends if paths.leads(row, paths.index[end.peer_node], column)]
        if other is not switch and hops and len(hops) <= switch.view.underlay.max_paths:
            yield from ((prefix, tuple(hops)) for prefix in other.originates if prefix not in other.view.aggregates)


def _vteps(site: Site, switch: Switch) -> Iterator[str]:
    own = {network.vni for network in switch.view.networks}
    for other in site.fabrics[switch.view.fabric]:
        overlay = other.view.overlay
        if other is not switch and overlay and overlay.vtep and own & {network.vni for network in other.view.networks}:
            yield overlay.vtep


# --- catalog --------------------------------------------------------------------------------------------------

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
