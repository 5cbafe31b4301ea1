"""Where a site lives on disk."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Home:
    """The file of an intent, and the folder that its site's files lie in."""

    path: Path = Path()
    folder: Path = Path()

    @property
    def shown(self) -> Path:
        """The folder as a person at this prompt would name it."""
        path = os.path.relpath(self.folder)
        return self.folder if path.startswith("..") else Path(path)
