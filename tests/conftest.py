"""What the whole suite shares: helper modules explain a failed assert as tests do, a worker takes a file at a time, and tests
that use the machine itself run one after the other, beside all others."""

from __future__ import annotations

import gc
import pkgutil
import signal
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

import tests
from fabric.base.reading import GUARD

# Files of one worker: what they share is made once, and two tests never use the machine itself at once. In this order.
TOGETHER = {
    "machine": ("lab/test_live", "lab/test_wrong", "system/test_frr_live", "system/test_configs"),
    "report": tuple(f"deliver/report/test_{name}" for name in ("browser_page", "figures", "page", "pictures")),
    "sources": ("test_calls", "test_clocks", "test_codes", "test_imports", "test_rooms"),
}
GROUPS = {f"tests/{name}.py": group for group, names in TOGETHER.items() for name in names}
# Few and long tests that share nothing: they keep both workers busy at the end.
SPREAD = {
    f"tests/{name}.py"
    for name in (
        "cli/test_width",
        "docs/test_blocks",
        "design/planner/test_properties",
        "design/planner/test_tenant_properties",
        "solver/collectives/test_score",
        "solver/doctor/test_rates",
        "solver/estimate/test_estimate",
        "system/test_words",
    )
}

pytest.register_assert_rewrite(*(f"tests.{module.name}" for module in pkgutil.iter_modules(tests.__path__)))

# On a busy machine a property is slow: no reason to fail. Modules say what else differs from Hypothesis's own defaults.
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")


@pytest.fixture(autouse=True)
def reader_guard() -> Iterator[None]:
    """What a reader raises is seen, and no finding: a test of a hostile file closes the guard again."""
    GUARD.open = True
    yield
    GUARD.open = False


@pytest.fixture(params=[pytest.param(False, id="sample"), pytest.param(True, id="whole", marks=pytest.mark.slow)])
def whole(request: pytest.FixtureRequest) -> bool:
    """Whether a test runs over all that it has (`make slow`), or over a sample (`make test`)."""
    return bool(request.param)


@pytest.fixture(scope="session", autouse=True)
def shared_examples(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> None:
    """What examples generate is made once for all workers."""
    if hasattr(request.config, "workerinput"):
        from tests import examples

        examples.SHARED[:] = [tmp_path_factory.getbasetemp().parent / "sites"]


def pytest_configure() -> None:
    """Signals as a terminal gives them, in whatever way the run was started.

    Under `nohup` SIGHUP is ignored, with `make test &` in a script SIGINT. A process hands on to those it starts what it
    ignores and blocks, and a shell cannot take it back: so it is done here, before a test, or what serves the tests, starts
    one. SIGPIPE and SIGXFSZ are ignored by every Python, and given back by `subprocess`.
    """
    for number in signal.valid_signals() - {signal.SIGPIPE, signal.SIGXFSZ}:
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files that stay together first, those that use the machine before all, as they mostly wait; what is spread last."""
    files = [(_file(item.nodeid), item) for item in items]
    order = [*TOGETHER, ""]
    files.sort(key=lambda pair: (order.index(GROUPS.get(pair[0], "")), pair[0] in SPREAD))
    items[:] = [item for _, item in files]


def pytest_collection_finish() -> None:
    """The garbage collector leaves thousands of collected tests alone, and runs as rarely as in the command."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 100)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """One worker takes all tests of a file, so that what they share is made once; one takes all that use the machine.

    Tests of SPREAD go to the worker that is free. In the order of `pytest_collection_modifyitems`, which the workers keep.

    Not `--dist loadgroup`: pytest-xdist 3.8 writes the group into the id of a test, which pytest 9.2 ignores.
    """
    from xdist.scheduler import LoadScopeScheduling

    class FileScheduling(LoadScopeScheduling):  # type: ignore[misc, unused-ignore]
        def _split_scope(self, nodeid: str) -> str:
            file = _file(nodeid)
            return nodeid if file in SPREAD else GROUPS.get(file, file)

    config.option.loadscopereorder = False
    return FileScheduling(config, log)


def _file(nodeid: str) -> str:
    return nodeid.partition("::")[0]
