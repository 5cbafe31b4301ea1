"""A site as its state is judged: the plan of every switch beside what the switch reports, and what explains what.

A check of a later layer leaves alone what an earlier one has explained: a session over a port that is down, a route over a
session that is down. Each explanation is computed once, here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from ipaddress import ip_interface, ip_network

from fabric.audit.cabling.compare import compare
from fabric.audit.cabling.files import Collected as Neighbors, take
from fabric.audit.cabling.finding import CableFault
from fabric.audit.cabling.planned import canonical, places, planned
from fabric.audit.verify.reported_state import ReportedState, peer_key
from fabric.audit.verify.sessions import OVERLAY, UNDERLAY, Paths, Planned, originated, paths, sessions_of
from fabric.base.grouping import grouped
from fabric.configs.targets import mtu_limit
from fabric.configs.view_of import Views
from fabric.model.plan import LEAF, Plan, Port, SwitchView, Vrf
from fabric.nos.state.records import BGP, ESTABLISHED, INTERFACES, LLDP, ROUTES, Peer, PortState
from fabric.nos.target import installed

# --- fault ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Fault:
    """One cause.

    Attributes:
        kind: what a check of `fabric/audit/checks/state` takes up.
        device: switch to look at.
        message: expected and found.
        state: kind of state that shows it, for the file of the finding.
        hint: what to do, where it is known better than for the kind as a whole.
    """

    kind: str
    device: str
    message: str
    state: str
    hint: str = ""


# --- site -----------------------------------------------------------------------------------------------------

End = tuple[str, str]  # switch, and port as `canonical` spells it


@dataclass(frozen=True, slots=True)
class PlannedPort:
    """A cabled port of a switch that is not shut by plan."""

    name: str
    port: Port
    far_device: str
    far_port: str  # "" where the far end is no switch


@dataclass(frozen=True)
class Switch:
    """One planned switch and its reported state; `seen` is empty where nothing was collected."""

    view: SwitchView
    seen: ReportedState
    beyond: frozenset[str] = frozenset()  # devices of the plan that are left out: what leads to them is not judged

    @property
    def name(self) -> str:
        return self.view.device.name

    @property
    def leaf(self) -> bool:
        return self.view.device.role == LEAF

    def has(self, kind: str) -> bool:
        """Whether a kind of state was collected."""
        return kind in self.seen.kinds

    def vrf(self, name: str) -> str:
        """A tenant's VRF by its name on the switch."""
        nos = installed(self.view.device.nos)
        return nos.idiom.vrf.format(name) if nos is not None and nos.idiom is not None else name

    @cached_property
    def ports(self) -> dict[str, PlannedPort]:
        """By the name that `canonical` gives."""
        return {canonical(one.name): one for one in self._ports()}

    def _ports(self) -> Iterator[PlannedPort]:
        view, nos = self.view, installed(self.view.device.nos)
        assert nos is not None
        for port in view.cabled:
            if not port.up or port.peer is None or port.peer.device.name in self.beyond:
                continue
            far, name = port.peer, nos.port_name(view.model, port.ref, view.device.model)
            other = installed(far.device.nos) if far.port is not None and far.model is not None else None
            far_port = ""
            if other is not None and far.port is not None and far.model is not None:
                far_port = other.port_name(far.model, far.port, far.device.model)
            yield PlannedPort(name, port, far.device.name, far_port)

    @cached_property
    def sessions(self) -> tuple[Planned, ...]:
        return tuple(end for end in sessions_of(self.view) if end.peer_node not in self.beyond)

    def peer(self, session: Planned) -> Peer | None:
        """The reported end of a session. An unnumbered one may be under its link-local address, or its interface."""
        return self.seen.peer(session.vrf, session.peer)

    @cached_property
    def originates(self) -> tuple[str, ...]:
        return originated(self.view)

    def inside(self, prefix: str) -> list[PlannedPort]:
        """The server ports with an address in a prefix."""
        net = ip_network(prefix)
        return [
            end
            for end in self.ports.values()
            if end.port.address
            and not end.port.vrf
            and end.port.kind != "fabric"
            and ip_interface(end.port.address).ip in net
        ]

    def connected(self, vrf: Vrf) -> dict[str, list[str]]:
        """Subnets of a tenant at this leaf → the ports that they need; one of several is enough."""
        ports: dict[str, list[str]] = {}
        for network in self.view.networks:
            if network.vrf == vrf.name and network.gateway:
                subnet = str(ip_interface(network.gateway).network)
                ports[subnet] = [
                    end.name for end in self.ports.values() if network.vlan in (end.port.untagged, *end.port.tagged)
                ]
        for end in self.ports.values():
            if end.port.vrf == vrf.name and end.port.address and end.port.kind == "server":
                ports.setdefault(str(ip_interface(end.port.address).network), []).append(end.name)
        return ports


