"""Bonds over two leaves as switches report them: Ethernet segments, and vPC."""

from __future__ import annotations

from fabric.audit.checks import ERROR, WARNING
from fabric.audit.checks.state.family import StateCheck
from fabric.audit.verify.multihoming_faults import FORWARDER, PAIR, PAIRED_BOND, PREFERRED, SEGMENT


class EthernetSegments(StateCheck):
    """Tests whether every bond over two leaves is an Ethernet segment of exactly these leaves, and up.

    If one leaf has no segment, or another identifier, the other leaves send packets for the server to one leaf only, and
    broadcasts return to it. A segment whose ports are all down is not reported: the ports are.
    """

    id = "FAB383"
    title = "Ethernet segments are those of both leaves of a bond"
    severity = ERROR
    example = "backend-leaf002 is not in the segment of bond 3 at backend-leaf001"
    remediation = "check the identifier and the route target of the segment at both leaves, and their EVPN sessions"
    kinds = (SEGMENT,)


class DesignatedForwarder(StateCheck):
    """Tests whether the leaves of an Ethernet segment have elected one designated forwarder, the same at both.

    Only the designated forwarder sends broadcasts to the server: with two it gets each twice, with none it gets none.
    """

    id = "FAB384"
    title = "An Ethernet segment has one designated forwarder"
    severity = ERROR
    example = "both leaves of a bond say that they are the designated forwarder"
    remediation = "check the election algorithm and preference at both leaves, and their routes of type 4"
    kinds = (FORWARDER,)


class PreferredForwarder(StateCheck):
    """Tests whether the leaf with the higher planned preference is the designated forwarder of its Ethernet segments.

    The plan alternates the preference over the bonds of a pair of leaves, so that both send broadcasts. Elections without a
    preference are not compared.
    """

    id = "FAB385"
    title = "The preferred leaf is the designated forwarder"
    severity = WARNING
    example = "the preferences of a bond are swapped at its two leaves"
    remediation = "set the planned preference of the segment at both leaves"
    kinds = (PREFERRED,)


class PairOfLeaves(StateCheck):
    """Tests the vPC domain of two leaves: the peer, its keepalive, the peer link, and consistent configurations.

    Without the peer link the secondary leaf shuts its bonds down; without the keepalive both leaves forward when the peer
    link fails. What both leaves show is one finding.
    """

    id = "FAB386"
    title = "The two leaves of a vPC domain are peers"
    severity = ERROR
    example = "the peer link of a vPC domain is down"
    remediation = "check the keepalive address, the peer link and `show vpc consistency-parameters global`"
    kinds = (PAIR,)


class PairedBonds(StateCheck):
    """Tests whether every planned bond of a vPC domain is a vPC that is up and consistent at its two leaves.

    A bond whose ports are all down is not reported: the ports are.
    """

    id = "FAB387"
    title = "The bonds of a vPC domain are up"
    severity = ERROR
    example = "a vPC has other VLANs at the second leaf"
    remediation = "check `show vpc consistency-parameters vpc` at both leaves"
    kinds = (PAIRED_BOND,)
