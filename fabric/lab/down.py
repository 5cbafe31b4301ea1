"""Takes a lab down, whole or half built: processes, namespaces, files, and the limits that were raised for it.

Nothing is trusted but names: whatever runs in a namespace with the lab's prefix is the lab's, also after a kill -9 of `up`.
"""

from __future__ import annotations

import os
import shutil
import signal
import time

from fabric.base.text import listed
from fabric.lab import state
from fabric.lab.machine import limits, namespaces
from fabric.lab.machine.run import LabError
from fabric.lab.names import Names

PATIENCE_S = 10.0


def take_down(names: Names) -> int:
    """Leaves nothing behind; returns how many namespaces there were. Raises LabError for processes that will not end."""
    spaces = namespaces.existing(names.prefix)
    _kill({namespaces.inode(name) for name in spaces})
    namespaces.delete(spaces)
    if left := namespaces.existing(names.prefix):
        raise LabError(f"namespaces that could not be deleted: {listed(left, 5)}")
    shutil.rmtree(names.folder, ignore_errors=True)
    limits.restore_limits(needed=lambda: bool(state.sites()))
    return len(spaces)


def _kill(spaces: set[int]) -> None:
    """Ends every process in these namespaces; again until none is left, as one may just have started another."""
    deadline = time.monotonic() + PATIENCE_S
    while process_ids := namespaces.processes(spaces):
        if time.monotonic() > deadline:
            raise LabError(f"processes that do not end: {listed([*map(str, process_ids)], 5)}")
        for number in process_ids:
            try:
                os.kill(number, signal.SIGKILL)
            except ProcessLookupError:
                continue
        time.sleep(0.02)
