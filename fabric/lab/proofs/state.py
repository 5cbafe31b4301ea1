"""What a lab reports, judged as `fabric verify` judges switches: one judgment, with the lab as one more source of state.

What state does not show, packets, packet sizes, hosts of EVPN and times after a failure, has proofs of its own.
"""

from __future__ import annotations

from collections.abc import Iterable

from fabric.audit.verify.all_faults import all_faults
from fabric.audit.verify.files import of_switch
from fabric.audit.verify.site import Site
from fabric.base.grouping import grouped
from fabric.lab.collect import collect
from fabric.lab.live import Live
from fabric.lab.machine.lldp import Lldp
from fabric.lab.outcome import Fault


def site(live: Live, lldp: Lldp | None = None) -> Site:
    """The switches of a lab with their state of this moment."""
    texts = grouped((path.split("/", 1)[0], (path, text)) for path, text in collect(live, lldp=lldp).items())
    seen = {name: of_switch(dict(files)) for name, files in texts.items()}
    return Site(live.lab.plan, seen, live.lab.views.values())


def faults(found: Site, kinds: Iterable[str]) -> tuple[Fault, ...]:
    """Faults of some kinds, in the order of these."""
    every = all_faults(found).faults
    return tuple(dict.fromkeys(Fault(one.device, one.message) for kind in kinds for one in every.get(kind, ())))
