"""Console and YAML blocks of all pages: commands are run, intents and parts of intents are loaded, files of others are valid.

`python -m tests.docs.blocks` prints how many there are, and those that nothing runs. UPDATE_GOLDEN=1 writes what commands
print into the page.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from fabric.base import source
from fabric.base.diagnostics import InputError
from fabric.deliver.bom import prices
from fabric.design.intent.load import validate
from fabric.model.plan import lock_file
from tests import ROOT
from tests.audit.checks.reports.test_ci import published
from tests.docs.blocks import Block, again, all_blocks, data, pages, run, runner, stated
from tests.goldens import same_as
from tests.system.test_readme import copy_examples
from tools.docs.intent_examples import merged
from tools.docs.language import sections

BLOCKS = all_blocks()
OWN = [block for block in BLOCKS if runner(block) == "tests/docs/test_blocks.py"]
CONSOLE = sorted({block.page for block in OWN if block.kind == "console"})
YAML = [block for block in OWN if block.kind == "yaml"]
WHOLE = {"version": 1, "site": "dc1", "fabrics": {"backend": {"servers": {"model": "dgx-h100", "count": 64}}}}
WHOLE["fabrics"]["backend"]["topology"] = {"switch": "sn5600"}  # type: ignore[index]


@pytest.mark.parametrize("page", CONSOLE)
def test_the_page_shows_what_its_commands_print(page: str, tmp_path: Path) -> None:
    copy_examples(tmp_path)
    for command in data()["prepared"].get(page, ()):
        run(command, tmp_path)
    left = frozenset(block.first for block in BLOCKS if block.page == page and not runner(block))
    path = ROOT / page
    same_as(path, again(path.read_text(encoding="utf-8"), tmp_path, left))


@pytest.mark.parametrize("block", YAML, ids=str)
def test_the_block_is_read(block: Block, tmp_path: Path) -> None:
    if reader := stated("documents", block):
        READERS[reader](block.text, tmp_path)
    else:
        load_part(block)


def load_part(block: Block) -> None:
    """Loads a part of an intent in a whole one, at the first place of the language that its keys belong to."""
    part = yaml.safe_load(block.text)
    refused = []
    for whole in wholes(part):
        try:
            validate(source.parse(yaml.safe_dump(whole, sort_keys=False), block.page))
        except InputError as error:
            refused.append(str(error))
        else:
            return
    pytest.fail("\n\n".join(refused) or f"{block}: no place of an intent has these keys", pytrace=False)


def wholes(part: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Whole intents with a part of one at each place that has its keys."""
    if {"version", "site", "fabrics"} <= part.keys():
        yield part
        return
    for path, node in sections():
        if part.keys() <= node["properties"].keys() and path in ("", "fabrics.NAME", "fabrics.NAME.topology"):
            for step in reversed([step.replace("NAME", "backend") for step in path.split(".") if step]):
                part = {step: part}
            yield merged(WHOLE, part)
            return
    yield merged(WHOLE, {"fabrics": part})


def workflow(name: str, text: str) -> None:
    """Holds a file against the schema that its CI system publishes."""
    from jsonschema.validators import validator_for

    document = {
        "on" if key is True else key: value for key, value in yaml.safe_load(text).items()
    }  # `on` is true in YAML 1.1
    rules = published(name)
    assert [error.message for error in validator_for(rules)(rules).iter_errors(document)] == []


def hooks(text: str) -> None:
    """The hooks are among those of this repository."""
    known = {hook["id"] for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))}
    (repository,) = yaml.safe_load(text)["repos"]
    assert {hook["id"] for hook in repository["hooks"]} <= known


def written(folder: Path, text: str) -> Path:
    path = folder / "block.yaml"
    path.write_text(text, encoding="utf-8")
    return path


READERS = {
    "github-workflows": lambda text, folder: workflow("github-workflows", text),
    "gitlab-ci": lambda text, folder: workflow("gitlab-ci", text),
    "pre-commit": lambda text, folder: hooks(text),
    "prices": lambda text, folder: prices.read_yaml(f"currency: EUR\n{text}", "block.yaml"),
    "lock": lambda text, folder: lock_file.read(written(folder, text), Path("lock.yaml")),
}


def test_few_blocks_are_not_run() -> None:
    left = [block for block in BLOCKS if not runner(block)]
    replayed = len(BLOCKS) - len(left)
    assert replayed > 250
    assert len(left) < replayed / 10


def test_the_data_names_blocks_that_are_there() -> None:
    for part in ("documents", "not_replayed"):
        for page, rows in data()[part].items():
            texts = [block.text for block in BLOCKS if block.page == page]
            assert [begin for begin in rows if not any(text.startswith(begin) for text in texts)] == [], page
    for page, test in data()["elsewhere"].items():
        assert (ROOT / page) in pages()
        assert Path(page).name in (ROOT / test).read_text(encoding="utf-8") or page == "docs/codes.md"
