"""Every scenario, the mildest first."""

from fabric.lab.scenarios import (
    leaf_dead,
    link_blackholed,
    link_down,
    maintenance,
    plane_dead,
    spine_dead,
    swapped_cables,
    switch_lost,
)
from fabric.lab.scenarios.base import Scenario

SCENARIOS: tuple[Scenario, ...] = (
    link_down.SCENARIO,
    link_blackholed.SCENARIO,
    spine_dead.SCENARIO,
    leaf_dead.SCENARIO,
    plane_dead.SCENARIO,
    switch_lost.SCENARIO,
    maintenance.SCENARIO,
    swapped_cables.SCENARIO,
)
