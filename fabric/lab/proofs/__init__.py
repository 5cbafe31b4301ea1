"""Every proof, in the order that a person would look: what is cabled, what speaks, what forwards, what tenants see."""

from fabric.lab.proofs import (
    alive,
    attributes,
    forwarding,
    gateways,
    lldp,
    management,
    mtu,
    outside,
    overlay,
    reach,
    sessions,
    spreading,
    suppression,
)
from fabric.lab.proofs.base import Proof

PROOFS: tuple[Proof, ...] = (
    alive.PROOF,
    sessions.PROOF,
    attributes.PROOF,
    forwarding.PROOF,
    outside.PROOF,
    lldp.PROOF,
    overlay.PROOF,
    gateways.PROOF,
    management.PROOF,
    suppression.PROOF,
    reach.PROOF,
    spreading.PROOF,
    mtu.PROOF,
)
