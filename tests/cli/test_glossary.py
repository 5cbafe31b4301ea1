"""docs/glossary.md names what is there: keys of the schemas, options of the commands; and nothing that it says not to use."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

import pytest

from fabric.api import schemas
from fabric.cli.lazy import COMMANDS, load
from tests import ROOT
from tests.cli.test_schemas import leaves, parts

PAGE = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
CODE = re.compile(r"`([^`]+)`")
TERMS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.partition("| term | JSON key |")[2].splitlines()[2:]
    if line.startswith("| ") and not line.startswith("| **")
]
VALUES = {"server-leaf", "leaf-spine", "…", "lay", "move", "pull", "create", "update", "delete"}  # of `kind` and `action`
FREE = {"switch", "port_mtu_bytes"}  # keys of `choice` and `terms`, which differ from row to row


@cache
def keys(old: bool) -> frozenset[str]:
    """All keys of all documents, those that go with the next release apart."""
    found: set[str] = set()
    for name in schemas.names():
        for part in parts(json.loads(schemas.text(name))):
            properties: dict[str, Any] = part.get("properties", {})
            found |= {key for key, value in properties.items() if value.get("deprecated", False) is old}
    return frozenset(found)


@cache
def options() -> frozenset[str]:
    commands = [command for name in COMMANDS for _, command in leaves((name,), load(name))]
    found = {name for command in commands for one in command.params for name in (*one.opts, *one.secondary_opts)}
    return frozenset(name for name in found if name.startswith("-"))


@pytest.mark.parametrize("row", TERMS, ids=lambda row: row[0])
def test_a_term_has_the_names_that_the_page_says(row: list[str]) -> None:
    _, key, option, _, wrong = row
    for name in CODE.findall(key):
        assert set(name.replace(".*.", ".").split(".")) <= keys(old=False) | VALUES | FREE
    for words in CODE.findall(option):
        assert {word.split("=")[0] for word in words.split() if word.startswith("-")} <= options()
    for name in CODE.findall(wrong):
        assert name not in options()


def test_the_table_is_read() -> None:
    assert len(TERMS) > 50
    assert {"cable_length_m", "why"}.isdisjoint(keys(old=False))


def test_every_key_that_goes_is_named_with_the_key_in_its_place() -> None:
    assert keys(old=True) == {"why", "act", "what", "from", "to", "switch", "name", "unknown_typical", "unknown_max"}
    for name in schemas.names():
        for part in parts(json.loads(schemas.text(name))):
            for key, value in part.get("properties", {}).items():
                if value.get("deprecated"):
                    instead = value["description"].removeprefix("old name of ")
                    assert instead in part["properties"], (name, key)


def test_every_document_is_listed() -> None:
    for name in schemas.names():
        assert re.search(rf"\| .*`{name}`", PAGE)
