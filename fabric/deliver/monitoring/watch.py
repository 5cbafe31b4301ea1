"""One fabric to be watched: its facts, its limits, and the collectors that see its switches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from fabric.deliver.monitoring.exporters import Exporter, exporters_of
from fabric.deliver.monitoring.facts import Facts
from fabric.deliver.monitoring.limits import PortClass, PortClasses, imbalance, sessions_down
from fabric.deliver.monitoring.promql import selector
from fabric.design.floor.floor import Floor
from fabric.model.plan import LEAF, Device, FabricPlan

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
