"""The plan is complete: nothing after the planner reads the intent, and records of a plan need no stage of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from pathlib import Path

import pytest

from fabric import pipeline
from fabric.base.diagnostics import Place
from fabric.design.planner.resolve import resolve_intent
from fabric.model.plan import FabricPlan, FabricSpec, Plan
from tests.examples import ROOT

PACKAGE = ROOT / "fabric"
# Who makes another intent of one and plans that, or names two intents: they get it from the pipeline.
OF_INTENTS = (
    "audit/diff/compare.py",
    "deliver/brownfield/importing.py",
    "deliver/brownfield/draft/judge.py",
    "deliver/explore/request.py",
    "deliver/explore/dimensions.py",
    "deliver/explore/report.py",
    "deliver/explore/measure.py",
    "design/assign_servers.py",
    "lab/lab.py",
    "design/downscale.py",
    "design/intent/rewrite.py",
)
# Who plans on purpose, or recomputes a number by the stages that made it.
OF_STAGES = (
    "deliver/brownfield/sections/attachments.py",
    "deliver/brownfield/draft/free_spots.py",
    "deliver/brownfield/draft/judge.py",
    "deliver/brownfield/draft/stated_fabric.py",
    "deliver/brownfield/draft/statement.py",
    "deliver/brownfield/draft/working.py",
    "design/explain/counts.py",
    "design/explain/explain.py",
    "design/intent/draft.py",
    "design/intent/rewrite.py",
    "design/assign_servers.py",
    "design/downscale.py",
)


def sources(*without: str) -> Iterator[tuple[str, ast.Module]]:
    return ((name, tree) for name, tree in parsed() if not name.startswith(without))


@cache
def parsed() -> tuple[tuple[str, ast.Module], ...]:
    """Every file of the package, parsed once."""
    paths = sorted(PACKAGE.rglob("*.py"))
    return tuple((path.relative_to(PACKAGE).as_posix(), ast.parse(path.read_text(encoding="utf-8"))) for path in paths)


def imports(tree: ast.Module) -> Iterator[str]:
    """Modules that a file imports, inside functions too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{name.name}" for name in node.names)


def importing(package: str, *without: str) -> set[str]:
    return {
        name for name, tree in sources(*without) if any(f"{module}.".startswith(f"{package}.") for module in imports(tree))
    }


def test_no_one_behind_the_planner_imports_the_intent() -> None:
    assert (
        importing("fabric.design.intent", "__init__", "design/intent/", "design/planner/", "cli/", "pipeline", "api/")
        - set(OF_INTENTS)
        == set()
    )


def test_no_one_but_who_plans_imports_a_stage() -> None:
    assert importing("fabric.design.planner", "design/planner/", "pipeline", "api/") - set(OF_STAGES) == set()


def test_records_of_a_plan_stand_below_the_language_and_the_stages() -> None:
    above = ("configs", "design", "pipeline", "api", "cli")
    for name, tree in sources():
        if name.startswith(("model/plan/", "model/settings/")):
            found = [module for module in imports(tree) if module.split(".")[:2] in [["fabric", one] for one in above]]
            assert not found, name


def test_no_one_behind_the_planner_reads_an_intent() -> None:
    found = [
        f"{name}:{node.lineno}: {ast.unparse(node)}"
        for name, tree in sources("design/intent/", "design/planner/", "cli/", "pipeline", "api/")
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr == "intent"
    ]
    names_of_files = {f"{record}.intent" for record in ("recorded", "asked", "state", "outcome")}  # of a lab, and of reports
    assert {text.rpartition(" ")[2] for text in found} <= names_of_files, found


@pytest.mark.parametrize("record", [Plan, FabricPlan, FabricSpec])
def test_records_carry_no_intent_and_no_source(record: type) -> None:
    assert not {"intent", "source"} & {item.name for item in fields(record)}


def test_a_plan_resolves_its_intent_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    monkeypatch.setattr(
        "fabric.design.planner.resolve.resolve_intent", lambda intent: calls.append(intent) or resolve_intent(intent)
    )
    pipeline.plan(pipeline.load(ROOT / "intent/starter.yaml"))
    assert len(calls) == 1


def test_a_plan_knows_where_each_key_stands(tmp_path: Path) -> None:
    file = tmp_path / "dc1.yaml"
    file.write_text(
        "version: 1\nsite: dc1\nfabrics:\n  a:\n    servers: {model: dgx-h100, count: 8}\n    topology: {switch: sn5600}\n"
        "    releases: {sonic: '4.4.0'}\nmanagement: {vrf: false}\n",
        encoding="utf-8",
    )
    made = pipeline.plan(pipeline.load(file))
    assert made.at("site") == Place(str(file), 2, 7)
    assert made.at("site", key=True) == Place(str(file), 2, 1)
    assert made.at("fabrics", "a", "servers", 0, "count") == Place(str(file), 5, 39)
    assert made.at("fabrics", "a", "underlay", "mtu") == Place(str(file), 5, 5)  # not stated: of the fabric
    assert made.stated("management", "vrf")
    assert not made.stated("floor")
    spec = made.fabrics["a"].spec
    assert spec.at("topology", "switch") == Place(str(file), 6, 24)
    assert spec.stated("topology")
    assert not spec.stated("underlay")
    assert spec.release("sonic") == "4.4.0"
    assert spec.release("eos") == ""
    assert not spec.management.vrf
    assert not spec.own_management
    assert made.settings.home.path == file
