"""The layout of an EOS config. The comment of a section is lines of text, which end in `EOF`: they are emptied."""

from __future__ import annotations

import re

from fabric.nos.eos.interactive_commands import as_shown
from fabric.nos.reading.indented import END, Layout


def without_comments(text: str) -> str:
    """The config without the comments of its sections: `comment`, lines of text, `EOF`. One without an end is left."""
    if f"\n{END}" not in text and f" {END}" not in text:
        return text
    lines, begun = text.split("\n"), -1
    for at, line in enumerate(lines):
        word = line.strip()
        if word == "comment" and begun < 0:
            begun = at
        elif word == END and begun >= 0:
            lines[begun : at + 1] = [""] * (at + 1 - begun)
            begun = -1
    return "\n".join(lines)


def _shown(text: str) -> str:
    return as_shown(without_comments(text))


LAYOUT = Layout(banner=re.compile(r"banner \w+"), shown=_shown)
