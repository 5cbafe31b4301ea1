"""Ports of a Nexus: names, breakouts, routed and switched ports, subinterfaces, bonds, load balancing by load."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fabric.nos.nxos.write.qos import SILICON_ONE, Policies
from fabric.nos.target import CannotRender, description

if TYPE_CHECKING:
    from fabric.model.plan import Lag, Port, PortRef, Subinterface, SwitchView

RELEASE = "10.5(3)"  # what the spelling follows; parsers recognize the file by its `feature` lines
LAYER_2_MTU = 9216  # a switched port does 1500 or `system jumbomtu`, nothing between
PEER_LINK = 4096  # port-channel without members: the peer link runs through the fabric
DLB_MAC = "02:00:00:00:d1:b0"  # next hop of spread flows, one address for all switches that peer
SMALL_TCAM = ("cloudscale-ex", "cloudscale-fx")  # chips whose virtual peer link needs a TCAM region of its own


@dataclass(frozen=True, slots=True, kw_only=True)
class Interface:
    """An Ethernet port or a subinterface of one, as its lines say it."""

    name: str
    description: str
    up: bool
    tag: int  # dot1q of a subinterface, 0: a port
    switchport: tuple[str, ...]  # () on a routed port
    fabric: bool  # uplink that carries the virtual peer link
    silent: bool  # no CDP towards what is no switch of ours
    mtu: int
    vrf: str
    address: str
    address6: str
    link_local: bool
    forward: bool  # IPv4 over a port without an IPv4 address
    echoless: bool  # BFD without echo packets, which flap between link-local addresses
    acl: str
    acl6: str
    qos: tuple[str, ...]
    channel: int


@dataclass(frozen=True, slots=True)
class Channel:
    """A server's bond, a vPC of the same number."""

    number: int
    description: str
    switchport: tuple[str, ...]
    qos: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Balancer:
    """Dynamic load balancing: which ports, and the address that stands for all of them ("" where there is none)."""

    ports: str
    mac: str


def port_name(ref: PortRef) -> str:
    """`Ethernet1/5`, and `Ethernet1/5/2` where the cage is broken out."""
    return f"Ethernet1/{ref.cage}" + (f"/{ref.sub + 1}" if ref.split > 1 else "")


def breakouts(view: SwitchView) -> list[str]:
    """One map per split cage; they come first, since the child ports do not exist before."""
    split = {port.ref.cage: port.ref for port in view.ports if port.ref.split > 1}
    return [f"interface breakout module 1 port {n} map {ref.speed_gbps}g-{ref.split}x" for n, ref in sorted(split.items())]


def interfaces(view: SwitchView, policies: Policies | None) -> list[Interface]:
    found = []
    for port in view.ports:
        found.append(_interface(view, port, policies))
        if port.up:
            found += [_subinterface(view, port, part) for part in port.subinterfaces]
    return found


def channels(view: SwitchView, policies: Policies | None) -> list[Channel]:
    members = {port.lag: port for port in view.ports if port.lag}
    return [
        Channel(
            number=_channel(lag),
            description=lag.description,
            switchport=_switchport(lag.untagged, lag.tagged),
            qos=_qos_lines(members.get(lag.number), policies, classify=True),
        )
        for lag in view.lags
    ]


def balancer(view: SwitchView) -> Balancer | None:
    """Silicon One balances over all its ports and has no stand-in address; Cloud Scale names both."""
    ports = [port_name(port.ref) for port in view.ports if port.kind == "fabric" and port.up]
    if not view.balancing.dynamic or not ports:
        return None
    if view.model.asic.startswith(SILICON_ONE):
        return Balancer("all", "")
    return Balancer(" , ".join(ports), DLB_MAC)


def tcam(view: SwitchView) -> list[str]:
    """TCAM regions of Cloud Scale, taken from the filters of routed ports; where those are in use, a site decides itself."""
    asic = view.model.asic
    peer_link = view.pair is not None and asic.startswith(SMALL_TCAM)
    link_local = asic.startswith("cloudscale") and any(port.link_local and port.up for port in view.ports)
    if view.acls or not (peer_link or link_local):
        return []
    regions = ["ing-racl 0", "ing-sup 768", *(["ing-flow-redirect 512"] if peer_link else [])]
    return [f"hardware access-list tcam region {region}" for region in regions]


