"""Every fault in the state of a site, by kind: the subject of the checks of `fabric/audit/checks/state`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fabric.audit.verify.collection_faults import collection_faults
from fabric.audit.verify.faults import Fault
from fabric.audit.verify.multihoming_faults import multihoming_faults
from fabric.audit.verify.overlay_faults import overlay_faults
from fabric.audit.verify.port_faults import port_faults
from fabric.audit.verify.route_faults import route_faults
from fabric.audit.verify.session_faults import session_faults
from fabric.audit.verify.site import Site
from fabric.base.grouping import grouped


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
