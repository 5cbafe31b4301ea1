"""A fabric small enough to read: two spines, two leaves, 800G switches with cages split to 2x400.

Cage 1 of a leaf carries two servers, cage 2 a 400G link to each spine, cages 3 and 4 a whole 800G link to each;
cage 5 is kept for servers to come, cages 6 to 8 and the SFP cage 9 are free.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from fabric.hardware.catalog.models import PortGroup, SonicPlatform, SwitchModel
from fabric.model.plan import Device, Management, Peer, Port, PortRef, Session, SwitchView, Underlay

BOARD = SonicPlatform(
    platform="x86_64-nvidia_test-r0",
    hwsku={"1x800": "Test-P8", "2x400": "Test-O16", "default": "Test-Mixed"},
    lanes=(*(f"{8 * n}-{8 * n + 7}" for n in range(8)), "64"),
    modes={"1x800": "1x800G[400G]", "2x400": "2x400G[200G,100G]", "1x25": "1x25G[10G]"},
)
SWITCH = SwitchModel(
    ports=(
        PortGroup(count=8, speed_gbps=800, breakouts=("2x400", "4x200", "8x100")),
        PortGroup(count=1, speed_gbps=25),
    ),
    sonic=BOARD,
)
DEVICES = {
    name: Device(index=index, name=name, role=role, number=number, model="test-switch", nos=nos, asn=asn)
    for index, (name, role, number, nos, asn) in enumerate(
        [
            ("leaf1", "leaf", 1, "frr", 4200000101),
            ("leaf2", "leaf", 2, "frr", 4200000102),
            ("spine1", "spine", 1, "frr", 4200000001),
            ("spine2", "spine", 2, "frr", 4200000002),
            *((f"gpu{n}", "server", n, "", 0) for n in range(1, 5)),
        ]
    )
}
SERVERS = {"leaf1": ("gpu1", "gpu2"), "leaf2": ("gpu3", "gpu4")}
LOOPBACK = {"leaf1": 1, "leaf2": 2, "spine1": 11, "spine2": 12}


def half(cage: int, sub: int) -> PortRef:
    return PortRef(cage, sub, 2, 400)


def whole(cage: int) -> PortRef:
    return PortRef(cage, 0, 1, 800)


# leaf, its port, spine, its port
UPLINKS = [
    ("leaf1", half(2, 0), "spine1", half(1, 0)),
    ("leaf1", half(2, 1), "spine2", half(1, 0)),
    ("leaf1", whole(3), "spine1", whole(2)),
    ("leaf1", whole(4), "spine2", whole(2)),
    ("leaf2", half(2, 0), "spine1", half(1, 1)),
    ("leaf2", half(2, 1), "spine2", half(1, 1)),
    ("leaf2", whole(3), "spine1", whole(3)),
    ("leaf2", whole(4), "spine2", whole(3)),
]


@dataclass
class Style:
    family: str
    unnumbered: bool
    nos: str = "frr"
    management: Management = field(
        default_factory=lambda: Management(
            address="172.16.0.10/22",
            gateway="172.16.0.1",
            vrf=True,
            ntp=("172.16.0.2", "172.16.0.3"),
            syslog=("172.16.0.4",),
            dns=("172.16.0.5",),
            timezone="UTC",
            allow=("172.16.0.0/22",),
            snmp_user="",
            gnmi=False,
            banner="Authorized access only",
            admin_secret="${ADMIN_PASSWORD_HASH}",
            snmp_auth_secret="${SNMP_AUTH_KEY}",
            snmp_priv_secret="${SNMP_PRIV_KEY}",
        )
    )

    def link(self, n: int) -> tuple[str | None, str | None]:
        if self.unnumbered:
            return None, None
        if self.family == "ipv6":
            return f"fd00:1::{2 * n:x}/127", f"fd00:1::{2 * n + 1:x}/127"
        return f"10.64.0.{2 * n}/31", f"10.64.0.{2 * n + 1}/31"

    def server(self, leaf: int, n: int) -> tuple[str, str]:
        """The leaf's address and the server's."""
        if self.family == "ipv6":
            return f"fd00:2:{leaf}::{2 * n:x}/127", f"fd00:2:{leaf}::{2 * n + 1:x}"
        return f"10.128.{leaf}.{2 * n}/31", f"10.128.{leaf}.{2 * n + 1}"

    def aggregate(self, leaf: int) -> str:
        return f"fd00:2:{leaf}::/64" if self.family == "ipv6" else f"10.128.{leaf}.0/28"

    def underlay(self) -> Underlay:
        six = self.family == "ipv6"
        return Underlay(
            family=self.family,
            unnumbered=self.unnumbered,
            mtu=9100,
            keepalive_s=3,
            hold_s=9,
            bfd=True,
            bfd_interval_ms=300,
            bfd_multiplier=3,
            max_paths=64,
            max_prefix=12000,
            loopback_prefixes=("fd00::/120",) if six else ("10.0.0.0/24",),
            server_prefixes=("fd00:2::/32",) if six else ("10.128.0.0/16",),
        )


STYLES = {
    "ipv4": Style("ipv4", False),
    "unnumbered": Style("ipv4", True),
    "ipv6": Style("ipv6", False),
    "ipv6-unnumbered": Style("ipv6", True),
}


def bare(address: str | None) -> str | None:
    return address.partition("/")[0] if address else None


def device(name: str, nos: str) -> Device:
    own = DEVICES[name]
    return replace(own, nos=nos) if own.nos else own


def cabled(style: Style, name: str) -> dict[PortRef, Port]:
    """The ports of one switch that a cable is in."""
    ports: dict[PortRef, Port] = {}
    for n, server in enumerate(SERVERS.get(name, ())):
        own, far = style.server(LOOPBACK[name], n)
        peer = Peer(DEVICES[server], None, None, "nic0")
        ports[half(1, n)] = Port(ref=half(1, n), kind="server", peer=peer, length_m=3, address=own, peer_address=far)
    for n, (leaf, low, spine, high) in enumerate(UPLINKS):
        down, up = style.link(n)
        sides = {leaf: (low, spine, high, down, up), spine: (high, leaf, low, up, down)}
        if name in sides:
            ref, far_name, far_ref, own_address, far_address = sides[name]
            peer = Peer(device(far_name, style.nos), SWITCH, far_ref, "")
            ports[ref] = Port(
                ref=ref,
                kind="fabric",
                peer=peer,
                length_m=30,
                address=own_address,
                peer_address=bare(far_address),
                link_local=style.unnumbered,
            )
    return ports


def free(name: str, used: dict[PortRef, Port]) -> list[Port]:
    """The other ports of the switch: those of cage 5 of a leaf are kept, the rest is spare."""
    taken = {ref.cage for ref in used}
    ports = []
    for cage in range(1, 10):
        if cage in taken:
            continue
        if cage == 5 and name in SERVERS:
            ports += [Port(ref=half(5, sub), kind="unused", peer=None, length_m=0, reserved="servers") for sub in (0, 1)]
        else:
            ports.append(Port(ref=PortRef(cage, 0, 1, 25 if cage == 9 else 800), kind="unused", peer=None, length_m=0))
    return ports


def view(name: str, style: Style) -> SwitchView:
    used = cabled(style, name)
    ports = sorted([*used.values(), *free(name, used)], key=lambda port: (port.ref.cage, port.ref.sub))
    number = LOOPBACK[name]
    return SwitchView(
        site="test",
        fabric="backend",
        device=device(name, style.nos),
        model=SWITCH,
        ports=tuple(ports),
        sessions=tuple(
            Session(port, port.peer.device, port.peer.device.asn, port.peer_address)
            for port in ports
            if port.kind == "fabric" and port.peer is not None
        ),
        aggregates=(style.aggregate(number),) if name in SERVERS else (),
        router_id=f"10.0.0.{number}",
        loopback=f"10.0.0.{number}/32",
        loopback6=f"fd00::{number:x}/128" if style.family == "ipv6" else None,
        underlay=style.underlay(),
        management=style.management,
    )
