"""Commands at terminals of 80, 100 and 120 columns: no line is wider, no word is broken, and colour comes and goes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from fabric.solver.doctor.causes import Effect
from tests import ROOT, forked
from tests.solver.doctor.runs import output
from tests.terminal import WIDTHS, at_terminal, broken_words, too_wide

STARTER = ROOT / "intent" / "starter.yaml"
COMMANDS = {
    "plan": ("plan", "starter.yaml"),
    "against": ("plan", "larger.yaml", "--against", "starter.yaml"),
    "check": ("check", "starter.yaml", "--jobs", "1"),
    "check --all": ("check", "starter.yaml", "--jobs", "1", "--all"),
    "check --configs": ("check", "--configs", "generated/starter/configs", "--jobs", "1"),
    "generate --check": ("generate", "starter.yaml", "--check", "--jobs", "1"),
    "generate --diff": ("generate", "starter.yaml", "--diff", "--jobs", "1"),
    "wrong option": ("check", "starter.yaml", "--fail-on", "bad"),
    "wrong intent": ("plan", "wrong.yaml"),
    "push": ("push", "netbox", "starter.yaml"),
    "lab": ("lab", "status", "starter.yaml"),
    "estimate": ("estimate", "starter.yaml", "--fail", "backend-spine001"),
    "estimate --sweep": ("estimate", "starter.yaml", "--sweep", "1K:8M"),
    "step": ("step", "starter.yaml", "--job", ROOT / "docs" / "step-70b.yaml"),
    "capacity": ("capacity", "starter.yaml"),
    "diff": ("diff", "starter.yaml", "larger.yaml"),
    "drift": ("drift", "starter.yaml", "generated/starter/configs"),
    "import": ("import", ROOT / "generated" / "evpn-lab" / "configs", "-o", "again.yaml", "--force"),
    "drift --commands": ("drift", "starter.yaml", "generated/starter/configs", "--commands"),
    "verify": ("verify", ROOT / "intent" / "evpn-lab.yaml", ROOT / "docs" / "backend-leaf001-state.txt"),
    "explain": ("explain", "FAB301"),
    "explain device": ("explain", "starter.yaml", "backend-leaf001"),
    "bom": ("bom", "starter.yaml", "--servers", "--prices", ROOT / "docs" / "prices-example.yaml"),
    "cabling list": ("cabling", "list", "starter.yaml"),
    "headroom": ("headroom", "--switch", "sn5600", "--speed", "400", "--length", "30"),
    "catalog": ("catalog",),
    "catalog --power": ("catalog", "--power"),
    "catalog --power-check": ("catalog", "--power-check"),
    "vendors": ("catalog", "--os"),
    "step --vary": (
        *("step", "starter.yaml", "--job", ROOT / "docs" / "step-70b.yaml", "--vary", "parallel.tensor=4,8"),
        *("--vary", "parallel.pipeline=1,2", "--vary", "compute.recompute=none,full"),
    ),
    "step --vary, many keys": (
        *("step", "starter.yaml", "--job", ROOT / "docs" / "step-70b.yaml", "--vary", "parallel.tensor=4,8"),
        *("--vary", "overlap.tensor=0,chunk", "--vary", "compute.recompute=none,full", "--vary", "batch.micro_batch=1,2"),
        *("--vary", "software.cuda_graph=none,full_iteration", "--vary", "parallel.schedule=1f1b,zero_bubble"),
        *("--vary", "bytes.gradient=2,4"),
    ),
    "score --step": ("model", "score", "--step", ROOT / "docs" / "ladders" / "llama-405b-gb200.yaml"),
    "goodput": ("goodput", "starter.yaml", "--job", ROOT / "docs" / "goodput-70b.yaml"),
    "compare": ("compare", "starter.yaml", "larger.yaml", "--gpus", "64", "--job", ROOT / "docs" / "goodput-70b.yaml"),
    "utilisation": ("utilisation", "starter.yaml", "--jobs", ROOT / "docs" / "jobs-example.yaml"),
    "doctor": ("doctor", "starter.yaml", "doctor.log"),
    "score": ("model", "score", ROOT / "tests" / "reference" / "collectives" / "aws_p5_1n_allreduce.yaml"),
    "calibrate --probe": ("model", "calibrate", "--probe", "starter.yaml"),
    "explore": ("explore", "starter.yaml", "--vary", "oversubscription=1,2", "--by", "power,time", "--jobs", "1"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An intent whose generated files were edited by hand, one that has grown, and one with mistakes."""
    path = tmp_path_factory.mktemp("site")
    text = STARTER.read_text(encoding="utf-8")
    (path / "starter.yaml").write_text(text, encoding="utf-8")
    (path / "larger.yaml").write_text(text.replace("count: 8", "count: 40"), encoding="utf-8")
    (path / "wrong.yaml").write_text(text.replace("version: 1", "version: 1\nspines: 4\nleaves: 4"), encoding="utf-8")
    (path / "doctor.log").write_text(output(effect=Effect(net=0.5)), encoding="utf-8")
    shutil.copytree(ROOT / "generated" / "starter", path / "generated" / "starter")
    for config in (path / "generated" / "starter" / "configs").rglob("frr.conf"):
        lines = config.read_text(encoding="utf-8").replace("bfd", "no bfd").replace("65000", "65009")
        config.write_text(lines, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", COMMANDS)
def test_lines_fit_and_words_are_whole(name: str, folder: Path) -> None:
    done = forked.piped([*map(str, COMMANDS[name])], folder)
    piped = done.stdout + done.stderr
    assert "\x1b" not in piped
    for columns in WIDTHS:
        page = at_terminal(folder, columns, *COMMANDS[name])
        assert too_wide(page) == []
        assert page.code != 2 or name.startswith("wrong") or name == "push"  # no server
        memory = [word for word in page.text.split() if name == "lab" and word.replace(".", "").isdigit()]  # free at the time
        assert broken_words(page, piped, memory) == []


@pytest.mark.parametrize(
    ("words", "environment", "coloured"),
    [
        ((), {}, True),
        ((), {"NO_COLOR": "1"}, False),
        ((), {"TERM": "dumb"}, False),
        ((), {"TERM": "dumb", "FORCE_COLOR": "1"}, True),
        (("--color", "always"), {"NO_COLOR": "1"}, True),
        (("--color=never",), {"CLICOLOR_FORCE": "1"}, False),
    ],
)
def test_colour(words: tuple[str, ...], environment: dict[str, str], coloured: bool, folder: Path) -> None:
    page = at_terminal(folder, 80, "plan", "wrong.yaml", *words, **environment)
    assert ("\x1b[1;31merror" in page.raw) is coloured


def test_the_width_may_be_stated(folder: Path) -> None:
    page = at_terminal(folder, 200, "plan", "starter.yaml", COLUMNS="60")
    assert max(map(len, page.text.split("\n"))) <= 60


@pytest.mark.parametrize("form", ["json", "sarif", "junit", "github"])
def test_documents_have_no_colour_and_no_width(form: str, folder: Path) -> None:
    words = ("check", "starter.yaml", "--format", form, "--jobs", "1")
    done = forked.piped([*words], folder)
    raw = at_terminal(folder, 80, *words, "--color", "always").raw
    assert done.stdout in raw.replace("\r\n", "\n")  # a bar of progress may stand before it


def test_a_file_has_no_colour_and_no_width(folder: Path) -> None:
    at_terminal(folder, 80, "check", "starter.yaml", "--format", "text=wide.txt", "--color", "always", "--jobs", "1")
    text = (folder / "wide.txt").read_text(encoding="utf-8")
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) > 80
