"""The commands of a change at live FRR daemons; `python -m tests.deliver.change.live` prints the same."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests import ROOT
from tests.nos import frr_edits


@pytest.mark.skipif(bool(frr_edits.lacking()), reason=frr_edits.lacking() or "FRR is here")
@pytest.mark.parametrize(
    ("options", "edits"),
    [((), 12), (("--changes", "10", "--seed", "20"), 10), (("--changes", "4", "--seed", "20", "--os", "sonic"), 4)],
    ids=["in every wave", "random", "random, of SONiC"],
)
def test_frr_takes_every_change_and_its_inverse(options: tuple[str, ...], edits: int) -> None:
    command = [sys.executable, "-m", "tests.deliver.change.live", *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1:] == [f"{edits} of {edits} edits right in both directions"], done.stdout + done.stderr
