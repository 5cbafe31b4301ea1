"""Which missed damage no comparison of configs can see: rules on the text of the files, which know little of its meaning.

A rule that is in doubt says GAP: a number that another line has by chance makes one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping

from tests.checks.damage import ADDED_LINE, CHANGED, NUMBER, SWAPPED, WORD, Damage

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
        "the address of a server's port, `10.128.0.2/31` changed to `10.128.0.2/32`",
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
        pair = f"\n{line}\n{lines[damage.line + 1]}\n"
        return GAP if any(pair in f"\n{text}\n" for text in equals) else OWN_ORDER
    if ports and not any(ports.values()):
        if STATE.fullmatch(line.strip()):
            return PORT_STATE
        if _is_medium(line):
            return HARDWARE
    form = NUMBER.sub("#", line.strip())
    return GAP if any(form == NUMBER.sub("#", one.strip()) for text in equals for one in text.split("\n")) else OWN_OBJECT


def _changed(line: str, after: str, texts: Collection[str]) -> str:
    """Of one changed word."""
    if any(NUMBERED.sub(_without, line) == NUMBERED.sub(_without, one) for one in (after,)):
        return ENTRY_NUMBER
    old = changed_word(line, after)
    count = sum(WORD.findall(text).count(old) for text in texts if old in text)
    return OWN_VALUE if count == 1 else GAP


def _without(match: re.Match[str]) -> str:
    """What a pattern matched, without the number."""
    return NUMBER.sub("#", match[0])


def _is_medium(line: str) -> bool:
    """Whether a line states nothing but the speed, FEC or breakout of a port: not its MTU or its use with them."""
    return MEDIUM.search(line) is not None and not re.search(r"(?i)\bmtu\b|admin_status", line)


def changed_word(before: str, after: str) -> str:
    """The word of a line that differs after the damage."""
    return next(old for old, new in zip(WORD.findall(before), WORD.findall(after), strict=True) if old != new)


def texts(files: Mapping[str, str], without: str = "") -> list[str]:
    """Texts of files, without one of them."""
    return [text for path, text in files.items() if path != without]
