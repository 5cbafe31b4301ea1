"""The BGP sessions beyond the underlay between addresses of ports: external connections, and VRF-lite on every fabric link.

A line for each end that is a switch of the plan, from the same view as its config. The settings of the external router are
those of the line of its border leaf, with the two sides exchanged.
"""

from __future__ import annotations

from collections.abc import Iterator

from fabric.base.formats import csv_text
from fabric.configs.port_names import PortNames
from fabric.configs.view_of import Views
from fabric.model.plan import Device, FabricPlan, Plan, Port, SwitchView
from fabric.nos.policy import Policy, external_policy, vrf_policy

SESSION_COLUMNS: tuple[str, ...] = (
    *("fabric", "kind", "device", "interface", "vlan", "vrf", "address", "asn"),
    *("peer", "peer_interface", "peer_address", "peer_asn", "prefixes_in", "prefixes_out"),
)
EXTERNAL, VRF_LITE = "external", "vrf-lite"

Row = tuple[object, ...]


def sessions_csv(plan: Plan) -> str:
    """Every session; "" where a site has none."""
    rows = list(sessions(plan))
    return csv_text(SESSION_COLUMNS, rows) if rows else ""


def sessions(plan: Plan) -> Iterator[Row]:
    """By fabric and switch; external connections first."""
    for fabric in plan.fabrics.values():
        everywhere = fabric.tenancy.kind == VRF_LITE
        borders = {int(fabric.links.b[connection.link]) for connection in fabric.tenancy.external_connections}
        if not (everywhere or borders) or not fabric.spec.ethernet:
            continue
        views, names = Views(plan, fabric), PortNames(fabric)
        for device in fabric.switches:
            if everywhere or device.index in borders:
                view = views.of(device)
                yield from _external_rows(fabric, view, names)
                yield from _vrf_rows(fabric, view, names)


def _external_rows(fabric: FabricPlan, view: SwitchView, names: PortNames) -> Iterator[Row]:
    for external in view.externals:
        policy, port_name = external_policy(view, external), names.port_name(view.device, external.port.ref)
        yield (
            *(
                fabric.name,
                EXTERNAL,
                view.device.name,
                _interface(port_name, external.tag),
                external.tag or "",
                external.vrf,
                external.address,
            ),
            *(view.device.asn, external.peer, "", external.peer_address, external.peer_asn),
            *(_prefixes(policy, policy.imports), _prefixes(policy, policy.exports)),
        )


def _vrf_rows(fabric: FabricPlan, view: SwitchView, names: PortNames) -> Iterator[Row]:
    for vrf in view.vrfs:
        if not vrf.sessions:
            continue
        policy = vrf_policy(view, vrf)
        both = _prefixes(policy, policy.imports), _prefixes(policy, policy.exports)
        for session in vrf.sessions:
            part = next(part for part in session.port.subinterfaces if part.tag == session.tag)
            port_name = names.port_name(view.device, session.port.ref)
            yield (
                *(fabric.name, VRF_LITE, view.device.name, _interface(port_name, part.tag), part.tag, vrf.name, part.address),
                *(view.device.asn, session.peer.name, _interface(_far(names, session.peer, session.port), part.tag)),
                *(part.peer_address, session.peer_asn, *both),
            )


def _far(names: PortNames, peer: Device, port: Port) -> str:
    return names.port_name(peer, port.peer.port) if port.peer is not None and port.peer.port is not None else ""


def _interface(name: str, tag: int) -> str:
    return f"{name}.{tag}" if name and tag else name


def _prefixes(policy: Policy, name: str) -> str:
    """The entries of a list: a prefix alone, or with those inside it up to the length `le`; `deny` before one refused."""
    return "; ".join(entry.rule for found in policy.lists if found.name == name for entry in found.entries)
