"""BGP sessions of a fabric by purpose, each counted once."""

from __future__ import annotations

from dataclasses import dataclass

from fabric.base.text import counted, plural
from fabric.model.plan import FabricPlan, FabricSpec


@dataclass(frozen=True, slots=True)
class Sessions:
    """Sessions beside those of the underlay."""

    evpn: int  # loopback to loopback
    sliced: tuple[tuple[str, int], ...]  # VRF-lite: tenant, and the fabric links that carry it
    outside: tuple[tuple[str, int, int], ...]  # router, links to it, sessions

    @property
    def of_tenants(self) -> int:
        return sum(count for _, count in self.sliced)

    @property
    def to_outside(self) -> int:
        return sum(count for _, _, count in self.outside)

    def __bool__(self) -> bool:
        return bool(self.evpn or self.of_tenants or self.to_outside)


def asked_for(spec: FabricSpec) -> bool:
    """Whether an intent has such sessions: the fabric must be wired before they are counted."""
    return spec.overlay.kind != "none" or bool(spec.tenants) or any(attachment.external for attachment in spec.attachments)


def sessions(fabric: FabricPlan) -> Sessions:
    tenancy, outside = fabric.tenancy, dict[str, list[int]]()
    for connection in tenancy.external_connections:
        outside.setdefault(connection.name, []).append(connection.link)
    return Sessions(
        evpn=sum(len(peers) for peers in tenancy.peers.values()) // 2,
        sliced=tuple((tenancy.tenants[at].name, int((first >= 0).sum())) for at, first in tenancy.slices.items()),
        outside=tuple((name, len(set(links)), len(links)) for name, links in outside.items()),
    )


def phrase(underlay: int, more: Sessions) -> str:
    """`32 sessions`; `32 underlay sessions, 16 of EVPN, 2 to outside` where there are others."""
    if not more:
        return counted(underlay, "session")
    parts = [counted(underlay, "underlay session")]
    parts += [f"{more.evpn:,} of EVPN"] if more.evpn else []
    parts += [f"{more.of_tenants:,} of tenants"] if more.of_tenants else []
    parts += [f"{more.to_outside:,} to outside"] if more.to_outside else []
    return ", ".join(parts)


def terms(more: Sessions, route_servers: int) -> list[str]:
    """Each kind with the product that gives its number."""
    out = []
    if more.evpn:
        out.append(
            "EVPN: one between the loopbacks of neighbors, with the first "
            f"{plural(route_servers, 'spine')} of a pod and plane (overlay.route_servers), same for cores: {more.evpn}"
        )
    if more.of_tenants:
        parts = [f"{count} with {name}" for name, count in more.sliced]
        out.append(f"tenants: one per tenant on each fabric link that carries it: {' + '.join(parts)} = {more.of_tenants}")
    for name, links, count in more.outside:
        each = count // links
        out.append(f"outside: {plural(links, 'link')} to {name} x {plural(each, 'table')} = {count}")
    return out
