"""The ready pipelines: the action, the pre-commit hooks, and every snippet of docs/ci.md."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, distribution
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement

from tests import ROOT

ACTION = ROOT / "action.yml"
HOOKS = ROOT / ".pre-commit-hooks.yaml"
PAGE = ROOT / "docs" / "ci.md"
SNIPPETS = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
README = ROOT / "README.md"
TOUR = ROOT / "docs" / "tour.md"
PAGES = (README, ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md")))
ROWS = re.findall(r"`(fabric [a-z][^`]*)`", "".join(re.findall(r"^\| `fabric .*\n", TOUR.read_text("utf-8"), re.MULTILINE)))
START = r"(?:^|[;&|] *|^ *- (?:run: )?|^ *[A-Z_]+=\S+ )"  # where a command may begin: not within a sentence
CALL = re.compile(START + r"(?P<line> *fabric [a-z][^;&|\n]*)", re.MULTILINE)
OPTION = re.compile(r"(?<![\w-])--?[a-z][\w-]*")
OPERATORS = frozenset((";", "|", "||", "&&", "&", ">", ">>", "<", ">&"))
HOOK_KEYS = {"id", "name", "description", "entry", "language", "files", "require_serial"}  # of pre-commit.com, "new hooks"


def snippet(first: str) -> Any:
    (found,) = (text for text in SNIPPETS if text.startswith(first))
    return yaml.safe_load(found)


def published(name: str) -> dict[str, Any]:
    """The schema of a CI system's files; a package of the tests' own dependencies carries a copy."""
    try:
        carrier = distribution("check-jsonschema")
    except PackageNotFoundError:
        pytest.skip("the package check-jsonschema, which carries the schemas of CI systems, is not installed")
    path = carrier.locate_file(f"check_jsonschema/builtin_schemas/vendor/{name}.json")
    found: dict[str, Any] = json.loads(Path(str(path)).read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize(
    ("schema", "first"),
    [("github-actions", ""), ("github-workflows", "# .github/workflows/"), ("gitlab-ci", "# .gitlab-ci.yml")],
)
def test_files_of_ci_systems_are_valid(schema: str, first: str) -> None:
    from jsonschema.validators import validator_for

    document = snippet(first) if first else yaml.safe_load(ACTION.read_text(encoding="utf-8"))
    document = {"on" if key is True else key: value for key, value in document.items()}  # `on` is true in YAML 1.1
    rules = published(schema)
    assert [error.message for error in validator_for(rules)(rules).iter_errors(document)] == []


def test_every_snippet_parses() -> None:
    assert len(SNIPPETS) == 4
    assert all(isinstance(yaml.safe_load(text), dict) for text in SNIPPETS)


def test_the_hooks() -> None:
    hooks = yaml.safe_load(HOOKS.read_text(encoding="utf-8"))
    assert [hook["id"] for hook in hooks] == ["fabric-generate-check", "fabric-check"]
    for hook in hooks:
        assert set(hook) == HOOK_KEYS
        assert hook["language"] == "python"
        pattern = re.compile(hook["files"])
        assert pattern.search("intent/dc1.yaml")
        assert not pattern.search("intent/site/extra.yaml")
        assert not pattern.search("generated/intent/dc1.yaml")
    asked = snippet("# .pre-commit-config.yaml")["repos"][0]["hooks"]
    assert [hook["id"] for hook in asked] == [hook["id"] for hook in hooks]


def calls(script: str) -> Iterator[tuple[str, ...]]:
    """The words of every call of the command in a script of a shell; `${{ … }}` of GitHub is one word."""
    script = re.sub(r"\$\{\{.*?\}\}", "X", script.replace("\\\n", " "))
    for call in CALL.finditer(script):
        line = re.sub(r" [0-9]> ?\S*", "", call["line"])  # of a stream that has a number
        words = shlex.shlex(line, posix=True, punctuation_chars=True)
        words.whitespace_split = True
        yield tuple(takewhile(lambda word: word not in OPERATORS, words))


def typed(page: Path) -> Iterator[str]:
    """What a page has a reader type."""
    for block in re.findall(r"```console\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
        yield from (line[2:] for line in block.splitlines() if line.startswith("$ "))


def automated(page: Path) -> list[str]:
    """What a page has a CI system run."""
    return re.findall(r"```yaml\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


def commands() -> list[tuple[str, ...]]:
    """Every call of the command, options and all: in the action, the hooks and the pages."""
    action = yaml.safe_load(ACTION.read_text(encoding="utf-8"))
    scripts = [step["run"] for step in action["runs"]["steps"] if "run" in step]
    options = " ".join(re.findall(r"options\+?=\((.*?)\)", scripts[-1]))
    scripts.append(f"fabric check {options} -- intent/dc1.yaml")
    scripts += [f"{hook['entry']} intent/dc1.yaml" for hook in yaml.safe_load(HOOKS.read_text(encoding="utf-8"))]
    scripts += re.findall(r"```text\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    scripts += [script for page in PAGES for script in (*typed(page), *automated(page))]
    return sorted({call for script in scripts for call in calls(script)})


def parser(words: Sequence[str]) -> tuple[Any, list[str]]:
    """The real command that the words call, and what is left for it."""
    from fabric.cli.lazy import load

    command, left = load(words[1]), list(words[2:])
    while hasattr(command, "commands"):
        command = command.commands[left.pop(0) if left[0] in command.commands else command.default]
    return command, left


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_commands_are_understood(words: tuple[str, ...]) -> None:
    command, left = parser(words)
    command.make_context(words[1], left)


@pytest.mark.parametrize("row", ROWS)
def test_the_table_of_commands_has_options_that_exist(row: str) -> None:
    command, _ = parser(row.split())
    known = {option for parameter in command.params for option in parameter.opts}
    assert set(OPTION.findall(row)) <= known


def test_the_commands_are_found() -> None:
    found = {(words[1], *(word for word in words if word.startswith("--"))) for words in commands()}
    assert ("generate", "--check") in found
    assert ("generate", "--check", "--") in found
    assert ("check", "--format", "--format") in found
    assert ("check", "--fail-on", "--format", "--format", "--format", "--configs", "--batfish", "--") in found
    assert ("diff", "--format") in found
    assert len(ROWS) >= 12


def test_inputs_never_become_lines_of_a_script() -> None:
    action = yaml.safe_load(ACTION.read_text(encoding="utf-8"))
    steps = action["runs"]["steps"]
    assert [step for step in steps if "${{" in step.get("run", "")] == []
    used = set(re.findall(r"inputs\.([a-z-]+)", json.dumps(steps)))
    assert used == set(action["inputs"])
    table = re.findall(r"^\| `([a-z-]+)` \| (?:`(.*?)`)? ?\|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert {name: usual for name, usual in table if name in action["inputs"]} == {
        name: about["default"] for name, about in action["inputs"].items()
    }


def test_other_actions_are_used_by_their_commit() -> None:
    """A tag can be moved to other code, which then has the secrets of the job."""
    text = "\n".join([ACTION.read_text(encoding="utf-8"), *(script for page in PAGES for script in automated(page))])
    used = [name for name in re.findall(r"\buses: (\S+)", text) if not name.startswith("OWNER/")]
    assert len(used) > 3
    assert [name for name in used if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", name)] == []


def test_the_action_installs_pinned_versions() -> None:
    """Every dependency, with those of the build, is in the constraints, at a version that the project allows."""
    rows = (ACTION.parent / "tools/action/constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = [Requirement(row) for row in rows if not row.startswith("#")]
    assert all(re.fullmatch(r"==[\w.]+", str(one.specifier)) for one in pinned)
    versions = {one.name: str(one.specifier).removeprefix("==") for one in pinned}
    project = tomllib.loads((ACTION.parent / "pyproject.toml").read_text(encoding="utf-8"))
    stated = [*project["project"]["dependencies"], *project["project"]["optional-dependencies"]["batfish"]]
    for one in map(Requirement, [*stated, *project["build-system"]["requires"]]):
        assert one.specifier.contains(versions[one.name]), one
    steps = yaml.safe_load(ACTION.read_text(encoding="utf-8"))["runs"]["steps"]
    (script,) = [step["run"] for step in steps if "-m pip install" in step.get("run", "")]
    assert "--constraint" in script
    assert "--no-build-isolation" in script


STAND_IN = """#!/bin/bash
printf '%s\\n' "$@" | sed "s/^/$1: /" >> "$CALLS"
case "$1" in generate) exit "$GENERATE";; check) exit "$CHECK";; esac
"""


def run_action(folder: Path, generate: int = 0, check: int = 0, **inputs: str) -> tuple[int, str, list[str], str]:
    """The action's check step with a stand-in for the command: its end, its output, the arguments, the step's outputs."""
    done = run_step(folder, STAND_IN, inputs, {"GENERATE": str(generate), "CHECK": str(check)})
    assert done.stderr == ""
    calls = (folder / "calls").read_text(encoding="utf-8").splitlines()
    return done.returncode, done.stdout, calls, (folder / "outputs").read_text(encoding="utf-8")


def run_step(
    folder: Path, command: str, inputs: Mapping[str, str], more: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """The action's check step, with a script for the command that an earlier step has installed."""
    action = yaml.safe_load(ACTION.read_text(encoding="utf-8"))
    (step,) = (step for step in action["runs"]["steps"] if step.get("id") == "check")
    usual = {name: about["default"] for name, about in action["inputs"].items()} | dict(inputs)
    environment = {
        name: re.sub(r"\$\{\{ inputs\.([a-z-]+) \}\}", lambda match: usual[match[1]], value)
        for name, value in step["env"].items()
    }
    program = folder / "temp" / "fabricwright" / "bin" / "fabric"
    program.parent.mkdir(parents=True)
    program.write_text(command, encoding="utf-8")
    program.chmod(0o755)
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=folder,
        env={
            "PATH": os.environ["PATH"],
            "RUNNER_TEMP": str(folder / "temp"),
            "GITHUB_OUTPUT": str(folder / "outputs"),
            "CALLS": str(folder / "calls"),
            **more,
            **environment,
        },
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_broken_intent_fails_the_action_with_an_annotation_on_its_line(tmp_path: Path) -> None:
    """The command itself, as the action calls it."""
    intent = (ROOT / "intent" / "starter.yaml").read_text(encoding="utf-8").replace("rails: 2,", "rails: 3,")
    (tmp_path / "intent").mkdir()
    (tmp_path / "intent" / "dc1.yaml").write_text(intent, encoding="utf-8")
    done = run_step(tmp_path, f'#!/bin/bash\nexec "{Path(sys.executable).parent}/fabric" "$@"\n', {}, {})
    place = "file=intent/dc1.yaml,line=8,col=39"
    assert intent.splitlines()[7].index("3,") == 38
    assert done.returncode == 2
    assert done.stdout.splitlines() == [
        f"::error {place},title=FAB109 expected%3A The intent matches the schema::"
        "rails: expected a divisor of the 8 NICs of dgx-h100, got 3%0A"
        "hint: each rail takes the same number of NICs of a server",
        "1 error; no check was applied",
    ]
    (result,) = json.loads((tmp_path / "fabric-check.sarif").read_text(encoding="utf-8"))["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == 8


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / "intent").mkdir()
    for name in ("a.yaml", "b c.yaml", "notes.txt"):
        (tmp_path / "intent" / name).touch()
    return tmp_path


