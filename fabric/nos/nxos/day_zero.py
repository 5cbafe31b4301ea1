"""Power-on auto-provisioning (POAP) of NX-OS: a Python script, whose second line has its MD5 sum.

Sources: Cisco Nexus 9000 Series NX-OS Fundamentals Configuration Guide 10.6(x), "Using PowerOn Auto Provisioning" (options 66
and 67, with `http://` before the server; user class; client id of a zero byte and the serial number; leases of an hour or
more); datacenter/nexus9000@244912e1 nx-os/poap/poap.py (the line `#md5sum=`, computed without that line; POAP_SERIAL,
POAP_MGMT_MAC, POAP_VRF; `copy … scheduled-config`, `boot nxos`).
"""

from __future__ import annotations

import hashlib

from fabric.base.formats import json_line
from fabric.nos.day_zero import BOOT_FILE, BOOT_SERVER, HOST_NAME, Boot, FirstBoot, Options, SerialIn
from fabric.nos.target import File, Text


def files(boot: Boot) -> list[File]:
    """`known`: the switch as a Python dictionary, which JSON of texts is."""
    return [Text("poap.py", "nxos/day-zero.py.j2", {"known": json_line(boot.values), "md5": _md5})]


def _md5(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def options(boot: Boot) -> Options:
    """The script by the server and its path: POAP puts one behind the other."""
    server = f"http://{boot.host}" + (f":{boot.port}" if boot.port != 80 else "")
    return {HOST_NAME: boot.name, BOOT_SERVER: server, BOOT_FILE: f"{boot.path}/poap.py"}


FIRST_BOOT = FirstBoot(files=files, options=options, serial=SerialIn(61, b"\0", whole=True), vendor=(77, "Cisco-POAP"))
