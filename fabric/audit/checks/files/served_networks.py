"""Networks that servers are in: their VLAN leads to the VNI of the other leaves, their gateway to the same tenant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import ClassVar

from fabric.audit.checks import (
    ERROR,
    WARNING,
    About,
    FilesCheck,
    Finding,
    Network,
    outliers,
    place,
    syntax_of,
    without_prefix_length,
)
from fabric.audit.checks.ends import vlan_of
from fabric.audit.checks.files.chains import gateways, missing_part
from fabric.base.grouping import grouped
from fabric.model.facts import Facts, Interface, Located
from fabric.nos.statements.names import Name, Names
from fabric.nos.statements.syntax import Place


class Served(FilesCheck):
    """Looks for a VLAN with a gateway or a server port on a leaf that gives it no VNI, while the other leaves do.

    The VLAN is a network of its own on that leaf: its servers reach each other and the gateway, but no server of another
    leaf, and nothing is down.
    """

    id = "FAB2575"
    title = "A VLAN has its VNI on every leaf that serves it"
    severity = ERROR
    else_severity = "warning if no gateway shows that it is the same network"
    example = "VLAN 100 has VNI 10100 on three leaves; leaf004 has a port in VLAN 100 and no `vxlan vlan 100 vni 10100`"
    remediation = "map the VLAN to the same VNI as on the other leaves"
    of_component: ClassVar = True

    def check(self, network: Network) -> Iterator[Finding]:
        leaves = [facts for facts in network.devices if facts.vtep]
        mapped = {id(facts): {vni.vlan.value: number for number, vni in facts.vnis.items() if vni.vlan} for facts in leaves}
        counts = grouped((vlan, number) for own in mapped.values() for vlan, number in own.items())
        usual = {vlan: Counter(numbers).most_common(1)[0] for vlan, numbers in counts.items()}
        shared = grouped(
            (address, number) for facts in leaves for number, port in gateways(facts) for address in _shared(port)
        )
        for facts in leaves:
            lacking = {chain.subject for chain in facts.chains if missing_part(chain)}  # FAB2550 reports these
            layer3 = {vrf.vlan.value for vrf in facts.vrfs.values() if vrf.vlan}
            defined = _defined(syntax_of(facts.nos).names, network.names.get(id(facts), ()))
            for vlan, ports in _served(facts, usual, defined).items():
                number, users = usual[vlan]
                if vlan in mapped[id(facts)] or vlan in layer3 or {f"VLAN {vlan}", f"VNI {number}"} & lacking:
                    continue
                same = next((one for port, one in ports if number in _numbers(shared, port)), None)
                if same is None and (users < 2 or users < len(counts[vlan])):
                    continue
                message = f"VLAN {vlan}: no VNI, but VNI {number} on {users} other device{'s' if users > 1 else ''}"
                yield self.finding_at(facts, same or ports[0][1], message, severity="" if same else WARNING)


def _defined(names: Names, found: Sequence[tuple[Name, Place]]) -> set[int]:
    """VLANs that the device has, by their numbers."""
    vlans = {kind for kind, row in enumerate(names.kinds) if row.title == "VLAN"}
    return {int(name.text) for name, _ in found if name.kind in vlans and not name.used and name.text.isdecimal()}


def _served(
    facts: Facts, known: Collection[int], defined: Collection[int]
) -> dict[int, list[tuple[Interface, Located[object]]]]:
    """VLAN → its VLAN interface and ports; a tagged one counts where the device has the VLAN.

    The tag of a routed subinterface is of its link alone, unless it has the gateway of hosts.
    """
    found: dict[int, list[tuple[Interface, Located[object]]]] = {}
    for name, port in facts.interfaces.items():
        routed = vlan_of(name)
        if port.tag and (port.gateways or port.tag.value in defined or routed is not None):
            routed = port.tag.value
        vlans: list[tuple[int | None, Located[object]]] = []
        if port.gateways or port.addresses:
            vlans.append((routed, (port.gateways or port.addresses)[0]))
        if port.access and not port.trunk:
            vlans.append((port.access.value, port.access))
        vlans += [(fact.value, fact) for fact in port.trunk if fact.value in defined]
        for vlan, at in vlans:
            if vlan is not None and vlan in known:
                found.setdefault(vlan, []).append((port, at))
    return found


def _shared(port: Interface) -> set[str]:
    return {without_prefix_length(fact.value) for fact in port.gateways}


def _numbers(shared: dict[str, list[int]], port: Interface) -> set[int]:
    """VNIs of which an address of a port is the gateway elsewhere."""
    return {number for address in _shared(port) for number in shared.get(address, ())}


class GatewayTenant(FilesCheck):
    """Compares the VRF of the anycast gateway of every layer-2 VNI on all leaves.

    Names of VRFs are local to a device, so VRFs with a VNI are compared by that. A gateway in another VRF, or in none, routes
    what its servers send into another tenant.
    """

    id = "FAB2576"
    title = "The gateway of a network is in the same VRF on all leaves"
    severity = ERROR
    example = "`interface Vlan100` in VRF red on leaf001, in VRF blue on leaf002"
    remediation = "put the VLAN interface into the VRF that it has on the other leaves"
    of_component: ClassVar = True

    def check(self, network: Network) -> Iterator[Finding]:
        known = {vrf.name: vrf.vni.value for facts in network.devices for vrf in facts.vrfs.values() if vrf.vni}
        rows = grouped(
            (number, (_tenant(facts, port, known), (facts, port)))
            for facts in network.devices
            for number, port in gateways(facts)
        )
        for number, same in rows.items():
            usual, odd = outliers(same)
            for tenant, (facts, port) in odd:
                others = [(value, owner) for value, owner in same if value != tenant]
                other, far = next((owner for value, owner in others if value == usual), others[0][1])
                at = port.vrf or port.gateways[0]
                message = f"{port.name}: gateway of VNI {number} in {_vrf(port)}, but in {_vrf(far)} on {other.name}"
                about = About(devices=(other.name,))
                yield self.finding_at(facts, at, f"{message} ({place(far.vrf or far.gateways[0])})", about=about)


def _tenant(facts: Facts, port: Interface, known: dict[str, int]) -> int | str:
    """The layer-3 VNI of a port's VRF, of this device or of those with a VRF of this name; else the name."""
    name = port.vrf.value if port.vrf else ""
    vrf = facts.vrfs.get(name)
    return vrf.vni.value if vrf and vrf.vni else known.get(name, name)


def _vrf(port: Interface) -> str:
    return f"VRF {port.vrf.value}" if port.vrf and port.vrf.value else "no VRF"
