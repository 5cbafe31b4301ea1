"""Commands of README and docs, run as a reader would run them. UPDATE_GOLDEN=1 writes their output into the page."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests import ROOT, forked
from tests.goldens import same_as
from tests.lab.sites import lacking
from tools.docs.site import sections

README = ROOT / "README.md"
LAB_PAGE = ROOT / "docs" / "lab.md"
WORDS = 900  # a README is shorter
BEFORE_YAML = 120  # words: a reader sees an intent before that
PAGES = (
    README,
    *(
        ROOT / "docs" / name
        for name in (
            "tour.md",
            "tenants.md",
            "qos.md",
            "estimate.md",
            "capacity.md",
            "ci.md",
            "configs.md",
            "explore.md",
            "goodput.md",
            "verify.md",
            "utilisation.md",
        )
    ),
)
BESIDE = (  # files that a page names
    "docs/leaf001-lldp.txt",
    "docs/backend-leaf001-state.txt",
    "docs/prices-example.yaml",
    "docs/goodput-70b.yaml",
    "docs/jobs-example.yaml",
    "docs/step-70b.yaml",
    "tests/reference/collectives/h100_ib_2n_allreduce_309.yaml",
)
FENCE = re.compile(r"```console\n(.*?)```", re.DOTALL)
LAB = "intent/evpn-lab.yaml"
VARIES = r"\bin \d+\.\d s\b|at most \d+\.\d+ times"  # in what a lab prints: seconds, and the spread of flows


def run(command: str, folder: Path, start: bool = False) -> str:
    """stdout and stderr of a command line, as a terminal of 80 columns and more shows them.

    `start`: each `fabric` starts as a reader's does; otherwise the server of this process forks it.
    """
    places = [*([] if start else [str(forked.commands())]), str(Path(sys.executable).parent), os.environ["PATH"]]
    environment = {**os.environ, "PATH": ":".join(places), "NO_COLOR": "1"}
    for name in ("COLUMNS", "BATFISH_HOST", "NETBOX_TOKEN", "NETBOX_URL"):
        environment.pop(name, None)
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    return masked(done.stdout.decode())


def masked(output: str) -> str:
    """Output without the number of checks: a page need not be written again for every check."""
    return re.sub(r"\b[0-9]+ checks applied", "… checks applied", output)


def replay(block: str, folder: Path, start: bool = False) -> str:
    """A block with every command run again."""
    commands = [line[2:] for line in block.splitlines() if line.startswith("$ ")]
    return "".join(f"$ {command}\n{run(command, folder, start)}" for command in commands)


def copy_examples(folder: Path) -> None:
    shutil.copytree(ROOT / "intent", folder / "intent")
    for name in BESIDE:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)


def of_lab(block: str) -> bool:
    """Whether a block needs root and FRR: it has a test of its own."""
    return block.startswith("$ fabric lab ")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_page_shows_what_its_commands_print(page: Path, tmp_path: Path) -> None:
    copy_examples(tmp_path)
    text = page.read_text(encoding="utf-8")
    assert FENCE.search(text)

    def again(match: re.Match[str]) -> str:
        return match[0] if of_lab(match[1]) else f"```console\n{replay(match[1], tmp_path, page == README)}```"

    same_as(page, FENCE.sub(again, text))


@pytest.mark.skipif(bool(lacking()), reason=lacking())
def test_the_page_of_the_lab_shows_what_it_prints(tmp_path: Path) -> None:
    """The lab under a site name of its own, so that another lab of the same example can run at the same time."""
    copy_examples(tmp_path)
    intent = tmp_path / LAB
    intent.write_text(intent.read_text(encoding="utf-8").replace("site: evpn-lab", "site: readme-lab"), encoding="utf-8")
    text = LAB_PAGE.read_text(encoding="utf-8")
    (block,) = filter(of_lab, FENCE.findall(text))
    run(f"fabric lab down {LAB}", tmp_path, start=True)  # of a run of these tests that was killed
    try:
        printed = replay(block, tmp_path, start=True).replace("readme-lab:", "evpn-lab:")
    finally:
        run(f"fabric lab down {LAB}", tmp_path, start=True)
    if re.sub(VARIES, "…", printed) != re.sub(VARIES, "…", block):
        same_as(LAB_PAGE, text.replace(block, printed))


def test_the_readme_is_short() -> None:
    text = README.read_text(encoding="utf-8")
    assert len(text.split()) < WORDS
    assert len(text.partition("```yaml")[0].split()) < BEFORE_YAML


def test_the_readme_shows_a_file_of_the_examples() -> None:
    (block,) = re.findall(r"```yaml\n# (\S+\.yaml)[^\n]*\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    path, lines = block
    assert "".join(line for line in (ROOT / path).open(encoding="utf-8") if not line.startswith("#")) == lines


def test_every_page_is_in_the_index() -> None:
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    linked = [page for _, pages in sections(index) for page in pages]  # beside the ways in, which name some again
    pages = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert sorted(pages - {"README.md"} - set(linked)) == []
    assert sorted(linked) == sorted(set(linked))


def test_links_of_the_page_lead_somewhere() -> None:
    for page in (README, ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")):
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
