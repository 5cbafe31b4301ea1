"""CHANGELOG.md with the Unreleased section built from the fragments in changelog.d/.

Run as `python -m tools.docs.changelog`; the output replaces the file.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
HEADING = "## Unreleased\n"
RELEASED = "<!-- Released versions:"
NONE = "No changes.\n"


def unreleased() -> str:
    """The entries of all fragments, grouped by type, in Markdown."""
    command = [sys.executable, "-m", "towncrier", "build", "--draft", "--version", "Unreleased", "--date", "-"]
    draft = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    _, _, entries = draft.partition("\n")  # after the title
    return f"{entries.strip()}\n" if entries.strip() else NONE


def page() -> str:
    """The whole file: what precedes the section, the section, the released versions."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    before, _, rest = text.partition(HEADING)
    _, mark, released = rest.partition(RELEASED)
    return f"{before}{HEADING}\n{unreleased()}\n{mark}{released}"


if __name__ == "__main__":
    print(page(), end="")
