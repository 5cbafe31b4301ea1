"""A pull request's template reads nothing but the shipped templates and itself, runs no code and comes to an end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fabric import pipeline
from fabric.base.diagnostics import InputError
from fabric.configs import Renderer
from fabric.configs.templating import functions, site
from fabric.configs.templating.shipped import environment, shipped_templates, templates_root
from fabric.model.settings.services import Override
from tests.security import hostile_templates

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
MARK = "not-for-anyone-4711"
STEPS = 10_000  # a fiftieth of the real limit, so that a hundred of them take seconds


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "intent"
    folder.mkdir()
    (folder.parent / "secret.txt").write_text(MARK, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def run(folder: Path) -> dict[str, Any]:
    command = [sys.executable, str(HERE / "render_hostile.py"), str(ROOT / "intent/lab.yaml"), str(folder), str(STEPS)]
    env = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{HERE}", "CI_TOKEN": MARK}
    done = subprocess.run(command, capture_output=True, text=True, env=env, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def of(run: dict[str, Any], *groups: str) -> Iterator[tuple[str, dict[str, str]]]:
    yield from ((name, one) for name, one in run["results"].items() if name.startswith(groups))


def test_no_template_crashes(run: dict[str, Any]) -> None:
    assert not {name: one["crashed"] for name, one in of(run, "") if "crashed" in one}
    assert len(run["results"]) > 150


def test_hostile_templates_are_refused_with_file_and_line(run: dict[str, Any]) -> None:
    hostile = dict(of(run, "READS", "EXTENDS", "ESCAPES", "BOMBS", "OTHERS"))
    assert not [name for name, one in hostile.items() if "text" in one]
    for name, one in hostile.items():
        assert f"error[FAB170]: override template '{one['file']}'" in one["refused"], name
        assert " at 0x" not in one["refused"], name
    without_line = {name for name, one in hostile.items() if f"'{one['file']}', line " not in one["refused"]}
    # What is wrong with a file as a whole has no line.
    assert without_line == {
        "BOMBS: a number of many digits",
        "BOMBS: parentheses",
        "BOMBS: signs",
        "BOMBS: lists in lists",
        "BOMBS: loops in loops",
        "BOMBS: conditions in conditions",
        "BOMBS: a large file",
        "OTHERS: null bytes",
        "OTHERS: null bytes of a literal",
        "OTHERS: an escape sequence",
        "OTHERS: a carriage return",
        "OTHERS: a line separator",
    }


def test_an_audit_hook_sees_shipped_templates_and_own_files_alone(run: dict[str, Any], folder: Path) -> None:
    allowed = {str(templates_root() / name) for name in shipped_templates()}
    allowed |= {str(folder / one["file"]) for one in run["results"].values()}
    opened = {line.removeprefix("open ").strip("'") for line in run["touched"] if line.startswith("open ")}
    assert opened
    assert opened <= allowed
    assert not [line for line in run["touched"] if not line.startswith("open ")]


def test_no_secret_comes_out(run: dict[str, Any]) -> None:
    assert MARK not in json.dumps(run)


def test_what_sites_write_goes_on_working(run: dict[str, Any]) -> None:
    harmless = dict(of(run, "HARMLESS"))
    assert not {name: one for name, one in harmless.items() if "text" not in one}
    assert harmless["HARMLESS: super"]["text"].replace("\n\n", "\n") == run["plain"].replace("\n\n", "\n")
    for name, line in {
        "a loop": "! 1 of 2 PL-FABRIC",
        "formats": "! 07 a-b     x 1",
        "methods": "! BbCKEND SPINE001 False",
        "filters": "! 1,2,3 3 16",
        "a slice": "! backend-spine001",
        "namespace": "! 10",
        "cycler and joiner": "! ab,",
        "batch": "! 6 - -",
        "secrets of its own": "! ${TACACS_KEY}",
    }.items():
        assert line in harmless[f"HARMLESS: {name}"]["text"], name


@pytest.mark.parametrize("name", ["nested loops", "a long body"])
def test_the_real_limit_is_reached(tmp_path: Path, name: str) -> None:
    made = pipeline.plan(pipeline.load(ROOT / "intent/lab.yaml"))
    (tmp_path / "x.j2").write_text(hostile_templates.text(hostile_templates.BOMBS[name], ""), encoding="utf-8")
    own = replace(made.settings, overrides=(Override(template="x.j2"),))
    renderer = Renderer(replace(made, settings=own), tmp_path)
    with pytest.raises(InputError, match=r"line 3: .*expected at most 500,000 steps for one file"):
        list(renderer.files(renderer.jobs(lambda device: True)[0]))


# --- the sandbox changes no text ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["evpn-lab", "ai-eos", "ai-nxos", "ai-junos"])
def test_a_shipped_template_prints_the_same_inside_and_outside(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And costs less than a hundredth of the limit, so that no real design meets it."""
    made = pipeline.plan(pipeline.load(ROOT / f"intent/{name}.yaml"))
    renderer, seen = Renderer(made, ROOT / "intent"), set[tuple[str, str]]()
    from fabric.configs import render

    def both(file: Any, overrides: object) -> str:
        own = tmp_path / file.template.replace("/", "-")
        own.write_text(f'{{% extends "{file.template}" %}}\n', encoding="utf-8")
        with functions.METER.running():
            inside = site.render(file.template, [own], file.context)
        outside = environment().get_template(file.template).render(file.context)
        assert inside == outside
        return outside

    monkeypatch.setattr(render, "_printed", both)
    monkeypatch.setattr(functions, "STEPS", functions.STEPS // 100)
    for job in renderer.jobs(lambda device: True):
        if (job.fabric, job.device.role) not in seen:
            seen.add((job.fabric, job.device.role))
            assert list(renderer.files(job))


# --- which files may be one ---------------------------------------------------------------------------------


def refusal(folder: Path, template: str) -> str:
    made = pipeline.plan(pipeline.load(ROOT / "intent/lab.yaml"))
    own = replace(made.settings, overrides=(Override(template=template),))
    with pytest.raises(InputError) as caught:
        Renderer(replace(made, settings=own), folder)
    return str(caught.value)


def test_a_template_lies_below_the_folder_of_the_intent(tmp_path: Path) -> None:
    inside, outside = tmp_path / "intent", tmp_path / "outside.j2"
    inside.mkdir()
    outside.write_text(hostile_templates.BASE, encoding="utf-8")
    (inside / "link.j2").symlink_to(outside)
    (inside / "folder").symlink_to(tmp_path)
    (inside / "home.j2").symlink_to("/proc/self/environ")
    for name in ("../outside.j2", str(outside), "link.j2", "folder/outside.j2", "home.j2", "x/../../outside.j2"):
        assert "expected a file below the folder of the intent" in refusal(inside, name), name
    os.mkfifo(inside / "pipe.j2")
    for name in ("pipe.j2", "missing.j2", ".", "link.j2/x"):
        assert "override template" in refusal(inside, name), name


def test_names_of_chains_lead_to_files_of_this_run_alone(tmp_path: Path) -> None:
    from jinja2 import TemplateNotFound

    (tmp_path / "x.j2").write_text(MARK, encoding="utf-8")
    for name in (f"site:frr/frr.conf.j2\n{tmp_path}/x.j2", f"site:\n{tmp_path}/x.j2", f"{tmp_path}/x.j2", "../x.j2", "."):
        for sandbox in (site.site_environment(), environment()):
            with pytest.raises(TemplateNotFound):
                sandbox.get_template(name)


def test_a_file_name_is_no_code(tmp_path: Path) -> None:
    """Python code is made of a template: its name stands in it (CVE-2024-56201)."""
    folder = tmp_path / "intent"
    folder.mkdir()
    for at, name in enumerate(['"+print(1)+".j2', "{0.__class__}.j2", "'''\\x22.j2", "{7 * 7}.j2", "a%s%n.j2"]):
        (folder / name).write_text(hostile_templates.text("{{ super() }}{{ nothing }}", ""), encoding="utf-8")
        made = pipeline.plan(pipeline.load(ROOT / "intent/lab.yaml"))
        own = replace(made.settings, overrides=(Override(template=name),))
        renderer = Renderer(replace(made, settings=own), folder)
        with pytest.raises(InputError, match="'nothing' is undefined"):
            list(renderer.files(renderer.jobs(lambda device: True)[0]))
        assert at < 5
