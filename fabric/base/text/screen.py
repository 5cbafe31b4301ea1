"""Where a text goes: the width of its lines, and whether they take colour.

Text is made for a file unless `on(screen)` says otherwise: lines of any length, no colour. A pipe is a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from fabric.base.text.words import visible

_STYLES = {
    "error": "1;31",
    "warning": "1;33",
    "note": "1;36",
    "pass": "32",
    "fail": "1;31",
    "skip": "33",
    "added": "32",
    "removed": "31",
    "changed": "33",
    "title": "1",
    "faint": "2",
}
_RESET = "\x1b[0m"
_ESCAPE = re.compile(r"\x1b\[[0-9;]*m")
_STYLED = re.compile(r"(\x1b\[[0-9;]*m)([^\x1b]*)\x1b\[0m")  # a whole text of one style
_OWN = re.compile(rf"(\x1b\[(?:{'|'.join(sorted(set(_STYLES.values())))})m)([^\x1b]*)\x1b\[0m")  # what `style` makes
_WORD = re.compile(r"( *)([^ ]+)")
_LABEL = re.compile(r" *[^ ]+(?: [^ ]+)* {2,}(?=[^ ])|[-*] |\d+\. ")


@dataclass(frozen=True, slots=True)
class Screen:
    """A terminal, or a file: width 0 is no limit."""

    width: int = 0
    colour: bool = False


FILE = Screen()
_CURRENT: ContextVar[Screen] = ContextVar("screen", default=FILE)


def screen() -> Screen:
    """What text is made for now."""
    return _CURRENT.get()


@contextmanager
def on(target: Screen) -> Iterator[None]:
    """Text that is made inside is for this screen."""
    token = _CURRENT.set(target)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def style(kind: str, text: str) -> str:
    """Text in the colour of its kind where the screen has colours.

    Args:
        kind: error, warning, note, pass, fail, skip, added, removed, changed, title, faint; another one has no colour.
    """
    code = _STYLES.get(kind)
    return f"\x1b[{code}m{text}{_RESET}" if code and text and screen().colour else text


def guarded(text: str, colour: bool) -> str:
    r"""Text for a terminal or a file whose control characters are spelled, `\x1b`, but for those of `style`.

    So no name, log line or config of others moves the cursor, hides text or turns its direction around. Where there is
    colour, such a text can have one of our colors at most, and never past its own end.

    Args:
        colour: whether the stream takes colour.
    """
    if not colour or "\x1b" not in text:
        return visible(text)
    parts, at = list[str](), 0
    for match in _OWN.finditer(text):
        parts += [visible(text[at : match.start()]), match[1], visible(match[2]), _RESET]
        at = match.end()
    return "".join([*parts, visible(text[at:])])


def diff_line(line: str) -> str:
    """A line of a diff in the colour of its sign: `+`, `-` or `~`, blanks before it or not."""
    kind = {"+": "added", "-": "removed", "~": "changed", "@": "faint"}.get(line.lstrip()[:1], "")
    return style(kind, line)


def width_of(text: str) -> int:
    """Columns of a terminal that a text takes: none for colour, two for a wide character."""
    if text.isascii() and "\x1b" not in text:
        return len(text)
    plain = _ESCAPE.sub("", text)
    if all(sign < "\u1100" or "\u2000" <= sign < "\u2e80" for sign in plain):
        return len(plain)
    from rich.cells import cell_len

    return cell_len(plain)


def padded(text: str, side: str, width: int) -> str:
    """Text with blanks up to a width; `side` is `<` or `>`."""
    blanks = " " * (width - width_of(text))
    return blanks + text if side == ">" else text + blanks


def shortened(text: str, width: int) -> str:
    """`backend-lea…`: text cut to a width. Keeps its colour."""
    if width_of(text) <= width:
        return text
    if styled := _STYLED.fullmatch(text):
        return styled[1] + shortened(styled[2], width) + _RESET
    plain = _ESCAPE.sub("", text)
    while width_of(plain) > max(width - 1, 0):
        plain = plain[:-1]
    return plain.rstrip() + "…"


def wrapped(text: str, width: int, hang: int = 0) -> list[str]:
    """A line as lines of at most `width` columns, broken at blanks only; a word that is wider has a line of its own.

    Args:
        hang: blanks before each line but the first.
    """
    if not width or width_of(text) <= width:
        return [text]
    if styled := _STYLED.fullmatch(text):
        return [styled[1] + line + _RESET for line in wrapped(styled[2], width, hang)]
    lines, line, used = [], "", 0
    for blanks, word in _WORD.findall(text):
        size = width_of(word)
        if used and line.strip() and used + len(blanks) + size > width:
            lines.append(line)
            line, used, blanks = " " * hang, hang, ""
        line, used = line + blanks + word, used + len(blanks) + size
    return [*lines, line]


def fit(text: str) -> str:
    """A text whose lines fit the screen: longer ones are broken at blanks, and go on below their first word or label."""
    width = screen().width
    if not width or all(width_of(line) <= width for line in text.split("\n")):
        return text
    return "\n".join(part for line in text.split("\n") for part in wrapped(line, width, _hang(line, width)))


def _hang(line: str, width: int) -> int:
    """Blanks before the lines that a line goes on with: below its second column if that begins early, else four more."""
    label = _LABEL.match(line)
    if label and label.end() <= width // 3:
        return label.end()
    return min(len(line) - len(line.lstrip(" ")) + 4, width // 2)
