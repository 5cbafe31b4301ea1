"""Codes that no check has: each is in use, is explained, and its example raises it."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from fabric.audit.codes import Entry, entries, entry, is_code, text, without_check
from fabric.base.text import Screen, on
from fabric.cli import main
from fabric.cli.lazy import COMMANDS, load
from tests import ROOT

# Examples that need what a test does not have, and what that is.
NOT_RUN = {
    "FAB000": "30,000 findings",
    "FAB167": "a run that is killed",
    "FAB168": "a plug-in",
    "FAB177": "an inventory server",
    "FAB179": "an inventory server with another site",
    "FAB193": "two branches",
    "FAB500": "no command raises it",
    "FAB511": "a running lab",
    "FAB552": "two runs at once",
    "FAB555": "a change of a secret",
    **dict.fromkeys(("FAB553", "FAB554", *(f"FAB{number}" for number in range(560, 571))), "switches that answer"),
}
RUN = [code for code in without_check() if code not in NOT_RUN]

Printed = Callable[[list[str]], str]


@pytest.fixture
def fabric(capfd: pytest.CaptureFixture[str]) -> Printed:
    """Runs `fabric` in this process; everything that it prints."""

    def go(words: list[str]) -> str:
        capfd.readouterr()
        with pytest.raises(SystemExit):
            main(words)
        out, err = capfd.readouterr()
        return out + err

    return go


def over(below: Any, above: Any) -> Any:
    """Keys of a mapping over those of another one."""
    if not (isinstance(below, dict) and isinstance(above, dict)):
        return above
    return {**below, **{key: over(below.get(key), value) for key, value in above.items()}}


def split(example: str) -> tuple[str, list[str]]:
    """The YAML and the commands of an example."""
    lines = example.split("\n")
    return (
        "\n".join(line for line in lines if not line.startswith("$ ")),
        [line[2:] for line in lines if line.startswith("$ ")],
    )


@pytest.mark.parametrize("code", RUN)
def test_the_example_raises_the_code(code: str, fabric: Printed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NETBOX_URL", raising=False)
    monkeypatch.delenv("NETBOX_TOKEN", raising=False)
    monkeypatch.delenv("FABRIC_USERNAME", raising=False)
    intent = tmp_path / "intent.yaml"
    fabric(["init", "starter", "-o", str(intent)])
    written, commands = split(without_check()[code].example)
    if "version:" in written:
        intent.write_text(written, encoding="utf-8")
    elif written:
        base = yaml.safe_load(intent.read_text(encoding="utf-8"))
        intent.write_text(yaml.safe_dump(over(base, yaml.safe_load(written))), encoding="utf-8")
    printed = ""
    for command in commands or ["fabric plan intent.yaml"]:
        if command.startswith("fabric "):
            printed = fabric([word.strip("'") for word in command.split()[1:]])
        else:
            subprocess.run(["bash", "-c", command], check=True, cwd=tmp_path)
    assert f"{without_check()[code].severity}[{code}]" in printed


def test_examples_that_do_not_run_have_a_reason() -> None:
    assert NOT_RUN.keys() <= without_check().keys()
    assert len(RUN) >= 70


@pytest.mark.parametrize("each", entries(), ids=lambda each: each.id)
def test_an_entry_is_whole(each: Entry) -> None:
    assert all((each.title, each.explanation, each.example, each.fix, each.severity in ("error", "warning", "note")))
    assert not each.title.endswith(".")
    if each.id in without_check():
        assert each.explanation.endswith(".")
        assert all(len(line) <= 124 for line in each.example.split("\n"))


def options_of(command: Any) -> set[str]:
    """Options of a command, or of all commands of a group."""
    below = getattr(command, "commands", {}).values()
    return {option for param in command.params for option in param.opts}.union(*map(options_of, below))


@pytest.mark.parametrize("each", [each for each in entries() if "`fabric " in each.fix], ids=lambda each: each.id)
def test_a_fix_names_commands_and_options_that_exist(each: Entry) -> None:
    commands = re.findall(r"`fabric ([^`]+)`", each.fix)
    assert commands
    for words in commands:
        name, *arguments = words.split()
        assert name in COMMANDS
        stated = {word.partition("=")[0] for word in arguments if re.match("--?[a-z]", word)}
        assert stated <= options_of(load(name)) | {"--help"}


@pytest.mark.parametrize("width", [40, 80, 100])
def test_running_text_fits_the_width(width: int) -> None:
    for each in entries():
        example = {f"  {line}" for line in each.example.split("\n")}
        with on(Screen(width)):
            lines = text(each).split("\n")
        long = [line for line in lines if len(line) > width and line not in example]
        assert [line for line in long if " " in line.strip()] == []


@pytest.mark.parametrize(("word", "right"), [("FAB233", True), ("fab102", True), ("FAB2", True), ("intent.yaml", False)])
def test_what_looks_like_a_code(word: str, right: bool) -> None:
    assert is_code(word) is right


def test_codes_are_found_in_any_case() -> None:
    assert entry("fab102") == entry("FAB102") == without_check()["FAB102"]
    assert entry("fab233").title == next(each.title for each in entries() if each.id == "FAB233")


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("FAB299", r"hint: FAB250 to FAB299: [a-z ]+; nearest: FAB297, FAB298, FAB301\. `fabric explain` lists all codes"),
        ("FAB2331", r"hint: FAB201 to FAB249: [a-z ]+; nearest: FAB232, FAB233, FAB234"),
        ("FAB900", r"hint: no subject has this number; nearest: FAB704, FAB705, FAB706"),
        ("FAB9", r"hint: a code has three or four digits; nearest: FAB007, FAB008, FAB009"),
    ],
)
def test_an_unknown_code(word: str, hint: str, fabric: Printed) -> None:
    printed = fabric(["explain", word.lower()])
    assert f"explain: error[FAB106]: unknown code '{word}'" in printed
    assert re.search(hint, printed)


def test_the_list_has_every_code_once(fabric: Printed) -> None:
    listed = re.findall(r"^  (FAB\d+) +(?:error|warning|note) +\S", fabric(["explain"]), re.MULTILINE)
    assert listed == [each.id for each in entries()]


def test_a_number_is_no_json(fabric: Printed) -> None:
    assert "--json: error[FAB102]: expected a code or no argument, got intent.yaml" in fabric(
        ["explain", "intent.yaml", "--json"]
    )


def test_a_code_without_a_check_loads_little() -> None:
    code = (
        "import sys\nfrom fabric.cli import main\ntry:\n    main(['explain', 'FAB102'])\nexcept SystemExit:\n    pass\n"
        "heavy = ('numpy', 'networkx', 'scipy', 'fabric.audit.checks', 'fabric.model.plan', 'fabric.pipeline')\n"
        "print([name for name in heavy if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stderr == "[]\n"
