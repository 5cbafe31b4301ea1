"""Which reader a device's files need."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Protocol

from fabric.readback.facts import Facts

# Network OS → its reader's module, loaded when the first device of the kind is read.
READERS: Mapping[str, str] = {
    "cumulus": "fabric.readback.cumulus.reader",
    "eos": "fabric.readback.eos.reader",
    "frr": "fabric.readback.frr.reader",
    "junos": "fabric.readback.junos.reader",
    "nxos": "fabric.readback.nxos.reader",
    "sonic": "fabric.readback.sonic.reader",
}


class Reader(Protocol):
    """Files of one device (path → text) to its facts; never raises for what the texts hold."""

    def __call__(self, name: str, files: Mapping[str, str]) -> Facts: ...


def read_device(name: str, nos: str, files: Mapping[str, str]) -> Facts:
    """The facts of one device. `name` is used where no file tells its host name. KeyError for an unknown network OS."""
    read: Reader = import_module(READERS[nos]).read
    return read(name, files)
