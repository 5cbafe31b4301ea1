"""Address pools and AS number ranges of every fabric: stated ones checked, the others chosen around them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from typing import Literal

from netaddr import IPNetwork

from fabric.base.diagnostics import Place, Report
from fabric.base.text import listed
from fabric.design.planner.numbers import NumberSpace
from fabric.model.plan import (
    PRIVATE_2_BYTE,
    PRIVATE_4_BYTE,
    FabricSpec,
    OwnPrefix,
    SiteSpec,
    denied,
    left_of,
    own_pools,
    tenants_behind,
)
from fabric.model.settings.addressing import RESERVED_ASNS, Pools

# --- outside --------------------------------------------------------------------------------------------------
# Prefixes accepted from external routers, without those of the site; at least one must remain.


def check_accepted(spec: FabricSpec, prefixes: Mapping[str, Sequence[str]], report: Report) -> None:
    """Reports accepted prefixes that have only addresses of the site.

    Args:
        prefixes: pools by kind.
    """
    for at, attachment in enumerate(spec.attachments):
        external = attachment.external
        if external is None or not external.accept:
            continue
        behind = tenants_behind(spec, external)
        own_prefixes = [*own_pools(spec, prefixes), *_networks(spec, behind)]
        for n, text in enumerate(external.accept):
            if left_of(text, own_prefixes):
                continue
            met = listed([f"{prefix.what} {prefix.prefix}" for prefix in denied(own_prefixes, [text])], 3)
            report.error(
                "FAB136",
                spec.at("topology", "attachments", at, "external", "accept", n),
                f"attachment '{attachment.name}': accept: expected a prefix of other networks, got {text}, which is in {met}",
                "own prefixes are never accepted from outside: remove it, accept the default route, or use other `pools`",
            )


def _networks(spec: FabricSpec, names: Sequence[str]) -> list[OwnPrefix]:
    return [
        OwnPrefix(0, f"network '{network.name}' of tenant '{tenant.name}'", str(ip_network(network.gateway, strict=False)))
        for tenant in spec.tenants
        if tenant.name in names
        for network in tenant.networks
        if network.gateway is not None
    ]


# --- pools of every fabric ------------------------------------------------------------------------------------

Kind = Literal["loopback", "loopback6", "vtep", "p2p", "servers", "management"]
KINDS: tuple[Kind, ...] = ("loopback", "loopback6", "vtep", "p2p", "servers", "management")

# Private prefixes (RFC 1918, RFC 4193), the largest first; the first without an overlap is used.
_DEFAULTS: dict[str, tuple[str, ...]] = {
    "loopback": ("10.0.0.0/15", "172.31.0.0/16", "192.168.0.0/17"),
    "loopback6": ("fd00:0:0:1::/64", "fd00:0:1:1::/64"),
    "vtep": ("10.2.0.0/15", "172.30.0.0/16", "192.168.128.0/18"),
    "p2p": ("10.64.0.0/10", "172.24.0.0/14", "10.32.0.0/11", "192.168.0.0/16"),
    "servers": ("10.128.0.0/9", "10.16.0.0/12", "172.28.0.0/15"),
    "management": ("172.16.0.0/16", "172.20.0.0/16", "192.168.192.0/18"),
    "p2p6": ("fd00:0:0:1000::/52", "fd00:0:1:1000::/52"),
    "servers6": ("fd00:0:0:8000::/49", "fd00:0:1:8000::/49"),
}


@dataclass(frozen=True)
class PoolSet:
    """The pools of one fabric: prefixes by kind, and whether the intent states them."""

    prefixes: Mapping[str, tuple[str, ...]]
    stated: Mapping[str, Place]  # only the stated kinds
    gateway: int | None = None  # of management, if stated

    def space(self, kind: str, used: list[tuple[int, int]]) -> NumberSpace:
        """Number space of a kind.

        Management pools are subnets: network, broadcast and gateway (the first address unless stated) are left out. Of
        the loopbacks the address that ends in zero is left out where that costs nothing.
        """
        intervals = []
        for net in map(IPNetwork, self.prefixes[kind]):
            first, end = net.first, net.last + 1
            if kind == "management" and net.size > 4:
                gateway = self.gateway_of(net)
                intervals += [(first + 1, gateway), (gateway + 1, end - 1)]
                continue
            if kind in ("loopback", "loopback6", "vtep") and net.size >= 256:
                first += 1
            intervals.append((first, end))
        return NumberSpace([(low, high) for low, high in intervals if low < high], used)

    def gateway_of(self, net: IPNetwork) -> int:
        """The gateway of a management subnet: what the intent states, else the first address."""
        stated = self.gateway
        return stated if stated is not None and net.first < stated < net.last else net.first + 1


def pools(site: SiteSpec, report: Report) -> dict[str, PoolSet]:
    """The pools of every fabric: its own, the site's, or defaults that overlap nothing stated."""
    stated: list[tuple[IPNetwork, str, Place]] = []
    place_of, shared_pools = site.settings.positions.at, site.settings.pools
    _collect(stated, shared_pools, place_of, "pools")
    for spec in site.fabrics.values():
        _collect(stated, spec.pools, spec.at, "pools")
    _check_overlaps(stated, report)
    taken = [network for network, *_ in stated]
    defaults = {kind: _default(candidates, taken) for kind, candidates in _DEFAULTS.items()}
    result = {}
    for name, spec in site.fabrics.items():
        v6 = spec.underlay.addressing == "ipv6"
        prefixes: dict[str, tuple[str, ...]] = {}
        places: dict[str, Place] = {}
        for kind in KINDS:
            of_fabric, shared = getattr(spec.pools, kind), getattr(shared_pools, kind)
            default = defaults[f"{kind}6" if v6 and kind in ("p2p", "servers") else kind]
            prefixes[kind] = of_fabric or shared or (default,)
            if of_fabric or shared:
                places[kind] = spec.at("pools", kind) if of_fabric else place_of("pools", kind)
                _check_family(kind, prefixes[kind], v6, places[kind], report)
        stated_gateway = spec.management.gateway
        gateway = int(ip_address(stated_gateway)) if stated_gateway else None
        result[name] = PoolSet(prefixes, places, gateway)
    return result


