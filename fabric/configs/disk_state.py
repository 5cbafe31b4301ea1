"""State of the generated files on disk. Checks and the lab use edited files as edited."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from fabric.base.diagnostics import Diagnostic, Place
from fabric.base.output import LineEndsError, OutputError, site_folder, site_folder as stored, unfinished
from fabric.base.output.site_folder import sha256

if TYPE_CHECKING:
    from fabric.model.plan import SiteSettings
    from fabric.model.settings.site import Home

State = Literal["fresh", "stale", "edited", "CRLF"]


@dataclass(frozen=True, slots=True)
class FileState:
    """One generated file: the content to check, and how it differs from the plan."""

    data: bytes
    state: State = "fresh"
    stale: bool = False  # written for an older intent, or missing; an edited file can be stale as well


def unfinished_run(home: Home, place: Place) -> Diagnostic | None:
    """Warning that an interrupted run may have left files of two designs in the folder of a site."""
    try:
        if not unfinished(home.folder):
            return None
    except OutputError:
        return None  # `fabric generate` reports the error
    message = f"{home.shown}: a run of `fabric generate` was interrupted: the folder may contain files of two designs"
    hint = f"run `fabric generate {home.path}`: it first completes or rolls back the interrupted run"
    return Diagnostic("FAB167", place, message, hint, "warning")


class GeneratedFolder:
    """The folder of a site: which files are as generated, and which were changed since."""

    def __init__(self, settings: SiteSettings) -> None:
        home = settings.home
        self.folder, self.shown = home.folder, home.shown
        self.owned = site_folder.Owned()
        self.lost = ""  # why the files on disk are ignored
        self.line_ends = False  # because the manifest has CRLF line endings
        self.unfinished = False  # an interrupted run may have left files of two designs
        if not settings.output.keep:
            return
        try:
            self.unfinished = unfinished(home.folder)
            self.owned = site_folder.read_manifest(home.folder)
        except OutputError as error:
            self.lost = error.message.replace(str(home.folder), str(home.shown))
            self.line_ends = isinstance(error, LineEndsError)
        if not self.owned and not self.lost and (home.folder / "configs").exists():
            self.lost = "there is no manifest"

    def look(self, path: str, fresh: bytes) -> FileState:
        """Content to check of a planned file. A hand-edited file is checked as edited; symlinks are not followed."""
        if not self.owned:
            return FileState(fresh)
        try:
            on_disk = stored.read_file(self.folder, path)
        except OutputError:
            on_disk = None
        if on_disk is None:
            return FileState(fresh, "stale", stale=True)
        wrote = self.owned.wrote
        stale = not wrote(path, sha256(fresh))
        if on_disk == fresh:
            return FileState(fresh, stale=stale)
        if b"\r\n" in on_disk and wrote(path, sha256(on_disk.replace(b"\r\n", b"\n"))):
            return FileState(fresh, "CRLF", stale=stale)
        if wrote(path, sha256(on_disk)):
            return FileState(fresh, "stale", stale=True)
        return FileState(on_disk, "edited", stale=stale)
