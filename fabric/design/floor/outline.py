"""What the layout of a floor is made from: the sizes of a site's fabrics. Nothing has to be wired for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fabric.model.plan import ATTACHED, Device, FabricSpec, Plan, SiteSettings, Sizing


@dataclass(frozen=True)
class Outline:
    """One fabric as it is sized."""

    name: str
    spec: FabricSpec
    sizing: Sizing
    attachments: tuple[str, ...]  # names of attachments
    switches: tuple[Device, ...] = ()  # where they are known: a number above the planned count needs a place, too


@dataclass(frozen=True)
class SiteOutline:
    """A site as it is sized."""

    settings: SiteSettings
    fabrics: Mapping[str, Outline]  # by name: their order in the file moves no rack

    @classmethod
    def of(cls, settings: SiteSettings, fabrics: Iterable[Outline]) -> SiteOutline:
        """The outline of fabrics that may come in any order."""
        return cls(settings, {its.name: its for its in sorted(fabrics, key=lambda its: its.name)})


def sized(spec: FabricSpec, sizing: Sizing) -> Outline:
    """The outline of a fabric that has no devices yet."""
    return Outline(spec.name, spec, sizing, tuple(attachment.name for attachment in spec.attachments))


def outline(plan: Plan) -> SiteOutline:
    """The outline of a plan."""
    fabrics = (
        Outline(
            name,
            fabric.spec,
            fabric.sizing,
            tuple(attachment.name for attachment in fabric.devices if attachment.role == ATTACHED),
            fabric.switches,
        )
        for name, fabric in plan.fabrics.items()
    )
    return SiteOutline.of(plan.settings, fabrics)
