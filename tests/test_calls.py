"""Long rows of arguments go by name: a type checker cannot see two of them swapped.

A record with six fields or more takes keywords only, and no call passes more than six arguments by position.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
from collections.abc import Collection, Iterable, Iterator
from importlib import import_module

import pytest

from tests import ROOT
from tests.test_imports import modules, nodes

MAX_BY_POSITION = 6  # arguments of a call
MIN_FIELDS = 6  # of a record that takes keywords only
NAMED_TUPLES = {
    "fabric.configs.hosts.facts:ServerLink": "one for every port of every server; a record takes 2.5 times as long to make",
}
OUTSIDE = {"pack", "builds"}  # functions of other libraries that take any number of values


def records() -> Iterator[type]:
    for name in modules():
        if not name.endswith("__main__"):
            for value in vars(import_module(name)).values():
                if inspect.isclass(value) and value.__module__ == name:
                    yield value


def test_large_records_take_keywords_only() -> None:
    by_position = {
        f"{record.__module__}:{record.__name__}"
        for record in records()
        if dataclasses.is_dataclass(record)
        and len(fields := [field for field in dataclasses.fields(record) if field.init]) >= MIN_FIELDS
        and not all(field.kw_only for field in fields)
    }
    assert by_position == set()


def test_large_named_tuples_have_a_reason() -> None:
    tuples = {
        f"{record.__module__}:{record.__name__}"
        for record in records()
        if issubclass(record, tuple) and len(getattr(record, "_fields", ())) >= MIN_FIELDS
    }
    assert tuples == NAMED_TUPLES.keys()


def long_calls(walked: Iterable[ast.AST], variadic: Collection[str]) -> Iterator[str]:
    """Calls with more arguments by position than may be, but for those of functions that take any number."""
    for node in walked:
        if isinstance(node, ast.Call) and len(node.args) > MAX_BY_POSITION:
            name = ast.unparse(node.func).rpartition(".")[2]
            if name not in variadic and not any(isinstance(argument, ast.Starred) for argument in node.args):
                yield f"{node.lineno}: {name}"


def test_no_call_has_many_arguments_by_position() -> None:
    paths = sorted(path for folder in ("fabric", "tools", "tests") for path in ROOT.glob(f"{folder}/**/*.py"))
    functions = [node for path in paths for node in nodes(path) if isinstance(node, ast.FunctionDef)]
    many = {node.name for node in functions if not node.args.vararg and len(node.args.args) > MAX_BY_POSITION + 1}
    variadic = OUTSIDE | {node.name for node in functions if node.args.vararg} - many
    assert [f"{path.relative_to(ROOT)}:{call}" for path in paths for call in long_calls(nodes(path), variadic)] == []


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("f(1, 2, 3, 4, 5, 6, 7)", ["1: f"]),
        ("a.b(1, 2, 3, 4, 5, 6, 7, k=8)", ["1: b"]),
        ("f(1, 2, 3, 4, 5, 6, k=7)", []),
        ("f(1, 2, 3, 4, 5, 6, *rest)", []),
        ("run(1, 2, 3, 4, 5, 6, 7)", []),
    ],
)
def test_what_counts_as_a_long_call(source: str, wanted: list[str]) -> None:
    assert list(long_calls(ast.walk(ast.parse(source)), {"run"})) == wanted
