"""The rule that says which missed damage no comparison of configs can see."""

from __future__ import annotations

import pytest

from tests.checks.damage import ADDED_LINE, CHANGED, DELETED, SWAPPED, Damage
from tests.checks.principle import GAP, NEW, OWN_OBJECT, OWN_ORDER, OWN_VALUE, unseen

OWN = "vlan 10\n name red\nmtu 9214\n10 permit a\n20 deny b"
EQUAL = "vlan 20\nmtu 9214\n20 deny b\n10 permit a"

CASES = [  # kind, line, what is there after the damage, reason
    (CHANGED, 1, " name redx", OWN_VALUE),
    (CHANGED, 2, "mtu 9215", GAP),
    (DELETED, 1, " name red", OWN_OBJECT),
    (DELETED, 0, "vlan 10", GAP),  # an equal has a VLAN of another number
    (SWAPPED, 3, "20 deny b | 10 permit a", OWN_ORDER),
    (ADDED_LINE, 4, "vlan 999", NEW),
]


@pytest.mark.parametrize(("kind", "line", "what", "reason"), CASES)
def test_reason(kind: str, line: int, what: str, reason: str) -> None:
    assert unseen(Damage(kind, "f", line, "", what), OWN, [EQUAL], [EQUAL]) == reason


def test_an_equal_with_the_same_order_makes_a_gap() -> None:
    assert unseen(Damage(SWAPPED, "f", 3, "", "20 deny b | 10 permit a"), OWN, [OWN], [OWN]) == GAP
