"""A sample of the random pairs of configs; `python -m tests.audit.diff.pairs` has more."""

from __future__ import annotations

from itertools import islice

import pytest

from tests import ROOT
from tests.audit.diff.candidate import junos, nvue
from tests.audit.diff.pairs import pairs, wrong

SAMPLE = {"junos": 22, "cumulus": 12}


@pytest.mark.parametrize("nos", SAMPLE)
def test_what_is_printed_makes_one_config_of_the_other(nos: str) -> None:
    for pair in islice(pairs(nos, 1), SAMPLE[nos]):
        assert not wrong(nos, pair), pair.what


@pytest.mark.parametrize(("nos", "facts"), [("junos", junos.FACTS), ("cumulus", nvue.FACTS)])
def test_the_page_has_what_the_model_takes_for_true(nos: str, facts: tuple[tuple[str, str], ...]) -> None:
    page = (ROOT / "docs" / "targets" / f"{nos}.md").read_text(encoding="utf-8")
    assert "\n".join(f"| {fact} | {source or 'none'} |" for fact, source in facts) in page
