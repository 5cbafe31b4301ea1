"""A small sample of the random edits that live FRR daemons load; `python -m tests.nos.frr_edits` is the long run."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests import ROOT
from tests.nos import frr_edits

SEED, EDITS = 11, 16


@pytest.mark.skipif(bool(frr_edits.lacking()), reason=frr_edits.lacking() or "FRR is here")
def test_what_frr_refuses_is_found_and_what_it_takes_is_not() -> None:
    command = [sys.executable, "-m", "tests.nos.frr_edits", "--seed", str(SEED), "--edits", str(EDITS)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)
    figures = {title: (int(part), int(whole)) for title, part, whole in re.findall(r"(.+): (\d+) of (\d+) ", run.stdout)}
    refused, found = figures["edits with refused or altered lines that were found"][::-1]
    assert refused >= EDITS // 4, run.stdout + run.stderr
    assert found >= refused - 1, run.stdout
    assert figures["lines taken with a finding"][0] == 0, run.stdout
