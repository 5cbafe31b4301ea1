"""VLANs of a Junos config, wherever they stand: at the top, in an instance, as a bridge domain, or as a whole instance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from fabric.model.facts import Located
from fabric.nos.junos.read.tree import NOTHING, Node, logical, number
from fabric.nos.reading import numbers

MANAGEMENT_INSTANCE = "mgmt_junos"
LAYER_2 = ("evpn", "evpn-vpws", "l2backhaul-vpn", "l2vpn", "mac-vrf", "mpls-internet-multicast", "virtual-switch", "vpls")


@dataclass(frozen=True, slots=True)
class Place:
    """Something with routing tables or VLANs of its own: the switch itself, or an instance."""

    name: str  # "" for the switch itself
    node: Node

    @property
    def layer_2(self) -> bool:
        kind = self.node.value("instance-type")
        return kind is not None and kind.value in LAYER_2

    def bridges(self, interface: str) -> bool:
        """Whether an interface may be in its VLANs: an instance that names interfaces has no others."""
        listed = self.node.at("interface") if self.name else NOTHING
        return not listed or interface in listed or f"{interface}.0" in listed

    @property
    def switching(self) -> Node:
        """Where distinguisher, targets and source of the tunnels stand."""
        return self.node if self.name else self.node.at("switch-options")


@dataclass(frozen=True, slots=True, kw_only=True)
class Vlan:
    name: str
    place: Place
    id: Located[int] | None
    vni: Located[int] | None
    gateway: str  # interface, "irb.100", "" for none
    members: list[Located[str]]  # interfaces that the VLAN itself names


@dataclass(frozen=True, slots=True)
class Vlans:
    every: list[Vlan] = field(default_factory=list)

    def ids(self, word: str, interface: str) -> list[int]:
        """What `members` of an interface may say: a number, a range, a name, `all`."""
        if word[:1].isdecimal():
            return list(numbers(word))
        named = (vlan for vlan in self.every if vlan.name == word or word == "all")
        return [vlan.id.value for vlan in named if vlan.id and vlan.place.bridges(interface)]

    def gateways(self) -> dict[str, Located[int]]:
        return {vlan.gateway: vlan.id for vlan in self.every if vlan.gateway and vlan.id}


def places(root: Node) -> list[Place]:
    """The switch itself and its instances, the management port's left out."""
    instances = root.at("routing-instances").items()
    return [Place("", root), *(Place(name, node) for name, node in instances if name != MANAGEMENT_INSTANCE)]


def read_vlans(everywhere: list[Place]) -> Vlans:
    return Vlans([vlan for place in everywhere for vlan in _of(place)])


def _of(place: Place) -> Iterator[Vlan]:
    for kind in ("vlans", "bridge-domains"):
        for name, node in place.node.at(kind).items():
            yield _vlan(name, place, node)
    if place.name and place.layer_2 and "vlan-id" in place.node:
        yield _vlan(place.name, place, place.node)


def _vlan(name: str, place: Place, node: Node) -> Vlan:
    gateway = node.value("l3-interface") or node.value("routing-interface")
    vni = number(node.value("vxlan", "vni"))
    return Vlan(
        name=name,
        place=place,
        id=number(node.value("vlan-id")),
        vni=vni,
        gateway=logical(gateway.value) if gateway else "",
        members=node.every("interface"),
    )
