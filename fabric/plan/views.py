"""What a renderer sees of one switch: a vendor-neutral view, made from the plan's columns when asked for.

Every field is final: a template prints it, a vendor file spells it, neither computes it.
Addresses are strings as a person writes them; `None` says that the thing does not exist.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from fabric.catalog.models import SwitchModel
from fabric.plan.devices import Device


@dataclass(frozen=True, slots=True)
class PortRef:
    """One logical Ethernet port of a box: a cage, or one of the `split` ports a cage is broken out into."""

    cage: int  # front-panel number, from 1
    sub: int  # which of the cage's ports, from 0
    split: int  # ports this cage carries; 1 = not broken out
    speed_gbps: int


@dataclass(frozen=True, slots=True)
class Peer:
    """The far end of a link."""

    device: Device
    model: SwitchModel | None  # None when the far end is no switch
    port: PortRef | None  # None when the far end is no switch
    port_name: str  # the NIC port of a server, the box's own name of an attachment; "" for a switch


@dataclass(frozen=True, slots=True)
class Port:
    """One port of a switch, cabled or not."""

    ref: PortRef
    kind: str  # "server" | "fabric" | "attachment" | "unused"
    peer: Peer | None
    length_m: int
    address: str | None = None  # "10.64.0.0/31"; None on an unnumbered or unused port
    peer_address: str | None = None  # without the length: "10.64.0.1"
    link_local: bool = False  # an unnumbered port: IPv6 link-local only (RFC 8950)
    reserved: str = ""  # what an uncabled port is kept for, "" when it is free


@dataclass(frozen=True, slots=True)
class Session:
    """One eBGP session of the underlay, over one link."""

    port: Port
    peer: Device
    peer_asn: int
    peer_address: str | None  # None: the session runs on the interface (unnumbered)


@dataclass(frozen=True, slots=True)
class Underlay:
    """What the routing of a whole fabric agrees on."""

    family: str  # "ipv4" | "ipv6": of the loopbacks and server prefixes that BGP carries
    unnumbered: bool
    mtu: int  # IP MTU of a fabric link, in bytes
    keepalive_s: int
    hold_s: int
    bfd: bool
    bfd_interval_ms: int
    bfd_multiplier: int
    max_paths: int
    max_prefix: int
    loopback_prefixes: tuple[str, ...]  # every loopback of the fabric lies in one of these
    server_prefixes: tuple[str, ...]  # every server subnet lies in one of these; () when servers are not routed


@dataclass(frozen=True, slots=True)
class Management:
    """How a switch is reached and what it reports to; empty tuples leave the lines out."""

    address: str | None  # "172.16.0.10/22"
    gateway: str | None
    vrf: bool
    ntp: tuple[str, ...]
    syslog: tuple[str, ...]
    dns: tuple[str, ...]
    timezone: str


@dataclass(frozen=True)
class SwitchView:
    """All that the files of one switch are made from."""

    site: str
    fabric: str
    device: Device
    model: SwitchModel
    ports: tuple[Port, ...]  # every port of the box in front-panel order, unused ones included
    sessions: tuple[Session, ...]  # in port order
    aggregates: tuple[str, ...]  # server prefixes that this switch originates, ("10.128.0.0/25", …)
    router_id: str  # IPv4, always
    loopback: str  # "10.0.0.1/32"
    loopback6: str | None  # "fd00::1/128" in an IPv6 underlay
    underlay: Underlay
    management: Management

    @cached_property
    def cabled(self) -> tuple[Port, ...]:
        """The ports that a cable is planned for."""
        return tuple(port for port in self.ports if port.peer is not None)
