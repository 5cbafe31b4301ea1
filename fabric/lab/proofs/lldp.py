"""LLDP neighbors match the planned cabling, as `fabric verify` compares them; faults name what to move."""

from __future__ import annotations

from fabric.audit.checks import Finding
from fabric.audit.verify.port_faults import CABLE
from fabric.lab.blueprint import SERVER
from fabric.lab.expected import planned
from fabric.lab.live import Live
from fabric.lab.machine.lldp import SERVERS, Lldp, missing
from fabric.lab.proofs import base
from fabric.lab.proofs.base import Proof, ProofResult, skip

PATIENCE_S = 25.0


def show(live: Live) -> ProofResult:
    """Starts lldpd everywhere and compares neighbors."""
    if lost := missing():
        return skip(lost)
    neighbors = planned(live)
    with Lldp(live) as lldp:
        reported = lldp.wait(neighbors, PATIENCE_S)
        faults = differences(live, lldp)
    right = sum(reported.get(here) == [there] for here, there in neighbors.items())
    silent = len(live.lab.of(SERVER)) > SERVERS
    words = f", servers not included as there are more than {SERVERS}" if silent else ""
    return ProofResult(f"{right} of {len(neighbors)} ports report the planned neighbor{words}", faults)


def differences(live: Live, lldp: Lldp) -> tuple[Finding, ...]:
    """Each wrong cable once, of those whose ends are in the lab and speak."""
    return base.faults(base.site(live, lldp), (CABLE,))


PROOF = Proof("lldp", "Cabling as reported by LLDP", show)
