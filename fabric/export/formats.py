"""Formats that a plan is exported in: one file a format, registered here by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from fabric.export.svg import svg
from fabric.plan.plan import Plan

Format = Callable[[Plan], str]

FORMATS: Mapping[str, Format] = {
    "svg": svg,
}
