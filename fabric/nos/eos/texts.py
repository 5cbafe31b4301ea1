"""Texts for people in an EOS config, which end in `EOF`: their lines are emptied, so that the numbers of the others stay."""

from __future__ import annotations

END = "EOF"


def without_banners(text: str) -> str:
    """The config without the texts of its banners."""
    lines, inside = text.split("\n"), False
    for at, line in enumerate(lines):
        if inside or line.startswith("banner "):
            inside = line.strip() != END
            lines[at] = ""
    return "\n".join(lines)


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
