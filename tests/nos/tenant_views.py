"""The small fabric of `views.py` with tenants, bonds, a external connection, and a lossless class on it.

`evpn`: tenant red has a routed server and, on both leaves, a bonded server in a VLAN; blue is routed. leaf2 is the border.
`vrf-lite`, `acl`: red and blue on one server each, without an overlay.
"""

from __future__ import annotations

from dataclasses import replace

from fabric.model.plan import (
    Acl,
    Balancing,
    Buffer,
    External,
    Lag,
    Lossless,
    Marking,
    Network,
    Overlay,
    OverlaySession,
    Pair,
    Peer,
    Port,
    Qos,
    Session,
    Subinterface,
    SwitchView,
    Vrf,
    Watchdog,
)
from tests.nos.views import DEVICES, LOOPBACK, STYLES, Style, half, view

MARKING = Marking(kmin_bytes=524_288, kmax_bytes=1_048_576, pmax_percent=20, rule="linear")
SHORT = Lossless(xoff_bytes=43_008, xon_bytes=19_456, size_bytes=62_464, method="computed", marking=MARKING)
LONG = Lossless(xoff_bytes=90_112, xon_bytes=37_888, size_bytes=128_000, method="computed", marking=MARKING)
QOS = Qos(
    priority=3,
    dscp=26,
    cnp_priority=6,
    cnp_dscp=48,
    lossless_percent=60,
    lossy_percent=40,
    watchdog=Watchdog(detect_ms=200, restore_ms=200, poll_ms=200),
    traffic="static",
    buffer_model="auto",
    buffer=Buffer(
        total_bytes=158_229_504,
        reserved_bytes=1_000_000,
        headroom_pool_bytes=0,
        shared_bytes=157_229_504,
        alpha_exponent=0,
        trigger_bytes=1_218_000,
    ),
)
SEED = {"leaf": 1, "spine": 2, "core": 3}


def rich(name: str, kind: str, nos: str = "frr", style: str = "ipv4") -> SwitchView:
    """`name`: leaf1, leaf2 or spine1; `kind`: "qos" (one tenant, lossless), "evpn", "vrf-lite" or "acl"."""
    own = STYLES[style]
    base = view(name, Style(own.family, own.unnumbered, nos))
    base = replace(base, management=replace(base.management, snmp_user="monitor", gnmi=True))
    ports = [replace(port, lossless=_lossless(port)) if port.peer else port for port in base.ports]
    base = replace(base, qos=QOS, balancing=Balancing(SEED[base.device.role], dynamic=False), ports=tuple(ports))
    base = _sessions(base)
    if kind == "evpn":
        return _evpn(base)
    if kind == "vrf-lite":
        return _vrf_lite(base)
    if kind == "acl" and base.device.role == "leaf":
        names = iter(("red", "blue"))
        ports = [replace(port, acl=next(names)) if port.kind == "server" else port for port in base.ports]
        acls = (Acl("blue", ("10.128.1.2/31", "10.128.2.2/31")), Acl("red", ("10.128.1.0/31", "10.128.2.0/31")))
        return _sessions(replace(base, ports=tuple(ports), acls=acls))
    return base


def _lossless(port: Port) -> Lossless:
    return SHORT if port.kind == "server" else LONG


def _sessions(base: SwitchView) -> SwitchView:
    """The underlay's sessions, on the ports as they are now."""
    return replace(
        base,
        sessions=tuple(
            Session(port, port.peer.device, port.peer.device.asn, port.peer_address)
            for port in base.ports
            if port.kind == "fabric" and port.peer is not None
        ),
    )


def _vrf(name: str, number: int, leaf: int, *, overlay: bool, sessions: tuple[Session, ...] = ()) -> Vrf:
    return Vrf(
        name=name,
        number=number,
        vni=50_000 + number if overlay else None,
        vlan=3000 + number,
        rd=f"10.0.0.{leaf}:{number}",
        route_target=f"65000:{50_000 + number}",
        imports=("65000:50001",) if name == "blue" else (),
        prefixes=("10.128.0.0/16", "10.1.0.0/24") if name == "red" and overlay else ("10.128.0.0/16",),
        outside=("0.0.0.0/0",) if overlay else (),
        sessions=sessions,
        own=(f"10.128.{leaf}.0/28",),
    )


