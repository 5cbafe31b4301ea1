"""Cumulus Linux' zero-touch provisioning: a script, which is run if it has the flag CUMULUS-AUTOPROVISIONING.

Sources: NVIDIA, Cumulus Linux 5.10, Zero Touch Provisioning (DHCP option 239, flag, `onie-install -fa -i … -z …`, management
VRF: every command over eth0 before the configuration is applied); Monitoring System Hardware (`decode-syseeprom -e`); NVUE
CLI (`nv config replace`, `nv config apply`). Its DHCP requests have no serial number: HTTP requests have it in a header.
"""

from __future__ import annotations

from fabric.nos.day_zero import HOST_NAME, Boot, FirstBoot, Options
from fabric.nos.target import File, Text

PROVISION_URL = 239  # cumulus-provision-url


def files(boot: Boot) -> list[File]:
    return [Text("ztp.sh", "cumulus/day-zero.sh.j2", boot.quoted())]


def options(boot: Boot) -> Options:
    return {HOST_NAME: boot.name, PROVISION_URL: f"{boot.url}/ztp.sh"}


FIRST_BOOT = FirstBoot(files=files, options=options, onie=True)
