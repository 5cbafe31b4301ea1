"""What Batfish reads and sees of a network OS, as its answers about generated configurations showed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from fabric.model.plan import SwitchView, Vrf
from fabric.nos.batfish.copies import Copy, whole

# Routing tables of tenants, tenants' routes over EVPN, EVPN sessions, filters on server ports, sessions on an interface,
# layer-2 networks of tenants, packets over the fabric, a routed port without a tag beside tagged ones, `maximum-paths`.
VRF, TYPE5, EVPN, ACL, UNNUMBERED, BRIDGE, FORWARD = "vrf", "type5", "evpn", "acl", "unnumbered", "bridge", "forward"
NATIVE, MULTIPATH = "native", "multipath"

Reads: TypeAlias = Callable[[str, Mapping[str, str]], list[Copy]]  # name of a switch in small letters, its files


@dataclass(frozen=True, slots=True)
class Limit:
    """Something that Batfish sees of a network OS, but not of every design."""

    unseen: frozenset[str]
    of_switch: Callable[[SwitchView], bool]  # whether a switch is of the design …
    of_vrf: Callable[[Vrf], bool]  # … and of its tenants which
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BatfishView:
    """A network OS as Batfish takes it."""

    reads: Reads  # the copies that it is given of the files of a switch
    sees: frozenset[str] = frozenset()  # VRF, …
    limits: tuple[Limit, ...] = ()
    vrf: str = "{}"  # pattern of a tenant's table, as Batfish names it
    loopback_is_vtep: bool = False
    allow: tuple[
        Path, ...
    ] = ()  # lists of lines that say nothing about a configuration, see `fabric.audit.checks.batfish.allow`
    unread: tuple[str, str] = ("", "")  # what of its files is not read as it is, and why


def first(files: Mapping[str, str]) -> list[tuple[str, str]]:
    """The one file of a network OS that has one; none of a switch whose file is missing."""
    return list(files.items())[:1]


def as_it_is(format: str) -> Reads:
    """Of a network OS whose one file Batfish reads as it is."""

    def copies(name: str, files: Mapping[str, str]) -> list[Copy]:
        return [whole(f"configs/{name}.cfg", path, text, format) for path, text in first(files)]

    return copies
