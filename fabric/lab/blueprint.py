"""What a lab is made of, as plain values: nodes with their interfaces, the wires between them, and what everything is called.

Pure data, drawn without root; `machine` and `up_down` make it real.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabric.configs.infiniband.files import Managed
    from fabric.model.plan import Plan, SwitchView


# --- names ----------------------------------------------------------------------------------------------------
# What everything of a lab is called: one prefix per site, so that it can be found again after any accident.

RUN = Path("/run/fabric-lab")  # sockets, states and the journal of host limits; nothing survives a reboot


@dataclass(frozen=True, slots=True)
class Names:
    """Names of the lab of one site."""

    site: str

    @property
    def prefix(self) -> str:
        """Of every namespace, as `ip netns` lists them."""
        return f"fabric-{self.site}."

    @property
    def folder(self) -> Path:
        """Of the state, and of a folder for each node."""
        return RUN / self.site

    @property
    def state(self) -> Path:
        return self.folder / "state.json"

    def home(self, node: str) -> Path:
        """Configs, sockets and logs of one node."""
        return self.folder / "nodes" / node

    @property
    def laid(self) -> Path:
        """The wires of a lab whose cables were moved."""
        return self.folder / "laid.json"

    def disk(self, switch: str) -> Path:
        """What a switch keeps when its power is off: files of its own, from the first shell on."""
        return self.folder / "disks" / switch

    def namespace(self, node: str, vrf: str = "") -> str:
        """`fabric-dc1.backend-leaf001`; of a VRF that is a namespace of its own `fabric-dc1.backend-leaf001.vrf-red`."""
        return f"{self.prefix}{node}.{vrf}" if vrf else f"{self.prefix}{node}"


# --- nodes, interfaces, wires ---------------------------------------------------------------------------------

SWITCH, SERVER, STAND_IN = "switch", "server", "stand-in"  # kinds of nodes; a stand-in plays a router outside
PORT, LOOPBACK, BRIDGE, TUNNEL = "port", "loopback", "bridge", "tunnel"  # kinds of interfaces


@dataclass(frozen=True, slots=True, kw_only=True)
class Interface:
    """One device of a node. A port exists because a wire ends in it; the others are made."""

    name: str
    kind: str
    vrf: str = ""  # by the device's own name of it: "vrf-red", "Vrf-red"; "" for the default one
    addresses: tuple[str, ...] = ()  # with their lengths
    mtu: int = 0  # 0: the kernel's own
    up: bool = True
    bridge: str = ""  # the bridge it is a port of
    mac: str = ""
    vni: int = 0  # of a tunnel
    local: str = ""  # address that a tunnel starts at
    answers: bool = False  # a tunnel whose bridge answers ARP for hosts that it knows
    parent: str = ""  # the port that this is a tagged slice of
    bond: str = ""  # of a host, or of a switch below a pair: the bond that it is a port of
    standby: int = 0  # place among the ports of its bond, of which the first one whose link is up is used


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """A route or rule of a server, as its own file says it."""

    to: str
    via: str
    interface: str
    table: int = 0  # 0: the main one
    metric: int = 0
    source: str = ""  # of packets that it sends, where the file says it


@dataclass(frozen=True, slots=True)
class Rule:
    """Packets from an address look in a table."""

    source: str
    table: int
    priority: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A switch, a server or a router outside."""

    name: str
    kind: str
    role: str  # of the plan: "leaf", "server", "attached"
    interfaces: tuple[Interface, ...]
    vrfs: tuple[str, ...] = ()  # tables of its own beside the default one
    frr_conf: str = ""  # "" where no daemons run
    sysctls: tuple[tuple[str, str], ...] = ()
    filters: str = ""  # nftables, "" for none
    lldp: str = ""  # lldpd.conf
    routes: tuple[Route, ...] = ()
    rules: tuple[Rule, ...] = ()
    lacks: tuple[str, ...] = ()  # what of its files is not built here, in words

    @property
    def routed(self) -> bool:
        """Whether it runs daemons."""
        return bool(self.frr_conf)


@dataclass(frozen=True, slots=True, order=True)
class End:
    """One end of a wire."""

    node: str
    interface: str


@dataclass(frozen=True, slots=True)
class Wire:
    """A cable, or one tagged slice of it: this kernel may have no VLANs, so each slice is a wire of its own."""

    a: End
    b: End
    slice_of: str = ""  # interface of end a that it is a slice of

    def other(self, node: str) -> End:
        return self.b if self.a.node == node else self.a


@dataclass(frozen=True, kw_only=True)
class Blueprint:
    """A lab, drawn."""

    site: str
    plan: Plan
    nodes: Mapping[str, Node]  # by name, switches first
    wires: tuple[Wire, ...]
    views: Mapping[str, SwitchView]  # the switches that are in it, as the plan has them
    notes: tuple[str, ...] = ()  # what was left out or scaled, in words
    files: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # switch → path → text of what it was built from
    subnets: tuple[Managed, ...] = ()  # of InfiniBand, each with a manager
    subnet_files: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # subnet → name → text
    bfd: bool = True  # bfdd runs where a frr.conf asks for it

    @property
    def cables(self) -> tuple[Wire, ...]:
        return tuple(wire for wire in self.wires if not wire.slice_of)

    @cached_property
    def port_of(self) -> Mapping[End, End]:
        """Every end of a wire → the port that its cable is in; of a slice the port that it is a slice of.

        Slices are wires of their own in a lab alone. What a switch reports of its ports, neighbors and counters, is
        compared with the plan by the ports of this map.
        """
        at = {end: cable for cable in self.cables for end in (cable.a, cable.b)}
        ports: dict[End, End] = {}
        for wire in self.wires:
            cable = at[End(wire.a.node, wire.slice_of)] if wire.slice_of else wire
            ports[wire.a], ports[wire.b] = (cable.a, cable.b) if cable.a.node == wire.a.node else (cable.b, cable.a)
        return ports

    def slices(self, cable: Wire) -> list[Wire]:
        """The slices of a cable, each written from the same end as the cable."""
        return [
            wire if wire.a.node == cable.a.node else Wire(wire.b, wire.a, cable.a.interface)
            for wire in self.wires
            if wire.slice_of and cable.a in (self.port_of[wire.a], self.port_of[wire.b])
        ]

    def of(self, kind: str) -> list[Node]:
        return [node for node in self.nodes.values() if node.kind == kind]

    @property
    def shape(self) -> str:
        """`2 spines, 4 leaves, 8 servers, 72 cables`."""
        counts = [(sum(n.role == role for n in self.of(SWITCH)), one, many) for role, one, many in _ROLES]
        counts += [(len(self.of(SERVER)), "server", "servers"), (len(self.of(STAND_IN)), "stand-in", "stand-ins")]
        counts += [(len(self.cables), "cable", "cables")]
        ports = sum(len(subnet.subnet.adapters) for subnet in self.subnets)
        counts += [(len(self.subnets), "subnet", "subnets"), (ports, "port on subnets", "ports on subnets")]
        return ", ".join(f"{number} {one if number == 1 else many}" for number, one, many in counts if number)


_ROLES = (("core", "core", "cores"), ("spine", "spine", "spines"), ("leaf", "leaf", "leaves"))
