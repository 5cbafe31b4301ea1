"""What the whole suite shares: helper modules explain a failed assert as tests do, and tests that use the machine itself run
one after the other, beside all others."""

from __future__ import annotations

import gc
import pkgutil
import signal
from typing import Any

import pytest

import tests

MACHINE = {f"tests/{name}.py" for name in ("lab/test_live", "lab/test_wrong", "system/test_frr_live", "system/test_configs")}

pytest.register_assert_rewrite(*(f"tests.{module.name}" for module in pkgutil.iter_modules(tests.__path__)))


def pytest_configure() -> None:
    """Under nohup SIGHUP is ignored, also by what a test starts; tests of signals want what a terminal gives."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that use the machine (daemons, namespaces, sysctls) come first, as they mostly wait."""
    items.sort(key=lambda item: item.nodeid.split("::")[0] not in MACHINE)


def pytest_collection_finish() -> None:
    """The garbage collector leaves thousands of collected tests alone, and runs as rarely as in the command."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 100)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """One worker takes all tests that use the machine; every other test goes to the worker that is free.

    Not `--dist loadgroup`: pytest-xdist 3.8 writes the group into the id of a test, which pytest 9.2 ignores.
    """
    from xdist.scheduler import LoadScopeScheduling

    class MachineScheduling(LoadScopeScheduling):  # type: ignore[misc, unused-ignore]
        def _split_scope(self, nodeid: str) -> str:
            return "machine" if nodeid.split("::")[0] in MACHINE else nodeid

    return MachineScheduling(config, log)
