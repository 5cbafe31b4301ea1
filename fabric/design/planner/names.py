"""Names of devices: patterns filled with coordinates, pins, and no name twice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from string import Formatter

from fabric.base.diagnostics import Place, Report
from fabric.model.plan import ATTACHED, CORE, LEAF, SERVER, SPINE, Device, FabricSpec
from fabric.model.settings.base import HOST

_NUMBERS = ("n", "unit", "rack", "pod", "plane", "rail")


def fields(pattern: str) -> frozenset[str]:
    """The numbers that a checked pattern uses."""
    return frozenset(name for _, name, _, _ in Formatter().parse(pattern) if name in _NUMBERS)


def fill(pattern: str, site: str, fabric: str, role: str, group: str, numbers: Mapping[str, int]) -> str:
    """The name that a pattern gives; checked patterns use only coordinates that the device has.

    Numbers count from 1. Patterns were checked when the intent was read, so nothing here evaluates anything.
    """
    return pattern.format(site=site, fabric=fabric, role=role, group=group, **numbers)


def missing_fields(pattern: str, has: Iterable[str]) -> list[str]:
    """Coordinates of a pattern that a device of this kind does not have."""
    known = set(has)
    return [name for name in _NUMBERS if name in fields(pattern) and name not in known]


def places(spec: FabricSpec) -> dict[tuple[str, str], Place]:
    """(fabric, role) → where the pattern of its names stands."""
    patterns = {(spec.name, role): spec.at("names", role) for role in (LEAF, SPINE, CORE, SERVER)}
    return {**patterns, (spec.name, ATTACHED): spec.at("topology", "attachments")}


def check_unique(devices: Iterable[tuple[str, Device]], places: Mapping[tuple[str, str], Place], report: Report) -> None:
    """No switch has the name of another device of the site; names are host names and safe as folder names.

    Args:
        devices: (fabric, device) of the whole site.
        places: where the pattern of (fabric, role) stands.
    """
    seen: dict[str, tuple[str, Device]] = {}
    reported: set[tuple[str, str]] = set()

    def say(fabric: str, role: str, code: str, message: str, hint: str) -> None:
        """Reported once per pattern, not once per device."""
        if (fabric, role) not in reported:
            reported.add((fabric, role))
            report.error(code, places[fabric, role], message, hint)

    for fabric, device in devices:
        if not HOST.fullmatch(device.name) or ".." in device.name:
            expected = f"names.{device.role}: expected a pattern that gives host names of at most 63 characters"
            hint = "a host name has letters and digits, with hyphens and dots between them"
            say(fabric, device.role, "FAB110", f"{expected}, got '{device.name[:80]}'", hint)
            continue
        key = device.name.lower()  # two names that differ in case are one folder on some file systems
        other_fabric, other = seen.setdefault(key, (fabric, device))
        same_device = other_fabric != fabric and device.role == other.role and device.role in (SERVER, ATTACHED)
        if other is device or same_device:
            continue
        owners = f"{_what(other)} of '{other_fabric}' and {_what(device)} of '{fabric}'"
        hint = "the pattern must contain {n}; add {fabric} for several fabrics, {plane} for several planes"
        if device.role == ATTACHED:
            hint = "rename the attachment"
        say(fabric, device.role, "FAB138", f"two devices are named '{device.name}': {owners}", hint)


def _what(device: Device) -> str:
    return "an attachment" if device.role == ATTACHED else f"a {device.role}"
