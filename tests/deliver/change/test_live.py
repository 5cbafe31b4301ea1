"""The commands of a change at live FRR daemons; `python -m tests.deliver.change.live` prints the same."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests import ROOT
from tests.nos import frr_edits


@pytest.mark.skipif(bool(frr_edits.lacking()), reason=frr_edits.lacking() or "FRR is here")
def test_frr_takes_every_change_and_its_inverse() -> None:
    command = [sys.executable, "-m", "tests.deliver.change.live"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1:] == ["12 of 12 edits right in both directions"], done.stdout + done.stderr
