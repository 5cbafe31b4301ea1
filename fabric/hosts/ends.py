"""What the readers of switch configs share: from the classes of a port to the switch's end of a cable."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_interface

from fabric.hosts.agree import SwitchEnd
from fabric.readback.facts import Facts, Interface, PortQos

BEST_EFFORT = 0


@dataclass(frozen=True, slots=True)
class Port:
    """A port's classes, by priority; a port without any has PFC on nothing."""

    by_dscp: Mapping[int, int] = field(default_factory=dict)
    lossless: tuple[int, ...] = ()  # priorities with PFC
    strict: frozenset[int] = frozenset()
    weights: Mapping[int, int] = field(default_factory=dict)


def switch_end(port: Port, mtu: int | None, address: str | None) -> SwitchEnd:
    """`mtu` of the largest IP packet; `address` with its length. PFC on priorities that no packet gets is none."""
    used = set(port.by_dscp.values())
    lossless = port.lossless if not used or used & set(port.lossless) else ()
    priority = lossless[0] if len(lossless) == 1 else None
    notices = port.strict & used - set(lossless)
    notice = min(notices) if len(notices) == 1 else None
    own, peer = _both(address)
    return SwitchEnd(
        dscp=_only(port.by_dscp, priority),
        priority=priority,
        cnp_dscp=_only(port.by_dscp, notice),
        cnp_priority=notice,
        mtu=mtu,
        address=own,
        peer_address=peer,
        pfc_priorities=lossless,
        lossless_percent=_percent(port.weights, priority),
    )


def end_of(facts: Facts, interface: Interface) -> SwitchEnd:
    """The switch's end of a server cable, from the facts of its port, its bond and the networks behind it."""
    bond = facts.interfaces.get(interface.bond.value) if interface.bond else None
    parts = [interface, *([bond] if bond else [])]
    vlans = {said.value for part in parts for said in (*([part.access] if part.access else []), *part.trunk)}
    networks = [own for name, own in facts.interfaces.items() if _vlan_of(name) in vlans]
    qos = next((part.qos for part in parts if part.qos), None)
    address = interface.addresses[0].value if interface.addresses else None
    return switch_end(_port(qos), smallest(own.mtu.value for own in (*parts, *networks) if own.mtu), address)


def _vlan_of(name: str) -> int | None:
    """`Vlan100`, `vlan100` and `irb.100` are the gateway of VLAN 100."""
    head = name.lower().rstrip("0123456789")
    number = name[len(head) :]
    return int(number) if head in ("vlan", "irb.") and number else None


def _port(qos: PortQos | None) -> Port:
    if qos is None or not qos.pfc:
        return Port()
    return Port(
        by_dscp={dscp: said.value for dscp, said in qos.priorities.items()},
        lossless=tuple(sorted(said.value for said in qos.pfc)),
        strict=frozenset(said.value for said in qos.strict),
        weights={priority: said.value for priority, said in qos.weights.items()},
    )


def server_port(description: str | None) -> tuple[str, str] | None:
    """`gpu-0001 compute1` → the server and its port; None for every other description."""
    words = (description or "").strip('"').split()
    return (words[0], words[1]) if len(words) == 2 else None


def smallest(values: Iterable[str | int | None]) -> int | None:
    """The smallest of the limits that are told."""
    return min((int(value) for value in values if value is not None), default=None)


def numbers(text: str) -> list[int]:
    """`1,4-6 9` → 1, 4, 5, 6, 9; words, as in `none`, are no numbers."""
    found: list[int] = []
    for part in text.replace(",", " ").split():
        low, _, high = part.partition("-")
        if low.isdecimal():
            found += range(int(low), int(high or low) + 1)
    return found


def _only(by_dscp: Mapping[int, int], priority: int | None) -> int | None:
    """The one DSCP of a class; None where several share it."""
    found = [dscp for dscp, own in by_dscp.items() if own == priority]
    return found[0] if len(found) == 1 else None


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
