"""What Batfish sees of each target, as its answers about generated configurations showed; data that the checks go by."""

from __future__ import annotations

VRF, TYPE5, EVPN, ACL, UNNUMBERED, BRIDGE = "vrf", "type5", "evpn", "acl", "unnumbered", "bridge"

SEES: dict[str, frozenset[str]] = {
    # Routing tables of tenants, EVPN sessions, tenants' routes over EVPN, filters on server ports, sessions on an interface,
    # layer-2 networks of tenants.
    "cumulus": frozenset({VRF, EVPN, UNNUMBERED, BRIDGE}),
    "eos": frozenset({VRF, EVPN, TYPE5, ACL, UNNUMBERED, BRIDGE}),
    "frr": frozenset({VRF, EVPN, UNNUMBERED, BRIDGE}),
    "junos": frozenset({VRF, ACL}),
    "nxos": frozenset({VRF, EVPN, TYPE5, ACL, BRIDGE}),
    "sonic": frozenset({UNNUMBERED}),
}
VRF_NAMES = {"frr": "vrf-{}", "junos": "VRF-{}"}  # of a tenant's table, where it is not the tenant's own name
LOOPBACK_IS_VTEP = frozenset({"junos"})


def sees(nos: str, what: str) -> bool:
    return what in SEES.get(nos, frozenset())


def vrf_name(nos: str, tenant: str) -> str:
    """A routing table as Batfish names it."""
    return VRF_NAMES.get(nos, "{}").format(tenant) if tenant else "default"
