"""Every command's text and every help page at a pseudo-terminal: lines fit, words are whole, summaries are not clipped."""

from __future__ import annotations

import shutil
from itertools import chain
from pathlib import Path

import pytest

from fabric.cli.lazy import COMMANDS, EXAMPLES, load
from tests import ROOT
from tests.terminal import WIDTHS, Page, at_terminal, broken_words, too_wide

STARTER, LARGE = ROOT / "intent" / "starter.yaml", ROOT / "intent" / "h100-4su.yaml"
TABLE = ROOT / "tests" / "reference" / "collectives" / "h100_ib_2n_allreduce_309.yaml"
STEP = ROOT / "docs" / "step-70b.yaml"
GROUPS = ("acceptance", "cabling", "change", "lab", "model", "push")
PAGES = [(), *((name,) for name in COMMANDS), *(tuple(name.split()) for name in EXAMPLES if " " in name)]

SMALL = [  # others are in tests/cli/test_width.py
    "diff starter.yaml other.yaml --no-configs",
    "explain starter.yaml",
    "explain starter.yaml backend.spines",
    "estimate starter.yaml --sweep 8:8G:64 --placement packed --placement spread --fail backend-spine001",
    "capacity starter.yaml --pairs 2",
    "cabling labels starter.yaml -o labels.pdf --sheet help",
    "export",
    "explore starter.yaml --vary oversubscription=1,2,4",
    "push netbox starter.yaml --url nowhere",
    "step starter.yaml --job nowhere.yaml",
]
WIDE = [  # slower: not part of `make quick`
    f"estimate {LARGE} --sweep 8:8G:64 --placement spread --placement random:7 --fail backend-spine001",
    f"step {LARGE} --job {STEP} --gpus 512",
    f"bom {LARGE}",
    f"cabling list {LARGE}",
    f"explore {LARGE} --vary switch=sn5600,qfx5240-64od,7060x6-64pe --vary kind=rail-optimized,rack",
    f"model score {TABLE}",
    f"model calibrate {TABLE} -o platform.yaml",
    f"plan {ROOT / 'intent' / 'ai-eos.yaml'}",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path: Path = tmp_path_factory.mktemp("pages")
    shutil.copy(STARTER, path)
    (path / "other.yaml").write_text(STARTER.read_text(encoding="utf-8").replace("count: 8", "count: 16"), encoding="utf-8")
    return path


def fits(folder: Path, command: str, widths: tuple[int, ...]) -> None:
    """The text of a command at terminals of these widths has the words that it has at a very wide one."""
    words = command.split()
    wide = at_terminal(folder, 1000, *words)
    assert wide.code in (0, 1, 2), wide.text
    assert "Traceback" not in wide.text
    for columns in widths:
        page = at_terminal(folder, columns, *words)
        assert page.code == wide.code
        assert too_wide(page) == []
        assert broken_words(page, wide.text) == []


@pytest.mark.parametrize("command", SMALL)
def test_text_fits_the_terminal(command: str, folder: Path) -> None:
    fits(folder, command, (80, 120))


@pytest.mark.parametrize("command", WIDE, ids=lambda command: " ".join(Path(word).name for word in command.split()))
def test_wide_text_fits_the_terminal(command: str, folder: Path) -> None:
    fits(folder, command, WIDTHS)


@pytest.mark.parametrize("name", PAGES, ids=" ".join)
def test_help_fits_the_terminal(name: tuple[str, ...], folder: Path) -> None:
    narrow, wide = (at_terminal(folder, columns, *name, "--help") for columns in (80, 120))
    assert (narrow.code, wide.code) == (0, 0)
    assert too_wide(narrow) == too_wide(wide) == []
    assert broken_words(narrow, wide.text) == []
    assert not [line for line in lines_of(narrow, wide) if line.endswith(("...", "…")) and not line.startswith("Usage")]
    assert "[default: ]" not in narrow.text
    assert narrow.text.count("Example:") == (0 if name in ((), *((group,) for group in GROUPS)) else 1)


def lines_of(*pages: Page) -> list[str]:
    return list(chain.from_iterable(page.text.split("\n") for page in pages))


def test_each_summary_is_one_line(folder: Path) -> None:
    """At 80 columns."""
    for name in ((), *((group,) for group in GROUPS)):
        text = at_terminal(folder, 80, *name, "--help").text
        commands = load(name[0]).commands if name else {command: load(command) for command in COMMANDS}
        for command, its in commands.items():
            summary = " ".join(its.help.partition("\n\n")[0].split())
            assert [line for line in text.split("\n") if line.split() == [command, *summary.split()]], (command, summary)


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_name_options_of_their_command(name: str) -> None:
    words = EXAMPLES[name].split()[1:]
    command, *sub = name.split()
    assert words[: 1 + len(sub)] == [command, *sub]
    params = (load(command).commands[sub[0]] if sub else load(command)).params
    known = {option for param in params for option in param.opts}
    assert {word for word in words if word.startswith("-")} <= known
