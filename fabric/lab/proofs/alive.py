"""Every daemon that was started still runs. Without them no other question has an answer worth having."""

from __future__ import annotations

from fabric.lab.live import Live
from fabric.lab.machine import daemons
from fabric.lab.outcome import finding
from fabric.lab.proofs.base import Proof, ProofResult


def show(live: Live) -> ProofResult:
    """Looks for their processes."""
    faults, count = [], 0
    for node in live.lab.nodes.values():
        home = live.names.home(node.name)
        alive = daemons.alive(home)
        for name in daemons.started(home):
            count += 1
            if name not in alive:
                faults.append(finding(node.name, f"{name} has ended; the end of its log: {_last_words(live, node.name)}"))
    return ProofResult(f"{count - len(faults)} of {count} run", tuple(faults))


def _last_words(live: Live, node: str) -> str:
    try:
        lines = (live.names.home(node) / "frr.log").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    return lines[-1] if lines else "nothing"


PROOF = Proof("daemons", "Daemons", show)
