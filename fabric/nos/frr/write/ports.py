"""Names of interfaces."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabric.hardware.catalog.models import SwitchModel
    from fabric.model.plan import PortRef

DEVICE_NAME_LIMIT = 15  # of any Linux interface: IFNAMSIZ less its closing zero
VRF = "vrf-{}"  # a prefix, so that no tenant is called like a port, `mgmt`, or FRR's own `default`


def port_name(model: SwitchModel, ref: PortRef, catalog_name: str = "") -> str:
    """`swp1`, `swp1s0`: the names that switchdev drivers and ifupdown2 switches use."""
    return f"swp{ref.cage}" if ref.split == 1 else f"swp{ref.cage}s{ref.sub}"
