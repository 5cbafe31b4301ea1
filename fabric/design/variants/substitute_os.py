"""The same design on another network OS."""

from __future__ import annotations

from collections.abc import Mapping

from jinja2 import TemplateError

from fabric.base.diagnostics import Diagnostic, InputError, Place, nearest, one_of, show
from fabric.base.source import Path_
from fabric.configs import targets
from fabric.configs.templating.site import extended
from fabric.design.intent.intent import Intent
from fabric.design.intent.rewrite import Changed, Rewrite
from fabric.design.planner.resolve import resolve
from fabric.model.settings.services import Override
from fabric.nos.target import target, target_names


def as_network_os(intent: Intent, nos: str) -> Changed:
    """The same design with one network OS on every switch; overrides and releases of others are left out.

    What that network OS cannot do is refused by the planner, as for any intent. Raises InputError for an unknown name.
    """
    if nos not in target_names():
        message = f"expected a network OS, {one_of(target_names())}, got {show(nos)}"
        raise InputError([Diagnostic("FAB107", Place("--as"), message, nearest(nos, target_names()))])
    text, notes = Rewrite(intent.source), []
    for name, spec in resolve(intent.site, intent.source).fabrics.items():
        fabric = intent.site.fabrics[name]
        if not spec.ethernet:
            notes.append(f"{name}: InfiniBand, not configured by a network OS")
            continue
        before = dict.fromkeys(tier.nos or "the default of each model" for tier in (spec.leaf, spec.spine, spec.core))
        if list(before) != [nos]:
            notes.append(f"{name}: {nos} in place of {' and '.join(before)}")
        text.put(("fabrics", name, "nos"), nos)
        for role in targets.ROLES:
            text.drop(("fabrics", name, "topology", role, "nos"))
        notes += _without_releases(text, ("fabrics", name), fabric.releases, nos)
    notes += _without_releases(text, (), intent.site.releases, nos)
    for number, override in reversed(list(enumerate(intent.site.overrides))):
        if _of_another(intent, override, nos):
            text.drop(("overrides", number))
            notes.append(f"override skipped: {override.template or override.file} is for another network OS")
    rendered = text.made(intent, intent.folder)
    return Changed(intent if rendered.site == intent.site else rendered, tuple(notes))


def _without_releases(text: Rewrite, path: Path_, releases: Mapping[str, str], nos: str) -> list[str]:
    others = [name for name in releases if name != nos]
    for name in others:
        text.drop((*path, "releases", name))
    where = f"{path[-1]}: " if path else ""
    return [f"{where}release of {name} omitted" for name in others]


def _of_another(intent: Intent, override: Override, nos: str) -> bool:
    """Whether an override changes files that this network OS has not. What cannot be read is left to the renderer."""
    if override.template is None:
        return override.file not in target(nos).documents
    try:
        return extended(intent.path.absolute().parent / override.template).split("/")[0] != nos
    except (OSError, ValueError, TemplateError):
        return False
