"""Faults of the collection itself: state of another switch, outputs that contradict each other; and router IDs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from fabric.audit.verify.faults import Fault
from fabric.audit.verify.site import Site
from fabric.nos.state.records import BGP

FOREIGN, CONFLICT, ROUTER_ID = "foreign", "conflict", "router-id"


def collection_faults(site: Site) -> Iterator[Fault]:
    """What makes other findings doubtful comes first."""
    owners = {switch.view.router_id: name for name, switch in site.switches.items()}
    for name, switch in site.switches.items():
        seen = switch.seen
        for file, other in seen.strays.items():
            words = f"{Path(file).name} is of {other}, as its content says: expected the state of {name}"
            yield Fault(FOREIGN, name, words, BGP)
        if name in site.foreign:
            words = f"its state is that of {site.foreign[name]}: neighbors and AS number are those of {site.foreign[name]}"
            yield Fault(FOREIGN, name, words, BGP)
            continue
        for (earlier, later), words in seen.conflicts.items():
            message = f"{Path(earlier).name} and {Path(later).name} contradict each other: {words}"
            yield Fault(CONFLICT, name, message, BGP)
        got = seen.router_ids.get("", "")
        if got and got != switch.view.router_id:
            whose = f", that of {owners[got]}" if got in owners else ""
            yield Fault(ROUTER_ID, name, f"router ID: expected {switch.view.router_id}, got {got}{whose}", BGP)
