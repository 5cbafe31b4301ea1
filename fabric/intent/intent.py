"""An intent file that was read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabric.settings.home import Home

if TYPE_CHECKING:
    from fabric.intent.site import Site
    from fabric.source import Source


@dataclass(frozen=True)
class Intent:
    """An intent, and the folder that its site's files lie in."""

    path: Path
    site: Site
    source: Source
    folder: Path

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
