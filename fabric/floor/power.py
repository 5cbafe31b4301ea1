"""Power that a switch may draw in its rack: the maker's worst case with an optic in every cage."""

from __future__ import annotations

from functools import cache

from fabric.catalog import media
from fabric.catalog.models import SwitchModel


def switch_power_w(model: SwitchModel) -> float:
    """Watts. Of a switch without a maker's figure those of its optics alone, as the bill of materials counts it."""
    optics_w = sum(group.count * _optic_w(group.speed_gbps) for group in model.ports)
    typical_w, most_w = (
        (watts or 0) + (0.0 if name in model.power_includes_optics else optics_w)
        for name, watts in (("typical", model.power_typical_w), ("max", model.power_max_w))
    )
    return max(typical_w, most_w)


@cache
def _optic_w(speed_gbps: int) -> float:
    """Watts of the hottest usual optic of a cage of that speed; of a speed without one those of the next faster."""
    usual = [optic for optic in media.optics().values() if optic.usual and optic.speed_gbps >= speed_gbps]
    speed = min((optic.speed_gbps for optic in usual), default=0)
    return max((optic.power_w for optic in usual if optic.speed_gbps == speed), default=0.0)
