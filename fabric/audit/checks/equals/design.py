"""Differences by design: what a device cannot have, need not have, or has in a form that varies from port to port.

An exemption names a statement; these are reasons, and hold for every statement of every network OS. What a difference by
design would break is reported by another check: a name that is used but not defined, a route without a next hop.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from ipaddress import ip_address

from fabric.audit.checks.equals.odd import PORTS, SECTION, Odd
from fabric.audit.checks.equals.outline import (
    ADDRESS,
    AT_PORT,
    DIGITS,
    GIVEN,
    IGP,
    PORT,
    STATED,
    VALUE,
    Outline,
    Row,
    alike,
)
from fabric.audit.checks.equals.subnets import addresses
from fabric.audit.checks.statements import syntax_of
from fabric.model.facts import Facts
from fabric.nos.statements.names import Name

VALUES = re.compile(rf"(?:[{VALUE}{STATED}{AT_PORT}]\S* ){{2,}}")  # a list, as the ports of a tenant


def by_design(odd: Odd, facts: Facts, own: Outline, like: Row, witness: Facts, others: Outline) -> bool:
    """Whether a device differs for a reason.

    Args:
        odd: the difference.
        facts: of the device.
        own: its statements.
        like: the statement that is missing, as a witness has it.
        witness: its facts.
        others: its statements.
    """
    text = syntax_of(own.nos).joined(like.path)
    if odd.family.text.startswith(PORTS) or AT_PORT in odd.family.text:
        if _is_free(odd, like, facts) or _is_tagged_only(odd, like, facts):
            return True
        names = [name for name in others.names_at.get(like.path, ()) if name.used and name.text not in witness.interfaces]
        if odd.extra:  # another object in its place, as a port of another speed has
            return any(len(_slot(name, like, own) | _slot(name, like, others)) > 1 for name in names)
        return any(_has_default(name, like, own) for name in names)
    if (odd.extra and _is_count(odd, facts, witness)) or _is_shorter_list(like, own):
        return True
    if not (odd.extra or odd.objects) and _is_whole_section(like, own, others):
        return True
    if odd.objects:
        return not odd.extra and _has_contents(like, others)
    if _is_elsewhere(text, facts, witness):
        return True
    if _is_unneeded(like, own, others):
        return True
    return any(not name.used and not _is_known(name, own) for name in others.names_at.get(like.path, ()))


def _is_free(odd: Odd, like: Row, facts: Facts) -> bool:
    """Whether a port without address and description is not in use; a lost address shows at the far end (FAB253)."""
    port = facts.interfaces.get(odd.name)
    return odd.objects and not odd.extra and _has_address(like) and not (port and port.description)


def _is_tagged_only(odd: Odd, like: Row, facts: Facts) -> bool:
    """Whether a port has no address where its subinterfaces have them."""
    inside = [port for name, port in facts.interfaces.items() if name.startswith(f"{odd.name}.")]
    return any(port.addresses for port in inside) and _has_address(like)


def _has_address(like: Row) -> bool:
    return any(ADDRESS.fullmatch(value) for value in like.form.values)


def _is_unneeded(like: Row, own: Outline, others: Outline) -> bool:
    """Whether a statement serves others that the device does not have: the MAC address of gateways where there are none.

    A device that has them and lacks it is an error of its own (FAB2506).
    """
    at_place = [clue for clue, place in others.clues if place is like.place]
    serves = {(clue.rule, clue.shared) for clue in at_place if not clue.used and clue.rule != IGP and clue.shared != GIVEN}
    return bool(serves) and not any(clue.used and (clue.rule, clue.shared) in serves for clue, _ in own.clues)


def _is_whole_section(like: Row, own: Outline, others: Outline) -> bool:
    """Whether a device has nothing of a large section: what is in it, such as the servers of a tenant, differs by device."""
    head = _head(like)
    inside = [row for row in others.all_rows if _head(row) == head]
    return len(inside) > SECTION and not any(_head(row) == head for row in own.all_rows)


def _head(row: Row) -> str:
    """The part and the section of a statement, without the AS number and the addresses of the device."""
    return alike(*row.path[:2]) if len(row.path) > 1 else row.path[0]


def _is_count(odd: Odd, facts: Facts, witness: Facts) -> bool:
    """Whether devices differ in a number of their own ports alone: `device-count 4` where there is one bond less."""
    pairs = [(mine, theirs) for theirs, mine in zip(odd.missing[0][1], odd.extra[0][1], strict=False) if mine != theirs]
    if len(pairs) != 1 or odd.missing[0][0] != odd.extra[0][0] or not all(number.isdigit() for number in pairs[0]):
        return False
    mine, theirs = (Counter(DIGITS.sub("", name) for name in one.interfaces) for one in (facts, witness))
    more = int(pairs[0][0]) - int(pairs[0][1])
    return any(mine[kind] - theirs[kind] == more for kind in mine.keys() | theirs.keys())


def _is_shorter_list(like: Row, own: Outline) -> bool:
    """Whether a device has the statement with a list of another length: a filter of the ports of a tenant."""
    wanted = VALUES.sub("* ", like.form.text)
    return wanted != like.form.text and any(VALUES.sub("* ", row.form.text) == wanted for row in own.all_rows)


def _slot(name: Name, like: Row, own: Outline) -> set[str]:
    """What the ports of a device, or the device as the default of its ports, refer to in one place: QoS profiles by speed."""
    place = _place(like, name)
    return {one.text for there, one in _alike_names(name, like, own) if _is_system(there) or there == place}


def _has_default(name: Name, like: Row, own: Outline) -> bool:
    """Whether a device states an object for all ports that have none of their own, as its QoS profile."""
    return any(_is_system(there) for there, _ in _alike_names(name, like, own))


def _alike_names(name: Name, like: Row, own: Outline) -> Iterator[tuple[list[str], Name]]:
    """(place, name) of the objects of one kind that statements with the same last part refer to."""
    last = _place(like, name)[-1]
    for row in own.all_rows:
        if len(row.path) == len(like.path) and row.path[0] == like.path[0]:
            for one in own.names_at.get(row.path, ()):
                place = _place(row, one)
                if one.used and one.kind == name.kind and place[-1] == last:
                    yield place, one


def _place(row: Row, name: Name) -> list[str]:
    """The parts of a statement without a name and the ports; the number of a queue stays."""
    return [PORT.sub("#", part.replace(name.text, "")) for part in row.path]


def _is_system(place: list[str]) -> bool:
    """Whether a statement is about the whole device."""
    return not any("#" in part for part in place[1:-1])


def _is_known(name: Name, own: Outline) -> bool:
    """Whether a device defines or uses a name. A use without a definition is an error of its own (FAB281)."""
    return any((one.kind, one.text) == (name.kind, name.text) for one, _ in own.names)


def _has_contents(like: Row, others: Outline) -> bool:
    """Whether a statement is the head of a section: without what is in it, it has no use."""
    length = len(like.path)
    return any(len(row.path) > length and row.path[:length] == like.path for row in others.all_rows)


def _is_elsewhere(text: str, facts: Facts, witness: Facts) -> bool:
    """Whether a statement is about an address that is the device's own, or in a subnet that it is not connected to."""
    wanted = [match[1] for word in text.split() if (match := ADDRESS.fullmatch(word)) and match[2] is None]
    if not wanted:
        return False
    mine, theirs = list(addresses(facts)), list(addresses(witness))
    for address in wanted:
        try:
            host = ip_address(address)
        except ValueError:
            continue
        if any(host == one.ip for one in mine):
            return True
        near = any(host in one.network and host != one.ip for one in theirs)
        if near and not any(host in one.network for one in mine):
            return True
    return False
