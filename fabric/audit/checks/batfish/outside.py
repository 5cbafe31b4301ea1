"""The routers outside, whose configuration is not ours: made up from the plan, so that the sessions with them can come up.

Each has a VRF a tenant, as it must have if it is not to join them, and in it tells what the border leaves accept. To tenants
of an overlay it tells nothing: Batfish takes a route that a VRF has by BGP out of it once it goes on as an EVPN route, and
would see a loop of two border leaves where there is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from ipaddress import ip_interface

from fabric.audit.checks.batfish.visibility import sees
from fabric.model.plan import External, SwitchView
from fabric.nos.batfish import FORMAT, VRF, Copy, routing, start

PORT = "swp"


@dataclass(frozen=True, slots=True)
class Session:
    """A session as the border leaf sees it, and what the router outside has of it."""

    interface: str
    border: External
    asn: int  # of the leaf
    tells: tuple[str, ...]  # prefixes


def outside_copies(views: Iterable[SwitchView]) -> Iterator[Copy]:
    """A Linux host for every external router; IPv4 only."""
    routers: dict[str, list[Session]] = {}
    ports: dict[str, dict[tuple[str, object], str]] = {}
    for view in views:
        for external in view.externals:
            if ":" in external.peer_address or (external.vrf and not sees(view.device.nos, VRF)):
                continue
            known = ports.setdefault(external.peer, {})
            port = known.setdefault((view.device.name, external.port.ref), f"{PORT}{len(known) + 1}")
            interface = f"{port}.{external.tag}" if external.tag else port
            tells = () if external.vrf and view.overlay else external.accepts
            routers.setdefault(external.peer, []).append(Session(interface, external, view.device.asn, tells))
    for name in sorted(routers):
        yield _router(name.lower(), routers[name])


def _router(name: str, sessions: list[Session]) -> Copy:
    writer = start(name, "")
    tables = sorted({session.border.vrf for session in sessions})
    for table in filter(None, tables):
        for line in (f"auto {table}", f"iface {table}", "    vrf-table auto"):
            writer.add(line)
    interfaces = {session.interface for session in sessions}
    for port in sorted({interface.partition(".")[0] for interface in interfaces} - interfaces):
        writer.add(f"iface {port}")
    for session in sessions:
        length = ip_interface(session.border.address).network.prefixlen
        writer.add(f"iface {session.interface}")
        writer.add(f"    address {session.border.peer_address}/{length}")
        if session.border.vrf:
            writer.add(f"    vrf {session.border.vrf}")
    routing(writer)
    for table in tables:
        for line in _table(table, [session for session in sessions if session.border.vrf == table]):
            writer.add(line)
    return writer.copy(f"configs/{name}.cfg", FORMAT)


def _table(table: str, sessions: list[Session]) -> Iterator[str]:
    """What it tells is what it has a route for, to nowhere."""
    if table:
        yield f"vrf {table}"
    for prefix in sorted({prefix for session in sessions for prefix in session.tells}):
        yield f"{' ' if table else ''}ip route {prefix} Null0"
    yield f"router bgp {sessions[0].border.peer_asn}" + (f" vrf {table}" if table else "")
    for session in sessions:
        yield f" neighbor {ip_interface(session.border.address).ip} remote-as {session.asn}"
    yield " address-family ipv4 unicast"
    yield "  redistribute static"
    yield " exit-address-family"
