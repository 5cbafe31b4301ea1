"""A small fabric from a few words, for tests of the solver."""

from __future__ import annotations

from typing import Any

import yaml

from fabric.base import source
from fabric.configs import targets
from fabric.design.intent.load import validate
from fabric.design.planner.resolve import resolve
from fabric.design.planner.site import plan_site
from fabric.model.plan import FabricPlan
from fabric.model.plan.lock_file import Lock


def planned(words: dict[str, Any], models: dict[str, Any], switch: str) -> FabricPlan:
    """The plan of a compute fabric: `servers` as (model, count) pairs, every other word one of its topology."""
    topology = {"switch": switch, **words}
    servers = [{"model": model, "count": count} for model, count in topology.pop("servers")]
    backend = {"purpose": "compute", "servers": servers, "topology": topology}
    data = {"version": 1, "site": "dc1", "catalog": {"servers": models}, "fabrics": {"backend": backend}}
    parsed = source.parse(yaml.safe_dump(data, sort_keys=False), "intent.yaml")
    site = validate(parsed)
    return plan_site(spec := resolve(site, parsed), Lock(), targets.choose(spec.fabrics)).fabrics["backend"]
