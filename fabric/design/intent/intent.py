"""An intent that was read: from a file, or from a git revision with the numbers of then; and two to compare."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabric.base.diagnostics import Diagnostic, InputError, Place, Report, tried
from fabric.base.output.site_folder import site_folder, symlink_to_site
from fabric.base.source import parse
from fabric.design.intent.load import load as read_file, validate
from fabric.model.plan import Plan, lock_file as locks
from fabric.model.plan.lock_file import Lock
from fabric.model.plan.spec import Origin
from fabric.model.settings.site import Home

if TYPE_CHECKING:
    from fabric.base.source import Source
    from fabric.design.intent.site import Site
    from fabric.model.settings.services import Output
    from fabric.model.settings.site import OwnCatalog


@dataclass(frozen=True)
class Intent:
    """An intent, and the folder that its site's files lie in."""

    path: Path
    site: Site
    source: Source
    folder: Path

    @property
    def name(self) -> str:
        """Of its site."""
        return self.site.site

    @property
    def place(self) -> Place:
        """Where its site is named."""
        return self.source.place(("site",))

    @property
    def output(self) -> Output:
        """What `generate` does with its folder."""
        return self.site.output

    @property
    def catalog(self) -> OwnCatalog:
        """Hardware of its own, beside the shipped catalog."""
        return self.site.catalog

    def keys(self) -> dict[str, Any]:
        """What it says as plain data, defaults put in."""
        return self.site.model_dump(mode="json", by_alias=True)

    @property
    def home(self) -> Home:
        """Folder of the intent and of its output."""
        return Home(self.path, self.folder)

    @property
    def shown(self) -> Path:
        """The folder as a person at this prompt would name it."""
        return self.home.shown


# --- from a file or a git revision ----------------------------------------------------------------------------

GIT = "git:"


def load(path: Path, output: Path | None = None) -> Intent:
    """Reads and checks an intent. Raises InputError with every mistake, and where its output folder is a symlink."""
    site, source = read_file(path, str(path))
    if link := symlink_to_site(path, site.site, output):
        message = f"output folder: expected a folder, got the symlink {link}: files would be written outside of it"
        hint = "remove the symlink; `-o DIR` writes to another folder"
        raise InputError([Diagnostic("FAB166", source.place(("site",)), message, hint)])
    return Intent(path, site, source, site_folder(path, site.site, output))


def read(name: str, beside: Path | None, folder: Path | None = None) -> tuple[Intent, Lock | None]:
    """The intent called `name`, a file or `git:REV` or `git:REV:FILE`, and the numbers that its commit holds.

    Args:
        name: as a person writes it on the command line.
        beside: the file that `git:REV` means.
        folder: of the site's generated files; default: beside the intent.

    None for the numbers: those of the lock file that is there now. Raises InputError.
    """
    if not name.startswith(GIT):
        if folder is None:
            return load(Path(name)), None
        site, source = read_file(Path(name), name)
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
    shown = show(path.absolute(), revision)
    if shown.returncode:
        reason = shown.stderr.strip().splitlines()[-1:] or ["git failed"]
        hint = "the file is new: there is nothing to compare it with" if missing(name, path) and path.exists() else ""
        raise InputError([Diagnostic("FAB001", Place(name), f"cannot be read: {reason[0].removeprefix('fatal: ')}", hint)])
    source = parse(shown.stdout, name if file else f"{name}:{path.name}")
    site = validate(source)
    home = folder or site_folder(path, site.site)
    lock_text = show(home / locks.FILE, revision)
    lock = None if lock_text.returncode else locks.parse(lock_text.stdout, f"{GIT}{revision}:{locks.FILE}")
    return Intent(path, site, source, home), lock


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
    commit = _git(path, "rev-parse", "--verify", "--quiet", f"{revision or 'HEAD'}^{{commit}}")
    return not commit.returncode and bool(show(path, revision or "HEAD").returncode)


def templates(intent: Intent, name: str, target: Path) -> Path:
    """The folder of an intent's own templates: `target`, where those of its commit are laid; its own where it is a file."""
    own_templates = [override.template for override in intent.site.overrides if override.template is not None]
    home = intent.path.absolute().parent
    if not name.startswith(GIT) or not own_templates:
        return home
    revision = name.removeprefix(GIT).partition(":")[0] or "HEAD"
    for template in own_templates:
        path = (target / template).resolve()
        if not path.is_relative_to(target.resolve()):
            continue  # reported with its place when the overrides are read
        shown = show(home / template, revision)
        if shown.returncode == 0:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(shown.stdout, encoding="utf-8")
    return target.absolute()


def show(path: Path, revision: str) -> subprocess.CompletedProcess[str]:
    """A file of a revision, as git has it."""
    return _git(path, "show", f"{revision}:./{path.relative_to(_folder(path))}")


