"""What a Linux switch lets in: nftables for the control plane and between tenants that share a table, sshd, snmpd.

Only management is tracked by connection; what the fabric sends is matched by who may send it, so that transit traffic
never meets conntrack.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fabric.model.plan import SwitchView
from fabric.nos.target import Names

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
