"""CHANGELOG.md with the Unreleased section built from the fragments in changelog.d/; the page with all changes of a release.

`python -m tools.docs.changelog` prints the new file. `python -m tools.docs.changelog VERSION` prints what is kept as
docs/releases/VERSION.md before the fragments are deleted: the notes in CHANGELOG.md are short and written by hand.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tools.docs.ending import ending

ROOT = Path(__file__).parents[2]
HEADING = "## Unreleased\n"
RELEASED = "<!-- Released versions"
NONE = "No changes.\n"


def entries() -> str:
    """The entries of all fragments, grouped by type, in Markdown."""
    command = [sys.executable, "-m", "towncrier", "build", "--draft", "--version", "Unreleased", "--date", "-"]
    draft = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    _, _, found = draft.partition("\n")  # after the title
    return f"{found.strip()}\n" if found.strip() else NONE


def page() -> str:
    """The whole file: what precedes the section, the section, the released versions."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    before, _, rest = text.partition(HEADING)
    _, mark, released = rest.partition(RELEASED)
    return f"{before}{HEADING}\n{entries()}\n{mark}{released}"


def release(version: str) -> str:
    """Every change of a release, as a page two folders below CHANGELOG.md."""
    listed = entries().replace("\n### ", "\n## ").replace("### ", "## ", 1).replace("](docs/", "](../")
    notes = "The list behind the notes in [CHANGELOG.md](../../CHANGELOG.md), entry by entry."
    links = (
        "[CHANGELOG.md](../../CHANGELOG.md): the notes of every release.",
        "[What does an upgrade of `fabric` change?](../howto/upgrade.md): generated files before and after.",
    )
    return f"# All changes of {version}\n\n{notes}\n\n{listed}\n{ending(f'python -m tools.docs.changelog {version}', *links)}"


if __name__ == "__main__":
    print(release(sys.argv[1]) if len(sys.argv) > 1 else page(), end="")
