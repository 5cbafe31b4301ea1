"""Which reader a switch's file needs."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import PurePath

from fabric.hosts.agree import SwitchEnd

# Network OS → the file that tells of its server cables. `fabric.hosts.read_<nos>` is loaded when the first one is read.
FILES: Mapping[str, str] = {
    "cumulus": "startup.yaml",
    "eos": "startup-config",
    "frr": "interfaces",
    "junos": "juniper.conf",
    "nxos": "startup-config",
    "sonic": "config_db.json",
}


def read_ends(path_name: str, nos: str, text: str) -> dict[tuple[str, str], SwitchEnd]:
    """(server, its port) → the switch's end; none for a file that tells of no cables, or a network OS without a reader."""
    if FILES.get(nos) != PurePath(path_name).name:
        return {}
    found: dict[tuple[str, str], SwitchEnd] = getattr(import_module(f"fabric.hosts.read_{nos}"), f"read_{nos}")(text)
    return found
