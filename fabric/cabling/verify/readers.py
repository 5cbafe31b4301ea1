"""Readers of what boxes print: one file a network OS, each registered here and nowhere else.

The outputs are told apart by their content: every JSON value of a file is shown to every reader, so that the wrappings of
eAPI, NX-API and Ansible, and several commands in one file, need no word of their own.
"""

from __future__ import annotations

from fabric.cabling.verify import lldpd
from fabric.nos.cumulus import lldp as nvue
from fabric.nos.eos import lldp as eos
from fabric.nos.junos import lldp as junos
from fabric.nos.lldp.output import JSON, TEXT, Reader
from fabric.nos.nxos import lldp as nxos
from fabric.nos.sonic import lldp as sonic

READERS: tuple[Reader, ...] = (
    *eos.READERS,
    *nxos.READERS,
    *junos.READERS,
    *lldpd.READERS,
    *sonic.READERS,
    *nvue.READERS,
)
FORMATS: tuple[str, ...] = tuple(dict.fromkeys(reader.name for reader in READERS))

__all__ = ["FORMATS", "JSON", "READERS", "TEXT", "Reader"]
