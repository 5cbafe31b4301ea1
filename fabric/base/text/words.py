"""Counts and lists in words."""

from __future__ import annotations

import re
from collections.abc import Sequence

# Control characters (Unicode categories Cc, Cf, Zl, Zp) but line feed and tab, and a carriage return at the end of a line.
# U+202E turns the direction of a line around; U+200B is invisible; tags (U+E00xx) spell hidden text.
_CONTROL = re.compile(
    "\r(?!\n)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0001-\U000e007f]"
)


def plural(count: int, noun: str, nouns: str = "") -> str:
    """`1 leaf`, `2 leaves`."""
    return f"{count} {_form(count, noun, nouns)}"


def counted(count: int, noun: str, nouns: str = "") -> str:
    """`1 leaf`, `1,024 leaves`."""
    return f"{count:,} {_form(count, noun, nouns)}"


def _form(count: int, noun: str, nouns: str) -> str:
    return noun if count == 1 else nouns or noun + "s"


def listed(names: Sequence[str], most: int = 6) -> str:
    """`a, b, c`; of more than `most` names `a, b, c and 29 more`."""
    shown = ", ".join(names[:most])
    return f"{shown} {and_more(len(names) - most)}" if len(names) > most else shown


def either(names: Sequence[str]) -> str:
    """`a, b or c`."""
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last


def and_more(count: int, noun: str = "", nouns: str = "", see: str = "") -> str:
    """`and 29 more`, `and 1 more line`, `and 29 more; --json shows them`: the rest of a list.

    Args:
        see: option or command that shows the rest.
    """
    text = f"and {count:,} more" + (f" {_form(count, noun, nouns)}" if noun else "")
    return f"{text}; {see} shows {'it' if count == 1 else 'them'}" if see else text


def devices(names: Sequence[str], same: bool) -> str:
    """Devices that share a finding: `leaf001, leaf002 and 16 more`.

    Args:
        same: whether their messages are the same word for word; else `leaf001 (likewise leaf002 and 16 more)`.
    """
    if same or len(names) < 2:
        return listed(names, 2)
    return f"{names[0]} (likewise {listed(names[1:], 1)})"


def printable(text: str, instead: str = "") -> str:
    r"""Text of others on one line: what does not print (escape sequences, line breaks, bidi marks) is spelled, `\x1b`.

    Args:
        instead: of each such sign, where its spelling does not fit.
    """
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() else instead or ascii(sign)[1:-1] for sign in text)


def visible(text: str) -> str:
    r"""Text of many lines whose control characters are spelled, `\x1b`; line ends and tabs stay.

    For whole reports and files; a text without control characters is returned as it is.
    """
    return _CONTROL.sub(lambda match: ascii(match[0])[1:-1], text)
