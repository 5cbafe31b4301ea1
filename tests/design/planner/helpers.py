"""What the planner's tests share: an intent as text or data becomes a summary or a plan."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any

import yaml

from fabric.base import source
from fabric.configs import targets
from fabric.design.intent.load import validate
from fabric.design.planner.resolve import resolve
from fabric.design.planner.site import plan_site, size_site
from fabric.model.plan import Plan, lock_file as locks
from fabric.model.plan.lock_file import Lock
from fabric.model.plan.summary import summary
from tests import ROOT

DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
DESIGNS = ROOT / "tests" / "reference" / "designs"


@dataclass(frozen=True)
class Row:
    """One row of a published design: the intent that asks for it, and the counts it must give."""

    name: str
    intent: str
    expect: dict[str, Any]
    plan: dict[str, Any]  # what only the wired plan knows


def designs() -> list[Row]:
    """Every row of every file of published designs."""
    rows = []
    for path in sorted(DESIGNS.glob("*.yaml")):
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
        assert data["source"], path.name
        for row in data["rows"]:
            intent = Template(data["intent"]).substitute(row.get("given", {}))
            rows.append(Row(f"{path.stem}/{row['name']}", intent, row["expect"], row.get("plan", {})))
    return rows


def summarize(text: str, lock: Lock | None = None) -> dict[str, dict[str, Any]]:
    """The counts of every fabric of an intent."""
    parsed = source.parse(text, "intent.yaml")
    sized = size_site(resolve(validate(parsed), parsed), lock or Lock())
    return {name: summary(spec, sizing) for name, (spec, sizing) in sized.items()}


def make(intent: str | dict[str, Any], lock: Lock | None = None) -> Plan:
    """The plan of an intent, given as text or as data."""
    text = intent if isinstance(intent, str) else yaml.dump(intent, Dumper=DUMPER, sort_keys=False)
    parsed = source.parse(text, "intent.yaml")
    site = validate(parsed)
    return plan_site(spec := resolve(site, parsed), lock or Lock(), targets.choose(spec.fabrics))


def reread(lock: Lock, folder: Path) -> Lock:
    """A lock as the next run reads it."""
    path = folder / locks.FILE
    path.write_text(locks.text(lock), encoding="utf-8")
    return locks.read(path)


def subset(expected: Any, got: Any, at: str = "") -> list[str]:
    """Where `got` differs from what is expected of it; keys that are not expected may be anything."""
    if not isinstance(expected, dict):
        return [] if expected == got else [f"{at}: expected {expected}, got {got}"]
    return [line for key, value in expected.items() for line in subset(value, got[key], f"{at}.{key}".lstrip("."))]
