"""How the facts of a plan read in the files of a network OS, for the comparison with the files.

Most of a plan is configured alike by all: addresses, AS numbers, VNIs. What differs is named here, by each target for itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from fabric.model.plan import Buffer, Marking, Port, SwitchView, Watchdog

TENANT = -1  # the MTU of tenants

Percents: TypeAlias = "Callable[[Marking, Buffer], tuple[int, int, int]]"  # → Kmin and Kmax in percent, probability
Number: TypeAlias = "Callable[[SwitchView], int]"
PortNumber: TypeAlias = "Callable[[SwitchView, Port], int]"


def planned_paths(view: SwitchView) -> int:
    """Of a network OS that takes any number of equal paths."""
    return view.underlay.max_paths


def planned_cable(view: SwitchView, port: Port) -> int:
    """Of a network OS that is given the length of the cable itself."""
    return port.length_m


@dataclass(frozen=True, slots=True, kw_only=True)
class Idiom:
    """Patterns have one `{}`, for the name or number."""

    bond: str
    svi: str  # gateway of a VLAN
    management: str  # port out of band
    loopback: str  # that has the router id
    vtep: str  # interface that has the address of tunnels
    vrf: str = "{}"
    management_vrf: bool = False  # the port out of band is in a VRF of its own, whatever is asked for
    peer_lists: bool = False  # an unnumbered session takes any AS number of a list
    acls: tuple[str, str] = ("TENANT-{}", "TENANT-{}")  # filters of a tenant's ports, of IPv4 and of IPv6
    vtep_of_vni: bool = False  # the tunnel source stands beside VNIs: a leaf without any says none
    own_vtep: bool = True  # tunnels begin at an address of their own beside the router id
    redistributes: bool = True  # connected routes enter BGP by a statement of their own, not by what a session sends
    ordered_lists: bool = True  # prefix lists are evaluated in order; else what is denied is a list and a term of its own
    l3_svi: bool = False  # the VNI of a VRF has a VLAN interface
    own_gateway: bool = False  # a leaf has an address of its own beside an anycast gateway
    member_vlans: bool = False  # members of a bond repeat its VLANs
    trunk_mtu: bool = False  # a port with tagged slices has the MTU of its tenants
    spare_mtu: bool = False  # a port that is not used states the MTU of the fabric
    layer2_mtu: int = TENANT  # of layer-2 ports and bonds; 0: not configured
    frame_bytes: int = 0  # `mtu` of a port counts so many bytes beside the IP packet
    slice_bytes: int = 0  # … and so many more where it has tagged slices
    bridge_bytes: int = 0  # … or is a layer-2 port
    addresses_in: str = ""  # word in the names of files with addresses, where those of routing have none
    keepalive: bool = True  # configured beside the hold time
    vrf_process: bool = True  # a VRF has a BGP process although it has no neighbors
    derives: frozenset[str] = frozenset()  # kinds of rows that it has without a statement where they are as planned
    network_rd: bool = True  # every layer-2 network has a route distinguisher of its own
    paths: Number = planned_paths
    seed: bool = False  # the hash seed is configured
    watchdog_ms: Callable[[Watchdog], int] | None = None  # detection time, where one holds for the whole switch
    cable_m: PortNumber = planned_cable  # what is written as the cable length of a lossless port
    own_classes: bool = False  # a class that never pauses has a number of the switch alone, not its priority on the wire
    lossless_by_pfc: bool = False  # maps and queues are the switch's: PFC is how a port takes part in them
    blocks: bool = False  # DSCPs are mapped in whole blocks of eight
    ecn_unit: int = 1  # thresholds are multiples of so many bytes
    ecn_percent: Percents | None = None  # thresholds are percent of a queue's fill
