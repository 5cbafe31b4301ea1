"""What the whole suite shares: tests that use the machine itself run one after the other, beside all others."""

from __future__ import annotations

import pytest

MACHINE = {"test_lab_live.py", "test_lab_wrong.py", "test_frr_live.py", "test_configs.py"}  # daemons, namespaces, sysctls


@pytest.hookimpl(tryfirst=True)  # the groups are read when xdist looks at the marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """In one group, which one worker takes, and first, as they mostly wait."""
    for item in items:
        if item.path.name in MACHINE:
            item.add_marker(pytest.mark.xdist_group("machine"))
    items.sort(key=lambda item: item.path.name not in MACHINE)
