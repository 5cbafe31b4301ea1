"""Which missed damage no comparison of configs can see: a rule on the text of the files, blind to what a line means.

A rule on text errs on both sides: a number that another line has by chance makes a GAP, and so does `shutdown` of a port.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tests.checks.damage import ADDED_LINE, CHANGED, NUMBER, SWAPPED, WORD, Damage

OWN_VALUE = "value that occurs once in the folder"
OWN_OBJECT = "statement that no equal has, numbers aside"
OWN_ORDER = "two lines that no equal has in this order"
NEW = "valid statement added"
GAP = "gap"


def unseen(damage: Damage, original: str, equals: Iterable[str], others: Iterable[str]) -> str:
    """Why a damage cannot be seen, or GAP.

    Args:
        damage: that was missed.
        original: text of the file before the damage.
        equals: texts of the files of devices of the same role.
        others: texts of all other files of the folder, those of equals among them.
    """
    lines = original.split("\n")
    line = lines[damage.line] if damage.line < len(lines) else ""
    if damage.kind == ADDED_LINE:
        return NEW
    if damage.kind == CHANGED:
        old = changed_word(line, damage.what)
        count = sum(WORD.findall(text).count(old) for text in (original, *others) if old in text)
        return OWN_VALUE if count == 1 else GAP
    if damage.kind == SWAPPED:
        pair = f"\n{line}\n{lines[damage.line + 1]}\n"
        return GAP if any(pair in f"\n{text}\n" for text in equals) else OWN_ORDER
    form = NUMBER.sub("#", line.strip())
    return GAP if any(form == NUMBER.sub("#", one.strip()) for text in equals for one in text.split("\n")) else OWN_OBJECT


def changed_word(before: str, after: str) -> str:
    """The word of a line that differs after the damage."""
    return next(old for old, new in zip(WORD.findall(before), WORD.findall(after), strict=True) if old != new)


def texts(files: Mapping[str, str], without: str = "") -> list[str]:
    """Texts of files, without one of them."""
    return [text for path, text in files.items() if path != without]
