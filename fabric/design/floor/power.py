"""Power that a switch may draw in its rack: its worst case with an optic in every cage."""

from __future__ import annotations

from fabric.hardware.catalog.models import SwitchModel
from fabric.hardware.catalog.power import switch_range
from fabric.hardware.catalog.power_class import MAX, TYPICAL, full_set_w


def switch_power_w(model: SwitchModel) -> float:
    """Watts: of the data sheet, else the upper end of the bounds of its class."""
    its, optics_w = switch_range(model), full_set_w(model)
    typical_w = its.typical_high_w + (0.0 if TYPICAL in its.holds else optics_w)
    return max(typical_w, its.max_w + (0.0 if MAX in its.holds else optics_w))
