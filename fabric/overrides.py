"""A site's own config lines: which of them apply to a switch, checked before anything is rendered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from fabric.diagnostics import Report
from fabric.intent.services import Override as Wish
from fabric.plan.devices import Device
from fabric.plan.plan import Plan
from fabric.render import DocumentPatch, Override, TextOverride


@dataclass(frozen=True)
class Overrides:
    """The overrides of a site with their conditions, in the order of the intent."""

    rules: tuple[tuple[Wish, Override], ...]

    def of(self, fabric: str, device: Device) -> Sequence[Override]:
        """What applies to one switch."""
        return [override for wish, override in self.rules if _applies(wish, fabric, device)]


def read(plan: Plan, base: Path) -> Overrides:
    """Resolves the overrides of an intent whose file lies in `base`. Raises InputError.

    A template must be a file below `base`: text of an intent never becomes template code, and no path leads out.
    """
    report, rules = Report(), []
    for at, wish in enumerate(plan.intent.overrides):
        override: Override | None
        if wish.template is not None:
            override = _template(plan, at, wish.template, base, report)
        else:
            patch: dict[str, Any] = wish.patch or {}
            override = DocumentPatch(wish.file or "", patch)
        if not _matches_any(plan, wish):
            report.error(
                "FAB170", plan.source.place(("overrides", at)), "this override applies to no switch of the site"
            )
        if override is not None:
            rules.append((wish, override))
    report.raise_errors()
    return Overrides(tuple(rules))


def _template(plan: Plan, at: int, name: str, base: Path, report: Report) -> TextOverride | None:
    place = plan.source.place(("overrides", at, "template"))
    path = (base / name).resolve()
    if not path.is_relative_to(base.resolve()):
        report.error("FAB170", place, f"override template '{name}': expected a file below the folder of the intent")
        return None
    if not path.is_file():
        report.error("FAB170", place, f"override template '{name}': there is no such file beside the intent")
        return None
    return TextOverride(path)


def _matches_any(plan: Plan, wish: Wish) -> bool:
    return any(_applies(wish, name, device) for name, fabric in plan.fabrics.items() for device in fabric.switches)


def _applies(wish: Wish, fabric: str, device: Device) -> bool:
    if wish.fabric is not None and wish.fabric != fabric:
        return False
    if wish.role is not None and wish.role != device.role:
        return False
    return not wish.devices or any(fnmatchcase(device.name, glob) for glob in wish.devices)