class Site:
    """All switches of a site. `switches` is in the order of the plan."""

    def __init__(self, plan: Plan, seen: Mapping[str, ReportedState], views: Collection[SwitchView] | None = None) -> None:
        """Joins plan and state.

        Args:
            plan: the plan.
            seen: reported state by switch.
            views: the switches to judge, where they are not all that the plan has.
        """
        self.plan = plan
        self._intended: dict[str, Paths] = {}
        self._established: dict[int, bool | None] = {}
        chosen = list(views) if views is not None else list(_views(plan))
        names = {view.device.name for view in chosen}
        others = () if views is None else (device.name for fabric in plan.fabrics.values() for device in fabric.switches)
        self.beyond = frozenset(name for name in others if name not in names)
        self.switches = {
            view.device.name: Switch(view, seen.get(view.device.name, ReportedState()), self.beyond) for view in chosen
        }
        self.foreign = _foreign(self.switches)  # switch → the one whose state was collected in its place
        for name in self.foreign:
            switch = self.switches[name]
            self.switches[name] = Switch(
                switch.view, ReportedState(files=switch.seen.files, strays=switch.seen.strays), self.beyond
            )

    def known(self, kind: str) -> list[Switch]:
        """The switches of which a kind of state was collected."""
        return [switch for switch in self.switches.values() if switch.has(kind)]

    @cached_property
    def fabrics(self) -> dict[str, list[Switch]]:
        return grouped((switch.view.fabric, switch) for switch in self.switches.values())

    # --- ports --------------------------------------------------------------------------------------------------

    def far(self, end: End) -> End | None:
        """The planned far end of a port, None where it is no switch's."""
        switch = self.switches.get(end[0])
        port = switch.ports.get(end[1]) if switch is not None else None
        return (port.far_device, canonical(port.far_port)) if port is not None and port.far_port else None

    def is_down(self, switch: Switch, port: PlannedPort) -> bool:
        """Whether a planned port is reported down, or is missing from a complete list of ports."""
        state = switch.seen.port(port.name)
        if state is None:
            return INTERFACES in switch.seen.lists
        return state.up is False or state.shut

    @staticmethod
    def wrong_address(port: PlannedPort, state: PortState | None) -> str:
        """The addresses of a routed port that does not have the planned one; "" where it has, or does not say."""
        planned = port.port.address
        if state is None or state.addresses is None or not planned or port.port.bridged or port.port.lag:
            return ""
        return "" if planned in state.addresses else ", ".join(sorted(state.addresses)) or "none"

    @cached_property
    def readdressed(self) -> frozenset[End]:
        """Both ends of every link of which an end has another address than planned."""
        found: set[End] = set()
        for switch in self.known(INTERFACES):
            for key, port in switch.ports.items():
                if self.wrong_address(port, switch.seen.ports.get(key)):
                    found |= {(switch.name, key)} | ({far} if (far := self.far((switch.name, key))) else set())
        return frozenset(found)

    @cached_property
    def down(self) -> frozenset[End]:
        """Both ends of every link of which an end is reported down."""
        found: set[End] = set()
        for switch in self.known(INTERFACES):
            for key, port in switch.ports.items():
                if self.is_down(switch, port):
                    end = (switch.name, key)
                    found |= {end, far} if (far := self.far(end)) is not None else {end}
        return frozenset(found)

    @cached_property
    def cables(self) -> tuple[CableFault, ...]:
        """What `fabric cabling verify` finds in the collected LLDP neighbors."""
        listening = self.known(LLDP)
        if not listening:
            return ()
        cabling, reported = planned(self.plan), Neighbors()
        index = {name: number for number, name in enumerate(cabling.hosts.names)}
        for switch in self.switches.values():
            for part in switch.seen.lldp:
                take(reported, part, index[switch.name])
        findings = compare(cabling, reported, places(self.plan), self.plan.site).findings
        return tuple(
            finding for finding in findings if not any(end.device in self.beyond for link in finding.links for end in link)
        )

    @cached_property
    def miscabled(self) -> frozenset[End]:
        """Ends of links whose cable is elsewhere."""
        wrong = [one for one in self.cables if one.kind in ("swapped", "wrong-port", "wrong-device", "unknown-device")]
        return frozenset(
            (end.device, canonical(end.port_name)) for one in wrong for link in one.links for end in link if end.port_name
        )

    # --- sessions -----------------------------------------------------------------------------------------------

    @cached_property
    def stopped(self) -> dict[str, str]:
        """Switch → its message, where it reports that BGP does not run."""
        found = {}
        for switch in self.switches.values():
            words = next((one for one in switch.seen.failures if "bgp" in one.lower()), "")
            if words:
                found[switch.name] = words
        return found

    @cached_property
    def mirror(self) -> dict[tuple[str, str, str, str], Planned]:
        """The other end of each session: (kind, switch, neighbor, interface or VRF) → planned end."""
        return {self._key(end): end for switch in self.switches.values() for end in switch.sessions}

    @staticmethod
    def _key(end: Planned) -> tuple[str, str, str, str]:
        return end.kind, end.node, end.peer_node, end.interface or end.vrf

    def other(self, end: Planned) -> Planned | None:
        """The planned end at the neighbor, None where it is no switch of the site."""
        return self.mirror.get((end.kind, end.peer_node, end.node, end.peer_interface or end.vrf))

    def established(self, end: Planned) -> bool | None:
        """Whether a session end is reported established; None where its switch does not report it."""
        key = id(end)  # ends live as long as their switches
        if key not in self._established:
            self._established[key] = self._is_established(end)
        return self._established[key]

    def _is_established(self, end: Planned) -> bool | None:
        switch = self.switches[end.node]
        if end.node in self.stopped:
            return False
        if not switch.has(BGP):
            return None
        peer = switch.peer(end)
        return peer is not None and peer.state == ESTABLISHED and self.family_up(end, peer)

    @staticmethod
    def family_up(end: Planned, peer: Peer) -> bool:
        """A family that the peers did not agree on carries no routes."""
        wanted = "evpn" if end.kind == OVERLAY else "ipv6" if ":" in end.peer else ""
        return not any(one.name == wanted and one.active is False for one in peer.families)

    def lives(self, end: Planned) -> bool:
        """Whether no end of a session reports it as down."""
        other = self.other(end)
        return self.established(end) is not False and (other is None or self.established(other) is not False)

    @cached_property
    def dead(self) -> frozenset[tuple[str, str]]:
        """(switch, neighbor) between which an underlay session is planned and none lives."""
        alive: dict[tuple[str, str], bool] = {}
        for switch in self.switches.values():
            for end in switch.sessions:
                if end.kind == UNDERLAY:
                    pair = (end.node, end.peer_node)
                    alive[pair] = alive.get(pair, False) or self.lives(end)
        return frozenset(pair for pair, lives in alive.items() if not lives)

    # --- routes -------------------------------------------------------------------------------------------------

    @cached_property
    def paths(self) -> dict[str, Paths]:
        """Fabric → next hops over the sessions that live."""
        return {fabric: self._paths(switches) for fabric, switches in self.fabrics.items()}

    def intended(self, fabric: str) -> Paths:
        """Next hops over all planned sessions, computed where it is asked for."""
        if fabric not in self._intended:
            self._intended[fabric] = self._paths(self.fabrics[fabric], living=False)
        return self._intended[fabric]

    def _paths(self, switches: Sequence[Switch], *, living: bool = True) -> Paths:
        return paths(
            {switch.name: switch.view.device.asn for switch in switches},
            [switch.name for switch in switches if not switch.leaf],
            (
                (end.node, end.peer_node)
                for switch in switches
                for end in switch.sessions
                if end.kind == UNDERLAY and (not living or self.lives(end))
            ),
        )

    def announces(self, switch: Switch, prefix: str) -> bool:
        """Whether a switch has a prefix of its own to make known; unknown counts as yes.

        A prefix of servers is known while one of the ports in it is up.
        """
        if prefix in switch.view.aggregates:
            return any(not self.is_down(switch, one) for one in switch.inside(prefix))
        if ROUTES not in switch.seen.lists:
            return True
        return prefix in switch.seen.routes.get("", {})


def _views(plan: Plan) -> Iterator[SwitchView]:
    """The view of every switch that has an installed network OS."""
    for fabric in plan.fabrics.values():
        views = Views(plan, fabric, mtu_limit(fabric))
        yield from (views.of(device) for device in fabric.switches if device.nos and installed(device.nos) is not None)


def _foreign(switches: Mapping[str, Switch]) -> dict[str, str]:
    """Switch → the one whose state was collected in its place: all its neighbors are reported, and none that is planned."""
    planned = {name: _addresses(switch) for name, switch in switches.items()}
    taken_from: dict[str, str] = {}
    for name, switch in switches.items():
        reported = {key for key in switch.seen.peers if not key[0]}
        if BGP not in switch.seen.lists or not planned[name] or not reported or planned[name] & reported:
            continue
        others = [other for other, keys in planned.items() if other != name and keys and keys <= reported]
        if len(others) == 1:
            taken_from[name] = others[0]
    return taken_from


def _addresses(switch: Switch) -> set[tuple[str, str]]:
    """The underlay neighbors of a switch that have an address of their own; interfaces have the same names everywhere."""
    return {peer_key(end.vrf, end.peer) for end in switch.sessions if end.kind == UNDERLAY and end.peer != end.interface}