def mtu(view: SwitchView, vrf: str) -> int:
    """IP MTU: of the fabric in the default VRF, of the tenants in theirs when they travel inside VXLAN."""
    return view.overlay.mtu if vrf and view.overlay else view.underlay.mtu


def filters(view: SwitchView, port: Port) -> tuple[str, str]:
    """Names of the IPv4 and IPv6 filter on a port; one that permits nothing of a family still closes IPv4."""
    acl = next((acl for acl in view.acls if acl.name == port.acl), None)
    if acl is None:
        return "", ""
    six = any(":" in prefix for prefix in acl.permits)
    four = not six or any(":" not in prefix for prefix in acl.permits)
    return f"ACL-{acl.name}" if four else "", f"ACL6-{acl.name}" if six else ""


def _interface(view: SwitchView, port: Port, policies: Policies | None) -> Interface:
    address = port.address or ""
    acl, acl6 = filters(view, port)
    lag = next((lag for lag in view.lags if lag.number == port.lag), None)
    untagged, tagged = (lag.untagged, lag.tagged) if lag else (port.untagged, port.tagged)
    bridged = port.bridged or lag is not None
    return Interface(
        name=port_name(port.ref),
        description=description(view, port)[:254],
        up=port.up,
        tag=0,
        switchport=_switchport(untagged, tagged, member=lag is not None) if bridged and port.up else (),
        fabric=port.kind == "fabric" and view.pair is not None,
        silent=port.kind != "fabric",
        mtu=LAYER_2_MTU if bridged else mtu(view, port.vrf),
        vrf=port.vrf,
        address="" if ":" in address else address,
        address6=address if ":" in address else "",
        link_local=port.link_local,
        forward=port.link_local and view.underlay.family == "ipv4",
        echoless=port.link_local and view.underlay.bfd,
        acl=acl,
        acl6=acl6,
        qos=_qos_lines(port, policies, classify=lag is None),
        channel=_channel(lag) if lag else 0,
    )


def _subinterface(view: SwitchView, port: Port, part: Subinterface) -> Interface:
    six = ":" in part.address
    return Interface(
        name=f"{port_name(port.ref)}.{part.tag}",
        description=f"{description(view, port)} {part.vrf}".rstrip()[:254],
        up=True,
        tag=part.tag,
        switchport=(),
        fabric=False,
        silent=False,
        mtu=mtu(view, part.vrf),
        vrf=part.vrf,
        address="" if six else part.address,
        address6=part.address if six else "",
        link_local=False,
        forward=False,
        echoless=False,
        acl="",
        acl6="",
        qos=(),
        channel=0,
    )


def _switchport(untagged: int, tagged: tuple[int, ...], *, member: bool = False) -> tuple[str, ...]:
    """A server's port: access for one VLAN, else a trunk that carries the stated VLANs alone.

    A member has the VLANs of its bond, or it is suspended; spanning tree it takes from the bond.
    """
    if not tagged:
        edge = () if member else ("spanning-tree port type edge",)
        return ("switchport", f"switchport access vlan {untagged}", *edge)
    vlans = sorted({*tagged, *([untagged] if untagged else [])})
    return (
        "switchport",
        "switchport mode trunk",
        *((f"switchport trunk native vlan {untagged}",) if untagged else ()),
        f"switchport trunk allowed vlan {','.join(map(str, vlans))}",
        *(() if member else ("spanning-tree port type edge trunk",)),
    )


def _qos_lines(port: Port | None, policies: Policies | None, *, classify: bool) -> tuple[str, ...]:
    """PFC on every lossless port; a bond carries the policies on the port-channel, not on its members."""
    if port is None or policies is None or not port.up or port.lossless is None:
        return ()
    lines = ["priority-flow-control mode on"]
    if policies.watchdog:
        lines.append("priority-flow-control watch-dog-interval on")
    return (*lines, *(policies.on_port(port) if classify else ()))


def _channel(lag: Lag) -> int:
    if lag.number >= PEER_LINK:
        raise CannotRender(f"bond {lag.number}: NX-OS port-channels end at 4096, and {PEER_LINK} is the peer link")
    return lag.number
