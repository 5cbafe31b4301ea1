"""SONiC's zero-touch provisioning: `ztp.json`, whose sections are run one after the other.

Sources: sonic-net/SONiC@98de38fd doc/ztp/ztp.md (sections, plugins, keys, DHCP options), sonic-net/sonic-ztp@036c8eaa
src/usr/lib/ztp/plugins (keys of `download`, `firmware` and `configdb-json`; `firmware` has none for a checksum, so that a
script checks it before), sonic-net/sonic-buildimage@086b03bd files/dhcp/dhclient.conf.j2 (what DHCP requests say) and
dockers/docker-dhcp-relay/dhcpv4-relay.agents.j2 (circuit id), sonic-net/sonic-utilities@691b1bbc scripts/decode-syseeprom.
"""

from __future__ import annotations

from typing import Any

from fabric.base.formats import json_text
from fabric.nos.day_zero import BOOT_FILE, HOST_NAME, Boot, FirstBoot, Options, SerialIn
from fabric.nos.target import Document, File, Text

IMAGE = "/host/day-zero.bin"  # where the checked image is until it is installed; /host outlives a reboot
CONFIG = "/run/day-zero.json"  # until it takes the place of the running one; it has secrets, and only root writes there
ROUTING = "/etc/sonic/frr/frr.conf"


def files(boot: Boot) -> list[File]:
    values = boot.quoted() | {"image_file": IMAGE, "config_file": CONFIG}
    scripts = ("identity", "image", "complete") if boot.image else ("identity", "complete")
    return [
        Document("ztp.json", {"ztp": dict(_sections(boot))}, _text),
        Document("accounts", {"admin": boot.admin_secret}, _accounts),
        *(Text(f"{name}.sh", f"sonic/day-zero-{name}.sh.j2", values) for name in scripts),
    ]


def _sections(boot: Boot) -> list[tuple[str, dict[str, Any]]]:
    """In the order of their names. A section that fails ends the provisioning: none after it is run."""
    sections: list[tuple[str, dict[str, Any]]] = [("identity", _script(boot, "identity"))]
    if boot.image is not None:
        sections.append(("image", _script(boot, "image")))
        sections.append(("firmware", {"install": {"url": f"file://{IMAGE}", "version": boot.image.version}}))
    places = {"config_db.json": CONFIG, "frr.conf": ROUTING}
    found = [{"url": {"source": f"{boot.url}/{name}", "destination": places[name]}} for name in boot.files if name in places]
    sections.append(("download", {"files": found}))
    sections.append(("complete", _script(boot, "complete")))
    destination = "/etc/sonic/config_db.json"
    sections.append(("configdb-json", {"url": {"source": f"file://{CONFIG}", "destination": destination}}))
    return [(f"{at:02}-{name}", section | {"halt-on-failure": True}) for at, (name, section) in enumerate(sections, 1)]


def _script(boot: Boot, name: str) -> dict[str, Any]:
    return {"plugin": {"url": f"{boot.url}/{name}.sh"}}


def _text(data: Any) -> str:
    return json_text(data) + "\n"


def _accounts(data: Any) -> str:
    return "".join(f"{user}:{reference}\n" for user, reference in data.items())


def options(boot: Boot) -> Options:
    return {HOST_NAME: boot.name, BOOT_FILE: f"{boot.url}/ztp.json"}


FIRST_BOOT = FirstBoot(
    files=files,
    options=options,
    serial=SerialIn(61, b"##"),  # "SONiC##PRODUCT##SERIAL"
    vendor=(77, "SONiC-ZTP"),
    onie=True,
    circuit_id="{switch}:{alias}",
)
