"""What the readers of switch configs share: from the classes of a port to the switch's end of a cable."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_interface

from fabric.hosts.agree import SwitchEnd

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
