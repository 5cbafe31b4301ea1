"""Draws a switch, or a server, from its own files; a file that is wrong makes a lab that is wrong, and that is the point.

A VLAN is a bridge of its own here, named as its VLAN interface: not every kernel has VLAN-aware bridges, and routing
daemons see the same.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from fabric.lab.blueprint import BRIDGE, LOOPBACK, PORT, SERVER, SWITCH, TUNNEL, Interface, Node, Route, Rule
from fabric.model import facts as read
from fabric.model.facts import Facts, Located
from fabric.model.plan import SwitchView
from fabric.nos.target import target

VXLAN_PORT = 4789
BASE_SYSCTLS = (
    ("net.ipv4.ip_forward", "1"),
    ("net.ipv6.conf.all.forwarding", "1"),
    ("net.ipv6.conf.default.forwarding", "1"),
    ("net.ipv4.conf.all.rp_filter", "0"),
    ("net.ipv4.conf.default.rp_filter", "0"),
    ("net.ipv4.fib_multipath_hash_policy", "1"),
    ("net.ipv6.fib_multipath_hash_policy", "1"),
    # A namespace checks for duplicates on every veth that comes up; no plan has any, and sessions wait for it.
    ("net.ipv6.conf.default.accept_dad", "0"),
    ("net.ipv6.conf.default.dad_transmits", "0"),
    ("net.ipv4.conf.default.arp_accept", "1"),
    ("net.ipv4.conf.all.ignore_routes_with_linkdown", "1"),
    ("net.ipv6.conf.all.ignore_routes_with_linkdown", "1"),
    ("net.ipv4.icmp_ratelimit", "0"),
)


# Without Ethernet segments two switches would take a host from each other with every packet that it sends over another port.
BONDS = "bonds: one port of each is used at a time; LACP, hashing and Ethernet segments are not emulated"
BOND_SYSCTLS = (("net.ipv4.conf.all.ignore_routes_with_linkdown", "1"),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chassis:
    """A switch without its files: what it is, and which of its ports are cabled."""

    name: str
    nos: str
    role: str
    ports: tuple[str, ...]
    above: Mapping[str, tuple[str, int]]  # port of a bond to switches above → the bond, place in it


def chassis(view: SwitchView) -> Chassis:
    """What a plan has of a switch."""
    nos = target(view.device.nos)
    assert nos.idiom is not None
    refs = {port.ref: nos.port_name(view.model, port.ref, view.device.model) for port in view.ports if port.peer}
    # A bridge below a pair must not close a loop over both; the pair itself has all ports of a bond in the network.
    below = [] if view.overlay else [lag for lag in view.lags if not lag.edge]
    return Chassis(
        name=view.device.name,
        nos=view.device.nos,
        role=view.device.role,
        ports=tuple(refs.values()),
        above={refs[ref]: (nos.idiom.bond.format(lag.number), at) for lag in below for at, ref in enumerate(lag.ports)},
    )


def switch(of: Chassis, facts: Facts, files: Mapping[str, str]) -> Node:
    """One switch.

    Args:
        files: base name → text of what it has.
    """
    drawn = _SwitchDrawing(of, facts)
    return Node(
        name=of.name,
        kind=SWITCH,
        role=of.role,
        interfaces=tuple(drawn.all()),
        vrfs=tuple(name for name in facts.vrfs if name not in (read.MANAGEMENT, "mgmt")),
        frr_conf=files.get("frr.conf", ""),
        sysctls=(*BASE_SYSCTLS, *_sysctls(files.get("sysctl.conf", ""))),
        filters=files.get("nftables.conf", ""),
        lldp=files.get("lldpd.conf", ""),
        lacks=tuple(drawn.lacks),
    )


def mac(*words: object) -> str:
    """A locally administered address that is the same every time."""
    digest = hashlib.blake2b("/".join(map(str, words)).encode(), digest_size=5).hexdigest()
    return ":".join(["02", *(digest[at : at + 2] for at in range(0, 10, 2))])


def _sysctls(text: str) -> Iterator[tuple[str, str]]:
    """The `net.` lines of a sysctl.conf."""
    yield from re.findall(r"^-?(net\.\S+?)\s*=\s*(\S+)", text, re.MULTILINE)


class _SwitchDrawing:
    def __init__(self, of: Chassis, facts: Facts) -> None:
        self.facts = facts
        idiom = target(of.nos).idiom
        assert idiom is not None
        self.idiom, self.name, self.ports, self.above = idiom, of.name, of.ports, of.above
        self.lacks: list[str] = []
        self.bridges: dict[int, str] = {}  # VLAN → bridge

    def all(self) -> Iterator[Interface]:
        yield self._loopback()
        yield from self._bridges()
        for name in self.ports:
            yield from self._port(name)
        yield from self._tunnels()

    def _loopback(self) -> Interface:
        names = [name for name in self.facts.interfaces if re.fullmatch(r"lo|[Ll]oopback\d*", name)]
        addresses = [address.value for name in names for address in self.facts.interfaces[name].addresses]
        return Interface(name="lo", kind=LOOPBACK, addresses=tuple(addresses))

    # --- ports --------------------------------------------------------------------------------------------------

    def _port(self, name: str) -> Iterator[Interface]:
        interface = self.facts.interfaces.get(name)
        if interface is None:
            yield Interface(name=name, kind=PORT, up=False)
            return
        carries = interface
        if interface.bond is not None:
            self.lacks = [BONDS]
            carries = self.facts.interfaces.get(interface.bond.value, interface)
        up = interface.enabled is None or interface.enabled.value
        bond, standby = self.above.get(name, ("", 0))
        access = carries.access.value if carries.access else 0
        yield Interface(
            name=name,
            kind=PORT,
            vrf=self._vrf_of(carries, access),
            addresses=tuple(address.value for address in carries.addresses),
            mtu=_int(interface.mtu) or _int(carries.mtu),
            up=up,
            bridge=self.bridges.get(access, ""),
            mac=mac(self.name, name),
            bond=bond,
            standby=standby,
        )
        yield from self._slices(name, carries, up)

    def _slices(self, name: str, carries: read.Interface, up: bool) -> Iterator[Interface]:
        """Tagged subinterfaces of a routed port, tagged VLANs of a bridge port."""
        bond, standby = self.above.get(name, ("", 0))
        for other, part in self.facts.interfaces.items():
            if part.tag is not None and other.rpartition(".")[0] in (name, carries.name):
                yield Interface(
                    name=f"{name}.{part.tag.value}",
                    kind=PORT,
                    vrf=_vrf(part),
                    addresses=tuple(address.value for address in part.addresses),
                    mtu=_int(part.mtu) or _int(own_mtu(self.facts, name)),
                    up=up and (part.enabled is None or part.enabled.value),
                    mac=mac(self.name, name),
                    parent=name,
                )
        for vlan in (address.value for address in carries.trunk):
            bridge = self.bridges.get(vlan, "")
            if bridge and not (carries.access and carries.access.value == vlan):
                yield Interface(
                    name=f"{name}.{vlan}",
                    kind=PORT,
                    vrf=self._bridge_vrf(vlan),
                    mtu=_int(carries.mtu),
                    up=up,
                    bridge=bridge,
                    mac=mac(self.name, name, vlan),
                    parent=name,
                    bond=bond,
                    standby=standby,
                )

    def _vrf_of(self, port: read.Interface, access: int) -> str:
        return self._bridge_vrf(access) if access else _vrf(port)

    # --- bridges and tunnels ------------------------------------------------------------------------------------

    def _svi(self, vlan: int) -> read.Interface | None:
        return self.facts.interfaces.get(self.idiom.svi.format(vlan))

    def _bridge_vrf(self, vlan: int) -> str:
        svi = self._svi(vlan)
        return _vrf(svi) if svi else ""

    def _vlans(self) -> list[int]:
        """Every VLAN that has a member here."""
        vlans = {_int(vni.vlan) for vni in self.facts.vnis.values()} | {
            _int(v.vlan) for v in self.facts.vrfs.values() if v.vni
        }
        for name in self.ports:
            interface = self.facts.interfaces.get(name)
            bond = self.facts.interfaces.get(interface.bond.value) if interface and interface.bond else interface
            if bond:
                vlans |= {_int(bond.access)}
        return sorted(vlans - {0})

    def _bridges(self) -> Iterator[Interface]:
        for vlan in self._vlans():
            svi, name = self._svi(vlan), self.idiom.svi.format(vlan)
            self.bridges[vlan] = name
            gateways = [address.value for address in (*svi.gateways, *svi.addresses)] if svi else []
            shared = self.facts.anycast_mac.value if gateways and self.facts.anycast_mac else ""
            yield Interface(
                name=name,
                kind=BRIDGE,
                vrf=self._bridge_vrf(vlan),
                addresses=tuple(gateways),
                mtu=_int(svi.mtu) if svi else 0,
                mac=shared or mac(self.name, name),
            )

    def _tunnels(self) -> Iterator[Interface]:
        """A VXLAN device for every VNI that is bound to a VLAN."""
        local = self.facts.vtep.value if self.facts.vtep else ""
        for number, layer2 in self.facts.vnis.items():
            if layer2.vlan is None:
                continue  # configured in BGP alone: there is no device
            suppress = layer2.arp_suppress is not None and layer2.arp_suppress.value
            yield self._tunnel(number, _int(layer2.vlan), local, suppress)
        for vrf in self.facts.vrfs.values():
            if vrf.vni is not None and vrf.vlan is not None and local:
                yield self._tunnel(vrf.vni.value, _int(vrf.vlan), local, False)

    def _tunnel(self, vni: int, vlan: int, local: str, suppress: bool) -> Interface:
        svi = self._svi(vlan)
        return Interface(
            name=f"vni{vni}",
            kind=TUNNEL,
            vrf=self._bridge_vrf(vlan),
            mtu=_int(svi.mtu) if svi else 0,
            bridge=self.bridges.get(vlan, ""),
            mac=mac(self.name, vni),
            vni=vni,
            local=local,
            answers=suppress,
        )


def own_mtu(facts: Facts, name: str) -> Located[int] | None:
    own = facts.interfaces.get(name)
    return own.mtu if own else None


def _vrf(port: read.Interface) -> str:
    return port.vrf.value if port.vrf else ""


def _int(fact: Located[int] | None) -> int:
    return fact.value if fact else 0


# --- server ---------------------------------------------------------------------------------------------------
# Draws a server from its own netplan file: addresses, routes and rules as networkd would set them.

SYSCTLS = (
    ("net.ipv6.conf.default.accept_dad", "0"),
    ("net.ipv6.conf.default.dad_transmits", "0"),
    # As the RoCE script of every server has it: an address answers on its own port alone.
    ("net.ipv4.conf.all.arp_ignore", "1"),
    ("net.ipv4.conf.all.arp_announce", "2"),
    ("net.ipv4.conf.all.rp_filter", "0"),
    ("net.ipv4.conf.default.rp_filter", "0"),
)

# As `sysctl.conf` of servers that are cabled to each other has it.
RELAY_SYSCTLS = (("net.ipv4.ip_forward", "1"), ("net.ipv6.conf.all.forwarding", "1"))


def server(name: str, text: str) -> Node:
    """One server. Raises ValueError for a file that is no netplan."""
    try:
        network: Mapping[str, Any] = yaml.safe_load(text)["network"]
        parts: list[Mapping[str, Any]] = [network.get(key) or {} for key in ("ethernets", "bonds", "vlans")]
        drawn = _ServerDrawing(name, *parts)
        own = [
            Interface(name=bridge, kind=BRIDGE, addresses=tuple(map(str, settings["addresses"])))
            for bridge, settings in (network.get("bridges") or {}).items()
        ]
        interfaces = (*drawn.interfaces(), *own)
    except (yaml.YAMLError, LookupError, TypeError, AttributeError) as error:
        raise ValueError(f"{name}: no netplan file: {error}") from None
    return Node(
        name=name,
        kind=SERVER,
        role=SERVER,
        interfaces=interfaces,
        sysctls=(*SYSCTLS, *(RELAY_SYSCTLS if own else ()), *(BOND_SYSCTLS if parts[1] else ())),
        routes=tuple(drawn.routes),
        rules=tuple(drawn.rules),
        lacks=(BONDS,) if parts[1] else (),
    )


class _ServerDrawing:
    def __init__(self, name: str, ethernets: Mapping[str, Any], bonds: Mapping[str, Any], vlans: Mapping[str, Any]) -> None:
        self.name, self.ethernets, self.vlans = name, ethernets, vlans
        self.bond_of = {member: (bond, own, at) for bond, own in bonds.items() for at, member in enumerate(own["interfaces"])}
        self.routes: list[Route] = []
        self.rules: list[Rule] = []

    def interfaces(self) -> Iterator[Interface]:
        """Every port, and its part of each VLAN. Each port of a bond has what the bond has, as its standby."""
        for name, stated in self.ethernets.items():
            bond, settings, at = self.bond_of.get(name, ("", stated, 0))
            standby = (at + 1 - trailing_number(self.name)) % len(settings["interfaces"]) if bond else 0
            member = {"bond": bond, "standby": standby}
            yield self._interface(name, settings, up=stated.get("activation-mode") != "off", mac_of=bond or name, **member)
            for vlan, part in self.vlans.items():
                if part["link"] == (bond or name):
                    yield self._interface(_part(vlan, at), part, up=True, mac_of=vlan, parent=name, **member)

    def _interface(self, name: str, settings: Mapping[str, Any], *, mac_of: str, **its: Any) -> Interface:
        # IPv6 has no sysctl that keeps a port on standby silent.
        fit = [text for text in map(str, settings.get("addresses", ())) if not (its["standby"] and ":" in text)]
        for route in settings.get("routes", ()) if fit else ():
            table, metric = int(route.get("table", 0)), int(route.get("metric", 0)) + its["standby"]
            source = str(route.get("from", ""))
            found = Route(
                to=str(route["to"]), via=str(route["via"]), interface=name, table=table, metric=metric, source=source
            )
            self.routes.append(found)
        for rule in settings.get("routing-policy", ()) if not its["standby"] else ():
            self.rules.append(Rule(str(rule["from"]), int(rule["table"]), int(rule["priority"])))
        mtu = int(settings.get("mtu", 0))
        return Interface(name=name, kind=PORT, addresses=tuple(fit), mtu=mtu, mac=mac(self.name, mac_of), **its)

    def slice(self, port: str, tag: int) -> str:
        """Name of the interface that has a tagged network of a port, "" for none."""
        bond, _, at = self.bond_of.get(port, (port, None, 0))
        found = (_part(name, at) for name, part in self.vlans.items() if part["link"] == bond and int(part["id"]) == tag)
        return next(found, "")


def trailing_number(name: str) -> int:
    """`gpu-0007` → 7; 1 for a name without one. Hosts take turns by it over the ports of their bonds."""
    return int("0" + re.split(r"\D", name)[-1]) or 1


def _part(vlan: str, at: int) -> str:
    """The interface of a VLAN on one port of a bond: the first port's has its name."""
    return f"{vlan[:13]}-{at + 1}" if at else vlan


def tagged(text: str, port: str, tag: int) -> str:
    """The interface of a server that a tagged network of a port is on, "" for none."""
    network = yaml.safe_load(text)["network"]
    drawn = _ServerDrawing("", *(network.get(key) or {} for key in ("ethernets", "bonds", "vlans")))
    return drawn.slice(port, tag)
