"""The view of one switch for renderers: vendor-neutral, computed from the plan's columns on request.

Every field is final: a template prints it, a vendor file spells it, neither computes it.
Addresses are text; `None`: does not exist.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from fabric.hardware.catalog.models import SwitchModel
from fabric.model.plan.devices import Device
from fabric.model.plan.lossless import Qos
from fabric.model.plan.ports import Port, Session
from fabric.model.plan.tenancy import Acl, External, Lag, Network, Overlay, Pair, Vrf


@dataclass(frozen=True, slots=True, kw_only=True)
class Underlay:
    """Routing settings that all switches of a fabric share."""

    family: str  # "ipv4" | "ipv6": of the loopbacks and server prefixes that BGP carries
    unnumbered: bool
    mtu: int  # IP MTU of a fabric link, in bytes
    keepalive_s: int
    hold_s: int
    bfd: bool
    bfd_interval_ms: int
    bfd_multiplier: int
    max_paths: int
    max_prefix: int
    loopback_prefixes: tuple[str, ...]  # every loopback and VTEP of the fabric lies in one of these
    server_prefixes: tuple[str, ...]  # every server subnet lies in one of these; () when servers are not routed
    outside: tuple[str, ...] = ()  # routes from outside in the default table: "0.0.0.0/0", or prefixes with all inside them

    @property
    def timers_and_limits(self) -> dict[str, int]:
        """What every BGP session has, by the names that templates use."""
        return {
            "keepalive_s": self.keepalive_s,
            "hold_s": self.hold_s,
            "bfd": self.bfd,
            "bfd_interval_ms": self.bfd_interval_ms,
            "bfd_multiplier": self.bfd_multiplier,
            "max_paths": self.max_paths,
            "max_prefix": self.max_prefix,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Management:
    """Management access and the servers that a switch reports to; an empty tuple omits the lines."""

    address: str | None  # "172.16.0.10/22"
    gateway: str | None
    vrf: bool
    ntp: tuple[str, ...]
    syslog: tuple[str, ...]
    dns: tuple[str, ...]
    timezone: str
    allow: tuple[str, ...]  # prefixes that SSH, SNMP and gNMI are restricted to
    snmp_user: str  # SNMPv3 user that may read, "" for no SNMP
    gnmi: bool
    banner: str
    admin_secret: str  # "${ADMIN_PASSWORD_HASH}": a reference, never a secret
    snmp_auth_secret: str
    snmp_priv_secret: str


@dataclass(frozen=True, slots=True)
class Balancing:
    """How a switch spreads traffic over equal paths: always by the five-tuple, and by load where `dynamic`."""

    seed: int  # of the hash; another one in each tier, so that no tier repeats the choice of the one below
    dynamic: bool  # asked for, and the switch can


@dataclass(frozen=True, kw_only=True)
class SwitchView:
    """Everything that the files of one switch depend on."""

    site: str
    fabric: str
    device: Device
    model: SwitchModel
    ports: tuple[Port, ...]  # every port of the switch in front-panel order, unused ones included
    sessions: tuple[Session, ...]  # in port order
    aggregates: tuple[str, ...]  # server prefixes that this switch originates, ("10.128.0.0/25", …)
    router_id: str  # IPv4, always
    loopback: str  # "10.0.0.1/32"
    loopback6: str | None  # "fd00::1/128" in an IPv6 underlay
    underlay: Underlay
    management: Management
    balancing: Balancing = Balancing(seed=1, dynamic=False)
    release: str = ""  # of its network OS, "" for the one that the target's page names
    qos: Qos | None = None
    overlay: Overlay | None = None
    vrfs: tuple[Vrf, ...] = ()  # by number
    networks: tuple[Network, ...] = ()  # by VLAN
    lags: tuple[Lag, ...] = ()  # by number
    pair: Pair | None = None  # only where there are bonds
    externals: tuple[External, ...] = ()  # in port order
    acls: tuple[Acl, ...] = ()  # by name; an empty one closes a port

    @property
    def border(self) -> bool:
        """Whether the switch is a border leaf."""
        return bool(self.externals)

    @cached_property
    def cabled(self) -> tuple[Port, ...]:
        """The ports that a cable is planned for."""
        return tuple(port for port in self.ports if port.peer is not None)
