"""All checks: a check is registered when its class is made, and is found here by its subject or by its kind.

The modules of a subject's home are imported when it is first asked for, so a new file there needs no list.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, TypeVar

from fabric.audit.checks.base import Check, S
from fabric.audit.checks.finding import Finding

C = TypeVar("C", bound=Check[Any])
HOMES = {  # subject → module or package of its checks
    "silence": "fabric.audit.checks.silence",
    "design": "fabric.audit.checks.design",
    "files": "fabric.audit.checks.files",
    "batfish": "fabric.audit.checks.batfish",
    "state": "fabric.audit.checks.state",
    "servers": "fabric.audit.checks.servers",
}


@cache
def of_subject(name: str) -> tuple[type[Check[Any]], ...]:
    """Every check of a subject, by id."""
    home = HOMES[name]
    module = import_module(home)
    for part in iter_modules(getattr(module, "__path__", ())):
        import_module(f"{home}.{part.name}")
    inside = (check for check in Check.registry.values() if f"{check.__module__}.".startswith(f"{home}."))
    return tuple(sorted(inside, key=lambda check: check.id))


def every() -> tuple[type[Check[Any]], ...]:
    """Every check of every subject."""
    return tuple(check for subject in HOMES for check in of_subject(subject))


def checks(kind: type[C]) -> tuple[C, ...]:
    """One of every check of a kind, by id."""
    return tuple(check() for check in of_subject(kind.subject) if issubclass(check, kind))


def ids(*subjects: str) -> set[str]:
    """The ids of subjects' checks."""
    return {check.id for subject in subjects for check in of_subject(subject)}


def run(kind: type[Check[S]], subject: S) -> list[Finding]:
    """What the checks of a kind find in what they judge, by id."""
    return [finding for check in checks(kind) for finding in check.run(subject)]
