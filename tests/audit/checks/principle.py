"""Which missed damage no comparison of configs can see: rules on the text of the files, which know little of its meaning.

A rule that is in doubt says GAP: a number that another line has by chance makes one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from itertools import pairwise

from tests.audit.checks.damage import ADDED_LINE, CHANGED, NUMBER, SWAPPED, WORD, Damage

OWN_VALUE = "value that occurs once in the folder"
OWN_OBJECT = "statement that no equal has, numbers aside"
OWN_ORDER = "two lines that no equal has in this order"
ENTRY_NUMBER = "number of an entry, with the same order of entries"
HARDWARE = "speed, FEC or breakout of a port whose far end is in no file"
PORT_STATE = "state of a port whose far end is in no file"
NEW_OBJECT = "valid object added"
GAP = "gap"
WHY = {  # class → (why nothing can be seen, an example)
    OWN_VALUE: (
        "No other line of the folder has the value, so another one contradicts nothing.",
        "`rd 10.0.0.17:1` changed to `rd 10.0.0.17:2`, where nothing else has that number",
    ),
    OWN_OBJECT: (
        "No device of the role has such a statement, so that there is none is no difference.",
        "`aggregate-address` of the only device that has one",
    ),
    OWN_ORDER: ("No device of the role has these lines in this order.", "two entries of a list of this switch alone"),
    ENTRY_NUMBER: ("The device works as before: only the order of the entries counts.", "`seq 10` changed to `seq 11`"),
    HARDWARE: (
        "They depend on the server's NIC and on the cable, which no config names; ports of one role may differ.",
        "`link-fec rs` deleted on a port to a server",
    ),
    PORT_STATE: (
        "A port is shut down by choice; the server that would miss it has no config here.",
        "`no shutdown` deleted on a port to a server",
    ),
    NEW_OBJECT: (
        "A route, a VLAN or a neighbor that only one device has is no fault as such.",
        "`ip route 192.0.2.0/24 Null0` added",
    ),
}
ADDRESS = re.compile(r"(?<![\w:.])[0-9A-Fa-f]{0,4}:[0-9A-Fa-f:]*:[0-9A-Fa-f:.]*")  # IPv6: its letters are digits as well
NUMBERED = re.compile(  # number of an entry of a list or policy
    r"\bseq (\d+)|^\s*(\d+) (?:permit|deny|remark)\b|\broute-map \S+ (?:permit|deny) (\d+)|\"PRIORITY\": \"(\d+)\""
)
MEDIUM = re.compile(r"(?i)\b(?:link-)?(?:speed|fec|autoneg|auto-negotiate|brkout_mode|breakout|error-correction|lanes)\b")
STATE = re.compile(r"(?:no )?shutdown|link-down yes|disable;|(?:up|down): \{\}")
OBJECTS = re.compile(  # lines of `damage.FOREIGN` that add an object; others change what the device does
    r"\s*(?:ip route|vlan|neighbor|network|ip access-list|router ospf|ospf|feature|static|et-|swp60)\b"
    r"|\s*\"(?:STATIC_ROUTE|Ethernet900)\""
)


def unseen(
    damage: Damage, original: str, equals: Iterable[str], others: Iterable[str], ports: Mapping[str, bool] | None = None
) -> str:
    """Why a damage cannot be seen, or GAP.

    Args:
        damage: that was missed.
        original: text of the file before the damage.
        equals: texts of the files of devices of the same role.
        others: texts of all other files of the folder, those of equals among them.
        ports: port that the line is about → whether the device at its far end has a file.
    """
    lines = original.split("\n")
    line = lines[damage.line] if damage.line < len(lines) else ""
    if damage.kind == ADDED_LINE:
        return NEW_OBJECT if OBJECTS.match(damage.what) else GAP
    if damage.kind == CHANGED:
        return _changed(line, damage.what, [original, *others])
    if damage.kind == SWAPPED:
        return GAP if _has_pair(line, lines[damage.line + 1], equals) else OWN_ORDER
    if ports and not any(ports.values()):
        if STATE.fullmatch(line.strip()):
            return PORT_STATE
        if _is_medium(line):
            return HARDWARE
    form = _form(line)
    return GAP if any(form == _form(one) for text in equals for one in text.split("\n")) else OWN_OBJECT


def _changed(line: str, after: str, texts: Collection[str]) -> str:
    """Of one changed word."""
    if NUMBERED.sub(_without, line) == NUMBERED.sub(_without, after):
        return ENTRY_NUMBER
    old, new = changed_words(line, after)
    if old.partition("/")[0] == new.partition("/")[0]:
        return GAP  # the length of a prefix, which others share
    count = sum(WORD.findall(text).count(old) for text in texts if old in text)
    return OWN_VALUE if count == 1 else GAP


def _has_pair(line: str, after: str, equals: Iterable[str]) -> bool:
    """Whether an equal has two lines in the same order; numbers aside where the lines differ in more."""
    one, other = _form(line), _form(after)
    if one == other:
        return any(f"\n{line}\n{after}\n" in f"\n{text}\n" for text in equals)
    forms = ([_form(each) for each in text.split("\n")] for text in equals)
    return any((one, other) in pairwise(of_text) for of_text in forms)


def _form(line: str) -> str:
    """A line without its numbers."""
    return NUMBER.sub("#", ADDRESS.sub("#", line.strip()))


def _without(match: re.Match[str]) -> str:
    """What a pattern matched, without the number."""
    return NUMBER.sub("#", match[0])


def _is_medium(line: str) -> bool:
    """Whether a line states nothing but the speed, FEC or breakout of a port: not its MTU or its use with them."""
    return MEDIUM.search(line) is not None and not re.search(r"(?i)\bmtu\b|admin_status", line)


def changed_words(before: str, after: str) -> tuple[str, str]:
    """The word of a line that differs after the damage, before and after."""
    return next(pair for pair in zip(WORD.findall(before), WORD.findall(after), strict=True) if len(set(pair)) > 1)


def texts(files: Mapping[str, str], without: str = "") -> list[str]:
    """Texts of files, without one of them."""
    return [text for path, text in files.items() if path != without]
