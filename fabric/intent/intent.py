"""An intent file that was read."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

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

    @property
    def shown(self) -> Path:
        """The folder as a person at this prompt would name it."""
        path = os.path.relpath(self.folder)
        return self.folder if path.startswith("..") else Path(path)
