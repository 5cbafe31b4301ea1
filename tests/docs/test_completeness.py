"""What a registry has, a page has: exports, `--format` names, sections of the report, keys of JOB.

Commands, options, codes, keys of an intent and checks have theirs from a generator (tests/system/test_docs_generated.py).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module

import pytest

from fabric import pipeline
from fabric.deliver.export.formats import FORMATS as EXPORTS
from fabric.deliver.report.page import SECTIONS
from tests import ROOT

PAGES = {  # file of the command line → command, page of its subject
    "acceptance": ("acceptance judge", "acceptance"),
    "bom": ("bom", "bom"),
    "cabling": ("cabling list", "cabling"),
    "cabling_verify": ("cabling verify", "cabling-verify"),
    "check": ("check", "ci"),
    "change": ("change plan", "change"),
    "diff": ("diff", "diff"),
    "drift": ("drift", "drift"),
    "explore": ("explore", "explore"),
    "import_": ("import", "import"),
    "lab": ("lab test", "lab"),
    "verify": ("verify", "verify"),
}


@cache
def page(name: str) -> str:
    return (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")


def says(text: str, pattern: str) -> bool:
    return re.search(pattern, text, re.MULTILINE) is not None


@cache
def sources_of_export_tests() -> str:
    folders = ("deliver", "configs", "cli", "system")
    return "\n".join(path.read_text(encoding="utf-8") for name in folders for path in (ROOT / "tests" / name).rglob("*.py"))


@pytest.mark.parametrize("name", EXPORTS)
def test_an_export_has_a_row_on_its_page(name: str) -> None:
    has_row = says(page("exports"), rf"^\|.*`{name}`.*\|$")
    assert has_row


@pytest.mark.parametrize("name", EXPORTS)
def test_an_export_has_a_test(name: str) -> None:
    function = EXPORTS[name].made_by.rpartition(":")[2]
    is_tested = says(sources_of_export_tests(), rf'"{name}"|\b{function}\(')
    assert is_tested


def formats() -> Iterator[tuple[str, str]]:
    """(command, name) of everything that `--format` takes."""
    for path in sorted((ROOT / "fabric" / "cli").glob("*.py")):
        if path.stem != "output" and re.search(r'"--format"|formats_option\(', path.read_text(encoding="utf-8")):
            yield from ((path.stem, name) for name in import_module(f"fabric.cli.{path.stem}").FORMATS)


@pytest.mark.parametrize(("command", "name"), list(formats()))
def test_a_format_is_in_the_help_and_on_the_page(command: str, name: str) -> None:
    called, subject = PAGES[command]
    below = page("cli").partition(f"# `fabric {called}`\n")[2]
    (words,) = re.findall(r"^\| `--format NAME.*$", below.partition("\n## ")[0].partition("\n### ")[0], re.MULTILINE)
    assert name in re.findall(r"\w+", words)
    is_shown = name == "text" or says(page(subject), rf"`{name}`|--format {name}\b|\b{name}=|\.{name}\b")
    assert is_shown


@pytest.mark.parametrize("name", [name for _, name in SECTIONS])
def test_a_section_of_the_report_is_on_its_page(name: str) -> None:
    has_row = says(page("report"), rf"^\| {name}\b")
    assert has_row


def keys() -> list[str]:
    """Keys of JOB: `model.layers`."""
    schema = json.loads(pipeline.schema("job"))
    return [f"{name}.{key}" for name, section in schema["properties"].items() for key in section.get("properties", ())]


@pytest.mark.parametrize("key", keys())
def test_a_key_of_a_job_is_on_its_page(key: str) -> None:
    """In a table of keys, by itself or after the section; or in the file that the page shows."""
    section, _, name = key.partition(".")
    text = page("training") + page("goodput")
    is_explained = says(text, rf"`(?:{section}\.)?{name}`|^ *{section}:.*\b{name}:|^ +{name}:")
    assert is_explained
