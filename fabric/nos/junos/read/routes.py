"""Static routes of a Junos config, of the switch itself and of its instances."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fabric.model.facts import Facts, Route
from fabric.nos.junos.read.tree import Node
from fabric.nos.junos.read.vlans import Place
from fabric.nos.reading import is_address, prefix


def read_routes(facts: Facts, places: Sequence[Place]) -> None:
    for place in places:
        options = place.node.at("routing-options")
        tables = (options.at("static"), *(rib.at("static") for rib in options.at("rib").values()))
        facts.routes += (route for table in tables for route in _of_table(place.name, table))


def _of_table(vrf: str, table: Node) -> Iterator[Route]:
    """A next hop with `resolve` may be that of any other route."""
    recursive = "resolve" in table.at("defaults")
    for text, node in table.at("route").items():
        destination = prefix(text)
        if destination is None:
            continue
        hops = [*node.at("next-hop").items(), *node.at("qualified-next-hop").items()]
        for hop, child in hops or [("", node)]:
            known = is_address(hop) and not (recursive or "resolve" in node or "interface" in child)
            yield Route(vrf=vrf, prefix=destination, via=hop if known else "", table=vrf, line=child.line, file=child.file)
