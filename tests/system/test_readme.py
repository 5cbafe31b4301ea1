"""The README's tour, run as a reader would run it. UPDATE_GOLDEN=1 writes what came out into the page."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
FENCE = re.compile(r"```console\n(.*?)```", re.DOTALL)
TOUR = "## Sixty seconds"


def run(command: str, folder: Path) -> str:
    """stdout and stderr of a command line, as a terminal shows them."""
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "NO_COLOR": "1"}
    environment.pop("COLUMNS", None)
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    return done.stdout.decode()


def replay(block: str, folder: Path) -> str:
    """A block with every command run again."""
    commands = [line[2:] for line in block.splitlines() if line.startswith("$ ")]
    return "".join(f"$ {command}\n{run(command, folder)}" for command in commands)


def test_the_tour_prints_what_the_page_shows(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "intent", tmp_path / "intent")
    text = README.read_text(encoding="utf-8")
    head, mark, tour = text.partition(TOUR)
    assert mark
    assert "BENCH" not in text
    again = FENCE.sub(lambda match: f"```console\n{replay(match[1], tmp_path)}```", tour)
    if os.environ.get("UPDATE_GOLDEN"):
        README.write_text(head + mark + again, encoding="utf-8")
    assert head + mark + again == README.read_text(encoding="utf-8")


def test_links_of_the_page_lead_somewhere() -> None:
    for page in (README, ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")):
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
