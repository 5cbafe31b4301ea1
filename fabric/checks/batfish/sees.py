"""What Batfish sees of each target, as its answers about generated configurations showed; data that the checks go by."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from fabric.plan.tenancy import Vrf
from fabric.plan.views import SwitchView

VRF, TYPE5, EVPN, ACL, UNNUMBERED, BRIDGE, FORWARD = "vrf", "type5", "evpn", "acl", "unnumbered", "bridge", "forward"

SEES: dict[str, frozenset[str]] = {
    # Routing tables of tenants, EVPN sessions, tenants' routes over EVPN, filters on server ports, sessions on an interface,
    # layer-2 networks of tenants, packets over the fabric.
    "cumulus": frozenset({VRF, EVPN, UNNUMBERED, BRIDGE, FORWARD}),
    "eos": frozenset({VRF, EVPN, TYPE5, ACL, UNNUMBERED, BRIDGE, FORWARD}),
    "frr": frozenset({VRF, EVPN, UNNUMBERED, BRIDGE, FORWARD}),
    "junos": frozenset({VRF, ACL, FORWARD}),
    "nxos": frozenset({VRF, EVPN, TYPE5, ACL, BRIDGE, FORWARD}),
    "sonic": frozenset({UNNUMBERED, FORWARD}),
}
VRF_NAMES = {"frr": "vrf-{}", "junos": "VRF-{}"}  # of a tenant's table, where it is not the tenant's own name
LOOPBACK_IS_VTEP = frozenset({"junos"})
MOST_TARGET = 65_535  # the number behind the AS number of a route target that Batfish reads on EOS


@dataclass(frozen=True, slots=True)
class Limit:
    """Something that Batfish sees of a target, but not of every design."""

    nos: str
    unseen: frozenset[str]
    of_switch: Callable[[SwitchView], bool]  # whether a switch is of such a design …
    of_vrf: Callable[[Vrf], bool]  # … and of its tenants which
    why: str


LIMITS = (
    Limit(
        "eos",
        frozenset({TYPE5}),
        lambda view: any(_large(vrf) for vrf in view.vrfs),
        lambda vrf: _large(vrf),
        f"its EOS grammar takes no route target above {MOST_TARGET}",
    ),
    Limit(
        "nxos",
        frozenset({TYPE5}),
        lambda view: any(_several(vrf) for vrf in view.vrfs),
        lambda vrf: _several(vrf),
        "of several imported route targets of an NX-OS table it keeps the last",
    ),
    Limit(
        "eos",
        frozenset({EVPN, TYPE5, FORWARD}),
        lambda view: view.underlay.unnumbered,
        lambda vrf: True,
        "it sends no packet over an EOS interface without an address",
    ),
)


def _large(vrf: Vrf) -> bool:
    targets = (vrf.route_target, *vrf.imports) if vrf.vni else ()
    return any(int(target.rpartition(":")[2]) > MOST_TARGET for target in targets)


def _several(vrf: Vrf) -> bool:
    return bool(vrf.vni) and len({vrf.route_target, *vrf.imports}) > 1


def sees(nos: str, what: str) -> bool:
    """Whether Batfish models something of a target, in most designs."""
    return what in SEES.get(nos, frozenset())


def sees_of(view: SwitchView, what: str, vrf: Vrf | None = None) -> bool:
    """Whether Batfish models something of a switch, or of one tenant's table on it."""
    return sees(view.device.nos, what) and not any(
        what in limit.unseen and (vrf is None or limit.of_vrf(vrf)) for limit in limits_of(view)
    )


def limits_of(view: SwitchView) -> Iterable[Limit]:
    """The limits that the design of a switch runs into."""
    return (limit for limit in LIMITS if limit.nos == view.device.nos and limit.of_switch(view))


def vrf_name(nos: str, tenant: str) -> str:
    """A routing table as Batfish names it."""
    return VRF_NAMES.get(nos, "{}").format(tenant) if tenant else "default"
