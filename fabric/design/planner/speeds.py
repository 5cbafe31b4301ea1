"""A port speed that a switch lacks: what the catalog says of it, how to state more, and the switches that have it."""

from __future__ import annotations

from collections.abc import Callable

from fabric.base.text import listed
from fabric.hardware import catalog
from fabric.hardware.catalog.models import SwitchModel
from fabric.model.plan import FabricSpec, TierSpec

SHOWN = 4  # switches that a hint names


def gbps(speeds: tuple[int, ...]) -> str:
    return ", ".join(f"{speed}G" for speed in speeds)


def does(tier: TierSpec, speed: int) -> str:
    """What follows `needs ports of 200G`: the speeds that a switch has, and whether those may not be all."""
    its = gbps(tier.model.speeds)
    return f"a speed that is not known to the catalog, which lists {its}" if tier.model.may_have(speed) else f"it has {its}"


def how_to_state(spec: FabricSpec, tier: TierSpec, speed: int, *, server_ports: bool = False) -> str:
    """How an intent says that a switch has a port speed; "" where the catalog lists all of them.

    Args:
        server_ports: the speed is one of the slowest cages that are fast enough, else of the fastest.
    """
    if not tier.model.may_have(speed):
        return ""
    cages = [group.speed_gbps for group in tier.model.ports if group.speed_gbps >= speed]
    split = f"{_parts(min(cages) if server_ports else max(cages), speed)}x{speed}"
    if spec.positions.stated("catalog", "switches", tier.switch):
        return f"if the switch does {speed}G, add `{split}` to the `breakouts` of its ports under `catalog.switches`"
    return f"if the switch does {speed}G, state it: `catalog: {{breakouts: {{{tier.switch}: [{split}]}}}}`"


def _parts(cage_gbps: int, speed: int) -> int:
    """The most ports of a speed that a cage can give, one for each of its lanes: SFP has one, QSFP four, OSFP eight."""
    lanes = 8 if cage_gbps >= 400 else 4 if cage_gbps >= 100 or cage_gbps == 40 else 1
    return next(parts for parts in (8, 4, 2, 1) if parts <= lanes and parts * speed <= cage_gbps)


def finer_uplinks(spec: FabricSpec) -> str:
    """How to state halves, quarters and eighths of uplinks that the catalog does not know; more uplinks reach more spines."""
    lowest = max(group.nic.speed_gbps for group in spec.groups)
    for tier in (spec.leaf, spec.spine):
        halves = [tier.model.native_gbps // parts for parts in (2, 4, 8)]
        for speed in halves:
            if speed >= lowest and (text := how_to_state(spec, tier, speed)):
                return text
    return ""


def others(spec: FabricSpec, tier: TierSpec, fits: Callable[[SwitchModel], bool]) -> str:
    """Shipped switches of a tier's technology and network OS that qualify, those of the most similar bandwidth first."""
    found = []
    for name in catalog.switch_names():
        model = catalog.switch(name)
        assert model is not None
        runs = tier.nos is None or tier.nos in model.nos
        if name != tier.switch and model.technology == tier.model.technology and runs and fits(model):
            found.append((abs(model.bandwidth_gbps - tier.model.bandwidth_gbps), name))
    return listed([name for _, name in sorted(found)], SHOWN)


def advice(
    spec: FabricSpec, tier: TierSpec, speed: int, fits: Callable[[SwitchModel], bool], *, server_ports: bool = False
) -> str:
    """Hint for a speed that a switch lacks: how to state it where it may have it, and the switches of the catalog that do."""
    stating = how_to_state(spec, tier, speed, server_ports=server_ports)
    named = others(spec, tier, fits)
    choose = f"{named} of the catalog would do" if named else ""
    return "; ".join(part for part in (stating, choose) if part) or "`fabric catalog NAME` lists the port speeds of a switch"
