"""Zero-touch provisioning of Junos Evolved: option 43 names an image and a script, which loads the configuration.

Sources: Juniper, "Zero Touch Provisioning DHCP Options for Junos OS Evolved" (suboption 0 image, 1 configuration file or
script, 3 transfer mode, 5 HTTP port; option 150 or 66 the file server); JNPRAutomate/AutomationWorld
junos/deployment/ztp/ztp-dhcpd-simple.conf (absolute paths); insomniacslk/dhcp dhcpv4/ztpv4/ztp_test.go (option 60 is
"Juniper-ptx1000-DD123"). The switch verifies the signature of an image itself.
"""

from __future__ import annotations

from fabric.nos.day_zero import HOST_NAME, Boot, FirstBoot, Options, SerialIn, file_server
from fabric.nos.target import File, Text

VENDOR_OPTIONS = 43
IMAGE, CONFIG, TRANSFER_MODE, HTTP_PORT = 0, 1, 3, 5  # its suboptions


def files(boot: Boot) -> list[File]:
    return [Text("ztp.sh", "junos/day-zero.sh.j2", boot.quoted())]


def options(boot: Boot) -> Options:
    parts = {IMAGE: boot.image_path} if boot.image else {}
    parts |= {CONFIG: f"{boot.path}/ztp.sh", TRANSFER_MODE: "http"}
    parts |= {HTTP_PORT: str(boot.port)} if boot.port != 80 else {}
    encoded = b"".join(bytes([code, len(text)]) + text.encode() for code, text in parts.items())
    return {HOST_NAME: boot.name, VENDOR_OPTIONS: encoded, **file_server(boot)}


FIRST_BOOT = FirstBoot(files=files, options=options, serial=SerialIn(60, b"-"), vendor=(60, "Juniper"))
