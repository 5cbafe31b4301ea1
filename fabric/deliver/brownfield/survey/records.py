"""What is there: switches, servers and cables of a site, as its files describe them; every inference names its source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fabric.audit.checks.finding import Finding
from fabric.model.facts import Facts
from fabric.model.plan import PortRef


@dataclass(frozen=True, slots=True, kw_only=True)
class Inference:
    """A value that no line states.

    Attributes:
        subject: "backend-leaf001", "fabric backend".
        what: "role", "tier", "model", "far end of swp1".
        value: as a person reads it.
        source: from what: "2 of 2 uplinks end at spines", "LLDP", "description".
        place: `configs/leaf1/frr.conf:12`, "" where it follows from many lines.
    """

    subject: str
    what: str
    value: str
    source: str
    place: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch:
    """A switch. Coordinates count from 0 and are -1 where it has none, as in a plan.

    Attributes:
        role: LEAF, SPINE or CORE.
        model: name in the catalog; "" for hardware that is not known.
        pair: name of the leaf that shares its bonds.
        asn: of the default table; 0 where it speaks no BGP.
        loopback, loopback6, vtep: addresses without a length, "" where there is none.
        management: address with its length.
        facts: what was read of it; None where another source names it alone.
    """

    name: str
    role: str
    nos: str
    model: str = ""
    release: str = ""
    fabric: str = ""
    pod: int = -1
    plane: int = -1
    unit: int = -1
    rail: int = -1
    pair: str = ""
    asn: int = 0
    loopback: str = ""
    loopback6: str = ""
    vtep: str = ""
    management: str = ""
    border: bool = False
    facts: Facts | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """What is cabled to leaf ports: a server, or another device (`attached`): a router, a firewall, a storage system.

    Attributes:
        group: servers of one kind, by their names and ports: "dgx-h100".
        number: in the group, from 1.
        model: name in the catalog; "" for hardware that is not known.
    """

    name: str
    group: str
    number: int
    model: str = ""
    attached: bool = False
    fabric: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cable:
    """A logical link. `a` is the lower end (host, leaf, spine), `b` the upper; ports by the names in the configs.

    Attributes:
        a_ref, b_ref: the port on the front panel, None where its name does not tell; of a host `cage` is the NIC from 1.
        a_address, b_address: with their length, "" for none (unnumbered, bridged).
        source: "addresses", "LLDP", "description", "topology file".
    """

    a: str
    a_port: str
    b: str
    b_port: str
    speed_gbps: int
    source: str
    a_ref: PortRef | None = None
    b_ref: PortRef | None = None
    a_address: str = ""
    b_address: str = ""


@dataclass(frozen=True, kw_only=True)
class Survey:
    """A site as its files describe it, sorted by name.

    Attributes:
        site: name for the intent.
        fabrics: name → its switches, in order of role and name; a fabric is what cables and sessions join.
        hosts: by name.
        cables: sorted by their lower ends and ports.
        inferences: what no line states.
        findings: contradictions between the sources, worst first; they come before any intent.
        left_out: device or file → why it is no part of the intent: "firewall", "no config of a known network OS".
        hardware: model that the catalog does not have → its entry in an intent.
    """

    site: str
    fabrics: Mapping[str, Sequence[Switch]]
    hosts: Mapping[str, Host] = field(default_factory=dict)
    cables: Sequence[Cable] = ()
    inferences: Sequence[Inference] = ()
    findings: Sequence[Finding] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)
    hardware: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def switches(self) -> Mapping[str, Switch]:
        """Every switch by name."""
        return {switch.name: switch for switches in self.fabrics.values() for switch in switches}
