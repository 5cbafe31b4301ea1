"""What the tables, VLANs and filters of leaves say of the tenants of a fabric, and what each port is in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from typing import Any

from fabric.audit.checks.ends import is_management
from fabric.deliver.brownfield.sections.probes import learned
from fabric.deliver.brownfield.sections.running import Running
from fabric.deliver.brownfield.sections.server_ports import Spot
from fabric.deliver.brownfield.survey.ports import tenant_of
from fabric.deliver.brownfield.survey.records import Cable, Switch
from fabric.model.facts import Facts, Interface
from fabric.model.plan import LEAF, VLAN_BASE
from fabric.model.plan.tenants import TAG_BASE
from fabric.model.settings.services import Overlay
from fabric.nos.target import target

NETWORK_RD = 10_000  # route distinguishers of networks end in this and their number
L2_BASE = Overlay().l2vni_base


@dataclass(frozen=True, slots=True, kw_only=True)
class PortUse:
    """What a leaf port to a server or another device is in."""

    cable: Cable
    tenant: str = ""  # by its table or filter
    vlans: tuple[int, ...] = ()  # untagged first
    untagged: int = 0
    closed: bool = False
    bond: str = ""

    @property
    def spot(self) -> Spot:
        return self.cable.b, self.cable.b_port


@dataclass(slots=True, kw_only=True)
class NetworkFacts:
    """A layer-2 network as its leaves have it."""

    vlan: int
    vni: int = 0
    number: int = 0
    gateway: str = ""
    relays: tuple[str, ...] = ()
    tenant: str = ""
    name: str = ""


@dataclass(slots=True, kw_only=True)
class TenantFacts:
    """A tenant as the switches have it."""

    name: str
    number: int = 0
    vni: int = 0
    targets: set[str] = field(default_factory=set)  # that it imports
    own: set[str] = field(default_factory=set)  # that it exports
    leaks: set[str] = field(default_factory=set)  # tenants
    prefixes: tuple[str, ...] = ()  # to which its imports are limited
    limited: bool = False


def tenant_of_filter(nos: str, name: str) -> str:
    """The tenant of a packet filter, "" for another one."""
    idiom = target(nos).idiom
    for pattern in idiom.acls if idiom else ():
        before, _, after = pattern.partition("{}")
        if name.startswith(before) and name.endswith(after) and len(name) > len(before) + len(after):
            return name[len(before) : len(name) - len(after)]
    return ""


# --- What leaves say ------------------------------------------------------------------------------------------


class TenantSurvey:
    """The tenants of one fabric.

    Attributes:
        run: its switches.
    """

    def __init__(self, run: Running) -> None:
        self.run = run
        self.leaves = {its.name: its for its in run.switches if its.role == LEAF and its.facts is not None}
        self.uses = [self._use(cable) for cable in run.survey.cables if cable.b in self.leaves and self._outer(cable)]

    def _outer(self, cable: Cable) -> bool:
        """Whether a cable leads to a host, or to the management port of a switch."""
        managed = cable.a not in self.leaves or is_management(cable.a_port)
        return cable.a in self.run.survey.hosts or (cable.a_ref is None and managed)

    @cached_property
    def lossless(self) -> bool:
        """Whether any port of the fabric has PFC."""
        return any(
            port.qos is not None and port.qos.pfc
            for its in self.run.switches
            if its.facts is not None
            for port in its.facts.interfaces.values()
        )

    def paused(self, use: PortUse) -> tuple[int, ...]:
        """The priorities that pause on a port."""
        facts = self.facts(use.cable.b)
        ports = (facts.interfaces.get(name) for name in (use.cable.b_port, use.bond))
        return next((tuple(one.value for one in port.qos.pfc) for port in ports if port and port.qos and port.qos.pfc), ())

    def facts(self, leaf: str) -> Facts:
        """What was read of a leaf."""
        facts = self.leaves[leaf].facts
        assert facts is not None
        return facts

    def is_server(self, use: PortUse) -> bool:
        """Whether a server is behind a port."""
        host = self.run.survey.hosts.get(use.cable.a)
        return host is not None and not host.attached

    def _use(self, cable: Cable) -> PortUse:
        nos, facts = self.leaves[cable.b].nos, self.facts(cable.b)
        port = facts.interfaces.get(cable.b_port) or Interface(name=cable.b_port, line=0)
        bond = facts.interfaces.get(port.bond.value) if port.bond else None
        inner = bond or port
        vrf = tenant_of(nos, inner.vrf.value) if inner.vrf else ""
        filters = [name for its in inner.filters if (name := tenant_of_filter(nos, its.value))]
        untagged = inner.access.value if inner.access else 0
        tagged = sorted({its.value for its in inner.trunk} - {untagged})
        closed = port.enabled is not None and not port.enabled.value
        return PortUse(
            cable=cable,
            tenant=vrf or (filters[0] if filters else ""),
            vlans=(*((untagged,) if untagged else ()), *tagged),
            untagged=untagged,
            closed=closed,
            bond=bond.name if bond else "",
        )

    @cached_property
    def isolation(self) -> str:
        """ "evpn", "vrf-lite", "acl" or "none"."""
        every = [its.facts for its in self.run.switches if its.facts is not None]
        if any(one.vnis or one.vtep or any(vrf.vni for vrf in one.vrfs.values()) for one in every) or any(
            family.value == "evpn" for one in every for session in one.neighbors() for family in session.families
        ):
            return "evpn"
        if any(tenant_of(its.nos, vrf) for its in self.run.switches if its.facts for vrf in its.facts.vrfs):
            return "vrf-lite"
        return "acl" if any(use.tenant for use in self.uses) else "none"

    @cached_property
    def tenants(self) -> dict[str, TenantFacts]:
        """By name, in the order of their numbers."""
        found: dict[str, TenantFacts] = {}
        for switch in self.run.switches:
            for vrf in switch.facts.vrfs.values() if switch.facts else ():
                name = tenant_of(switch.nos, vrf.name)
                if name:
                    self._add(found.setdefault(name, TenantFacts(name=name)), switch, vrf)
        for use in self.uses:
            if use.tenant:
                found.setdefault(use.tenant, TenantFacts(name=use.tenant))
        return dict(sorted(found.items(), key=lambda item: (item[1].number or 10**6, item[0])))

    def _add(self, tenant: TenantFacts, switch: Switch, vrf: Any) -> None:
        facts = switch.facts
        assert facts is not None
        tenant.vni = tenant.vni or (vrf.vni.value if vrf.vni else 0)
        number = _last_number(vrf.rd.value) if vrf.rd is not None else 0
        if not tenant.number and number != tenant.vni:
            tenant.number = number
        if not tenant.number and vrf.vlan is not None and vrf.vlan.value > VLAN_BASE:
            tenant.number = vrf.vlan.value - VLAN_BASE
        tags = [one.tag.value for one in facts.interfaces.values() if one.tag and one.vrf and one.vrf.value == vrf.name]
        if not tenant.number and tags:
            tenant.number = max(0, tags[0] - TAG_BASE)
        tenant.targets |= {its.value for its in vrf.imports}
        tenant.own |= {its.value for its in vrf.exports}
        tenant.leaks |= {tenant_of(switch.nos, its.value) for its in vrf.leaks}
        if vrf.leak_filter is not None:
            lists = facts.policies.get(vrf.leak_filter.value, ())
            entries = [entry.value for its in lists for entry in facts.prefixes.get(its.value, ())]
            tenant.prefixes = tuple(dict.fromkeys((*tenant.prefixes, *(text.partition(" ")[0] for text in entries))))
            tenant.limited = True

    @cached_property
    def networks(self) -> dict[int, NetworkFacts]:
        """By VLAN."""
        found: dict[int, NetworkFacts] = {}
        for switch in self.leaves.values():
            facts = self.facts(switch.name)
            idiom = target(switch.nos).idiom
            for vni in facts.vnis.values():
                if vni.vlan is not None:
                    its = found.setdefault(vni.vlan.value, NetworkFacts(vlan=vni.vlan.value))
                    its.vni = vni.number
                    number = _last_number(vni.rd.value) - NETWORK_RD if vni.rd and idiom and idiom.network_rd else 0
                    its.number = its.number or max(0, number)
            for its in found.values():
                svi = facts.interfaces.get(idiom.svi.format(its.vlan) if idiom else "")
                if svi is None:
                    continue
                its.tenant = its.tenant or (tenant_of(switch.nos, svi.vrf.value) if svi.vrf else "")
                gateway = next((one.value for one in (*svi.gateways, *svi.addresses)), "")
                its.gateway = its.gateway or gateway
                its.relays = its.relays or tuple(dict.fromkeys(one.value for one in svi.relays))
        self._name(found)
        _number(found)
        self._assign(found)
        return found

    def _name(self, networks: Mapping[int, NetworkFacts]) -> None:
        """Names from where configs have them."""
        for switch in self.leaves.values():
            facts, places = self.facts(switch.name), learned(switch.nos, switch.release).names
            here = {its.vlan.value for its in facts.vnis.values() if its.vlan is not None}
            if not places or not any(vlan in networks and not networks[vlan].name for vlan in here):
                continue
            for line in self.run.lines_of(switch):
                for match in (match for place in places if (match := place.pattern.fullmatch(line)) is not None):
                    if int(match["vlan"]) in networks:
                        networks[int(match["vlan"])].name = match["value"].strip("\"'")

    def _assign(self, networks: Mapping[int, NetworkFacts]) -> None:
        """Tenants of networks without a gateway: that of other networks on their ports, by name, or the one that is left."""
        sets = {frozenset(use.vlans) for use in self.uses if len(use.vlans) > 1}
        for its in networks.values():
            if not its.tenant:
                its.tenant = next((name for name in self.tenants if its.name.startswith(f"{name}-")), "")
        for vlans in (*sets, *sets):
            known = {networks[vlan].tenant for vlan in vlans if vlan in networks} - {""}
            for vlan in vlans if len(known) == 1 else ():
                if vlan in networks:
                    networks[vlan].tenant = networks[vlan].tenant or next(iter(known))
        routed = {use.tenant for use in self.uses if not use.vlans}
        left = [name for name in self.tenants if name not in routed | {its.tenant for its in networks.values()}]
        rest = sorted((its for its in networks.values() if not its.tenant), key=lambda its: its.number)
        groups: dict[frozenset[int], list[NetworkFacts]] = {}
        for its in rest:
            home = next((vlans for vlans in sorted(sets, key=sorted) if its.vlan in vlans), frozenset({its.vlan}))
            groups.setdefault(home, []).append(its)
        for name, members in zip(left or list(self.tenants)[:1], groups.values(), strict=False):
            for its in members:
                its.tenant = name


def _number(networks: Mapping[int, NetworkFacts]) -> None:
    """Numbers that no route distinguisher tells: by the VNI, else the lowest free ones in the order of VLANs."""
    unknown = [its for _, its in sorted(networks.items()) if not its.number]
    bases = [its.vni // 1000 * 1000 for its in unknown]
    begun = {its.vni - 1 for its in unknown}  # numbers begin with 1
    base = L2_BASE if L2_BASE in bases else next((one for one in bases if one in begun), 0)
    used = {its.number for its in networks.values()}
    for its in unknown:
        if 0 < its.vni - base < 1000 and its.vni - base not in used:
            its.number = its.vni - base
            used.add(its.number)
    free = (number for number in count(1) if number not in used)
    for its in (its for its in unknown if not its.number):
        its.number = next(free)


def _last_number(rd: str) -> int:
    """The number at the end of a route distinguisher; 0 for `auto`."""
    last = rd.rpartition(":")[2]
    return int(last) if last.isdecimal() else 0
