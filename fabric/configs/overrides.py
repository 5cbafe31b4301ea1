"""A site's own config lines: which of them apply to a switch, checked before anything is rendered."""

from __future__ import annotations

import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from jinja2 import TemplateSyntaxError, nodes

from fabric.diagnostics import Diagnostic, InputError, Place, Report, nearest, one_of, show
from fabric.intent.services import Override as Wish
from fabric.plan.devices import Device
from fabric.plan.plan import Plan
from fabric.render import (
    DocumentPatch,
    Override,
    TextOverride,
    environment,
    extended,
    refuse_control,
    templates_root,
)
from fabric.vendors.base import target


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
            _check_patch(plan, at, patch, report)
        if not _matches_any(plan, wish):
            report.error(
                "FAB170",
                plan.source.place(("overrides", at)),
                f"overrides[{at}]: expected a switch that it applies to, got none",
                "look at its role, fabric and devices; devices are names or globs such as 'backend-leaf*'",
            )
        elif override is not None and not _changes_anything(plan, wish, override):
            _report_idle(plan, at, wish, override, report)
        if override is not None:
            rules.append((wish, override))
    report.raise_errors()
    return Overrides(tuple(rules))


def _changes_anything(plan: Plan, wish: Wish, override: Override) -> bool:
    """Whether one of the switches it applies to has the file that it changes."""
    systems = _systems(plan, wish)
    if isinstance(override, TextOverride):
        return extended(override.template_path).split("/")[0] in systems
    return any(override.file in target(nos).documents for nos in systems)


def _systems(plan: Plan, wish: Wish) -> set[str]:
    return {
        device.nos
        for name, fabric in plan.fabrics.items()
        for device in fabric.switches
        if device.nos and _applies(wish, name, device)
    }


def _report_idle(plan: Plan, at: int, wish: Wish, override: Override, report: Report) -> None:
    systems = sorted(_systems(plan, wish))
    documents = sorted({document for nos in systems for document in target(nos).documents})
    if isinstance(override, DocumentPatch):
        place, what = plan.source.place(("overrides", at, "file")), f"a document of {' or '.join(systems)}"
        hint = one_of(documents) if documents else f"{' and '.join(systems)} files are text: replace a template's block"
        got = override.file
    else:
        place, what = plan.source.place(("overrides", at, "template")), f"a template of {' or '.join(systems)}"
        hint = one_of([name for name in shipped_templates() if name.split("/")[0] in systems])
        got = extended(override.template_path)
    report.error("FAB170", place, f"overrides[{at}]: expected {what}, got {show(got)}", hint)


_BESIDE = "write its path from the folder of the intent, for instance `site/ntp.eos.j2`"


def _template(plan: Plan, at: int, name: str, base: Path, report: Report) -> TextOverride | None:
    place = plan.source.place(("overrides", at, "template"))
    path = (base / name).resolve()
    if not path.is_relative_to(base.resolve()):
        report.error("FAB170", place, f"override template '{name}': expected a file below the folder of the intent", _BESIDE)
        return None
    if not path.is_file():
        report.error("FAB170", place, f"override template '{name}': there is no such file", _BESIDE)
        return None
    errors = len(report.errors)
    _check_template(path, str(path.relative_to(base.resolve())), place, report)
    return TextOverride(path, at) if len(report.errors) == errors else None


def _check_template(path: Path, name: str, place: Place, report: Report) -> None:
    """That a site's template is one: text, in Jinja's grammar, on top of a shipped template and its blocks."""
    shown = f"override template '{name}'"
    try:
        tree = environment().parse(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        report.error("FAB170", place, f"{shown}: expected UTF-8 text: {_plain(error)}")
        return
    except TemplateSyntaxError as error:
        report.error("FAB170", place, f"{shown}, line {error.lineno}: not a Jinja template: {_plain(error)}")
        return
    base = next((node.template for node in tree.find_all(nodes.Extends)), None)
    known = shipped_templates()
    if not isinstance(base, nodes.Const) or base.value not in known:
        got = "no such line" if base is None else show(base.value) if isinstance(base, nodes.Const) else "an expression"
        report.error(
            "FAB170",
            place,
            f'{shown}: expected {{% extends "…" %}} of {one_of(known)}, got {got}',
            "it goes to the first line",
        )
        return
    blocks = _blocks(base.value)
    own = list(tree.find_all(nodes.Block))
    inner = {block.name for node in own for block in node.find_all(nodes.Block)}
    for block in own:
        if block.name not in blocks and block.name not in inner:
            report.error(
                "FAB170",
                place,
                f"{shown}, line {block.lineno}: expected a block of {base.value}, got '{block.name}'",
                nearest(block.name, blocks),
            )


def _blocks(template: str) -> set[str]:
    """Names of the blocks of a shipped template, and of those that it extends."""
    tree = environment().parse((templates_root() / template).read_text(encoding="utf-8"))
    names = {block.name for block in tree.find_all(nodes.Block)}
    for node in tree.find_all(nodes.Extends):
        if isinstance(node.template, nodes.Const):
            names |= _blocks(node.template.value)
    return names


def shipped_templates() -> list[str]:
    """What a site's template may extend."""
    root = templates_root()
    return sorted(str(path.relative_to(root)) for path in root.glob("*/*.j2"))


def _check_patch(plan: Plan, at: int, patch: Mapping[str, Any], report: Report) -> None:
    """Nothing of a patch may start a line of its own."""
    try:
        refuse_control(patch, "patch")
    except ValueError as error:
        report.error(
            "FAB170",
            plan.source.place(("overrides", at, "patch")),
            f"overrides[{at}].patch: expected texts without control characters, got a {_plain(error)}",
            "a list of texts takes several lines",
        )


def explain(error: Exception, plan: Plan, device: Device, applied: Sequence[Override]) -> InputError | None:
    """What went wrong when a switch was rendered, if a site's own template is to blame."""
    index = {str(item.template_path): item.index for item in applied if isinstance(item, TextOverride)}
    frames = [f for f in traceback.extract_tb(error.__traceback__) if str(Path(f.filename).resolve()) in index]
    if not frames:
        return None
    last = frames[-1]
    at = index[str(Path(last.filename).resolve())]
    message = (
        f"override template '{plan.intent.overrides[at].template}', line {last.lineno}: cannot be printed for "
        f"'{device.name}': {_plain(error)}"
    )
    place = plan.source.place(("overrides", at, "template"))
    return InputError([Diagnostic("FAB170", place, message, "the shipped template shows which names there are")])


def _plain(error: Exception) -> str:
    """An exception's text on one line."""
    return " ".join((str(error) or type(error).__name__).split())[:300]


def _matches_any(plan: Plan, wish: Wish) -> bool:
    return any(_applies(wish, name, device) for name, fabric in plan.fabrics.items() for device in fabric.switches)


def _applies(wish: Wish, fabric: str, device: Device) -> bool:
    if wish.fabric is not None and wish.fabric != fabric:
        return False
    if wish.role is not None and wish.role != device.role:
        return False
    return not wish.devices or any(fnmatchcase(device.name, glob) for glob in wish.devices)
