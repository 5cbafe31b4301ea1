"""The classes of a port without the links of its lossless class, which have tests of their own: test_lossless_chain.py."""

from __future__ import annotations

from dataclasses import replace

from fabric.model.facts import PortQos

LINKS = ("lossless", "queues", "buffers", "gaps")  # fields of `PortQos`


def without_links(qos: PortQos | None) -> PortQos | None:
    """The rest of the record."""
    return qos and replace(qos, lossless=[], queues={}, buffers=[], gaps=[])
