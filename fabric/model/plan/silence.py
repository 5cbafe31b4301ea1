"""Warnings that an intent suppresses, each with its reason."""

from __future__ import annotations

from collections.abc import Iterable

from fabric.base.diagnostics import Diagnostic
from fabric.model.plan.spec import SiteSpec


def unsilenced(site: SiteSpec, found: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """The warnings that the intent does not silence, in file order."""
    kept = [warning for warning in set(found) if warning.code not in site.settings.silence]
    for name, spec in site.fabrics.items():
        kept = [w for w in kept if w.code not in spec.silence or not _inside(w, name, site)]
    return tuple(sorted(kept, key=in_file))


def in_file(diagnostic: Diagnostic) -> tuple[int, int, str, str]:
    """Order of warnings: as their places follow one another."""
    return diagnostic.place.line, diagnostic.place.column, diagnostic.code, diagnostic.message


def _inside(diagnostic: Diagnostic, fabric: str, site: SiteSpec) -> bool:
    """Whether a place lies in a fabric's part of the file: behind its key and before the next fabric's."""
    at = site.settings.positions.at
    starts = sorted(at("fabrics", name, key=True).line for name in site.fabrics)
    own = at("fabrics", fabric, key=True).line
    behind = [line for line in starts if line > own]
    return own <= diagnostic.place.line < (behind[0] if behind else 2**31)
