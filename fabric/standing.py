"""The generated files as they lie there: who judges or tries them takes what a person edited, not what would be written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabric.output import OutputError, manifest
from fabric.output.files import sha256

if TYPE_CHECKING:
    from fabric.pipeline import Intent


class Standing:
    """The folder of a site: which files stand there as they were generated, and which were changed since."""

    def __init__(self, intent: Intent) -> None:
        self.folder, self.shown = intent.folder, intent.shown
        self.owned = manifest.Owned()
        self.lost = ""  # why nothing there is looked at, though there are files
        if not intent.site.output.keep:
            return
        try:
            self.owned = manifest.read(intent.folder)
        except OutputError as error:
            self.lost = error.message.replace(str(intent.folder), str(intent.shown))
        if not self.owned and not self.lost and (intent.folder / "configs").exists():
            self.lost = "there is no manifest"

    def look(self, path: str, fresh: bytes) -> tuple[bytes, bool]:
        """(what is to be judged, whether an older intent made what is there). A file edited by hand is judged as it is."""
        if not self.owned:
            return fresh, False
        try:
            there = (self.folder / path).read_bytes()
        except OSError:
            return fresh, True
        if there == fresh:
            return fresh, False
        return (fresh, True) if self.owned.wrote(path, sha256(there)) else (there, False)
