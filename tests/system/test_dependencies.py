"""`pip install -e .[test]` and `pytest tests`: no test fails in collection for a package of `dev`, which the others skip."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from importlib.metadata import packages_distributions, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests import ROOT

OURS = {path.name for path in ROOT.iterdir() if (path / "__init__.py").exists()}
TESTS = [path for name in ("test_*.py", "conftest.py") for path in sorted((ROOT / "tests").rglob(name))]


@cache
def closure(name: str, extras: tuple[str, ...]) -> frozenset[str]:
    """Distributions that an installation brings."""
    found = {name}
    for text in requires(name) or ():
        needed = Requirement(text)
        wanted = needed.marker is None or any(needed.marker.evaluate({"extra": extra}) for extra in ("", *extras))
        below = canonicalize_name(needed.name)
        if wanted and below not in found and below in INSTALLED:
            found |= closure(below, tuple(sorted(needed.extras)))
    return frozenset(found)


PROVIDERS = {module: {canonicalize_name(name) for name in names} for module, names in packages_distributions().items()}
INSTALLED = set().union(*PROVIDERS.values())


def at_import(path: Path) -> Iterator[str]:
    """Modules that a file imports when it is imported: not in functions, not for type checkers."""
    body: list[ast.stmt] = list(ast.parse(path.read_text(encoding="utf-8")).body)
    while body:
        node = body.pop(0)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and "importorskip" in ast.unparse(node.value.func):
            return  # what follows is run only if it is installed
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.If) and "TYPE_CHECKING" not in ast.unparse(node.test):
            body += [*node.body, *node.orelse]
        elif isinstance(node, ast.ClassDef | ast.With | ast.For):
            body += node.body


def of_ours(module: str) -> Path | None:
    path = ROOT.joinpath(*module.split("."))
    return next((one for one in (path.with_suffix(".py"), path / "__init__.py") if one.is_file()), None)


@cache
def imported() -> dict[str, Path]:
    """Module of others → a file that imports it, of the tests and of all that they import."""
    waiting, seen, found = [*TESTS], set(TESTS), dict[str, Path]()
    while waiting:
        path = waiting.pop()
        for module in at_import(path):
            if module.partition(".")[0] not in OURS:
                found.setdefault(module.partition(".")[0], path)
            elif (inner := of_ours(module)) is not None and inner not in seen:
                seen.add(inner)
                waiting.append(inner)
    return found


def test_tests_are_collected_without_the_packages_of_dev() -> None:
    given = closure("fabricwright", ("test",))
    lacking = {
        f"{path.relative_to(ROOT)}: {module}"
        for module, path in imported().items()
        if module not in sys.stdlib_module_names and not PROVIDERS.get(module, {module}) & given
    }
    assert lacking == set()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import mkdocs\n", ["mkdocs"]),
        ("def f():\n    import mkdocs\n", []),
        ("if TYPE_CHECKING:\n    import mkdocs\n", []),
        ("if True:\n    import mkdocs\n", ["mkdocs"]),
        ("import pytest\npytest.importorskip('mkdocs')\nimport mkdocs\n", ["pytest"]),
    ],
)
def test_imports_of_a_file(text: str, expected: list[str], tmp_path: Path) -> None:
    file = tmp_path / "x.py"
    file.write_text(text, encoding="utf-8")
    assert list(at_import(file)) == expected
