"""Every key of the intent language has an example on docs/intent.md, which can be planned, and a page that explains it."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from fabric import pipeline
from tests import ROOT
from tools.docs import intent_examples
from tools.docs.intent import page
from tools.docs.language import sections

KEYS = [(path, key) for path, keys in intent_examples.sections().items() for key in keys]
TEMPLATE = '{% extends "eos/device.j2" %}\n'


def test_every_key_has_an_example() -> None:
    assert [(path, key) for path, node in sections() for key in node["properties"]] == KEYS


@pytest.mark.parametrize("section", intent_examples.sections(), ids=lambda path: path or "site")
def test_examples_can_be_planned(section: str, tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "login.eos.j2").write_text(TEMPLATE, encoding="utf-8")
    path = tmp_path / "dc1.yaml"
    for key in intent_examples.sections()[section]:
        whole = intent_examples.intent(section, key)
        path.write_text(yaml.safe_dump(whole, sort_keys=False), encoding="utf-8")
        pipeline.plan(pipeline.load(path, tmp_path / "generated"))


@pytest.mark.parametrize(("section", "key"), KEYS, ids=".".join)
def test_the_example_is_in_its_intent(section: str, key: str) -> None:
    """The line of the page is what the intent has at that place."""
    example = yaml.safe_load(intent_examples.example(section, key))
    node = intent_examples.intent(section, key)
    for step in intent_examples.steps(section):
        node = node[step][0] if isinstance(node[step], list) else node[step]
    held = node[key]
    assert _inside(example[key], held)


def _inside(part: object, whole: object) -> bool:
    if isinstance(part, dict) and isinstance(whole, dict):
        return all(key in whole and _inside(value, whole[key]) for key, value in part.items())
    return part == whole


def test_every_section_has_a_page_that_explains_it() -> None:
    for section, keys in intent_examples.sections().items():
        for target in (intent_examples.section_page(section), *(intent_examples.key_page(section, key) for key in keys)):
            assert not target or (ROOT / "docs" / target.partition("#")[0]).exists(), (section, target)
    assert page().count("Explained in [") == len(intent_examples.sections())
