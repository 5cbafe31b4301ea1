"""Reads the tunnel interface of EOS, and puts together what VLANs and VRFs need to be carried over EVPN."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from fabric.model.facts import Chain, Facts, Located, Part, Vni, Vrf
from fabric.nos.eos.read.bgp import HEADS, vrf_name
from fabric.nos.eos.statements import port_name
from fabric.nos.reading import numbers
from fabric.nos.reading.rules import Line, Rules, switch


@dataclass(slots=True)
class Overlay:
    """What sections far from each other say about one service."""

    vlans: dict[int, Located[int]] = field(default_factory=dict)
    vrfs: dict[str, Located[str]] = field(default_factory=dict)  # of `vrf instance`
    flooded: Located[bool] | None = None  # broadcast goes to a list of VTEPs: VLANs need no EVPN
    tables: dict[str, Located[str]] = field(default_factory=dict)  # VRFs that `router bgp` has …
    routed: dict[str, Located[str]] = field(default_factory=dict)  # … and those with route targets of EVPN

    def close(self, facts: Facts) -> None:
        """Only of a device that has tunnels and sessions of EVPN: VXLAN works without, as does EVPN over MPLS."""
        speaks = any(family.value == "evpn" for peer in facts.neighbors() for family in peer.families)
        if facts.vtep and speaks:
            facts.chains += (*self._networks(facts), *self._tenants(facts))

    def _networks(self, facts: Facts) -> Iterator[Chain]:
        for vni in facts.vnis.values() if self.flooded is None else ():
            if vni.vlan is not None:
                yield Chain(f"VLAN {vni.vlan.value}", tuple(self._network(vni, vni.vlan)))

    def _network(self, vni: Vni, vlan: Located[int]) -> Iterator[Part]:
        number = vlan.value
        yield Part(f"`vlan {number}`", vlan if number == 1 else self.vlans.get(number))
        yield Part(f"`vxlan vlan {number} vni {vni.number}`", vlan)
        yield Part(f"`vlan {number}` or its bundle in `router bgp`", vni.tagged)
        if vni.tagged is not None:
            yield from _distinguished(vni, "")
            yield Part("`redistribute learned`", vni.learned if vni.learned and vni.learned.value else None, inside=True)

    def _tenants(self, facts: Facts) -> Iterator[Chain]:
        """Without the VRF itself a VNI is that of other devices, whose paths this one selects."""
        for name, vrf in facts.vrfs.items():
            if name and (name in self.vrfs or name in self.tables) and (vrf.vni or name in self.routed):
                mapped, table = Part(f"`vxlan vrf {name} vni`", vrf.vni), self.tables.get(name)
                parts = [Part(f"`vrf instance {name}`", self.vrfs.get(name)), Part(f"`vrf {name}` in `router bgp`", table)]
                targets = _distinguished(vrf, " evpn") if table else ()
                yield Chain(f"VRF {name}", (parts[0], mapped, parts[1], *targets) if vrf.vni else (*parts, *targets, mapped))


def _distinguished(table: Vni | Vrf, family: str) -> Iterator[Part]:
    yield Part("`rd`", table.rd, inside=True)
    yield Part(f"`route-target import{family}`", next(iter(table.imports), None), inside=True)
    yield Part(f"`route-target export{family}`", next(iter(table.exports), None), inside=True)


# --- The tunnel interface -------------------------------------------------------------------------------------


def _source(overlay: Overlay, line: Line) -> None:
    line.facts.vtep = line.located(port_name(line[1]))


def _port(overlay: Overlay, line: Line) -> None:
    line.facts.vxlan_port = line.located(int(line[1]))


def _vnis(overlay: Overlay, line: Line) -> None:
    facts = line.facts
    for vlan, vni in zip(numbers(line[1]), numbers(line[2]), strict=False):
        mapped = facts.vnis.setdefault(vni, Vni(number=vni, line=line.number, file=line.file))
        if mapped.vlan and mapped.vlan.value != vlan:
            for number, other in ((mapped.vlan.line, vlan), (line.number, mapped.vlan.value)):
                facts.conflicts.append(Located(f"VNI {vni} is that of VLAN {other} too", number, line.file))
        mapped.vlan = line.located(vlan)


def _tenant(overlay: Overlay, line: Line) -> None:
    vrf_of(line, vrf_name(line[1])).vni = line.located(int(line[2]))


def vrf_of(line: Line, name: str) -> Vrf:
    """The VRF that a line names, made where it is new."""
    return line.facts.vrfs.setdefault(name, Vrf(name=name, line=line.number, file=line.file))


TUNNEL: Rules[Overlay] = Rules(
    {
        r"vxlan source-interface (.+)": _source,
        r"vxlan udp-port (\d{1,5})": _port,
        r"vxlan vlan (?:add )?(.+) vni (.+)": _vnis,
        r"vxlan vrf (.+) vni (\d{1,11})(?: .*)?": _tenant,
        r"vxlan (?:vlan \S+ )?flood (?:vtep|group) .+": switch("flooded", True),
        r"vxlan controller-client.*": switch("flooded", True),
        r"vxlan multicast-group .+": switch("flooded", True),
    },
    HEADS["interface"],
)
