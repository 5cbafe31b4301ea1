"""No test asserts a time: only a few files read a clock, and a limit of a process that is waited for is far away."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

import pytest

from tests import ROOT
from tests.test_imports import nodes
from tests.waiting import FAR_S

FOLDER = ROOT / "tests"
CLOCKS = {"time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "process_time", "thread_time"}
USAGES = {"getrusage", "times", "wait4", "timeit", "RUSAGE_SELF", "RUSAGE_CHILDREN"}
MODULES = {"time", "resource", "os", "timeit"}
IN_A_TEXT = re.compile(r"performance\.|Date\.now|(?:^|[;&|(] ?)timeout \d|\bSECONDS\b", re.MULTILINE)

# File → why it may read a clock. No test is among them that compares a time with a literal.
READERS = {
    "cost.py": "ratios of two sizes",
    "waiting.py": "the far limit of what hangs",
    "deliver/report/test_browser_page.py": "ratios of two sizes, in the page",
    "fuzz/guard.py": "the limit of `make fuzz`, in the suite 60 times as far",
    "fuzz/__main__.py": "a command",
    "fuzz/hostile.py": "ratios of two sizes",
    "fuzz/patterns.py": "ratios of two sizes",
    "fuzz/reading.py": "ends what hangs: CPU seconds by size, some hundred times the usual",
    "deliver/brownfield/public.py": "a command",
    "deliver/brownfield/round_trip.py": "a command",
    "deliver/brownfield/services_trip.py": "a command",
    "deliver/brownfield/surveyed.py": "a command",
    "deliver/brownfield/through_files.py": "a command",
    "deliver/change/pairs.py": "a command",
    "deliver/inventory/live.py": "a command",
    "nos/sonic/updater/__main__.py": "a command",
    "nos/sonic/updater/real.py": "a command",
    "system/random_designs/__main__.py": "a command",
    "audit/diff/candidate/__main__.py": "a command",
    "audit/diff/pairs.py": "a command",
    "audit/drift/fleet.py": "a command",
    "audit/verify/lab_faults.py": "a command",
    "nos/reading/test_braces.py": "ratios of two sizes",
    "nos/reading/test_indented.py": "ratios of two sizes",
    "test_clocks.py": "names them",
}


def clocks(walked: Iterable[ast.AST]) -> Iterator[str]:
    """What in a file of tests reads a clock, or waits for a process with a limit that a slow machine may reach."""
    for node in walked:
        match node:
            case ast.Attribute(value=ast.Name(id=module), attr=name) if module in MODULES and name in CLOCKS | USAGES:
                yield f"{node.lineno}: {module}.{name}"
            case ast.ImportFrom(module=str(module)) if module in MODULES:
                yield from (f"{node.lineno}: {one.name}" for one in node.names if one.name in CLOCKS | USAGES)
            case ast.keyword(arg="timeout", value=ast.Constant(value=limit)) if _near(limit):
                yield f"{node.value.lineno}: timeout={limit!r}"
            case ast.Constant(value=str(text)) if IN_A_TEXT.search(text):
                yield f"{node.lineno}: {IN_A_TEXT.search(text)[0]!r} in a text"  # type: ignore[index]


def _near(limit: object) -> bool:
    """Seconds, also as text with a unit."""
    found = re.match(r"[\d.]+", str(limit))
    return found is not None and float(found[0]) < FAR_S


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import time\nbegun = time.process_time()", ["2: time.process_time"]),
        ("from time import perf_counter as now", ["1: perf_counter"]),
        ("import resource\nresource.getrusage(resource.RUSAGE_SELF)", ["2: resource.getrusage", "2: resource.RUSAGE_SELF"]),
        ("import os\nos.times()", ["2: os.times"]),
        ("run(timeout=20)", ["1: timeout=20"]),
        ("run(timeout='20s')", ["1: timeout='20s'"]),
        ("page.evaluate('performance.now()')", ["1: 'performance.' in a text"]),
        ("run('timeout 5 fabric plan')", ["1: 'timeout 5' in a text"]),
        ("run(timeout=600)\nrun(timeout=None)\ntime.sleep(1)\nnode.time", []),
    ],
)
def test_a_clock_is_found(source: str, found: list[str]) -> None:
    assert sorted(clocks(ast.walk(ast.parse(source)))) == sorted(found)


def test_only_a_few_files_read_a_clock() -> None:
    found = {}
    for path in sorted(FOLDER.rglob("*.py")):
        name = path.relative_to(FOLDER).as_posix()
        if not name.startswith("bench/") and (lines := list(clocks(nodes(path)))):
            found[name] = lines
    assert {name: lines for name, lines in found.items() if name not in READERS} == {}
    assert sorted(READERS.keys() - found.keys()) == []
