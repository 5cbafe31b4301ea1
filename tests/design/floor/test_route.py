"""Lengths against sums by hand. A rack unit is 0.04445 m; the middle of a device is half its height above its lowest unit."""

from __future__ import annotations

import pytest

from tests.design.floor.test_layout import UNITS, intent, stand

# In racks of 48 units, 0.6 m wide, rows 2.4 m apart, trays 0.3 m above: a leaf at U47 and 2 high has its middle 1 unit below
# the top, a DGX at U1 and 8 high 44 units.
WAYS = [
    # rack B01 to B02 beside it: 0.6 to the sides, (44 + 1) units and 2 x 0.3 up and down, 0.6 along
    ("dgx-h100-0001", "f0-leaf001", 0.6 + 45 * 0.04445 + 0.6 + 0.6),
    # B02 to A01: 1 + 1 units, one row, over the cross tray at place 1: 0.6 along
    ("f0-leaf001", "f0-spine001", 0.6 + 2 * 0.04445 + 0.6 + 0.6 + 2.4),
    # within B02: from the middle at 47 to that at 45
    ("f0-leaf001", "f0-leaf002", 0.6 + 2 * 0.04445),
    # B01 to B06
    ("dgx-h100-0001", "dgx-h100-0013", 0.6 + 88 * 0.04445 + 0.6 + 5 * 0.6),
]


@pytest.mark.parametrize(("one", "other", "metres"), WAYS)
def test_ways(one: str, other: str, metres: float) -> None:
    _, found = stand(intent(UNITS % (16, "")))
    assert found.distance_m(one, other) == pytest.approx(metres)
    assert found.distance_m(other, one) == pytest.approx(metres)


@pytest.mark.parametrize(
    ("one", "other", "racks"),
    [
        (("C05", 1), ("E16", 1), 11),  # over the cross tray at place 11, which lies between
        (("C12", 1), ("E15", 1), 1 + 4),  # over that at 11
        (("C17", 1), ("E19", 1), 3 + 1),  # over the one at the rows' end, place 20
        (("C03", 1), ("E04", 1), 2 + 3),  # over the first
        (("C03", 1), ("C04", 1), 1),  # along the row
    ],
)
def test_ways_between_rows_lead_over_the_nearest_cross_tray(one: tuple[str, int], other: tuple[str, int], racks: int) -> None:
    places = ", ".join(
        f"{name}: {{rack: {rack}, ru: {ru}}}"
        for name, (rack, ru) in zip(("f0-leaf001", "f0-spine001"), (one, other), strict=True)
    )
    _, found = stand(intent(UNITS % (16, ""), floor=f"{{places: {{{places}}}}}"))
    across = 0 if one[0][0] == other[0][0] else 2 * 2.4
    assert found.distance_m("f0-leaf001", "f0-spine001") == pytest.approx(0.6 + 2 * 47 * 0.04445 + 0.6 + racks * 0.6 + across)


@pytest.mark.parametrize(
    ("setting", "metres"),
    [
        ("{}", 2 * 0.5 / 2 + 0.6889 * 1.05),
        ("{slack_m: 2, slack_percent: 10}", 2 + 0.6889 * 1.1),
        ("{slack_m: 0, slack_percent: 0}", 0.6889),
        ("{rack_pitch_m: 0.8, slack_m: 0, slack_percent: 0}", 0.8889),
    ],
)
def test_slack(setting: str, metres: float) -> None:
    _, found = stand(intent(UNITS % (16, ""), floor=setting))
    assert found.length_m("f0-leaf001", "f0-leaf002") == pytest.approx(metres, abs=0.01)
    assert found.length_m("f0-leaf001", "f0-leaf002") >= metres - 1e-9


def test_higher_trays_and_wider_aisles_lengthen_only_what_uses_them() -> None:
    _, plain = stand(intent(UNITS % (16, "")))
    _, wide = stand(intent(UNITS % (16, ""), floor="{tray_above_m: 1.3, row_pitch_m: 3.4}"))
    assert wide.distance_m("f0-leaf001", "f0-leaf002") == plain.distance_m("f0-leaf001", "f0-leaf002")
    assert wide.distance_m("dgx-h100-0001", "f0-leaf001") == pytest.approx(
        plain.distance_m("dgx-h100-0001", "f0-leaf001") + 2
    )
    assert wide.distance_m("f0-leaf001", "f0-spine001") == pytest.approx(plain.distance_m("f0-leaf001", "f0-spine001") + 3)
