"""What the tests of labs that really come up have in common."""

from __future__ import annotations

import pytest

from tests.lab.sites import lacking


@pytest.fixture(scope="session")
def machine() -> None:
    """Skips where no lab can run, and says why."""
    if why := lacking():
        pytest.skip(why)
