"""Checks over what files say: against each other, and against the plan where there is one."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from fabric.checks.base import FilesCheck

MODULES = ("addressing", "bgp", "terms", "overlay", "ports", "roce", "policy", "services", "reading")


@cache
def checks() -> tuple[FilesCheck, ...]:
    """Every check of files, by id."""
    found = []
    for name in MODULES:
        module = import_module(f"{__name__}.{name}")
        found += [own() for own in vars(module).values() if isinstance(own, type) and issubclass(own, FilesCheck) and own.id]
    return tuple(sorted({check.id: check for check in found}.values(), key=lambda check: check.id))
