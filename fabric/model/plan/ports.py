"""Ports of a switch and the BGP sessions on them, as renderers need them.

Addresses are text; `None`: does not exist.
"""

from __future__ import annotations

from dataclasses import dataclass

from fabric.hardware.catalog.models import SwitchModel
from fabric.model.plan.devices import Device
from fabric.model.plan.lossless import Lossless


@dataclass(frozen=True, slots=True)
class PortRef:
    """One logical Ethernet port of a switch: a cage, or one of the `split` ports a cage is broken out into."""

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
    port_name: str  # the NIC port of a server, the configured name of an attachment's port; "" for a switch


@dataclass(frozen=True, slots=True)
class Subinterface:
    """A subinterface: one VLAN tag of a port, in the VRF of one tenant."""

    vrf: str
    tag: int  # VLAN on the wire, and number of the subinterface
    address: str  # "10.64.2.0/31"
    peer_address: str  # without the length


@dataclass(frozen=True, slots=True, kw_only=True)
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
    closed: bool = False  # cabled, but its server belongs to no tenant: shut
    lossless: Lossless | None = None  # carries the lossless class
    vrf: str = ""  # tenant of a routed port, "" for the default VRF
    untagged: int = 0  # VLAN of a layer-2 port, 0: none
    tagged: tuple[int, ...] = ()
    lag: int = 0  # the bond it is a member of; VLANs are then the bond's as well
    acl: str = ""  # filter of what the server may send
    subinterfaces: tuple[Subinterface, ...] = ()

    @property
    def up(self) -> bool:
        return self.peer is not None and not self.closed

    @property
    def bridged(self) -> bool:
        """A layer-2 port: it has VLANs and no address."""
        return bool(self.untagged or self.tagged)


@dataclass(frozen=True, slots=True)
class Session:
    """One eBGP session over one fabric link, of the underlay or of a VRF on a subinterface of it."""

    port: Port
    peer: Device
    peer_asn: int
    peer_address: str | None  # None: the session runs on the interface (unnumbered)
    tag: int = 0  # the subinterface it runs on, 0: the port itself
