"""Kinds of state, and the counters of a port, by the names that all network OSes share."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

# In the order of reports, with the words for them.
BGP, EVPN, LLDP, INTERFACES = "bgp", "evpn", "lldp", "interfaces"
ROUTES, ERRORS, QUEUES, OPTICS = "routes", "errors", "queues", "optics"
MULTIHOMING = "multihoming"
KINDS: Mapping[str, str] = {
    INTERFACES: "interface state",
    LLDP: "LLDP neighbors",
    BGP: "BGP sessions",
    ROUTES: "routes",
    EVPN: "EVPN state",
    MULTIHOMING: "Ethernet segments and vPC",
    ERRORS: "error counters",
    QUEUES: "PFC and queue counters",
    OPTICS: "optics",
}


class Count(StrEnum):
    """Names of counters. All are of one port since they were cleared; those of queues have the queue as well."""

    FCS = "fcs"
    IN_ERRORS = "in_errors"
    OUT_ERRORS = "out_errors"
    IN_DISCARDS = "in_discards"
    OUT_DISCARDS = "out_discards"
    UNCORRECTED = "uncorrected"  # codewords
    QUEUE_DROPS = "queue_drops"
    ECN_DROPS = "ecn_drops"
    PFC_RX = "pfc_rx"
    PFC_TX = "pfc_tx"
    STORMS = "storms"
