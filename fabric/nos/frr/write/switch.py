"""The files of a switch: routing in frr.conf, everything else in the small files of the distribution."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fabric.model.plan import Lag, Network, Port, PortRef, SwitchView, Vrf
from fabric.nos.frr.target import port_name
from fabric.nos.frr.write.routing import LINUX, Spelling, routing
from fabric.nos.target import File, Names, Text, description, pam4, port_lanes

# --- What the switch lets in: nftables, sshd, snmpd -----------------------------------------------------------

MANAGEMENT, MANAGEMENT_VRF = "eth0", "mgmt"


@dataclass(frozen=True, slots=True)
class Addresses:
    """Prefixes or addresses by family, each ready for a set."""

    ipv4: tuple[str, ...]
    ipv6: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Filter:
    """What the servers of one tenant may reach."""

    name: str
    ports: tuple[str, ...]
    permits: Addresses


def guard(view: SwitchView, names: Names) -> dict[str, object]:
    """The context of nftables.conf, sshd.conf and snmpd.conf."""
    manage = view.management
    return {
        "hostname": view.device.name,
        "management": (MANAGEMENT, MANAGEMENT_VRF) if manage.vrf else (MANAGEMENT,),
        "dhcp": manage.address is None,
        "allow": split(manage.allow),
        "anyone": not manage.allow,
        "snmp_user": manage.snmp_user,
        "snmp_auth": manage.snmp_auth_secret,
        "snmp_priv": manage.snmp_priv_secret,
        "admin_secret": manage.admin_secret,
        "banner": manage.banner,
        "peers": split(_peers(view)),
        "unnumbered": tuple(names(port.ref) for port in view.ports if port.link_local and port.up),
        "bfd": view.underlay.bfd,
        "vteps": split(view.underlay.loopback_prefixes if view.overlay and view.overlay.vtep else ()),
        "filters": filters(view, names),
    }


# pam-auth-update orders modules by it; pam_unix, which knows the users of the switch, has 256.
BEFORE_LOCAL, AFTER_LOCAL = 300, 129
USUAL_TIMEOUT_S = 3  # the module's own; the column must have a value where others follow


def logins(view: SwitchView) -> dict[str, object]:
    """The context of pam_radius_auth.conf and radius.pam."""
    manage = view.management
    method = manage.aaa.method("radius") if manage.aaa else None
    if manage.aaa is None or method is None:
        return {}
    own = (manage.address or "").partition("/")[0]
    servers = []
    for server in method.servers:
        host = f"[{server}]" if ":" in server else server
        source = own if own and (":" in own) == (":" in server) else "0"
        where = [source, MANAGEMENT_VRF] if manage.vrf else [source]
        columns = [f"{host}:{method.port or 1812}", method.secret, str(method.timeout_s or USUAL_TIMEOUT_S), *where]
        servers.append(" ".join(columns))
    return {
        "hostname": view.device.name,
        "radius": servers,
        "priority": AFTER_LOCAL if manage.aaa.order[0] == "local" else BEFORE_LOCAL,
        "accounting": bool(manage.aaa.accounting),
    }


def filters(view: SwitchView, names: Names) -> list[Filter]:
    def ports(acl: str) -> tuple[str, ...]:
        return tuple(names(port.ref) for port in view.ports if port.acl == acl)

    return [Filter(f"tenant-{acl.name}", ports(acl.name), split(acl.permits)) for acl in view.acls]


def split(prefixes: Iterable[str]) -> Addresses:
    unique_prefixes = list(dict.fromkeys(prefixes))
    return Addresses(tuple(p for p in unique_prefixes if ":" not in p), tuple(p for p in unique_prefixes if ":" in p))


def _peers(view: SwitchView) -> list[str]:
    """Every address that a BGP session may come from."""
    sessions = [*view.sessions, *(session for vrf in view.vrfs for session in vrf.sessions)]
    found = [session.peer_address for session in sessions if session.peer_address]
    found += [session.peer_address for session in (view.overlay.sessions if view.overlay else ())]
    return found + [external.peer_address for external in view.externals]


# --- Devices of Linux, for ifupdown2: FRR routes over interfaces, but makes none ------------------------------


@dataclass(frozen=True, slots=True)
class Membership:
    """VLANs of a bridge port."""

    access: int = 0  # the only VLAN, untagged
    pvid: int = 0  # untagged beside tagged ones
    vids: str = ""
    tagged_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """A tagged subinterface."""

    name: str
    parent: str
    tag: int
    address: str
    vrf: str
    mtu: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Interface:
    name: str
    description: str
    up: bool
    mtu: int
    speed_mbps: int
    fec: str
    address: str
    vrf: str
    vlans: Membership | None
    slices: tuple[Slice, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bond:
    name: str
    description: str
    slaves: str
    system_mac: str
    vlans: Membership
    mtu: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Vxlan:
    name: str
    vni: int
    source: str
    vlan: int
    suppress: bool  # answers ARP and ND for hosts it knows; needs an SVI
    mtu: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Svi:
    name: str
    vlan: int
    vrf: str
    address: str  # of the anycast gateway, "" on the SVI of an L3 VNI
    mac: str
    mtu: int


@dataclass(frozen=True, slots=True)
class Bridge:
    name: str
    ports: str
    vids: str


BRIDGE = "br0"


def devices(view: SwitchView, names: Names, spelling: Spelling) -> dict[str, object]:
    """The context of the interfaces file, but for the management port."""
    vtep = view.overlay.vtep if view.overlay else None
    vxlans = _vxlans(view, vtep) if vtep else []
    bonds = [_bond(view, lag, names, spelling) for lag in view.lags]
    return {
        "loopbacks": [address for address in (view.loopback, view.loopback6, f"{vtep}/32" if vtep else None) if address],
        "vrfs": [spelling.vrf.format(vrf.name) for vrf in view.vrfs],
        "interfaces": [interface(view, port, names, spelling) for port in view.ports],
        "bonds": bonds,
        "vxlans": vxlans,
        "bridge": _bridge(view, names, bonds, vxlans),
        "svis": _svis(view, spelling),
    }


def interface(view: SwitchView, port: Port, names: Names, spelling: Spelling) -> Interface:
    lane_count = port_lanes(view.model, port.ref)
    name = names(port.ref)
    bridge_port = port.bridged and not port.lag
    return Interface(
        name=name,
        description=description(view, port),
        up=port.up,
        mtu=_mtu(view, port),
        speed_mbps=port.ref.speed_gbps * 1000,
        fec="rs" if pam4(port.ref.speed_gbps, lane_count) else "",
        address=port.address or "",
        vrf=_vrf(port.vrf, spelling),
        vlans=_membership(port.untagged, port.tagged) if bridge_port else None,
        slices=tuple(
            Slice(
                name=f"{name}.{item.tag}",
                parent=name,
                tag=item.tag,
                address=item.address,
                vrf=_vrf(item.vrf, spelling),
                mtu=_mtu(view, port),
            )
            for item in port.subinterfaces
        ),
    )


def _vrf(tenant: str, spelling: Spelling) -> str:
    return spelling.vrf.format(tenant) if tenant else ""


def _mtu(view: SwitchView, port: Port) -> int:
    """What enters a tunnel must leave room for its header; fabric links carry the whole."""
    if view.overlay is None or port.kind == "fabric" or not (port.vrf or port.bridged or port.lag or port.subinterfaces):
        return view.underlay.mtu
    return view.overlay.mtu


def _membership(untagged: int, tagged: tuple[int, ...]) -> Membership:
    if not tagged:
        return Membership(access=untagged)
    return Membership(pvid=untagged, vids=" ".join(map(str, tagged)), tagged_only=not untagged)


def _bond(view: SwitchView, lag: Lag, names: Names, spelling: Spelling) -> Bond:
    return Bond(
        name=spelling.bond.format(lag.number),
        description=lag.description,
        slaves=" ".join(names(ref) for ref in lag.ports),
        system_mac=lag.system_mac,
        vlans=_membership(lag.untagged, lag.tagged),
        mtu=view.overlay.mtu if view.overlay else view.underlay.mtu,
    )


def _vxlans(view: SwitchView, vtep: str) -> list[Vxlan]:
    mtu = view.overlay.mtu if view.overlay else view.underlay.mtu
    layer2 = [
        Vxlan(name=f"vni{n.vni}", vni=n.vni, source=vtep, vlan=n.vlan, suppress=n.gateway is not None, mtu=mtu)
        for n in view.networks
    ]
    layer3 = [
        Vxlan(name=f"vni{v.vni}", vni=v.vni, source=vtep, vlan=v.vlan, suppress=False, mtu=mtu)
        for v in view.vrfs
        if v.vni is not None
    ]
    return layer2 + layer3


def _svis(view: SwitchView, spelling: Spelling) -> list[Svi]:
    if view.overlay is None:
        return []
    mac, mtu = view.overlay.anycast_mac, view.overlay.mtu

    def gateway(item: Network) -> Svi:
        vrf = spelling.vrf.format(item.vrf)
        return Svi(name=f"vlan{item.vlan}", vlan=item.vlan, vrf=vrf, address=item.gateway or "", mac=mac, mtu=mtu)

    def transit(item: Vrf) -> Svi:
        return Svi(name=f"vlan{item.vlan}", vlan=item.vlan, vrf=spelling.vrf.format(item.name), address="", mac="", mtu=mtu)

    return [
        *(gateway(item) for item in view.networks if item.gateway is not None),
        *(transit(item) for item in view.vrfs if item.vni is not None),
    ]


def _bridge(view: SwitchView, names: Names, bonds: list[Bond], vxlans: list[Vxlan]) -> Bridge | None:
    own = [names(port.ref) for port in view.ports if port.bridged and not port.lag and port.up]
    ports = [*own, *(bond.name for bond in bonds), *(vxlan.name for vxlan in vxlans)]
    if not ports:
        return None
    vlans = sorted({*(n.vlan for n in view.networks), *(vxlan.vlan for vxlan in vxlans)})
    return Bridge(BRIDGE, " ".join(ports), " ".join(map(str, vlans)))


# --- The files ------------------------------------------------------------------------------------------------


def files(view: SwitchView) -> list[File]:
    manage = view.management

    def names(ref: PortRef) -> str:
        return port_name(view.model, ref)

    host: dict[str, object] = {
        **devices(view, names, LINUX),
        "hostname": view.device.name,
        "address": manage.address or "",
        "gateway": manage.gateway or "",
        "vrf": MANAGEMENT_VRF if manage.vrf else "",
        "dns": " ".join(manage.dns),
        "ntp": manage.ntp,
        "syslog": manage.syslog,
        "snmp": bool(manage.snmp_user),
        "seed": view.balancing.seed,
        "bfdd": "yes" if view.underlay.bfd else "no",
    }
    system = ["daemons", "interfaces", "sysctl.conf", "chrony.conf", "rsyslog.conf", "lldpd.conf"]
    guarded = ["nftables.conf", "sshd.conf", "accounts"]
    guarded += ["issue.net"] if manage.banner else []
    guarded += ["snmpd.conf"] if manage.snmp_user else []
    doors, pam = guard(view, names), logins(view)
    return [
        Text("frr.conf", "frr/frr.conf.j2", routing(view, names, LINUX)),
        *(Text(path, f"frr/{path}.j2", host) for path in system),
        *(Text(path, f"frr/{path}.j2", doors) for path in guarded),
        *(Text(path, f"frr/{path}.j2", pam) for path in (("pam_radius_auth.conf", "radius.pam") if pam else ())),
    ]
