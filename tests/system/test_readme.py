"""The tours of README and docs, run as a reader would run them. UPDATE_GOLDEN=1 writes what came out into the page."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests import ROOT
from tests.goldens import same_as

README = ROOT / "README.md"
PAGES = (
    README,
    *(
        ROOT / "docs" / name
        for name in ("tenants.md", "qos.md", "estimate.md", "capacity.md", "ci.md", "configs.md", "explore.md")
    ),
)
BESIDE = (  # files that a page names
    "docs/leaf001-lldp.txt",
    "docs/prices-example.yaml",
    "docs/step-70b.yaml",
    "tests/reference/collectives/h100_ib_2n_allreduce_309.yaml",
)
FENCE = re.compile(r"```console\n(.*?)```", re.DOTALL)
TOUR = "## Sixty seconds"


def run(command: str, folder: Path) -> str:
    """stdout and stderr of a command line, as a terminal shows them."""
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "NO_COLOR": "1"}
    for name in ("COLUMNS", "BATFISH_HOST"):
        environment.pop(name, None)
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    return masked(done.stdout.decode())


def masked(output: str) -> str:
    """Output without the number of checks: a page need not be written again for every check."""
    return re.sub(r"\b[0-9]+ checks applied", "… checks applied", output)


def replay(block: str, folder: Path) -> str:
    """A block with every command run again."""
    commands = [line[2:] for line in block.splitlines() if line.startswith("$ ")]
    return "".join(f"$ {command}\n{run(command, folder)}" for command in commands)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_tour_prints_what_the_page_shows(page: Path, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "intent", tmp_path / "intent")
    for name in BESIDE:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    text = page.read_text(encoding="utf-8")
    head, mark, tour = text.partition(TOUR) if page == README else ("", "", text)
    assert bool(mark) == (page == README)
    assert "BENCH" not in text
    assert FENCE.search(tour)
    again = FENCE.sub(lambda match: f"```console\n{replay(match[1], tmp_path)}```", tour)
    same_as(page, head + mark + again)


def test_links_of_the_page_lead_somewhere() -> None:
    for page in (README, ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")):
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
