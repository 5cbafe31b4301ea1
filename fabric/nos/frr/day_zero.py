"""First boot of a Linux switch by cloud-init: its NoCloud source reads `meta-data` and `user-data` from a folder.

Sources: https://docs.cloud-init.io, NoCloud (kernel command line `ds=nocloud;s=http://…/`, its three files, a network seed
needs the final slash) and user data (a file that begins with `#!` is run as root at the first boot). Places of the files:
`docs/targets/frr.md`.
"""

from __future__ import annotations

from shlex import quote

from fabric.base.formats import json_line
from fabric.nos.day_zero import HOST_NAME, Boot, FirstBoot, Options
from fabric.nos.target import Document, File, Text

# File → place and mode, in the order in which they are installed.
PLACES = {
    "daemons": ("/etc/frr/daemons", "640"),
    "frr.conf": ("/etc/frr/frr.conf", "640"),
    "interfaces": ("/etc/network/interfaces", "644"),
    "sysctl.conf": ("/etc/sysctl.d/90-fabric.conf", "644"),
    "lldpd.conf": ("/etc/lldpd.d/90-fabric.conf", "644"),
    "chrony.conf": ("/etc/chrony/chrony.conf", "644"),
    "rsyslog.conf": ("/etc/rsyslog.d/90-fabric.conf", "644"),
    "snmpd.conf": ("/etc/snmp/snmpd.conf", "600"),
    "pam_radius_auth.conf": ("/etc/pam_radius_auth.conf", "600"),
    "radius.pam": ("/usr/share/pam-configs/radius", "644"),
    "issue.net": ("/etc/issue.net", "644"),
    "sshd.conf": ("/etc/ssh/sshd_config.d/90-fabric.conf", "644"),
    "nftables.conf": ("/etc/nftables.conf", "644"),
}
# Debian package of a file, in addition to those that every switch has.
PACKAGES = {"chrony.conf": "chrony", "rsyslog.conf": "rsyslog", "snmpd.conf": "snmpd", "radius.pam": "libpam-radius-auth"}
EVERY = ("frr", "ifupdown2", "lldpd", "nftables", "openssh-server")


def files(boot: Boot) -> list[File]:
    places = [f"{quote(name)} {path} {mode}" for name, (path, mode) in PLACES.items() if name in boot.files]
    packages = " ".join(sorted({*EVERY, *(package for name, package in PACKAGES.items() if name in boot.files)}))
    values = boot.quoted() | {"places": places, "packages": packages, "files": boot.files}
    names = {"instance-id": boot.folder.rpartition("/")[2], "local-hostname": boot.name}
    return [
        Text("user-data", "frr/day-zero.sh.j2", values),
        Document("meta-data", names, lambda data: "".join(f"{key}: {json_line(value)}\n" for key, value in data.items())),
        Document("vendor-data", {}, lambda data: ""),
    ]


def options(boot: Boot) -> Options:
    return {HOST_NAME: boot.name}


FIRST_BOOT = FirstBoot(files=files, options=options, places={name: path for name, (path, _) in PLACES.items()})
