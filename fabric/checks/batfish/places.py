"""Where the servers of a tenant are, as the questions about packets ask for them."""

from __future__ import annotations

from collections.abc import Iterable

from fabric.checks.batfish.checks import Asked
from fabric.checks.batfish.expect import Place, merged
from fabric.checks.batfish.sees import sees
from fabric.nos.batfish.view import ACL, VRF


def tenants_of(asked: Asked, fabric: str) -> list[str]:
    """The tenants that Batfish sees servers of; "" for servers without one."""
    return sorted({place.tenant for place in asked.expected.places if place.fabric == fabric})


def isolates(asked: Asked, fabric: str) -> bool:
    """Whether a fabric keeps tenants apart by what Batfish sees on all its switches, and two of them where it sees them."""
    if len({place.tenant for place in asked.expected.places if place.fabric == fabric and place.tenant}) < 2:
        return False
    what = ACL if asked.snapshot.plan.fabrics[fabric].tenancy.kind == "acl" else VRF
    return all(sees(view.device.nos, what) for view in asked.snapshot.views[fabric].values())


def servers(places: Iterable[Place]) -> str:
    """Where packets of servers come in: every interface that has an address of their subnets."""
    found = list(places)
    nodes = "|".join(sorted({place.device for place in found}))
    return f"@enter(/^({nodes})$/[@connectedTo({merged(net for place in found for net in place.subnets)})])"
