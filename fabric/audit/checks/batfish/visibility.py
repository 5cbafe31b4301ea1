"""What Batfish sees of each network OS: its record, asked of a switch or of one tenant's table on it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from fabric.model.plan import SwitchView, Vrf
from fabric.nos.batfish import BatfishView, Limit
from fabric.nos.target import installed


@cache
def view_of(nos: str) -> BatfishView | None:
    """None for a network OS that Batfish reads no copy of."""
    known = installed(nos)
    return known.batfish.get() if known is not None and known.batfish is not None else None


def sees(nos: str, what: str) -> bool:
    """Whether Batfish models something of a network OS, in most designs."""
    found = view_of(nos)
    return found is not None and what in found.sees


def sees_of(view: SwitchView, what: str, vrf: Vrf | None = None) -> bool:
    """Whether Batfish models something of a switch, or of one tenant's table on it."""
    return sees(view.device.nos, what) and not any(
        what in limit.unseen and (vrf is None or limit.of_vrf(vrf)) for limit in limits_of(view)
    )


def limits_of(view: SwitchView) -> Iterable[Limit]:
    """The limits that the design of a switch runs into."""
    found = view_of(view.device.nos)
    return (limit for limit in found.limits if limit.of_switch(view)) if found is not None else ()


def vrf_name(nos: str, tenant: str) -> str:
    """A routing table as Batfish names it."""
    found = view_of(nos)
    return (found.vrf if found is not None else "{}").format(tenant) if tenant else "default"
