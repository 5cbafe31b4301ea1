"""Which reader a device's files need."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Protocol

from fabric.facts import Facts

# Network OS → its reader's module, loaded when the first device of the kind is read.
READERS: Mapping[str, str] = {
    "cumulus": "fabric.nos.cumulus.read.device",
    "eos": "fabric.nos.eos.read.device",
    "frr": "fabric.nos.frr.read.device",
    "junos": "fabric.nos.junos.read.device",
    "nxos": "fabric.nos.nxos.read.device",
    "sonic": "fabric.nos.sonic.read.device",
}


class Reader(Protocol):
    """Files of one device (path → text) to its facts; never raises for what the texts hold."""

    def __call__(self, name: str, files: Mapping[str, str]) -> Facts: ...


def read_device(name: str, nos: str, files: Mapping[str, str]) -> Facts:
    """The facts of one device. `name` is used where no file tells its host name. KeyError for an unknown network OS."""
    read: Reader = import_module(READERS[nos]).read
    return read(name, files)
