"""Ports of a Nexus: names, breakouts, routed and switched ports, subinterfaces, bonds, load balancing by load."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fabric.base.rounding import ceil_div
from fabric.nos.target import CannotRender, description

if TYPE_CHECKING:
    from fabric.model.plan import Lag, Marking, Port, PortRef, Qos, Subinterface, SwitchView


# --- QoS: what a packet is (qos), which class pauses (network-qos), how queues share a port -------------------

STRICT, BEST_EFFORT = 7, 0
CLASSIFY, NETWORK = "ROCE-CLASSIFY", "ROCE-NETWORK"
MTU = 9216  # of every class; the default would drop switched jumbo frames
PEER_LINK_DSCP = 56  # DSCP of the messages of a virtual peer link
POLL_MS = 100  # watchdog's own step
LONG_M = 100  # beyond this many metres Cisco wants the pause buffer stated
SILICON_ONE, SILICON_ONE_LIMIT = "silicon-one", 6  # unique QoS policies on a switch


@dataclass(frozen=True, slots=True)
class ClassMap:
    name: str
    dscp: int
    group: int


@dataclass(frozen=True, slots=True)
class Queue:
    """A queue of the output policy: strict, or a share of what is left; with or without ECN."""

    name: str
    strict: bool
    percent: int
    ecn: str


@dataclass(frozen=True, slots=True)
class QueuingPolicy:
    name: str
    queues: tuple[Queue, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Policies:
    priority: int
    classify: str
    classes: tuple[ClassMap, ...]
    network: str
    mtu: int
    outputs: tuple[QueuingPolicy, ...]
    system: str  # output policy of the whole switch; a port says only where it differs
    long_m: tuple[int, ...]  # lossless cables that need an undocumented pause buffer
    watchdog: bool
    shutdown_multiplier: int
    by_marking: tuple[tuple[Marking, str], ...]

    def on_port(self, port: Port) -> tuple[str, ...]:
        """Service policies of a lossless port."""
        lossless = port.lossless
        if lossless is None:
            return ()
        lines = [f"service-policy type qos input {self.classify}"]
        output = dict(self.by_marking)[lossless.marking]
        if output != self.system:
            lines.append(f"service-policy type queuing output {output}")
        return tuple(lines)


def policies(view: SwitchView) -> Policies | None:
    qos = view.qos
    ports = [port for port in view.ports if port.up and port.lossless is not None]
    if qos is None or not ports:
        return None
    _fits(qos)
    names = _names(ports)
    outputs = tuple(QueuingPolicy(name, _queues(qos, marking)) for marking, name in names.items())
    system, _ = Counter(names[port.lossless.marking] for port in ports if port.lossless).most_common(1)[0]
    classes = [ClassMap("ROCE", qos.dscp, qos.priority), ClassMap("CNP", qos.cnp_dscp, STRICT)]
    if view.overlay and PEER_LINK_DSCP not in (qos.dscp, qos.cnp_dscp):
        classes.append(ClassMap("PEER-LINK", PEER_LINK_DSCP, STRICT))
    policies = Policies(
        priority=qos.priority,
        classify=CLASSIFY,
        classes=tuple(classes),
        network=NETWORK,
        mtu=MTU,
        outputs=outputs,
        system=system,
        long_m=tuple(sorted({port.length_m for port in ports if port.length_m > LONG_M})),
        watchdog=qos.watchdog is not None,
        shutdown_multiplier=min(10, max(1, ceil_div(qos.watchdog.detect_ms, POLL_MS))) if qos.watchdog else 0,
        by_marking=tuple(names.items()),
    )
    _few_enough(view, 2 + len(outputs))
    return policies


def _fits(qos: Qos) -> None:
    if qos.priority in (BEST_EFFORT, STRICT):
        role = "the strict queue, which congestion notifications need" if qos.priority == STRICT else "best effort"
        raise CannotRender(f"qos.lossless_priority {qos.priority}: on NX-OS queue {qos.priority} is {role}; expected 1 to 6")
    if qos.dscp == qos.cnp_dscp:
        raise CannotRender(
            f"qos.lossless_dscp and qos.cnp_dscp are both {qos.dscp}: NX-OS tells the classes apart by DSCP alone"
        )


def _few_enough(view: SwitchView, count: int) -> None:
    if view.model.asic.startswith(SILICON_ONE) and count > SILICON_ONE_LIMIT:
        raise CannotRender(
            f"{count} QoS policies, and {view.device.model} has room for {SILICON_ONE_LIMIT}; "
            "expected fewer distinct port speeds or ECN thresholds on one switch"
        )


def _names(ports: list[Port]) -> dict[Marking, str]:
    """One output policy per ECN threshold, named by the speed that it is for."""
    names: dict[Marking, str] = {}
    for port in ports:
        if port.lossless and port.lossless.marking not in names:
            name = f"ROCE-{port.ref.speed_gbps}G"
            again = sum(1 for other in names.values() if other == name or other.startswith(f"{name}-"))
            names[port.lossless.marking] = f"{name}-{again + 1}" if again else name
    return names


def _queues(qos: Qos, marking: Marking) -> tuple[Queue, ...]:
    queues = [Queue(f"c-out-8q-q{STRICT}", True, 0, "")]
    for number in range(STRICT - 1, BEST_EFFORT, -1):
        lossless = number == qos.priority
        queues.append(
            Queue(f"c-out-8q-q{number}", False, qos.lossless_percent if lossless else 0, _ecn(marking) if lossless else "")
        )
    return (*queues, Queue("c-out-8q-q-default", False, qos.lossy_percent, ""))


def _ecn(marking: Marking) -> str:
    return (
        f"random-detect minimum-threshold {max(1, marking.kmin_bytes // 1000)} kbytes "
        f"maximum-threshold {max(2, marking.kmax_bytes // 1000)} kbytes "
        f"drop-probability {marking.pmax_percent} weight 0 ecn"
    )


# --- Ports ----------------------------------------------------------------------------------------------------

RELEASE = "10.5(3)"  # release of the syntax; parsers recognize the file by its `feature` lines
LAYER_2_MTU = 9216  # a switched port has 1500 or `system jumbomtu`
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
    silent: bool  # no CDP on ports to devices outside the fabric
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
    """A bond; on a pair of leaves a vPC of the same number."""

    number: int
    description: str
    switchport: tuple[str, ...]
    qos: tuple[str, ...]
    edge: bool


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
            switchport=_switchport(lag.untagged, lag.tagged, member=not lag.edge),
            qos=_qos_lines(members.get(lag.number), policies, classify=True),
            edge=lag.edge,
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
    A bond to a switch is no edge.
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
