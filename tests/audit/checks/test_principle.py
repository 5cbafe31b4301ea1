"""The rule that says which missed damage no comparison of configs can see."""

from __future__ import annotations

import pytest

from tests.audit.checks.damage import ADDED_LINE, CHANGED, DELETED, SWAPPED, Damage
from tests.audit.checks.principle import (
    ENTRY_NUMBER,
    GAP,
    HARDWARE,
    NEW_OBJECT,
    OWN_OBJECT,
    OWN_ORDER,
    OWN_VALUE,
    PORT_STATE,
    WHY,
    unseen,
)

OWN = (
    "vlan 10\n name red\nmtu 9214\n10 permit a\n20 deny b\nno shutdown\nspeed 400g\nip prefix-list A seq 10 permit x\n"
    "ip address 10.9.9.9/24\n"
    "ipv6 prefix-list A seq 10 permit fd00::40/122"
)
EQUAL = "vlan 20\nmtu 9214\n20 deny b\n10 permit a\nno shutdown\nspeed 400g\nipv6 prefix-list A seq 10 permit fd00::/122"

CASES = [  # kind, line, what is there after the damage, reason
    (CHANGED, 1, " name redx", OWN_VALUE),
    (CHANGED, 2, "mtu 9215", GAP),
    (CHANGED, 3, "11 permit a", ENTRY_NUMBER),
    (CHANGED, 7, "ip prefix-list A seq 11 permit x", ENTRY_NUMBER),
    (CHANGED, 8, "ip address 10.9.9.9/25", GAP),  # its length is no value of its own
    (DELETED, 1, " name red", OWN_OBJECT),
    (DELETED, 9, "ipv6 prefix-list A seq 10 permit fd00::40/122", GAP),  # an equal has another prefix
    (DELETED, 0, "vlan 10", GAP),  # an equal has a VLAN of another number
    (DELETED, 5, "no shutdown", GAP),
    (SWAPPED, 3, "20 deny b | 10 permit a", OWN_ORDER),
    (ADDED_LINE, 4, "vlan 999", NEW_OBJECT),
    (ADDED_LINE, 4, "no ip routing", GAP),
]


@pytest.mark.parametrize(("kind", "line", "what", "reason"), CASES)
def test_reason(kind: str, line: int, what: str, reason: str) -> None:
    assert unseen(Damage(kind, "f", line, "", what), OWN, [EQUAL], [EQUAL]) == reason


@pytest.mark.parametrize(("line", "reason"), [(2, GAP), (5, PORT_STATE), (6, HARDWARE)])
def test_a_port_whose_far_end_is_in_no_file(line: int, reason: str) -> None:
    damage = Damage(DELETED, "f", line, "", "")
    assert unseen(damage, OWN, [EQUAL], [EQUAL], {"Ethernet1": False}) == reason
    assert unseen(damage, OWN, [EQUAL], [EQUAL], {"Ethernet1": True}) == GAP


def test_an_equal_with_the_same_order_makes_a_gap() -> None:
    assert unseen(Damage(SWAPPED, "f", 3, "", "20 deny b | 10 permit a"), OWN, [OWN], [OWN]) == GAP


def test_every_class_is_explained() -> None:
    assert set(WHY) == {OWN_VALUE, OWN_OBJECT, OWN_ORDER, ENTRY_NUMBER, HARDWARE, PORT_STATE, NEW_OBJECT}
