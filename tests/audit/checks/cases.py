"""The tables of cases: whatever a module of tests has as `CASES`, one row per change and the exact findings that it makes."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules
from typing import Any


def tables(package: str) -> Iterator[dict[tuple[str, str], Any]]:
    """`CASES` of every module of tests in a package, `(id of a check, what was changed)` → case; those of a type of its own
    (`CASES_OF_…`) are their module's matter."""
    for part in iter_modules(import_module(package).__path__):
        if part.name.startswith("test_") and part.name != "test_every":
            module = import_module(f"{package}.{part.name}")
            if hasattr(module, "CASES"):
                yield module.CASES


def cases(package: str) -> dict[tuple[str, str], Any]:
    """All of them; no key stands twice."""
    found = [row for table in tables(package) for row in table.items()]
    assert len({key for key, _ in found}) == len(found)
    return dict(found)