def _git(path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A command of git, in the folder of a file or in the nearest one above that is there."""
    command = ["git", "-C", str(_folder(path)), *words]
    return subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", check=False)


def _folder(path: Path) -> Path:
    return next((parent for parent in path.parents if parent.is_dir()), Path("/"))


def refuse_same_site(intents: Sequence[Intent]) -> None:
    """Two intents of one site name would overwrite each other's files. Raises InputError."""
    report, seen = Report(), dict[str, Intent]()
    for intent in intents:
        other = seen.setdefault(str(intent.folder), intent)
        if other is not intent and other.path.resolve() != intent.path.resolve():
            place = intent.source.place(("site",))
            report.error("FAB138", place, f"site '{intent.site.site}' is also the name of {other.path}")
    report.raise_errors()


def origin(path: Path) -> Origin:
    """Where an intent comes from. A shallow clone does not know which commit changed a file last: none is named."""
    whole = path.resolve()
    answer = _git(whole, "rev-parse", "--show-toplevel", "--is-shallow-repository")
    if answer.returncode:
        return Origin(path.as_posix())
    root, shallow = answer.stdout.splitlines()
    name = whole.relative_to(Path(root).resolve()).as_posix()
    changed = bool(_git(whole, "status", "--porcelain", "--", str(whole)).stdout.strip())
    last = _git(whole, "log", "-1", "--format=%H %cs", "--", str(whole))
    if last.returncode or not last.stdout.strip() or shallow == "true":
        return Origin(name, changed=changed)
    commit, day = last.stdout.split()
    return Origin(name, commit[:12], day, changed)


# --- two states of a site -------------------------------------------------------------------------------------

Planning = Callable[[Intent, Lock | None], Plan]


@dataclass(frozen=True)
class IntentVersion:
    """An intent, and the numbers of its commit where it comes from one."""

    intent: Intent
    numbers: Lock | None

    def templates(self, name: str, target: Path) -> Path:
        """The folder of its own templates, laid in `target` where it comes from a commit; `name` is what it was called."""
        return templates(self.intent, name, target)


@dataclass(frozen=True)
class IntentVersions:
    """Both intents; None for the side that a site which comes or goes does not have."""

    old: str  # as named by the user
    new: str
    before: IntentVersion | None
    after: IntentVersion | None

    @property
    def both(self) -> tuple[IntentVersion | None, IntentVersion | None]:
        """The old side, then the new one."""
        return self.before, self.after

    @property
    def keys(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """What both intents say, defaults put in; a side that is not there says nothing else."""
        before, after = (side.intent.keys() if side else None for side in self.both)
        return before or after or {}, after or before or {}


def planned(sides: IntentVersions, plan: Planning) -> tuple[Plan, Plan]:
    """Both plans; the one of a side that is not there has no fabrics."""
    before, after = sides.both
    if before is None or after is None:
        version = before or after
        assert version is not None
        plan_ = plan(version.intent, version.numbers)
        empty = replace(plan_, fabrics={})
        return (plan_, empty) if after is None else (empty, plan_)
    old = plan(before.intent, before.numbers)
    # As in `generate`, the new plan keeps the numbers of the old one, unless its commit has a lock file.
    return old, plan(after.intent, after.numbers or (old.lock if _same_site(before, after) else None))


def read_sides(old: str, new: str) -> IntentVersions:
    """The two intents by their names, files or `git:REV[:FILE]`, each with the numbers of its commit.

    A file that one side does not have, where `git:REV` stands for the other's, is a site that comes or goes. Raises
    InputError with the mistakes of both.
    """
    names, paths = (old, new), [_path(name) for name in (new, old)]
    absent = [missing(name, other) for name, other in zip(names, paths, strict=True)]
    if sum(absent) != 1 or not any(map(is_short, names)):
        absent = [False, False]
    given = zip(names, paths, absent, strict=True)
    sides, mistakes = tried(given, lambda one: None if one[2] else IntentVersion(*read(*one[:2])))
    if mistakes:
        raise InputError(mistakes)
    before, after = sides
    if before and after and _same_site(before, after) and before.numbers is None:
        intent = before.intent
        if not (intent.folder / locks.FILE).exists():
            # A file of another folder: the numbers in use are in the folder of the new one.
            before = IntentVersion(Intent(intent.path, intent.site, intent.source, after.intent.folder), None)
    return IntentVersions(old, new, before, after)


def _same_site(one: IntentVersion, other: IntentVersion) -> bool:
    return one.intent.site.site == other.intent.site.site


def _path(name: str) -> Path | None:
    """The file that a name speaks of, for the other side to take."""
    if not name.startswith(GIT):
        return Path(name)
    file = name.removeprefix(GIT).partition(":")[2]
    return Path(file) if file else None
