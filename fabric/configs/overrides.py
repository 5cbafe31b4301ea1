"""A site's own config lines: which of them apply to a switch, checked before anything is rendered."""

from __future__ import annotations

import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from jinja2.exceptions import SecurityError

from fabric.base.diagnostics import Diagnostic, InputError, Place, Report, one_of, show
from fabric.configs.render import DocumentPatch, Override, TextOverride, refuse_control
from fabric.configs.templating.functions import LimitError
from fabric.configs.templating.shipped import shipped_templates
from fabric.configs.templating.site import SiteTemplateError, extended, one_line
from fabric.model.plan import Device, Plan
from fabric.model.settings.services import Override as Request
from fabric.nos.target import target


@dataclass(frozen=True)
class Overrides:
    """The overrides of a site with their conditions, in the order of the intent."""

    rules: tuple[tuple[Request, Override], ...]

    def of(self, fabric: str, device: Device) -> Sequence[Override]:
        """What applies to one switch."""
        return [override for request, override in self.rules if _applies(request, fabric, device)]


def read(plan: Plan, base: Path) -> Overrides:
    """Resolves the overrides of an intent whose file lies in `base`. Raises InputError.

    A template must be a file below `base`: text of an intent never becomes template code, and no path leads out.
    """
    report, rules = Report(), []
    for position, stated in enumerate(plan.settings.overrides):
        override: Override | None
        if stated.template is not None:
            override = _template(plan, position, stated.template, base, report)
        else:
            patch: dict[str, Any] = stated.patch or {}
            override = DocumentPatch(stated.file or "", patch)
            _check_patch(plan, position, patch, report)
        if not _matches_any(plan, stated):
            report.error(
                "FAB170",
                plan.at("overrides", position),
                f"overrides[{position}]: the selection matches no switch",
                "check role, fabric and devices; devices are names or patterns such as 'backend-leaf*'",
            )
        elif override is not None and not _changes_anything(plan, stated, override):
            _report_idle(plan, position, stated, override, report)
        if override is not None:
            rules.append((stated, override))
    report.raise_errors()
    return Overrides(tuple(rules))


def _changes_anything(plan: Plan, request: Request, override: Override) -> bool:
    """Whether one of the switches it applies to has the file that it changes."""
    systems = _systems(plan, request)
    if isinstance(override, TextOverride):
        return extended(override.template_path).split("/")[0] in systems
    return any(override.file in target(nos).documents for nos in systems)


def _systems(plan: Plan, request: Request) -> set[str]:
    return {
        device.nos
        for name, fabric in plan.fabrics.items()
        for device in fabric.switches
        if device.nos and _applies(request, name, device)
    }


def _report_idle(plan: Plan, at: int, request: Request, override: Override, report: Report) -> None:
    systems = sorted(_systems(plan, request))
    documents = sorted({document for nos in systems for document in target(nos).documents})
    if isinstance(override, DocumentPatch):
        place, expected = plan.at("overrides", at, "file"), f"a document of {' or '.join(systems)}"
        hint = one_of(documents) if documents else f"{' and '.join(systems)} configs are text: override a block of a template"
        got = override.file
    else:
        place, expected = plan.at("overrides", at, "template"), f"a template of {' or '.join(systems)}"
        hint = one_of([name for name in shipped_templates() if name.split("/")[0] in systems])
        got = extended(override.template_path)
    report.error("FAB170", place, f"overrides[{at}]: expected {expected}, got {show(got)}", hint)


_BESIDE = "use a path relative to the folder of the intent, such as `site/ntp.eos.j2`"


def _template(plan: Plan, at: int, name: str, base: Path, report: Report) -> TextOverride | None:
    place = plan.at("overrides", at, "template")
    path = (base / name).resolve()
    if not path.is_relative_to(base.resolve()):
        report.error("FAB170", place, f"override template '{name}': expected a file below the folder of the intent", _BESIDE)
        return None
    if not path.is_file():
        report.error("FAB170", place, f"override template '{name}': no such file", _BESIDE)
        return None
    errors = len(report.errors)
    _check_template(path, str(path.relative_to(base.resolve())), place, report)
    return TextOverride(path, at) if len(report.errors) == errors else None


def _check_template(path: Path, name: str, place: Place, report: Report) -> None:
    """Checks the template of a site: text, valid Jinja, extends a shipped template, replaces existing blocks."""
    shown = f"override template '{name}'"
    try:
        extended(path)
    except OSError as error:
        report.error("FAB170", place, f"{shown}: cannot be read: {(error.strerror or one_line(error)).lower()}")
    except SiteTemplateError as error:
        for problem in error.problems:
            line = f", line {problem.line}" if problem.line else ""
            report.error("FAB170", place, f"{shown}{line}: {problem.message}", problem.hint)


def _check_patch(plan: Plan, at: int, patch: Mapping[str, Any], report: Report) -> None:
    """No value of a patch may start a new config line."""
    try:
        refuse_control(patch, "patch")
    except ValueError as error:
        report.error(
            "FAB170",
            plan.at("overrides", at, "patch"),
            f"overrides[{at}].patch: expected strings without control characters, got a {one_line(error)}",
            "use a list of strings for several lines",
        )


def explain(error: Exception, plan: Plan, device: Device, applied: Sequence[Override]) -> InputError | None:
    """The error of rendering a switch, if a site's own template caused it."""
    index = {str(item.template_path): item.index for item in applied if isinstance(item, TextOverride)}
    frames = [
        (path, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if (path := str(Path(frame.f_code.co_filename).resolve())) in index
    ]
    if not frames and not (index and isinstance(error, SecurityError)):
        return None
    # Without a frame the newest is named, although the error may follow from all of them.
    position = index[frames[-1][0]] if frames else max(index.values())
    line = f", line {frames[-1][1]}" if frames else ""
    message = (
        f"override template '{plan.settings.overrides[position].template}'{line}: cannot be rendered for "
        f"'{device.name}': {one_line(error)}"
    )
    place = plan.at("overrides", position, "template")
    hint = _COST if isinstance(error, LimitError) else "use the variable names of the shipped template"
    return InputError([Diagnostic("FAB170", place, message, hint)])


_COST = "print fewer lines, or loop over fewer values; docs/security.md lists the limits"


def _matches_any(plan: Plan, request: Request) -> bool:
    return any(_applies(request, name, device) for name, fabric in plan.fabrics.items() for device in fabric.switches)


def _applies(request: Request, fabric: str, device: Device) -> bool:
    if request.fabric is not None and request.fabric != fabric:
        return False
    if request.role is not None and request.role != device.role:
        return False
    return not request.devices or any(fnmatchcase(device.name, glob) for glob in request.devices)
