"""Where the servers of a tenant are, as the questions about packets ask for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fabric.audit.checks.batfish.checks import Asked
from fabric.audit.checks.batfish.expect import Place, merged


def tenants_of(asked: Asked, fabric: str) -> list[str]:
    """The tenants that Batfish sees servers of; "" for servers without one."""
    return sorted({place.tenant for place in asked.expected.places if place.fabric == fabric})


def places_of(asked: Asked, fabric: str, tenant: str) -> list[Place]:
    """Where the servers of one tenant are."""
    return [place for place in asked.expected.places if place.fabric == fabric and place.tenant == tenant]


def isolated(asked: Asked, fabric: str) -> Iterator[tuple[Place, Place, bool]]:
    """(place, place of another tenant that it must not reach, whether Batfish would show that it does)."""
    views, paths = asked.snapshot.views[fabric], asked.expected.paths(fabric)
    kind = asked.snapshot.plan.fabrics[fabric].tenancy.kind
    places = [place for place in asked.expected.planned_places if place.fabric == fabric and place.tenant]
    seen = set(asked.expected.places)
    for one in places:
        open_to = let_in(asked, fabric, one.tenant)
        for other in places:
            a, b = views[one.device], views[other.device]
            if other.tenant not in open_to and (one.device == other.device or paths.plans(a, b)):
                yield one, other, {one, other} <= seen and paths.isolates(a, b, kind)


def let_in(asked: Asked, fabric: str, tenant: str) -> set[str]:
    """Tenants that the intent joins with this one, in either direction, and itself."""
    tenants = asked.snapshot.plan.fabrics[fabric].tenancy.tenants
    imports = {one.name: set(one.imports) for one in tenants}
    return {tenant, *imports.get(tenant, ())} | {name for name, wanted in imports.items() if tenant in wanted}


def servers(places: Iterable[Place]) -> str:
    """Where packets of servers come in: every interface that has an address of their subnets."""
    found = list(places)
    nodes = "|".join(sorted({place.device for place in found}))
    return f"@enter(/^({nodes})$/[@connectedTo({merged(net for place in found for net in place.subnets)})])"
