"""No control character of an input reaches the terminal or a report, whatever prints it."""

from __future__ import annotations

import io
import json
import shutil
import unicodedata
from pathlib import Path

import pytest

from fabric.base.text import guarded, on, style, visible
from fabric.base.text.screen import Screen
from fabric.cli import terminal
from tests import ROOT, forked
from tests.terminal import at_terminal

EVIL = "\x1b[2Jx\x1b]0;t\x07\x9b31m\u202edcba\u2066\u200b\x7f\U000e0041"
SPELLED = r"\x1b[2Jx"
HIDDEN = {"Cc", "Cf", "Zl", "Zp"}


def hidden(text: str) -> list[str]:
    return [repr(sign) for sign in text if unicodedata.category(sign) in HIDDEN and sign not in "\n\t"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site with its files, and inputs of other people that carry control characters."""
    home = tmp_path_factory.mktemp("site")
    (home / "intent").mkdir()
    shutil.copy(ROOT / "intent/starter.yaml", home / "intent")
    shutil.copytree(ROOT / "generated/starter", home / "generated/starter")
    running = home / "running"
    shutil.copytree(ROOT / "generated/starter/configs", running)
    database = running / "backend-leaf001/config_db.json"
    rows = json.loads(database.read_text(encoding="utf-8"))
    rows["PORT"]["Ethernet0"]["description"] = EVIL
    database.write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")
    (running / f"who{EVIL}.json").write_text(json.dumps({"PORT": {}, "VLAN": {EVIL: {}}}), encoding="utf-8")
    with (running / "backend-leaf001/frr.conf").open("a", encoding="utf-8") as file:
        file.write(f"ip prefix-list {EVIL} seq 5 permit any\n")
    (home / "state").mkdir()
    (home / "state" / f"{EVIL}.txt").write_text(f"{EVIL}#show bgp summary\n{EVIL}\n", encoding="utf-8")
    (home / "run.log").write_text(
        f"h{EVIL}:1:2 [0] NCCL WARN {EVIL}\nh{EVIL}:1:2 [0] NCCL INFO NCCL_ALGO set by environment to {EVIL}\n"
        "#  size  count type redop root time algbw busbw #wrong time algbw busbw #wrong\n"
        "  1073741824  268435456  float  sum  -1  6000  178 350 0  6000  178 350 0\n",
        encoding="utf-8",
    )
    (home / "lldp").mkdir()
    neighbor = {
        "lldp": {"interface": {"Ethernet0": {"chassis": {EVIL: {}}, "port": {"id": {"type": "ifname", "value": EVIL}}}}}
    }
    (home / "lldp/backend-leaf001.json").write_text(json.dumps(neighbor), encoding="utf-8")
    (home / "jobs.yaml").write_text(f"jobs: [{{gpus: 8, hours: 1, {json.dumps(EVIL)}: 2}}]\n", encoding="utf-8")
    (home / "odd.yaml").write_text(f"version: 1\nsite: {json.dumps(EVIL)}\n", encoding="utf-8")
    edited = home / "generated/starter/configs/backend-leaf001/frr.conf"
    edited.write_text(edited.read_text(encoding="utf-8") + f"! {EVIL}\n", encoding="utf-8")
    return home


RUNS = [
    ("generate", "intent/starter.yaml", "--diff", "--check"),
    ("check", "intent/starter.yaml"),
    *(("check", "--configs", "running", "--format", name) for name in ("text", "github", "junit", "sarif", "json")),
    *(("drift", "intent/starter.yaml", "running", "--all", "--commands", "--format", name) for name in ("text", "markdown")),
    *(("verify", "intent/starter.yaml", "state", "--all", "--format", name) for name in ("text", "junit")),
    ("cabling", "verify", "intent/starter.yaml", "lldp"),
    ("doctor", "intent/starter.yaml", "run.log"),
    ("utilisation", "intent/starter.yaml", "--jobs", "jobs.yaml"),
    ("plan", "odd.yaml"),
    ("plan", f"{EVIL}.yaml"),
    (f"pl{EVIL}an",),
    ("plan", "intent/starter.yaml", f"--{EVIL}"),
]


@pytest.mark.parametrize("words", RUNS, ids=" ".join)
def test_what_a_command_prints_is_visible(words: tuple[str, ...], folder: Path) -> None:
    done = forked.piped([*words], folder)
    assert done.returncode in (0, 1, 2, 3), done.stderr
    assert done.stdout + done.stderr
    assert hidden(done.stdout + done.stderr) == []


def test_files_of_reports_are_visible(folder: Path) -> None:
    names = {name: f"report.{name}" for name in ("text", "github", "junit", "sarif", "json")}
    forked.piped(
        ["check", "--configs", "running", *(word for item in names.items() for word in ("--format", "=".join(item)))], folder
    )
    for file in names.values():
        assert hidden((folder / file).read_text(encoding="utf-8")) == []


def test_colour_of_a_terminal_is_ours_alone(folder: Path) -> None:
    page = at_terminal(folder, 80, "generate", "intent/starter.yaml", "--diff")
    assert page.coloured
    assert SPELLED in page.text
    assert hidden(page.text) == []


def test_visible_text() -> None:
    assert visible("a\tb\r\nc\n") == "a\tb\r\nc\n"
    assert visible("a\rb\x1b[1m\u202e\U000e0041") == r"a\rb\x1b[1m\u202e\U000e0041"
    every = "".join(chr(code) for code in range(0x110000))
    assert hidden(visible(every).replace("\r\n", "")) == []


def test_colour_of_a_text_ends_with_it_and_has_no_other_control_character() -> None:
    with on(Screen(80, colour=True)):
        ours = style("error", "leaf001")
    assert guarded(ours, colour=True) == ours
    assert guarded(ours, colour=False) == r"\x1b[1;31mleaf001\x1b[0m"
    assert guarded(f"{ours}\x1b[1;31m{EVIL}", colour=True).startswith(ours + r"\x1b[1;31m" + SPELLED)


def test_text_without_an_encoding_is_escaped_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    stream = terminal._Guarded(raw, "ascii", errors="backslashreplace", write_through=True)
    print("é\x1b", file=stream)
    assert raw.getvalue() == b"\\xe9\\x1b\n"
    terminal.write_raw(stream, "\x1b[2K")
    assert raw.getvalue().endswith(b"\x1b[2K")
