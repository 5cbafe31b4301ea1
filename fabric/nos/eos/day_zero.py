"""Zero-touch provisioning of EOS: option 67 is the URL of a script, which writes `startup-config`; the switch then reloads.

Sources: Arista EOS user manual, "Zero Touch Provisioning" (a file that begins with `#!` is run, any other one becomes
startup-config; the switch reloads after a script that ends with 0); arista-eosplus/ztpserver@1f5d433c client/bootstrap,
actions/install_extension and docs/install.rst (files of flash, boot-extensions, `FastCli -p 15 -c`, vendor class `Arista`);
insomniacslk/dhcp dhcpv4/ztpv4/ztp_test.go (option 60 is "Arista;DCS-7050S-64;01.23;JPE12345678").
"""

from __future__ import annotations

from fabric.nos.day_zero import BOOT_FILE, HOST_NAME, Boot, FirstBoot, Options, SerialIn
from fabric.nos.target import File, Text


def files(boot: Boot) -> list[File]:
    return [Text("bootstrap.sh", "eos/day-zero.sh.j2", boot.quoted() | {"extensions": boot.extensions()})]


def options(boot: Boot) -> Options:
    return {HOST_NAME: boot.name, BOOT_FILE: f"{boot.url}/bootstrap.sh"}


FIRST_BOOT = FirstBoot(files=files, options=options, serial=SerialIn(60, b";"), vendor=(60, "Arista"), extensions=True)
