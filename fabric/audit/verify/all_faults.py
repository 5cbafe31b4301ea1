"""Every fault in the state of a site by kind, and the base class of the checks in `fabric/audit/checks/state`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from fabric.audit.checks import Check, Finding
from fabric.audit.verify.multihoming_faults import multihoming_faults
from fabric.audit.verify.overlay_faults import overlay_faults
from fabric.audit.verify.port_faults import port_faults
from fabric.audit.verify.route_faults import route_faults
from fabric.audit.verify.session_faults import session_faults
from fabric.audit.verify.site import Fault, Site
from fabric.base.grouping import grouped
from fabric.nos.state.records import BGP

# --- the collection itself ------------------------------------------------------------------------------------

FOREIGN, CONFLICT, ROUTER_ID = "foreign", "conflict", "router-id"


def collection_faults(site: Site) -> Iterator[Fault]:
    """What makes other findings doubtful comes first."""
    owners = {switch.view.router_id: name for name, switch in site.switches.items()}
    for name, switch in site.switches.items():
        state = switch.seen
        for file, other in state.strays.items():
            words = f"{Path(file).name} is of {other}, as its content says: expected the state of {name}"
            yield Fault(FOREIGN, name, words, BGP)
        if name in site.foreign:
            words = f"its state is that of {site.foreign[name]}: neighbors and AS number are those of {site.foreign[name]}"
            yield Fault(FOREIGN, name, words, BGP)
            continue
        for (earlier, later), words in state.conflicts.items():
            message = f"{Path(earlier).name} and {Path(later).name} contradict each other: {words}"
            yield Fault(CONFLICT, name, message, BGP)
        got = state.router_ids.get("", "")
        if got and got != switch.view.router_id:
            whose = f", that of {owners[got]}" if got in owners else ""
            yield Fault(ROUTER_ID, name, f"router ID: expected {switch.view.router_id}, got {got}{whose}", BGP)


# --- all kinds ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AllFaults:
    """A site with its faults."""

    site: Site
    faults: Mapping[str, Sequence[Fault]]
    folder: str = ""  # of the collected state

    def file(self, fault: Fault) -> str:
        """The file that shows a fault."""
        switch = self.site.switches.get(fault.device)
        return (switch.seen.file(fault.state) if switch is not None else "") or self.folder


def all_faults(site: Site, folder: str = "") -> AllFaults:
    """Compares state and plan, from ports up to the routes of tenants."""
    layers = (collection_faults, port_faults, session_faults, route_faults, overlay_faults, multihoming_faults)
    every = (fault for layer in layers for fault in layer(site))
    return AllFaults(site, grouped((fault.kind, fault) for fault in dict.fromkeys(every)), folder)


# --- checks of state ------------------------------------------------------------------------------------------


class StateCheck(Check[AllFaults]):
    """Makes findings of the faults of its kinds, at the file that shows each."""

    subject, needs = "state", "intent, state"
    kinds: ClassVar[tuple[str, ...]] = ()

    def check(self, judged: AllFaults) -> Iterator[Finding]:
        for kind in self.kinds:
            for fault in judged.faults.get(kind, ()):
                yield self.in_file(fault.device, judged.file(fault), 0, fault.message, fault.hint)
