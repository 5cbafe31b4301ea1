"""An intent as somebody names it: a file, or that file in a commit of git with the numbers that were in use then."""

from __future__ import annotations

import subprocess
from pathlib import Path

from fabric import pipeline
from fabric.diagnostics import Diagnostic, InputError, Place
from fabric.intent.intent import Intent
from fabric.output.paths import site_folder
from fabric.planner import lock as locks
from fabric.planner.lock import Lock

GIT = "git:"


def read(name: str, beside: Path | None, folder: Path | None = None) -> tuple[Intent, Lock | None]:
    """The intent called `name`, a file or `git:REV` or `git:REV:FILE`, and the numbers that its commit holds.

    Args:
        beside: the file that `git:REV` means.
        folder: of the site's generated files; unless given it lies beside the intent.

    None for the numbers: those of the lock file that is there now. Raises InputError.
    """
    from fabric.intent.load import load, validate
    from fabric.intent.source import parse

    if not name.startswith(GIT):
        if folder is None:
            return pipeline.load(Path(name)), None
        site, source = load(Path(name), name)
        return Intent(Path(name), site, source, folder), None
    revision, _, file = name.removeprefix(GIT).partition(":")
    revision = revision or "HEAD"
    if revision.startswith("-"):
        raise InputError([Diagnostic("FAB104", Place(name), "expected a revision such as git:main")])
    path = Path(file) if file else beside
    if path is None:
        raise InputError(
            [Diagnostic("FAB104", Place(name), "expected a file of the revision, such as git:main:intent/dc1.yaml")]
        )
    found = show(path.absolute(), revision)
    if found.returncode:
        reason = found.stderr.strip().splitlines()[-1:] or ["git failed"]
        hint = "the file is new: there is nothing to compare it with" if missing(name, path) and path.exists() else ""
        raise InputError([Diagnostic("FAB001", Place(name), f"cannot be read: {reason[0].removeprefix('fatal: ')}", hint)])
    source = parse(found.stdout, name if file else f"{name}:{path.name}")
    site = validate(source)
    home = folder or site_folder(path, site.site)
    kept = show(home / locks.FILE, revision)
    known = None if kept.returncode else locks.parse(kept.stdout, f"{GIT}{revision}:{locks.FILE}")
    return Intent(path, site, source, home), known


def is_short(name: str) -> bool:
    """Whether a name is `git:REV`, which means the file of the other side."""
    return name.startswith(GIT) and ":" not in name.removeprefix(GIT)


def missing(name: str, beside: Path | None) -> bool:
    """Whether an intent is not there: a file that does not exist, or one that a revision known to git does not have."""
    if not name.startswith(GIT):
        return not Path(name).exists()
    revision, _, file = name.removeprefix(GIT).partition(":")
    path = Path(file) if file else beside
    if path is None or revision.startswith("-"):
        return False
    path = path.absolute()
    known = _git(path, "rev-parse", "--verify", "--quiet", f"{revision or 'HEAD'}^{{commit}}")
    return not known.returncode and bool(show(path, revision or "HEAD").returncode)


def check_out(intent: Intent, name: str, target: Path) -> Intent:
    """The intent with its own templates as the commit has them, laid into `target`; as it is where it is a file."""
    wanted = [wish.template for wish in intent.site.overrides if wish.template is not None]
    if not name.startswith(GIT) or not wanted:
        return intent
    revision = name.removeprefix(GIT).partition(":")[0] or "HEAD"
    home = intent.path.absolute().parent
    for template in wanted:
        path = (target / template).resolve()
        if not path.is_relative_to(target.resolve()):
            continue  # refused, with its place, when the overrides are read
        found = show(home / template, revision)
        if found.returncode == 0:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(found.stdout, encoding="utf-8")
    return Intent(target / intent.path.name, intent.site, intent.source, intent.folder)


def show(path: Path, revision: str) -> subprocess.CompletedProcess[str]:
    """A file of a revision, as git has it."""
    return _git(path, "show", f"{revision}:./{path.relative_to(_folder(path))}")


def _git(path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A command of git, in the folder of a file or in the nearest one above that is there."""
    command = ["git", "-C", str(_folder(path)), *words]
    return subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", check=False)


def _folder(path: Path) -> Path:
    return next((parent for parent in path.parents if parent.is_dir()), Path("/"))
