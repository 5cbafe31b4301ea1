"""The default route of the machine itself: what a program that binds to no address takes to the outside world.

The table of every port has the external routes of its fabric. The main table gets the routes of a single fabric: the
external connection of a back end is not the default of a server that has a front end.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fabric.configs.hosts.facts import ServerLink

# Behind the default routes that a machine may have already: networkd gives DHCP's 100 and those of router
# advertisements up to 2048.
METRIC = 4000
ORDER = ("frontend", "oob", "storage", "compute")
_DEFAULTS = ("0.0.0.0/0", "::/0")


def gateway_of(link: ServerLink) -> str | None:
    """Next hop of a port in the main table; of several tagged networks that of the lowest tag."""
    return link.gateway or next((vlan.gateway for vlan in link.tagged if vlan.address and vlan.gateway), None)


def beyond(link: ServerLink, metric: int) -> tuple[tuple[str, int], ...]:
    """Routes of the outside world over a port, save the default one; none of the other family than the gateway's."""
    via = gateway_of(link)
    if via is None:
        return ()
    same = [prefix for prefix in link.outside if (":" in prefix) == (":" in via)]
    return tuple((prefix, metric) for prefix in same if prefix not in _DEFAULTS)


def gives_default(link: ServerLink) -> bool:
    """Whether the fabric takes packets for anywhere from this port."""
    via = gateway_of(link)
    return via is not None and not link.closed and _DEFAULTS[":" in via] in link.outside


def home(parts: Iterable[tuple[str, str, Sequence[ServerLink]]]) -> str:
    """Of (fabric, purpose, links of the machine there) the fabric that gives the main table its default route, or "".

    It is the first with an external connection among the fabrics of the first purpose that the server has open ports in.
    """
    open_parts = [part for part in parts if not all(link.closed for link in part[2])]
    first = min((ORDER.index(purpose) for _, purpose, _ in open_parts), default=-1)
    first_parts = [part for part in open_parts if ORDER.index(part[1]) == first]
    return next((name for name, _, links in first_parts if any(map(gives_default, links))), "")
