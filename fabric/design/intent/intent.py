"""An intent file that was read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabric.model.settings.site import Home

if TYPE_CHECKING:
    from fabric.base.diagnostics import Place
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
