"""The JSON Schema says what the loader says: the examples pass, unknown keys do not, and every field is described."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from jsonschema import Draft202012Validator
from pydantic import BaseModel

from fabric.base import source
from fabric.base.diagnostics import InputError
from fabric.cli import main
from fabric.design.intent.load import schema, text, validate
from fabric.design.intent.site import Site
from tests import ROOT

EXAMPLES = sorted((ROOT / "intent").glob("*.yaml"))
WRONG = ROOT / "tests" / "golden" / "intents"
VALIDATOR = Draft202012Validator(schema())


def test_it_is_a_schema() -> None:
    Draft202012Validator.check_schema(schema())


def test_the_committed_file_is_up_to_date(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["schema"])
    assert capsys.readouterr().out == text()
    assert (ROOT / "intent" / "fabric.schema.json").read_text(encoding="utf-8") == text(), (
        "run `fabric schema > intent/fabric.schema.json`"
    )


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_pass(path: Path) -> None:
    assert [error.message for error in VALIDATOR.iter_errors(source.read(path).data)] == []
    assert "fabric.schema.json" in path.read_text(encoding="utf-8").split("\n")[0]


@pytest.mark.parametrize(("key", "value"), [("nos", "eos"), ("ports", {"count": 64, "speed_gbps": 800})])
def test_one_entry_is_no_list_in_the_catalog(key: str, value: object) -> None:
    """Neither to the loader nor to the schema, which an editor reads."""
    data = source.read(ROOT / "intent" / "starter.yaml").data
    switch = {"ports": [{"count": 64, "speed_gbps": 800}], key: value}
    wrong = {**data, "catalog": {"switches": {"own": switch}}}
    with pytest.raises(InputError, match=f"catalog.switches.own.{key}: expected a list"):
        validate(source.parse(json.dumps(wrong), "intent.yaml"))
    assert [error.json_path for error in VALIDATOR.iter_errors(wrong)] == [f"$.catalog.switches.own.{key}"]
    assert not list(VALIDATOR.iter_errors({**data, "catalog": {"switches": {"own": {**switch, key: [value]}}}}))


def models(model: type[BaseModel], seen: set[type[BaseModel]]) -> Iterator[type[BaseModel]]:
    """Every model of the language."""
    if model in seen:
        return
    seen.add(model)
    yield model
    for field in model.model_fields.values():
        for inner in _inside(field.annotation):
            yield from models(inner, seen)


def _inside(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _inside(argument)


MODELS = list(models(Site, set()))
INTENT = [model for model in MODELS if model.__module__.startswith("fabric.design.intent")]


def test_the_whole_language_is_looked_at() -> None:
    assert {"Site", "Fabric", "Topology", "Leaf", "Pin", "Override", "Tenant", "SwitchModel", "NicSet"} <= {
        model.__name__ for model in MODELS
    }


@pytest.mark.parametrize("model", INTENT, ids=lambda model: model.__name__)
def test_every_field_is_described(model: type[BaseModel]) -> None:
    assert model.__doc__
    assert [name for name, field in model.model_fields.items() if not field.description] == []


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_unknown_keys_are_refused_everywhere(model: type[BaseModel]) -> None:
    assert model.model_config.get("extra") == "forbid"
    assert model.model_config.get("frozen")
    definition = schema() if model is Site else schema()["$defs"][model.__name__]
    assert definition["additionalProperties"] is False


@pytest.mark.parametrize("name", sorted(path.stem for path in WRONG.glob("*.yaml") if path.stem.startswith("key-")))
def test_wrong_keys_fail_the_schema_too(name: str) -> None:
    assert list(VALIDATOR.iter_errors(source.read(WRONG / f"{name}.yaml").data))


@pytest.mark.parametrize(
    "change",
    [
        {"topology": {"switch": "sn5600", "pods": "auto", "tiers": "auto"}},
        {"topology": {"switch": "sn5600", "pods": {"units": 4}, "tiers": 3}},
        {"nos": "sonic"},
        {"nos": {"leaf": "sonic", "spine": "eos"}},
        {"servers": [{"model": "dgx-h100", "count": 8}]},
        {"pools": {"p2p": "10.0.0.0/16"}},
        {"pools": {"p2p": ["10.0.0.0/16", "10.1.0.0/16"]}},
        {"pins": {"backend-leaf001": {"ports": {"backend-spine001": 1}}}},
        {"underlay": {"asn": {"ranges": "64512-65534"}}},
    ],
    ids=json.dumps,
)
def test_short_forms_pass(change: dict[str, Any]) -> None:
    fabric = {"servers": {"model": "dgx-h100", "count": 8}, "topology": {"switch": "sn5600"}}
    data = {"version": 1, "site": "dc1", "fabrics": {"backend": fabric | change}}
    assert [error.message for error in VALIDATOR.iter_errors(data)] == []
    Site.model_validate_json(json.dumps(data))
