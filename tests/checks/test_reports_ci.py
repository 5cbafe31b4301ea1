"""The ready pipelines: the action, the pre-commit hooks, and every snippet of docs/ci.md."""

from __future__ import annotations

import json
import os
import re
import subprocess
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
ACTION = ROOT / "action.yml"
HOOKS = ROOT / ".pre-commit-hooks.yaml"
PAGE = ROOT / "docs" / "ci.md"
SNIPPETS = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
CALL = re.compile(r"\bfabric (?P<verb>[a-z]+)\b(?P<rest>[^;|&\n]*)")
OPTION = re.compile(r"(?<![\w-])--?[a-z][\w-]*")
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


def commands() -> list[str]:
    """Every call of the command, options and all: in the page, the action and the hooks."""
    action = yaml.safe_load(ACTION.read_text(encoding="utf-8"))
    scripts = [step["run"] for step in action["runs"]["steps"] if "run" in step]
    options = " ".join(re.findall(r"options\+?=\((.*?)\)", scripts[-1]))
    scripts.append(f"fabric check {options}")
    scripts += [hook["entry"] for hook in yaml.safe_load(HOOKS.read_text(encoding="utf-8"))]
    scripts += re.findall(r"```(?:console|text|yaml)\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return sorted({call[0].strip() for script in scripts for call in CALL.finditer(script.replace("\\\n", " "))})


@pytest.mark.parametrize("command", commands())
def test_commands_use_options_that_exist(command: str) -> None:
    import typer

    from fabric.cli import app

    verbs = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    call = CALL.fullmatch(command)
    assert call
    if call["verb"] == "check" and "check" not in verbs:
        pytest.skip("`fabric check` is not a command yet")
    known = {option for parameter in verbs[call["verb"]].params for option in parameter.opts}
    assert set(OPTION.findall(call["rest"])) <= known


def test_the_commands_are_found() -> None:
    verbs = {(found["verb"], *OPTION.findall(found["rest"])) for found in map(CALL.match, commands()) if found}
    assert ("generate", "--check") in verbs
    assert ("check", "--format", "--format") in verbs
    assert ("check", "--fail-on", "--format", "--format", "--format", "--configs", "--batfish") in verbs


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


STAND_IN = """#!/bin/bash
printf '%s\\n' "$@" | sed "s/^/$1: /" >> "$CALLS"
case "$1" in generate) exit "$GENERATE";; check) exit "$CHECK";; esac
"""


def run_action(folder: Path, generate: int = 0, check: int = 0, **inputs: str) -> tuple[int, str, list[str], str]:
    """The action's check step with a stand-in for the command: its end, its output, the arguments, the step's outputs."""
    action = yaml.safe_load(ACTION.read_text(encoding="utf-8"))
    (step,) = (step for step in action["runs"]["steps"] if step.get("id") == "check")
    usual = {name: about["default"] for name, about in action["inputs"].items()} | inputs
    environment = {
        name: re.sub(r"\$\{\{ inputs\.([a-z-]+) \}\}", lambda match: usual[match[1]], value)
        for name, value in step["env"].items()
    }
    program = folder / "temp" / "fabricwright" / "bin" / "fabric"
    program.parent.mkdir(parents=True)
    program.write_text(STAND_IN, encoding="utf-8")
    program.chmod(0o755)
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=folder,
        env={
            "PATH": os.environ["PATH"],
            "RUNNER_TEMP": str(folder / "temp"),
            "GITHUB_OUTPUT": str(folder / "outputs"),
            "CALLS": str(folder / "calls"),
            "GENERATE": str(generate),
            "CHECK": str(check),
            **environment,
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    calls = (folder / "calls").read_text(encoding="utf-8").splitlines()
    return done.returncode, done.stdout, calls, (folder / "outputs").read_text(encoding="utf-8")


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


OUT_OF_DATE = "::error title=generated/ is out of date::run 'fabric generate' on the intents and commit what it writes\n"


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
