"""Text for a screen: words that count, the width of lines, whether they take colour, and columns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

# --- Words and lists ------------------------------------------------------------------------------------------

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


# --- Width and colour -----------------------------------------------------------------------------------------

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


# --- Columns --------------------------------------------------------------------------------------------------

_COLUMN = re.compile(r"([<>])(\d*)")
_TEXT = 20  # a column of texts that is narrower than that reads badly
_FIRST = 8  # the first column is not shortened below that


@dataclass(frozen=True, slots=True)
class _Column:
    side: str  # `<` or `>`
    width: int  # of its widest cell, or as stated
    least: int  # width with its texts broken at every blank that may be one


def aligned(
    rows: Sequence[Sequence[str]], columns: str = "", *, indent: str = "", gap: str = "  ", head: Sequence[str] = ()
) -> list[str]:
    """Rows of cells as lines.

    Args:
        columns: `<` or `>` for every column, and after it the least width: `<46>5>9`. Default: all to the left.
        head: titles above the columns; columns that do not fit the screen stand below their rows with their titles.
    """
    lines = [head, *rows] if head else rows
    if not lines:
        return []
    stated = _COLUMN.findall(columns or "<" * len(lines[0]))
    widest = [max(map(width_of, column)) for column in zip(*lines, strict=True)]
    widths = [max(least, int(width or 0)) for least, (_, width) in zip(widest, stated, strict=True)]
    sides = [side for side, _ in stated]
    out = [_line(row, sides, widths, indent, gap) for row in lines]
    limit = screen().width
    if not limit or max(map(width_of, out)) <= limit:
        return [style("title", out[0]), *out[1:]] if head else out
    return _narrow(rows, head, list(map(_column, sides, widest, zip(*lines, strict=True))), indent, gap)


def table(head: Sequence[str], rows: Sequence[Sequence[str]], align: str) -> list[str]:
    """Columns below a line of titles, two blanks in; those that are empty throughout are left out.

    Args:
        align: `<` or `>` for every column.
    """
    kept = [index for index in range(len(head)) if head[index] or any(row[index] for row in rows)]
    body = [[row[index] for index in kept] for row in rows]
    return aligned(body, "".join(align[index] for index in kept), indent="  ", head=[head[index] for index in kept])


def _line(row: Sequence[str], sides: Sequence[str], widths: Sequence[int], indent: str, gap: str) -> str:
    return (indent + gap.join(map(padded, row, sides, widths))).rstrip()


def _column(side: str, width: int, column: Sequence[str]) -> _Column:
    """Numbers and their units stay on one line; texts are broken at blanks, yet not into a column of single words."""
    words = max((width_of(word) for cell in column for word in cell.split()), default=0)
    if side == "<":
        return _Column(side, width, max(words, min(width, _TEXT)))
    title, *values = column
    return _Column(side, width, max([*map(width_of, values), *map(width_of, title.split())], default=0))


def _narrow(
    rows: Sequence[Sequence[str]], head: Sequence[str], columns: Sequence[_Column], indent: str, gap: str
) -> list[str]:
    room = screen().width - len(indent)
    count = len(columns)
    while count > 1 and sum(column.least for column in columns[:count]) + len(gap) * (count - 1) > room:
        count -= 1
    shown = columns[:count]
    widths = _shrunk(shown, room - len(gap) * (count - 1))
    out = [style("title", line) for line in _broken(head[:count], shown, widths, indent, gap)] if head else []
    for row in rows:
        out += _broken(row[:count], shown, widths, indent, gap)
        titles = head[count:] or [""] * len(row[count:])
        rest = [f"{title}: {cell}" if title else cell for title, cell in zip(titles, row[count:], strict=True) if cell]
        below = indent + "    "
        lines = wrapped(below + "; ".join(rest), screen().width, len(below)) if rest else []
        out += [shortened(line, screen().width) for line in lines]
    return out


def _shrunk(columns: Sequence[_Column], room: int) -> list[int]:
    """Widths that fit: the widest column of texts gives first."""
    widths = [column.width for column in columns]
    while sum(widths) > room:
        loose = [index for index, column in enumerate(columns) if widths[index] > column.least]
        if not loose:
            return [max(min(widths[0], room), _FIRST)] if len(widths) == 1 else widths
        widest = max(loose, key=lambda index: widths[index])
        goal = max(columns[widest].least, widths[widest] - (sum(widths) - room))
        widths[widest] = max(goal, min(widths[widest] - 1, sorted(widths)[-2])) if len(widths) > 1 else goal
    return widths


def _broken(row: Sequence[str], columns: Sequence[_Column], widths: Sequence[int], indent: str, gap: str) -> list[str]:
    """A row as one or more lines."""
    parts = [
        [shortened(part, width) for part in wrapped(cell, width, min(2, width // 8))]
        for cell, width in zip(row, widths, strict=True)
    ]
    sides = [column.side for column in columns]
    height = max(map(len, parts))
    filled = [[*part, *[""] * (height - len(part))] for part in parts]
    return [_line(line, sides, widths, indent, gap) for line in zip(*filled, strict=True)]
