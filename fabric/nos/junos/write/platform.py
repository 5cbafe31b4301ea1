"""Differences between the switches that run Junos Evolved, by catalog name.

Every fact stands in docs/targets/junos.md with its source; a switch that is not named here gets no special configuration.
"""

from __future__ import annotations

from dataclasses import dataclass

RELEASE = "23.4R2-EVO"


@dataclass(frozen=True, slots=True)
class Partition:
    """A share of the shared packet buffer, in percent."""

    name: str
    percent: int
    dynamic_threshold: int = 0  # 0: the switch's own


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    chassis_ports: bool = False  # speed and split stand under `chassis fpc 0 pic 0 port`, not at the interface
    watchdog: bool = True  # has the PFC watchdog
    ingress: tuple[Partition, ...] = ()  # of the shared buffer, as published for the switch; (): the switch's own
    shared_percent: int = 100  # of the whole buffer that is shared
    egress: tuple[Partition, ...] = ()
    dedicated: tuple[int, int] | None = None  # percent kept for the ports, ingress and egress
    flowset_entries: int = 0  # size of a DLB group's table; 0: the switch's own


TOMAHAWK5 = Platform(
    ingress=(Partition("lossless", 66, 10), Partition("lossless-headroom", 24), Partition("lossy", 10)),
    egress=(Partition("lossless", 66), Partition("lossy", 10)),
    shared_percent=65,  # a switch showed 66.9 with 13.7 dedicated at ingress; here 15 are
    dedicated=(15, 30),
    flowset_entries=2048,
)
PLATFORMS = {
    "qfx5130": Platform(watchdog=False),
    "qfx5220": Platform(chassis_ports=True, watchdog=False),
    "qfx5230": Platform(),
    "qfx5240": TOMAHAWK5,
    "qfx5241": TOMAHAWK5,
}
CLASSIC = ("qfx5100", "qfx5110", "qfx5120", "qfx5200", "qfx5210")  # Junos, not Junos Evolved


def platform(catalog_name: str) -> Platform:
    return PLATFORMS.get(catalog_name.partition("-")[0], Platform())