def _evpn(base: SwitchView) -> SwitchView:
    leaf = base.device.role == "leaf"
    other = ("spine1", "spine2") if leaf else ("leaf1", "leaf2")
    overlay = Overlay(
        vtep=f"10.2.0.{base.device.number}" if leaf else None,
        anycast_mac="00:00:5e:00:01:01",
        sessions=tuple(OverlaySession(DEVICES[n], DEVICES[n].asn, f"10.0.0.{LOOPBACK[n]}") for n in other),
        passes_on=not leaf,
        mtu=base.underlay.mtu - 50,
    )
    under = replace(base.underlay, loopback_prefixes=(*base.underlay.loopback_prefixes, "10.2.0.0/24"))
    base = replace(base, overlay=overlay, underlay=under)
    if not leaf:
        return base
    number, name = base.device.number, base.device.name
    ports = list(base.ports)
    at = {port.ref: n for n, port in enumerate(ports)}
    first = at[half(1, 0)]
    ports[first] = replace(ports[first], vrf="red")
    second = at[half(1, 1)]
    ports[second] = replace(ports[second], vrf="blue")
    bonded, closed, out = half(5, 0), half(5, 1), base.ports[at[half(5, 1)] + 1].ref
    server = replace(DEVICES["gpu1"], name="web1")
    ports[at[bonded]] = Port(
        ref=bonded,
        kind="server",
        peer=Peer(server, None, None, f"frontend1p{number}"),
        length_m=3,
        lossless=SHORT,
        untagged=100,
        lag=1,
    )
    unknown = replace(DEVICES["gpu2"], name="spare1")
    ports[at[closed]] = Port(
        ref=closed,
        kind="server",
        peer=Peer(unknown, None, None, "frontend1"),
        length_m=3,
        address="10.128.9.0/31",
        peer_address="10.128.9.1",
        closed=True,
    )
    externals: list[External] = []
    if name == "leaf2":
        router = replace(DEVICES["gpu1"], name="wan", role="attached")
        slices = tuple(
            Subinterface(vrf, 10 + n, f"10.64.9.{2 * n}/31", f"10.64.9.{2 * n + 1}") for n, vrf in ((1, "red"), (2, "blue"))
        )
        ports[at[out]] = Port(
            ref=out, kind="attachment", peer=Peer(router, None, None, "port1"), length_m=20, subinterfaces=slices
        )
        externals = [
            External(
                port=ports[at[out]],
                vrf=s.vrf,
                tag=s.tag,
                address=s.address,
                peer_address=s.peer_address,
                peer_asn=65_010,
                peer="wan",
                accepts=("0.0.0.0/0",),
            )
            for s in slices
        ]
    network = Network(
        name="red-web",
        vrf="red",
        vlan=100,
        vni=10_001,
        rd=f"10.0.0.{number}:10001",
        route_target="65000:10001",
        gateway="10.1.0.1/24",
        own_address=f"10.1.0.{255 - number}/24",
    )
    mac = "02:00:00:00:00:01"
    return _sessions(
        replace(
            base,
            ports=tuple(ports),
            vrfs=(_vrf("red", 1, number, overlay=True), _vrf("blue", 2, number, overlay=True)),
            networks=(network,),
            lags=(
                Lag(
                    number=1,
                    description="web1 frontend1",
                    ports=(bonded,),
                    untagged=100,
                    tagged=(),
                    system_mac=mac,
                    esi=f"03:{mac}:00:00:01",
                    preferred=number == 1,
                ),
            ),
            pair=Pair(
                number=1,
                first=number == 1,
                peer=DEVICES[f"leaf{3 - number}"],
                peer_loopback=f"10.0.0.{3 - number}",
                peer_management="172.16.0.11",
                shared_vtep="10.2.0.129",
                system_mac=mac,
                ports=(),
            ),
            externals=tuple(externals),
        )
    )


def _vrf_lite(base: SwitchView) -> SwitchView:
    names, ports = ("red", "blue"), []
    owners = iter(names)
    for port in base.ports:
        if port.kind == "server":
            port = replace(port, vrf=next(owners))
        elif port.kind == "fabric" and port.address and port.peer_address:
            port = replace(
                port,
                subinterfaces=tuple(
                    Subinterface(vrf, 10 + n, _shifted(port.address, n), _shifted(port.peer_address, n))
                    for n, vrf in enumerate(names, 1)
                ),
            )
        ports.append(port)
    base = _sessions(replace(base, ports=tuple(ports)))
    vrfs = []
    for n, vrf in enumerate(names, 1):
        sessions = tuple(
            Session(s.port, s.peer, s.peer_asn, s.port.subinterfaces[n - 1].peer_address, tag=10 + n) for s in base.sessions
        )
        vrfs.append(_vrf(vrf, n, base.device.number, overlay=False, sessions=sessions))
    return replace(base, vrfs=tuple(vrfs))


def _shifted(address: str, by: int) -> str:
    """An address of the tenant's own subnet: 10.64.0.0/31 becomes 10.65.0.0/31 for the first."""
    first, second, rest = address.split(".", 2)
    return f"{first}.{int(second) + by}.{rest}"
