"""What the tests start finds signals as a terminal gives them, also where the run itself was started without some."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests import ROOT, forked

IGNORED = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGPIPE, signal.SIGTERM)
PYTHONS_OWN = {signal.SIGPIPE, signal.SIGXFSZ}
INSIDE = "FABRIC_TEST_SIGNALS"  # set in the run inside the test below
pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc")


def dispositions(status: str) -> tuple[set[int], set[int]]:
    """The signals that a process ignores, and that it blocks, by its /proc/PID/status; not those that the C library keeps."""
    rows = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    ignored, blocked = (int(rows[name], 16) for name in ("SigIgn", "SigBlk"))
    known = signal.valid_signals()  # without 32 and 33, which no program can set
    return tuple({n for n in known if mask >> (n - 1) & 1} for mask in (ignored, blocked))  # type: ignore[return-value]


@pytest.mark.parametrize(
    "command", [["cat", "/proc/self/status"], ["sh", "-c", "cat /proc/self/status"]], ids=["exec", "shell"]
)
def test_a_process_ignores_and_blocks_nothing(command: list[str]) -> None:
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert dispositions(shown) == (set(), set())


def test_the_server_of_forked_commands_is_as_any_python(tmp_path: Path) -> None:
    forked.piped(["--version"], tmp_path)  # then it has started
    children = [pid for file in Path("/proc/self/task").glob("*/children") for pid in file.read_text().split()]
    servers = [pid for pid in children if "tests.forked.server" in Path(f"/proc/{pid}/cmdline").read_text()]
    assert [dispositions(Path(f"/proc/{pid}/status").read_text()) for pid in servers] == [(PYTHONS_OWN, set())]


@pytest.mark.skipif(INSIDE in os.environ, reason="this is that run")
def test_a_run_that_is_started_without_signals() -> None:
    """As `trap "" INT HUP; make test &` of a script, and with SIGINT blocked as well."""

    def without() -> None:
        for number in IGNORED:
            signal.signal(number, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, IGNORED)

    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", str(Path(__file__))],
        cwd=ROOT,
        env={**os.environ, INSIDE: "1", "PYTEST_ADDOPTS": ""},
        preexec_fn=without,
        restore_signals=False,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 passed, 1 skipped" in done.stdout
