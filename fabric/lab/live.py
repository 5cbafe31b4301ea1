"""A running lab: its daemons, its kernels' tables, sockets in its namespaces."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

from fabric.lab.blueprint import Blueprint, End, Interface, Node, Wire
from fabric.lab.machine import namespaces
from fabric.lab.machine.daemons import Silent, Vty
from fabric.lab.machine.host import Kernel
from fabric.lab.machine.namespaces import at_once, run
from fabric.lab.machine.wiring import Wiring


@dataclass(frozen=True, slots=True, order=True)
class Hop:
    """One next hop of a route in a kernel's table."""

    interface: str
    gateway: str  # "" where there is none


Table: TypeAlias = dict[str, frozenset[Hop]]  # prefix with its length → next hops


class Live:
    """One lab that is up."""

    def __init__(self, lab: Blueprint, kernel: Kernel) -> None:
        self.wiring = Wiring(lab, kernel)
        self.lab, self.kernel, self.names = self.wiring.lab, kernel, self.wiring.names

    # --- what is there ------------------------------------------------------------------------------------------

    @cached_property
    def switches(self) -> list[Node]:
        return [node for node in self.lab.nodes.values() if node.name in self.lab.views]

    @cached_property
    def wire_at(self) -> Mapping[End, Wire]:
        """The wire that ends at a port."""
        return {end: wire for wire in self.lab.wires for end in (wire.a, wire.b)}

    def far(self, node: str, interface: str) -> End | None:
        """The other end of the wire at a port, None where there is none."""
        wire = self.wire_at.get(End(node, interface))
        return wire.other(node) if wire else None

    def interface(self, end: End) -> Interface:
        return self.wiring.interfaces[end]

    def space(self, node: str, vrf: str = "") -> str:
        return self.wiring.namespace(node, vrf)

    # --- daemons ------------------------------------------------------------------------------------------------

    def ask(self, node: str, daemon: str, command: str) -> Any:
        """One question of a daemon, its JSON answer. Raises Silent."""
        with Vty(self.names.home(node), daemon) as vty:
            return vty.json(command)

    def ask_all(self, nodes: Iterable[str], daemon: str, command: str) -> dict[str, Any]:
        """One question of many daemons; None from those that do not answer."""

        def one(node: str) -> Any:
            try:
                return self.ask(node, daemon, command)
            except Silent:
                return None

        names = list(nodes)
        return dict(zip(names, at_once(one, names), strict=True))

    def order(self, node: str, daemon: str, command: str) -> None:
        """One command that changes something now and nothing in the config. Raises Silent."""
        with Vty(self.names.home(node), daemon) as vty:
            vty.ask("enable")
            vty.ask(command)

    def configure(self, node: str, daemon: str, *lines: str) -> None:
        """Enters lines into the running config of a daemon. Raises LabError."""
        with Vty(self.names.home(node), daemon) as vty:
            vty.configure(*lines)

    # --- kernels ------------------------------------------------------------------------------------------------

    def table(self, node: str, vrf: str = "", version: int = 4) -> Table:
        """What a kernel forwards by: the routes of one table, those of BGP and of its own links."""
        command = ["ip", "-j", f"-{version}", "-n", self.space(node, vrf), "route", "show"]
        if vrf and self.kernel.vrf_devices:
            command += ["vrf", vrf]
        text = run(*command, check=False).stdout
        return dict(_routes(json.loads(text) if text.strip() else [], version))

    def tables(self, nodes: Iterable[str], version: int = 4) -> dict[str, Table]:
        """The default tables of many."""
        wanted = list(nodes)
        return dict(zip(wanted, at_once(lambda node: self.table(node, "", version), wanted), strict=True))

    def sent(self, node: str) -> dict[str, int]:
        """Interface → packets that it has sent."""
        return {name: int(counters["tx"]["packets"]) for name, counters in self.counters(node).items()}

    def counters(self, node: str) -> dict[str, Any]:
        """Interface → `stats64` of `ip -s -s link`; what a tagged slice counts is included in its port, as on a switch."""
        counters_of: dict[str, Any] = {}
        for space in self.wiring.spaces(self.lab.nodes[node]):
            text = run("ip", "-j", "-s", "-s", "-n", space, "link", "show").stdout
            counters_of |= {row["ifname"]: row["stats64"] for row in json.loads(text or "[]") if "stats64" in row}
        parts = dict(counters_of)
        for name in parts:
            port = self.lab.port_of.get(End(node, name))
            if port is not None and port.node == node and port.interface != name and port.interface in counters_of:
                counters_of[port.interface] = _sum(counters_of[port.interface], parts[name])
        return counters_of

    def socket(self, node: str, vrf: str, *kind: int) -> socket.socket:
        """A socket that belongs to a node, in one of its VRFs; it does not block."""
        with namespaces.inside(self.space(node, vrf)):
            made = socket.socket(*kind)
        if vrf and self.kernel.vrf_devices:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, vrf.encode())
        made.setblocking(False)
        return made


def _sum(one: Any, other: Any) -> Any:
    """Two sets of counters, added."""
    if isinstance(one, dict):
        return {key: _sum(value, other[key]) if key in other else value for key, value in one.items()}
    return one + other


def _routes(rows: list[dict[str, Any]], version: int) -> Iterator[tuple[str, frozenset[Hop]]]:
    for row in rows:
        if row.get("type", "unicast") != "unicast":
            continue
        to = row["dst"]
        if to == "default":
            to = "0.0.0.0/0" if version == 4 else "::/0"
        elif "/" not in to:
            to += "/32" if version == 4 else "/128"
        hops = row.get("nexthops") or [row]
        yield to, frozenset(Hop(hop.get("dev", ""), _gateway(hop)) for hop in hops if not _dead(hop))


def _gateway(hop: dict[str, Any]) -> str:
    """The next hop of IPv4 over an IPv6 neighbor is under `via`."""
    return str(hop.get("gateway") or (hop.get("via") or {}).get("host", ""))


def _dead(hop: dict[str, Any]) -> bool:
    return bool({"dead", "linkdown"} & set(hop.get("flags", ())))
