"""What the plan expects of the state of one switch, for catalogs of tests that other tools run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedPort:
    """A cabled port. `address` has its length; "" and 0 where there is none."""

    name: str
    speed_gbps: int
    mtu: int
    address: str = ""
    far_device: str = ""
    far_port: str = ""  # only of switches


@dataclass(frozen=True, slots=True)
class ExpectedSession:
    """A BGP session: by address, or by interface where it has none."""

    peer: str
    by_interface: bool
    vrf: str
    family: str  # "ipv4", "ipv6" or "evpn"
    bfd: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """One switch.

    Attributes:
        routes: prefix → next hops, of the default table; () where they are not listed.
        vnis: VNI → VLAN, or VRF by its name on the switch.
        vteps: tunnel addresses of other leaves with a network of this one.
    """

    ports: Sequence[ExpectedPort]
    unused: Sequence[str]
    sessions: Sequence[ExpectedSession]
    hold_s: int
    keepalive_s: int
    mtu: int
    lossless_priority: int | None
    routes: Mapping[str, Sequence[str]]
    vnis: Mapping[int, int | str]
    vteps: Sequence[str]
    vtep_interface: str


Tests: TypeAlias = dict[str, list[dict[str, Any]]]  # module → tests with their inputs
CatalogOf: TypeAlias = Callable[[Expected], Tests]
