"""The switch's end of a server cable, made from the facts of its config."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_interface

from fabric.base.grouping import grouped
from fabric.configs.hosts.mismatches import SwitchEnd
from fabric.model.facts import Facts, Interface, PortQos
from fabric.nos.target import Idiom, target

BEST_EFFORT = 0
MEANT = (26, 48)  # DSCPs of RoCE and CNPs, which stand for their block of eight
NOTICE = "CNP"  # in the name of a class


@dataclass(frozen=True, slots=True, kw_only=True)
class LeafPort:
    """A port's classes, by priority; a port without any has PFC on nothing."""

    by_dscp: Mapping[int, int] = field(default_factory=dict)
    names: Mapping[int, str] = field(default_factory=dict)  # DSCP → name of its class
    lossless: tuple[int, ...] = ()  # priorities with PFC
    strict: frozenset[int] = frozenset()
    weights: Mapping[int, int] = field(default_factory=dict)
    own_classes: bool = False  # numbers of classes without PFC are local to the device


def switch_end(port: LeafPort, mtu: int | None, address: str | None) -> SwitchEnd:
    """`mtu` of the largest IP packet; `address` with its length. PFC on priorities that no packet gets is none."""
    used = set(port.by_dscp.values())
    lossless = port.lossless if not used or used & set(port.lossless) else ()
    priority = lossless[0] if len(lossless) == 1 else None
    notices = _notices(port, lossless)
    local, peer = _both(address)
    return SwitchEnd(
        dscp=_only(dscp for dscp, of in port.by_dscp.items() if of == priority),
        priority=priority,
        cnp_dscp=_only(notices),
        cnp_priority=None if port.own_classes else _only(set(notices.values())),
        mtu=mtu,
        address=local,
        peer_address=peer,
        pfc_priorities=lossless,
        lossless_percent=_percent(port.weights, priority),
    )


def end_of(facts: Facts, interface: Interface) -> SwitchEnd:
    """The switch's end of a server cable, from the facts of its port, its bond and the networks behind it."""
    bond = facts.interfaces.get(interface.bond.value) if interface.bond else None
    parts = [interface, *([bond] if bond else [])]
    vlans = {parsed.value for part in parts for parsed in (*([part.access] if part.access else []), *part.trunk)}
    networks = (
        [network_port for network_port in facts.interfaces.values() if _vlan_of(network_port) in vlans] if vlans else []
    )
    qos = next((part.qos for part in parts if part.qos), None)
    address = next((parsed.value for part in parts for parsed in part.addresses), None)
    idiom = target(facts.nos).idiom
    assert idiom is not None  # every network OS with a reader has one
    port = LeafPort() if qos is None or (idiom.lossless_by_pfc and not qos.pfc) else _port(qos, idiom)
    return switch_end(
        port, smallest(network_port.mtu.value for network_port in (*parts, *networks) if network_port.mtu), address
    )


def _vlan_of(network: Interface) -> int | None:
    """`Vlan100` and `vlan100` are the gateway of VLAN 100; `irb.100` is where no VLAN names it as its own."""
    head = network.name.lower().rstrip("0123456789")
    number = network.name[len(head) :]
    if head not in ("vlan", "irb.") or not number:
        return None
    return network.tag.value if network.tag else int(number)


def _port(qos: PortQos, idiom: Idiom) -> LeafPort:
    by_dscp = {dscp: parsed.value for dscp, parsed in qos.priorities.items()}
    return LeafPort(
        by_dscp=_meant(by_dscp) if idiom.blocks else by_dscp,
        names=qos.names,
        lossless=tuple(sorted({parsed.value for parsed in qos.pfc})),
        strict=frozenset(parsed.value for parsed in qos.strict),
        weights={priority: parsed.value for priority, parsed in qos.weights.items()},
        own_classes=idiom.own_classes,
    )


def _meant(by_dscp: Mapping[int, int]) -> dict[int, int]:
    """A class that takes a whole block of DSCPs is named by its intended DSCP; by the lowest where that is not in it."""
    classes = grouped((priority, dscp) for dscp, priority in sorted(by_dscp.items()))
    return {next((own for own in MEANT if own in dscps), dscps[0]): priority for priority, dscps in classes.items()}


def _notices(port: LeafPort, lossless: tuple[int, ...]) -> dict[int, int]:
    """DSCP → priority of congestion notifications: what is strict and loses packets; of several, what has their name."""
    first = {dscp: own for dscp, own in port.by_dscp.items() if own in port.strict and own not in lossless}
    named = {dscp: own for dscp, own in first.items() if NOTICE in port.names.get(dscp, "").upper()}
    return named or first


def smallest(values: Iterable[int]) -> int | None:
    """The smallest of the configured limits."""
    return min(values, default=None)


def _only(found: Iterable[int]) -> int | None:
    """The one that there is; None where there are several."""
    values = list(found)
    return values[0] if len(values) == 1 else None


def _percent(weights: Mapping[int, int], priority: int | None) -> int | None:
    """Weight of the lossless class beside that of best effort."""
    if priority is None:
        return None
    own, rest = weights.get(priority), weights.get(BEST_EFFORT)
    return round(100 * own / (own + rest)) if own and rest else None


def _both(address: str | None) -> tuple[str | None, str | None]:
    """Both ends of a point-to-point subnet."""
    if address is None:
        return None, None
    own = ip_interface(address)
    if own.network.num_addresses != 2:
        return str(own.ip), None
    peer = next(ip for ip in own.network if ip != own.ip)
    return str(own.ip), f"{peer}/{own.network.prefixlen}"
