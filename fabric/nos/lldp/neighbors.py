"""Reported state of the ports of a switch: LLDP neighbors and speeds. Names are as reported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbor:
    """One neighbor on one port; what it did not send is ""."""

    port: str  # the switch's own port
    system: str = ""  # system name of the far end
    chassis: str = ""  # its chassis id, mostly a MAC address
    far_port: str = ""  # its port id: an interface name, an alias, a MAC address or a bare number
    description: str = ""  # its port description
    far_speed_gbps: int = 0  # what the far end says of its own speed, 0: nothing


@dataclass(frozen=True, slots=True)
class PortState:
    """One port of the switch itself."""

    port: str
    speed_gbps: int = 0  # 0: not reported
    up: bool | None = None  # None: not reported
    alias: str = ""  # another name of the port, which neighbors may report
    shut: bool = False  # disabled by configuration, or by the switch after an error


@dataclass(frozen=True, slots=True)
class Part:
    """What one command's output says."""

    host: str = ""  # the switch's own name, where the output has it
    chassis: str = ""  # and its chassis id
    neighbors: Sequence[Neighbor] = ()
    ports: Sequence[PortState] = ()
    listens: bool = False  # it is a list of neighbors, though it may be empty
