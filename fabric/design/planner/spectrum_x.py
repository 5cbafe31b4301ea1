"""Addresses of server ports as NVIDIA's launch kit computes them: octets of plane, rail, pod, unit and server.

Source: NVIDIA/k8s-launch-kit@5027cad7 addressing.go (IPv4; /31, the server has the even address).
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address, ip_network

from fabric.base.diagnostics import Report
from fabric.model.plan import FabricSpec, Sizing

SCHEME = "spectrum-x"
LEAF_ADDRESSES = 256  # of one leaf: the last octet
MAX_HOSTS, MAX_RAILS, MAX_PLANES, MAX_PODS = 128, 8, 4, 32


@dataclass(frozen=True, slots=True)
class Layout:
    """Bits of one shape of fabric: where a rail of a plane begins, and how many leaves it has room for."""

    second_octet: int  # where the scheme begins in the first octet of the pool
    plane: int  # log2 of the addresses of a plane
    rail: int  # log2 of the addresses of a rail
    units: int  # of a pod, or of the fabric without pods

    def first(self, base: int, plane: int, rail: int) -> int:
        """First address of a rail on a plane."""
        return base + (self.second_octet << 16) + (plane << self.plane) + (rail << self.rail)


def layout(tiers: int, planes: int) -> Layout:
    """The shape of a fabric: two tiers or three, with planes or without."""
    if tiers == 3:
        return Layout(0, 22, 19, 64) if planes > 1 else Layout(0, 24, 21, 256)
    return Layout(16, 18, 14, 64) if planes > 1 else Layout(16, 20, 17, 64)


def base(pool: str) -> int:
    """First address of the pool's first octet."""
    return int(ip_network(pool).network_address) >> 24 << 24


def row(sizing: Sizing, pod: int, unit: int) -> int:
    """Row of a unit in the area of its rail; `unit` counts in its pod."""
    its = layout(sizing.tiers, sizing.planes)
    return pod * its.units + unit


def check(spec: FabricSpec, sizing: Sizing, row: int, pool: str, report: Report) -> bool:
    """Whether the scheme has room for the fabric; what it has no room for is reported.

    Args:
        row: the highest row in use, as `row` counts them.
    """
    its = layout(sizing.tiers, sizing.planes)
    pods, units = (row // its.units + 1, sizing.units_per_pod) if sizing.tiers == 3 else (1, row + 1)
    hosts = max(size.unit_servers for size in sizing.groups)
    rails = max(spec.rails(group) for group in spec.groups)
    wrong = [
        f"{what} of at most {most}, got {got}"
        for what, got, most in (
            ("planes", sizing.planes, MAX_PLANES),
            ("rails", rails, MAX_RAILS),
            ("servers of a unit", hosts, MAX_HOSTS),
            ("units", units, its.units),
            ("pods", pods, MAX_PODS),
        )
        if got > most
    ]
    if spec.kind not in ("rail-optimized", "rail-only"):
        wrong.append(f"a fabric with rails, got {spec.kind}")
    if any(spec.pods_per_unit(group) > 1 for group in spec.groups):
        wrong.append("units in one pod each, got `pods.rails`")
    if spec.dual_tor or any(group.nic.count != spec.rails(group) for group in spec.groups if not group.bare):
        wrong.append("one port of a server on each leaf")
    if spec.underlay.addressing == "ipv6":
        wrong.append("IPv4 addresses of servers, got ipv6")
    if any(group.shared or group.further for group in spec.groups):
        wrong.append("servers and NICs with leaves of their own")
    for text in wrong:
        report.error("FAB109", spec.at("underlay", "server_subnets"), f"server_subnets {SCHEME}: expected {text}", HINT)
    first, end = its.first(base(pool), 0, 0), its.first(base(pool), _planes(spec) - 1, rails - 1) + (1 << its.rail)
    net = ip_network(pool)
    if not wrong and not (int(net.network_address) <= first and end - 1 <= int(net.broadcast_address)):
        text = f"{ip_address(first)} to {ip_address(end - 1)}"
        report.error(
            "FAB136",
            spec.at("pools", "servers"),
            f"server_subnets {SCHEME}: expected a pool 'servers' with {text}, got {pool}",
            "state `pools: {servers: 172.16.0.0/12}` with two tiers, `pools: {servers: 10.0.0.0/8}` with three",
        )
        return False
    return not wrong


HINT = "`server_subnets: leaf`, the default, has no such limit"


def _planes(spec: FabricSpec) -> int:
    """Planes with addresses of their own."""
    return 1 if all(group.joins_planes for group in spec.groups) else spec.planes
