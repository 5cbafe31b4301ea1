"""`nv` commands as a shell reads them: quotes, backslashes, comments, several commands in a line, one command over lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

BLANK = r"(?:[ \t]|\\\n)"
NV = re.compile(
    rf"[ \t]*(?:[^\s'\"]+[$#>][ \t]*)?(?:sudo{BLANK}+)?nv{BLANK}+(?=(?:set|unset|config|action|show|list-commands)\b)"
)
PIECE = re.compile(  # of a word: in quotes of three kinds, an escaped character, plain text
    r"""'([^']*)'|"([^"\\]*(?:\\.[^"\\]*)*)"|\$'([^'\\]*(?:\\.[^'\\]*)*)'|\\(.)|((?:[^\s'"\\;&|<>$]|\$(?!'))+)""", re.S
)
GAP = re.compile(rf"{BLANK}+")
COMMENT = re.compile(r"#[^\n]*")
REDIRECTION = re.compile(r"\d?(?:>>|[<>])(?:&\d)?|\|(?!\|)|&(?!&)")  # and pipes: what follows them is no part of the command
END = re.compile(r"&&|\|\||;|\n|\Z")
QUOTED_CHARS = 8_000  # a banner is shorter: a quote that is open for longer was never closed
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0"}  # of $'…'


@dataclass(frozen=True, slots=True)
class Line:
    """A command, or a line that is none.

    Attributes:
        words: of the command behind `nv`, `set` first; none of a line that is no command.
        text: the line.
        broken: whether a quote is not closed.
    """

    number: int
    words: tuple[str, ...]
    text: str
    broken: bool = False


def is_commands(text: str) -> bool:
    """Whether a text has an `nv` command at the begin of a line."""
    return "nv" in text and re.search(rf"^{NV.pattern}", text, re.M) is not None


def commands(text: str) -> Iterator[Line]:
    """Every command and every other line that is neither blank nor a comment, in order."""
    at, number = 0, 1
    while at < len(text):
        stop = text.find("\n", at)
        stop = len(text) if stop < 0 else stop
        line = text[at:stop].strip()
        match = NV.match(text, at)
        end = stop
        if match:
            words, end = _words(text, match.end())
            yield Line(number, tuple(words or ()), line, broken=words is None)
            if words is None:
                end = stop
        elif line and line[0] != "#":
            yield Line(number, (), line)
        follows = END.match(text, end)
        end = follows.end() if follows else stop + 1
        number += text.count("\n", at, end)
        at = max(end, at + 1)


def _words(text: str, at: int) -> tuple[list[str] | None, int]:
    """(words of a command, its end); no words where a quote is not closed."""
    words: list[str] = []
    joined = counts = True  # a blank stands before; no redirection has begun
    while END.match(text, at) is None:
        if gap := GAP.match(text, at):
            at, joined = gap.end(), True
        elif joined and (comment := COMMENT.match(text, at)):
            at = comment.end()
        elif redirection := REDIRECTION.match(text, at):
            at, counts = redirection.end(), False
        elif piece := PIECE.match(text, at, at + QUOTED_CHARS):
            if counts and joined:
                words.append("")
            if counts:
                words[-1] += _plain(piece)
            at, joined = piece.end(), False
        else:
            return None, at
    return words, at


def _plain(piece: re.Match[str]) -> str:
    """What the shell makes of a piece of a word."""
    single, double, ansi, escaped, plain = piece.groups()
    if double is not None:
        return re.sub(r"\\([$`\"\\])", r"\1", double.replace("\\\n", ""))
    if ansi is not None:
        return re.sub(r"\\(.)", lambda match: ESCAPES.get(match[1], match[1]), ansi, flags=re.S)
    return next(text for text in (single, escaped, plain) if text is not None)
