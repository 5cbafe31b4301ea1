"""A Linux switch as Batfish reads it: the one file that `cl-support` of older Cumulus releases has, made of two.

Line 1 is the host name, then come `/etc/network/interfaces`, `ports.conf` and `frr.conf`, each behind a line of its own.
"""

from __future__ import annotations

from fabric.nos.batfish.copies import Writer

FORMAT = "CUMULUS_CONCATENATED"


def start(name: str, source: str) -> Writer:
    """A writer that stands where the interfaces begin."""
    writer = Writer(source)
    writer.add(name)
    writer.add("# This file describes the network interfaces")
    return writer


def routing(writer: Writer) -> None:
    """What stands between the interfaces and the routing."""
    writer.add("# ports.conf --")
    writer.add("frr version 10.0")
