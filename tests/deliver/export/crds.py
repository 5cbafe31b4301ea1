"""The CRDs of the Network Operator's release, where a folder has them: schema, strict decoding, and CEL rules.

FABRIC_CRDS names a folder with the CRDs as YAML: of Mellanox/nic-configuration-operator and Mellanox/spectrum-x-operator
(branch network-operator-26.7.x, `config/crd/bases`) and of Mellanox/nvidia-k8s-ipam (v26.7, `deploy/crds`).
"""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

FOLDER = os.environ.get("FABRIC_CRDS", "")
needs_crds = pytest.mark.skipif(not FOLDER, reason="FABRIC_CRDS names no folder with the CRDs of Network Operator 26.7")


@cache
def schemas() -> dict[tuple[str, str], dict[str, Any]]:
    """(apiVersion, kind) → its schema, strict."""
    found = {}
    for path in sorted(Path(FOLDER).glob("*.y*ml")):
        for crd in yaml.safe_load_all(path.read_text(encoding="utf-8")):
            if not crd or crd.get("kind") != "CustomResourceDefinition":
                continue
            for version in crd["spec"]["versions"]:
                key = f"{crd['spec']['group']}/{version['name']}", crd["spec"]["names"]["kind"]
                found[key] = _strict(copy.deepcopy(version["schema"]["openAPIV3Schema"]))
    return found


def _strict(schema: dict[str, Any], *, top: bool = True) -> dict[str, Any]:
    """What the API server adds: no unknown fields, and numbers or texts where a field may be either."""
    if schema.get("x-kubernetes-int-or-string"):
        schema.pop("type", None)
        schema["anyOf"] = [{"type": "integer"}, {"type": "string"}]
    for child in schema.get("properties", {}).values():
        _strict(child, top=False)
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            _strict(schema[key], top=False)
    if "properties" in schema:
        schema.setdefault("additionalProperties", False)
    if top:
        schema["properties"]["metadata"] = {"type": "object"}
    return schema


def refused(thing: dict[str, Any]) -> list[str]:
    """What the API server of a cluster with these CRDs refuses in an object."""
    from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

    schema = schemas().get((str(thing.get("apiVersion")), str(thing.get("kind"))))
    if schema is None:
        return ["no CRD of this kind"]
    found = [error.message for error in Draft202012Validator(schema).iter_errors(thing)]
    if not found:
        thing = copy.deepcopy(thing)
        _fill(schema, thing)
        found += _rules(schema, thing)
    return found


def _fill(schema: dict[str, Any], value: Any) -> None:
    """Defaults, which the API server fills in before it asks the rules."""
    if isinstance(value, dict):
        for key, child in schema.get("properties", {}).items():
            if key not in value and "default" in child:
                value[key] = copy.deepcopy(child["default"])
            if key in value:
                _fill(child, value[key])
    elif isinstance(value, list):
        for item in value:
            _fill(schema.get("items", {}), item)


def _rules(schema: dict[str, Any], value: Any) -> Iterator[str]:
    for rule in schema.get("x-kubernetes-validations", ()):
        if not _holds(rule["rule"], value):
            yield rule.get("message", rule["rule"])
    if isinstance(value, dict):
        for key, child in schema.get("properties", {}).items():
            if key in value:
                yield from _rules(child, value[key])
    elif isinstance(value, list):
        for item in value:
            yield from _rules(schema.get("items", {}), item)


@cache
def _program(rule: str) -> Any:
    import celpy

    environment = celpy.Environment()
    return environment.program(environment.compile(rule))


def _holds(rule: str, value: Any) -> bool:
    from celpy.adapter import json_to_cel

    return bool(_program(rule).evaluate({"self": json_to_cel(value)}))