CHECK = ["check", "--fail-on", "error", "--format", "github", "--format", "sarif=fabric-check.sarif", "--"]
FILES = ["intent/a.yaml", "intent/b c.yaml"]


def test_the_action_as_it_is_usually_called(repository: Path) -> None:
    code, output, calls, outputs = run_action(repository)
    assert (code, output, outputs) == (0, "", "sarif=fabric-check.sarif\n")
    assert calls == [f"generate: {word}" for word in ("generate", "--check", "--", *FILES)] + [
        f"check: {word}" for word in (*CHECK, *FILES)
    ]


OUT_OF_DATE = "::error title=generated/ is out of date::run 'fabric generate' on the intents and commit the files\n"


@pytest.mark.parametrize(
    ("generate", "check", "code", "output"),
    [(1, 0, 1, OUT_OF_DATE), (2, 1, 1, ""), (0, 1, 1, ""), (0, 3, 3, ""), (1, 2, 2, OUT_OF_DATE)],
)
def test_the_action_ends_as_its_commands_do(repository: Path, generate: int, check: int, code: int, output: str) -> None:
    assert run_action(repository, generate, check)[:2] == (code, output)


@pytest.mark.parametrize(
    ("inputs", "expected"),
    [
        ({"intent": "", "configs": "my configs"}, [*CHECK[:-1], "--configs", "my configs", "--"]),
        ({"up-to-date": "false", "batfish": "localhost"}, [*CHECK[:-1], "--batfish", "localhost", "--", *FILES]),
        (
            {"up-to-date": "false", "formats": "junit=a b.xml\njson=c.json\n", "sarif": "", "intent": "intent/a.yaml"},
            [*CHECK[:5], "--format", "junit=a b.xml", "--format", "json=c.json", "--", "intent/a.yaml"],
        ),
        (
            {"up-to-date": "false", "intent": "$(touch owned)\n`touch owned`;touch owned\n--help", "fail-on": '"; exit 9; "'},
            ["check", "--fail-on", '"; exit 9; "', *CHECK[3:], "$(touch owned)", "`touch owned`;touch owned", "--help"],
        ),
    ],
    ids=["configs alone", "with Batfish", "other reports", "hostile"],
)
def test_inputs_arrive_as_single_words(repository: Path, inputs: dict[str, str], expected: list[str]) -> None:
    code, output, calls, _ = run_action(repository, **inputs)
    assert (code, output) == (0, "")
    assert calls == [f"check: {word}" for word in expected]
    assert not (repository / "owned").exists()
