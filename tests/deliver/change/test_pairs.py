"""A sample of the random pairs of designs; `python -m tests.deliver.change.pairs` has more."""

from __future__ import annotations

import pytest

from tests.deliver.change.judging import Updater
from tests.deliver.change.modifying import SWAPPED, TOGETHER, is_without_file, kinds, values
from tests.deliver.change.pairs import SYSTEMS, Count, judge, pair
from tests.nos.sonic.updater.process import WHY_NOT, RealUpdater, is_there
from tests.system.random_designs import keys

SAMPLE, WHOLE = 5, 15


@pytest.mark.parametrize("nos", SYSTEMS)
def test_commands_make_the_new_files_and_their_inverse_the_old_ones(nos: str, whole: bool) -> None:
    count = Count()
    for number in range(SAMPLE, WHOLE) if whole else range(SAMPLE):
        assert not judge(pair(nos, 20, number), count), number
    assert count.files >= 2 * count.pairs, "each pair has a file that changes, there and back"
    assert not count.unknown


@pytest.mark.skipif(not is_there(), reason=WHY_NOT)
def test_the_updater_of_sonic_takes_every_patch(whole: bool) -> None:
    count = Count()
    with RealUpdater() as process:
        real = Updater(process)
        for number in range(SAMPLE, WHOLE) if whole else range(SAMPLE):
            assert not judge(pair("sonic", 21, number), count, real), number
    assert real.counts["patches of the real updater"] > count.pairs


def test_every_key_of_the_language_is_a_kind_of_modification() -> None:
    assert {*keys.paths(), *TOGETHER, SWAPPED} == set(kinds())
    assert len(kinds()) == len(set(kinds()))


def test_a_value_is_known_of_most_keys() -> None:
    """What designs state, of any network OS; the others are drawn by their type."""
    known = set().union(*(values(nos) for nos in SYSTEMS))
    untold = [kind for kind in keys.paths() if kind not in known and not is_without_file(kind)]
    assert len(untold) < len(kinds()) // 10, untold


def test_a_pair_is_the_same_in_every_run() -> None:
    assert pair("frr", 3, 5) == pair("frr", 3, 5)
