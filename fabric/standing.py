"""The generated files as they lie there: who judges or tries them takes what a person edited, not what would be written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from fabric.diagnostics import Diagnostic, Place
from fabric.output import LineEndsError, OutputError, files as stored, manifest, unfinished
from fabric.output.files import sha256

if TYPE_CHECKING:
    from fabric.plan import SiteSettings
    from fabric.settings.home import Home

State = Literal["fresh", "stale", "edited", "CRLF"]


@dataclass(frozen=True, slots=True)
class Look:
    """One generated file: what is to be judged of it, and how what lies there came about."""

    data: bytes
    state: State = "fresh"
    stale: bool = False  # an older intent made it, or it is gone; an edited file can be that as well


def unfinished_run(home: Home, place: Place) -> Diagnostic | None:
    """That what lies in a site's folder may be of two designs: who reads numbers from it should know."""
    try:
        if not unfinished(home.folder):
            return None
    except OutputError:
        return None  # who writes there says why
    message = f"{home.shown}: a run of `fabric generate` was stopped half-way: files of two designs may lie there"
    hint = f"run `fabric generate {home.path}`: it finishes that run, or takes it back, before its own"
    return Diagnostic("FAB167", place, message, hint, "warning")


class Standing:
    """The folder of a site: which files stand there as they were generated, and which were changed since."""

    def __init__(self, settings: SiteSettings) -> None:
        home = settings.home
        self.folder, self.shown = home.folder, home.shown
        self.owned = manifest.Owned()
        self.lost = ""  # why nothing there is looked at, though there are files
        self.line_ends = False  # the manifest was checked out with CRLF line ends, which is why
        self.unfinished = False  # a run was stopped half-way: files of two designs may lie there
        if not settings.output.keep:
            return
        try:
            self.unfinished = unfinished(home.folder)
            self.owned = manifest.read(home.folder)
        except OutputError as error:
            self.lost = error.message.replace(str(home.folder), str(home.shown))
            self.line_ends = isinstance(error, LineEndsError)
        if not self.owned and not self.lost and (home.folder / "configs").exists():
            self.lost = "there is no manifest"

    def look(self, path: str, fresh: bytes) -> Look:
        """What is to be judged of a file that a plan makes. One that was edited by hand is judged as it is; nothing is read
        through a symlink."""
        if not self.owned:
            return Look(fresh)
        try:
            there = stored.read(self.folder, path)
        except OutputError:
            there = None
        if there is None:
            return Look(fresh, "stale", stale=True)
        wrote = self.owned.wrote
        stale = not wrote(path, sha256(fresh))
        if there == fresh:
            return Look(fresh, stale=stale)
        if b"\r\n" in there and wrote(path, sha256(there.replace(b"\r\n", b"\n"))):
            return Look(fresh, "CRLF", stale=stale)
        if wrote(path, sha256(there)):
            return Look(fresh, "stale", stale=True)
        return Look(there, "edited", stale=stale)