def _collect(found: list[tuple[IPNetwork, str, Place]], stated: Pools, place: Callable[..., Place], key: str) -> None:
    for kind in KINDS:
        for at, prefix in enumerate(getattr(stated, kind) or ()):
            found.append((IPNetwork(prefix), kind, place(key, kind, at)))


def _check_overlaps(stated: list[tuple[IPNetwork, str, Place]], report: Report) -> None:
    """Pools of different kinds never overlap; the same prefix for the same kind in two fabrics is shared."""
    for at, (network, kind, place) in enumerate(stated):
        for other, other_kind, other_place in stated[:at]:
            if network.version != other.version or network.first > other.last or other.first > network.last:
                continue
            if kind == other_kind and network == other and place != other_place:
                continue
            report.error(
                "FAB136",
                place,
                f"pool '{kind}' {network} overlaps pool '{other_kind}' {other} in line {other_place.line}",
                "use separate prefixes for each pool",
            )


_FAMILY = {
    "loopback": "a router id is an IPv4 address; `loopback6` takes the IPv6 loopbacks",
    "loopback6": "`loopback` takes the IPv4 loopbacks",
    "vtep": "VTEP addresses are IPv4",
}


def _check_family(kind: str, prefixes: tuple[str, ...], v6: bool, place: Place, report: Report) -> None:
    if kind in ("loopback", "vtep", "management"):
        versions = {4} if kind != "management" else {4, 6}
    elif kind == "loopback6":
        versions = {6}
    else:
        versions = {6 if v6 else 4}
    wrong = [prefix for prefix in prefixes if IPNetwork(prefix).version not in versions]
    if wrong:
        chosen = "set `underlay.addressing` to change between IPv4 and IPv6"
        hint = chosen if kind in ("p2p", "servers") else _FAMILY.get(kind, "")
        version = next(iter(sorted(versions)))
        report.error("FAB104", place, f"pools.{kind}: expected IPv{version} prefixes, got {wrong[0]}", hint)


def _default(candidates: tuple[str, ...], taken: list[IPNetwork]) -> str:
    for candidate in candidates:
        network = IPNetwork(candidate)
        if not any(
            network.version == other.version and network.first <= other.last and other.first <= network.last
            for other in taken
        ):
            return candidate
    return candidates[0]


def check(site: SiteSpec) -> None:
    """Checks the stated pools and ranges, for callers that assign no numbers. Raises InputError."""
    report = Report()
    of_fabrics = pools(site, report)
    for name, spec in site.fabrics.items():
        check_accepted(spec, of_fabrics[name].prefixes, report)
        asn_intervals(spec, report)
    report.raise_errors()


def asn_intervals(spec: FabricSpec, report: Report) -> list[tuple[int, int]]:
    """AS numbers that a fabric may take, as [first, end). Public ones are a warning, reserved ones are left out."""
    scheme = spec.underlay.asn
    if scheme.ranges is None:
        first, last = PRIVATE_2_BYTE if scheme.width == 2 else PRIVATE_4_BYTE
        return [(first, last + 1)]
    intervals: list[tuple[int, int]] = []
    for index, text in enumerate(scheme.ranges):
        place = spec.at("underlay", "asn", "ranges", index)
        match = re.fullmatch(r"(\d{1,10})(?:-(\d{1,10}))?", text.strip())
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
        highest = 65_535 if scheme.width == 2 else 4_294_967_295
        if not match or first > last or first < 1 or last > highest:
            report.error(
                "FAB137",
                place,
                f"underlay.asn.ranges: expected a range such as 64512-65534 within 1 to {highest}, got '{text}'",
                "from low to high; private are 64512-65534 and 4200000000-4294967294"
                + (", and `width: 2` allows the first" if highest < 65_536 and last > highest else ""),
            )
            continue
        if not _private(first, last):
            report.warn("FAB181", place, f"AS numbers {text} are not private (RFC 6996)", _SILENCE.format("FAB181"))
        cuts = sorted(asn for asn in RESERVED_ASNS if first <= asn <= last)
        for low, high in zip([first, *(cut + 1 for cut in cuts)], [*cuts, last + 1], strict=True):
            if low < high:
                intervals.append((low, high))
    return intervals


def _private(first: int, last: int) -> bool:
    return any(low <= first and last <= high for low, high in (PRIVATE_2_BYTE, PRIVATE_4_BYTE))


_SILENCE = "if that is meant, say so: `checks: {{silence: {{{}: why}}}}`"
