"""One fabric to be watched: its facts, its limits, and the collectors that see its switches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from ipaddress import ip_address

from fabric.base.text import ipv4
from fabric.configs.port_names import PortNames
from fabric.configs.site_files import addresses
from fabric.deliver.monitoring.exporters import Exporter, escaped, exporters_of, labels, selector
from fabric.deliver.monitoring.limits import PortClass, PortClasses, imbalance, sessions_down
from fabric.design.floor.floor import Floor
from fabric.model.plan import ATTACHED, BETWEEN_SWITCHES, CORE, KINDS, LEAF, SERVER, SPINE, Device, FabricPlan

# --- facts ----------------------------------------------------------------------------------------------------
# The plan as series of the exposition format: one line per switch, port and session, each of value 1 and all labels.
#
# Rules join what collectors report with these lines, so a rule knows the far end of every port of 30,000 links and there is
# still one rule for all of them. The file is scraped like any other target: node_exporter's textfile collector serves it.

LINK, SESSION, SWITCH = "fabric_link_info", "fabric_bgp_session_info", "fabric_switch_info"
PRIMARY, SECONDARY = "primary", "secondary"  # of a link's two ends, the one that speaks for it

_HEIGHT = {SERVER: 0, ATTACHED: 0, LEAF: 1, SPINE: 2, CORE: 3}
_HELP = {
    SWITCH: "A switch of the plan.",
    LINK: "A cabled switch port of the plan, and its far end.",
    SESSION: "A planned BGP session, and its far end.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """A cabled switch port. Text is as the series have it: coordinates from 1, "" for none."""

    device: Device
    interface: str
    port: str  # the plan's own name of it
    peer: Device
    peer_interface: str
    kind: str
    view: str
    port_class: str
    address: str  # of the far end, "" where the port has none
    coordinates: tuple[str, str, str]  # pod, plane, rail

    def labels(self) -> dict[str, str]:
        pod, plane, rail = self.coordinates
        return {
            "interface": self.interface,
            "port": self.port,
            "peer_device": self.peer.name,
            "peer_role": self.peer.role,
            "peer_interface": self.peer_interface,
            "kind": self.kind,
            "pod": pod,
            "plane": plane,
            "rail": rail,
            "view": self.view,
            "port_class": self.port_class,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One end of a BGP session, in the default table."""

    device: Device
    bgp_peer: str  # what the switch calls its neighbor: an address, or an interface without one
    peer: Device
    kind: str  # "underlay" | "evpn"
    interface: str  # "" of a session between loopbacks
    view: str

    def labels(self) -> dict[str, str]:
        return {
            "bgp_peer": self.bgp_peer,
            "peer_device": self.peer.name,
            "peer_role": self.peer.role,
            "session": self.kind,
            "interface": self.interface,
            "view": self.view,
        }


@dataclass(frozen=True)
class Facts:
    """What the plan of one fabric says of its switches, ports and sessions."""

    site: str
    fabric: FabricPlan
    floor: Floor
    classes: PortClasses

    @cached_property
    def ends(self) -> tuple[End, ...]:
        """Every cabled switch port that has a name in the network OS of its switch."""
        return tuple(self._ends())

    @cached_property
    def sessions(self) -> tuple[Session, ...]:
        return tuple(self._sessions()) if self.fabric.sizing.bgp and self.fabric.spec.ethernet else ()

    def of_switch(self, device: Device) -> dict[str, str]:
        """Labels of a switch, of its targets too."""
        pod, plane, rail = coordinates(device)
        rack = self.floor.rack_of(device.name).name
        return {
            "site": self.site,
            "fabric": self.fabric.name,
            "device": device.name,
            "role": device.role,
            "pod": pod,
            "plane": plane,
            "rail": rail,
            "rack": rack,
        }

    def text(self) -> str:
        """The exposition file."""
        lines = [f"{SWITCH}{{{labels(self._switch(device))}}} 1" for device in self.fabric.switches]
        out = [*_head(SWITCH), *lines, *_head(LINK), *self._lines(LINK, self.ends)]
        return "\n".join([*out, *_head(SESSION), *self._lines(SESSION, self.sessions)]) + "\n"

    def _switch(self, device: Device) -> dict[str, str]:
        address = str(ip_address(int(self.fabric.management[device.index])))
        return {**self.of_switch(device), "model": device.model, "nos": device.nos, "address": address}

    def _lines(self, name: str, rows: tuple[End, ...] | tuple[Session, ...]) -> Iterator[str]:
        """Names are checked once a device, not once a line: a fabric has tens of thousands of lines."""
        head = f'{name}{{site="{escaped(self.site)}",fabric="{escaped(self.fabric.name)}",'
        heads = {
            device.index: f'{head}device="{escaped(device.name)}",role="{device.role}",' for device in self.fabric.devices
        }
        for row in rows:
            yield f"{heads[row.device.index]}{labels(row.labels())}}} 1"

    def _ends(self) -> Iterator[End]:
        fabric, names = self.fabric, PortNames(self.fabric)
        columns, devices = fabric.links.lists(), fabric.devices
        label, port_names = zip(names.columns("a"), names.columns("b"), strict=True)
        far = addresses(fabric)
        where = [coordinates(device) for device in devices]
        for link, kind in enumerate(columns["kind"]):
            between_switches = kind in BETWEEN_SWITCHES
            indices = columns["a"][link], columns["b"][link]
            shared = tuple(near or other for near, other in zip(where[indices[0]], where[indices[1]], strict=True))
            for end in (0, 1) if between_switches else (1,):
                if not port_names[end][link]:
                    continue
                yield End(
                    device=devices[indices[end]],
                    interface=port_names[end][link],
                    port=label[end][link],
                    peer=devices[indices[1 - end]],
                    peer_interface=port_names[1 - end][link] or label[1 - end][link],
                    kind=KINDS[kind],
                    view=PRIMARY if end == 0 or not between_switches else SECONDARY,
                    port_class=self.classes.name(link, end),
                    address=far[1 - end][link],
                    coordinates=(shared[0], shared[1], shared[2]),
                )

    def _sessions(self) -> Iterator[Session]:
        unnumbered = self.fabric.spec.underlay.addressing == "unnumbered"
        for end in self.ends:
            if end.kind in ("leaf-leaf", "leaf-spine", "spine-core"):
                key = end.interface if unnumbered else end.address
                yield Session(
                    device=end.device, bgp_peer=key, peer=end.peer, kind="underlay", interface=end.interface, view=end.view
                )
        devices, loopback = self.fabric.devices, self.fabric.loopback
        for index, peers in sorted(self.fabric.tenancy.peers.items()):
            for other in peers:
                one, two = devices[index], devices[other]
                lower = (_HEIGHT[one.role], one.index) < (_HEIGHT[two.role], two.index)
                view = PRIMARY if lower else SECONDARY
                yield Session(device=one, bgp_peer=ipv4(int(loopback[other])), peer=two, kind="evpn", interface="", view=view)


