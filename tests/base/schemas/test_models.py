"""Documents of results: keys, order and rounding as the model has them, and a schema that is neither wider nor narrower."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import pytest
from jsonschema import Draft202012Validator
from pydantic import ValidationError

from fabric.base.schemas.derived import schema_of
from fabric.base.schemas.models import (
    ABSENT,
    Amount,
    Count,
    Document,
    Text,
    Unlimited,
    described,
    document,
    each_of,
    enum_of,
    extended,
    json_key,
    old_name,
    rounded,
)


@dataclass(frozen=True, kw_only=True)
class Link:
    """One link.

    This is not in the schema.
    """

    speed: Annotated[Amount, described("in Gb/s")]
    repair_s: Unlimited = float("inf")


@dataclass(frozen=True)
class Result:
    name: str
    links: tuple[Link, ...]
    ends: tuple[str, int] = ("leaf", 3)
    reason: str = ""
    owner: Result | None = None
    price: Any = ABSENT


class EndDocument(Document):
    device: str = json_key(of=0)
    port: Count = json_key(of=1)


class ResultDocument(Document):
    """A result."""

    site: Text = json_key("its name", "name")
    name: Text = old_name("site", "name")
    kind: Annotated[str, enum_of(("leaf", "spine"))] = json_key(of=lambda result: result.ends[0])
    end: EndDocument = json_key(of="ends")
    links: list[Link]
    owner: str | None = json_key(of="owner.name")
    mean: Annotated[Amount, rounded(2)] = json_key(of=lambda result: sum(link.speed for link in result.links) / 3)
    by_end: Annotated[dict[str, Count], each_of(("a", "b"))] = json_key(of=lambda result: {"a": 1, "b": 2})
    reason: str = json_key(default="")
    price: Amount | None = json_key(default=ABSENT)


WHOLE = {
    "site": "dc1",
    "name": "dc1",
    "kind": "leaf",
    "end": {"device": "leaf", "port": 3},
    "links": [{"speed": 400, "repair_s": None}, {"speed": 0.5, "repair_s": 2.5}],
    "owner": None,
    "mean": 133.5,
    "by_end": {"a": 1, "b": 2},
}
RESULT = Result("dc1", (Link(speed=400), Link(speed=0.5, repair_s=2.5)))


def test_a_document_has_the_keys_of_its_model_in_their_order() -> None:
    found = document(RESULT, ResultDocument)
    assert (found, list(found)) == (WHOLE, list(WHOLE))
    assert isinstance(found["links"][0]["speed"], int)  # whole numbers stay whole


@pytest.mark.parametrize(
    ("result", "more"),
    [
        (Result("dc1", RESULT.links, reason="cut off"), {"reason": "cut off"}),
        (Result("dc1", RESULT.links, owner=RESULT), {"owner": "dc1"}),
        (Result("dc1", RESULT.links, price=None), {"price": None}),
        (Result("dc1", RESULT.links, price=2), {"price": 2}),
    ],
)
def test_optional_keys_are_left_out_at_their_default(result: Result, more: dict[str, Any]) -> None:
    assert document(result, ResultDocument) == WHOLE | more


@pytest.mark.parametrize(
    "wrong",
    [
        {"unknown": 1},
        {"site": ""},
        {"site": 1},
        {"kind": "core"},
        {"end": {"device": "leaf", "port": -1}},
        {"end": {"device": "leaf", "port": 3, "unknown": 1}},
        {"links": [{"speed": 400}]},
        {"links": [{"speed": "400", "repair_s": None}]},
        {"links": [{"speed": 400, "repair_s": 1, "unknown": 1}]},
        {"by_end": {"a": 1}},
        {"by_end": {"a": 1, "b": 2, "c": 3}},
        {"reason": None},
    ],
)
def test_the_schema_refuses_what_no_result_has(wrong: dict[str, Any]) -> None:
    judge = Draft202012Validator(schema_of(ResultDocument))
    assert judge.is_valid(WHOLE)
    assert not judge.is_valid(WHOLE | wrong)


def test_a_schema_has_descriptions_and_no_titles() -> None:
    assert schema_of(Link) == {
        "type": "object",
        "description": "One link.",
        "properties": {
            "speed": {"type": "number", "minimum": 0, "description": "in Gb/s"},
            "repair_s": {"type": ["number", "null"], "minimum": 0},
        },
        "required": ["speed", "repair_s"],
        "additionalProperties": False,
    }
    found = schema_of(ResultDocument)
    assert found["description"] == "A result."
    assert found["properties"]["name"] == {
        "type": "string",
        "minLength": 1,
        "description": "old name of site",
        "deprecated": True,
    }
    assert set(found["properties"]) - set(found["required"]) == {"name", "reason", "price"}


def test_a_dataclass_with_more_keys() -> None:
    kind = extended(Link, speed=(Text, json_key(of=lambda link: f"{link.speed}G")), lanes=(Count, json_key(of=lambda _: 8)))
    assert document(Link(speed=400), kind) == {"speed": "400G", "repair_s": None, "lanes": 8}


def test_a_document_that_does_not_fit_is_a_mistake_of_the_program() -> None:
    with pytest.raises(ValidationError):
        document({"device": "leaf", "port": 3, "unknown": 1}, EndDocument)
