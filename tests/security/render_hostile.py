"""Prints every hostile template in one process whose reads are watched: `python render_hostile.py INTENT FOLDER STEPS`.

One JSON document on stdout: name → what came of it, and every file that was opened meanwhile. An audit hook cannot be
taken out again, so this is a process of its own; its memory is bounded, so that what is not refused fails.
"""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import jinja2.debug  # noqa: F401  Jinja imports it at the first error

from fabric import pipeline
from fabric.base.diagnostics import InputError
from fabric.configs import Renderer
from fabric.configs.templating import functions
from fabric.model.plan import Plan
from fabric.model.settings.services import Override
from tests.security import hostile_templates

MEMORY_BYTES = 2 << 30
GROUPS = ("READS", "EXTENDS", "ESCAPES", "BOMBS", "OTHERS", "HARMLESS")
WATCHED = ("open", "os.", "shutil.", "subprocess.", "socket.", "ctypes.", "glob.", "pty.")

TOUCHED: list[str] = []


def watch(event: str, arguments: tuple[object, ...]) -> None:
    if event.startswith(WATCHED):
        TOUCHED.append(f"{event} {arguments[0]!r}")


def printed(plan: Plan, folder: Path, name: str) -> str:
    """The text files of one switch, a site's template being in force."""
    own = replace(plan.settings, overrides=(Override(template=name),))
    renderer = Renderer(replace(plan, settings=own), folder)
    files = renderer.files(renderer.jobs(lambda device: True)[0])
    return "".join(data.decode() for _, data in files)


def outcome(plan: Plan, folder: Path, name: str) -> dict[str, str]:
    try:
        return {"text": printed(plan, folder, name)}
    except InputError as error:
        return {"refused": str(error)}
    except Exception as error:  # the command would report an internal error
        return {"crashed": repr(error)}


def templates(folder: Path) -> Iterator[tuple[str, str]]:
    """(group and name, file) of every template, each written as a file of its own."""
    secret = str(folder.parent / "secret.txt")
    for group in GROUPS:
        for at, (name, body) in enumerate(getattr(hostile_templates, group).items()):
            file = f"{group.lower()}-{at}.j2"
            (folder / file).write_text(hostile_templates.text(body, secret), encoding="utf-8")
            yield f"{group}: {name}", file


def main(intent: str, folder: Path, steps: int) -> None:
    functions.STEPS, functions.CHARACTERS = steps, 16 * steps
    plan = pipeline.plan(pipeline.load(Path(intent)))
    todo = list(templates(folder))
    (folder / "warm.j2").write_text(hostile_templates.text("{{ super() }}", ""), encoding="utf-8")
    plain = printed(plan, folder, "warm.j2")  # shipped templates are listed, modules imported
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    sys.addaudithook(watch)
    results = {name: outcome(plan, folder, file) | {"file": file} for name, file in todo}
    touched = list(TOUCHED)
    print(json.dumps({"plain": plain, "results": results, "touched": touched}))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