def coordinates(device: Device) -> tuple[str, str, str]:
    """Pod, plane and rail, from 1."""
    pod, plane, rail = (str(value + 1) if value >= 0 else "" for value in (device.pod, device.plane, device.rail))
    return pod, plane, rail


def _head(name: str) -> tuple[str, str]:
    return f"# HELP {name} {_HELP[name]}", f"# TYPE {name} gauge"


# --- watch: facts, limits and collectors ----------------------------------------------------------------------

Choose = Callable[[str], tuple[Exporter, ...]]  # network OS → its collectors

_ECN = ("ecn_marked", "lossless_packets")
_LOSSLESS = (*_ECN, "pfc_rx", "pfc_watchdog", "lossless_drops", "headroom_bytes")


@dataclass(frozen=True)
class Watch:
    """What monitoring of one fabric is made from."""

    site: str
    fabric: FabricPlan
    floor: Floor
    choose: Choose = exporters_of

    @cached_property
    def facts(self) -> Facts:
        return Facts(self.site, self.fabric, self.floor, self.classes)

    @cached_property
    def classes(self) -> PortClasses:
        return PortClasses(self.fabric)

    @cached_property
    def port_classes(self) -> dict[str, PortClass]:
        """The classes of ports that rules can see."""
        seen = {end.port_class for end in self.facts.ends}
        return {found.name: found for found in self.classes.all if found.name in seen}

    @cached_property
    def exporters(self) -> tuple[Exporter, ...]:
        """Every collector that some switch needs, by name."""
        found = {exporter.name: exporter for nos in self._systems for exporter in self.choose(nos)}
        return tuple(found[name] for name in sorted(found))

    @cached_property
    def _systems(self) -> tuple[str, ...]:
        return tuple(sorted({device.nos for device in self.fabric.switches}))

    def of(self, device: Device) -> tuple[Exporter, ...]:
        return self.choose(device.nos)

    @cached_property
    def signals(self) -> frozenset[str]:
        """What can be watched here: what some collector reports, of ports and sessions that the plan has."""
        reported = {signal for exporter in self.exporters for signal in exporter.metrics} | {"switch_up"}
        without = set() if self.lossless else set(_LOSSLESS)
        without |= set() if self.facts.sessions else {"bgp_up"}
        if not self.facts.ends:
            without |= reported - {"switch_up", "fan_ok", "psu_ok", "temperature_ok"}
        return frozenset(reported - without)

    @cached_property
    def lossless(self) -> bool:
        return any(found.lossless for found in self.port_classes.values())

    @cached_property
    def priority(self) -> int:
        """The lossless priority, one for the whole fabric."""
        if self.fabric.lossless is None:
            return 0
        return self.fabric.lossless.of(LEAF, self.fabric.spec.groups[0].name).qos.priority

    @cached_property
    def imbalance(self) -> dict[str, float]:
        return dict(imbalance(self.fabric)) if {"out_bits", "link_up"} <= self.signals else {}

    @cached_property
    def sessions_down(self) -> dict[str, float]:
        return sessions_down(self.fabric) if "bgp_up" in self.signals else {}

    @cached_property
    def scope(self) -> str:
        """Matchers of everything that is this fabric's."""
        return selector({"site": self.site, "fabric": self.fabric.name})
