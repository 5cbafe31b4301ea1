"""Readers of LLDP output: those of the installed network OSes, and that of servers.

The content distinguishes the outputs: every reader examines every JSON value of a file, so that the envelopes of eAPI, NX-API
and Ansible, and several commands in one file, need no option.
"""

from __future__ import annotations

from functools import cache

from fabric.audit.cabling import lldpd
from fabric.nos.lldp import Reader
from fabric.nos.target import targets


@cache
def readers() -> tuple[Reader, ...]:
    """Every reader, in the order in which they are asked."""
    own = [reader for nos in targets().values() if nos.lldp is not None for reader in nos.lldp.get()]
    return tuple(sorted((*own, *lldpd.READERS), key=lambda reader: reader.rank))


def sources() -> tuple[str, ...]:
    """The names of the readers, as `--source` takes them."""
    return tuple(dict.fromkeys(reader.name for reader in readers()))
