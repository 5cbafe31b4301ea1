"""What a network OS does at its first start: the files that it loads, and the DHCP options that lead it to them.

Sources are in `day_zero.py` of each network OS. What all of them share is here: one switch, and its values for a script.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Address
from shlex import quote
from typing import TypeAlias
from urllib.parse import urlsplit

from fabric.model.settings.site import Image
from fabric.nos.target import File

HOST_NAME, BOOT_SERVER, BOOT_FILE, TFTP_ADDRESS = 12, 66, 67, 150  # DHCP options
Value: TypeAlias = str | bytes | IPv4Address
Options: TypeAlias = Mapping[int, Value]  # by DHCP option


@dataclass(frozen=True, slots=True, kw_only=True)
class Boot:
    """One switch before it has a configuration. A `serial` or `mac` of "" is not known."""

    name: str
    server: str  # URL of the HTTP server
    folder: str  # of this switch, below the server: "switches/NAME.IDENTITY"
    address: str  # planned management address, without its length
    files: tuple[str, ...]  # names of its configuration files, which lie in the folder
    serial: str = ""
    mac: str = ""  # of the management port, "52:54:00:00:00:01"
    image: Image | None = None
    admin_secret: str = ""  # "${ADMIN_PASSWORD_HASH}": a reference, never a secret

    @property
    def url(self) -> str:
        """URL of its folder."""
        return f"{self.server}/{self.folder}"

    @property
    def image_url(self) -> str:
        return f"{self.server}/images/{self.image.file}" if self.image else ""

    def extensions(self) -> list[dict[str, str]]:
        """Packages beside the image, as words of a POSIX shell."""
        found = self.image.extensions if self.image else ()
        return [
            {"file": quote(one.file), "sha256": quote(one.sha256), "url": quote(f"{self.server}/images/{one.file}")}
            for one in found
        ]

    @property
    def host(self) -> str:
        """Name or address of the HTTP server."""
        return urlsplit(self.server).hostname or ""

    @property
    def port(self) -> int:
        return urlsplit(self.server).port or 80

    @property
    def path(self) -> str:
        """Path of the folder on the server, from its root."""
        return urlsplit(self.url).path

    @property
    def image_path(self) -> str:
        return urlsplit(self.image_url).path

    @property
    def values(self) -> dict[str, str]:
        """Values for a script, as plain text."""
        image = self.image
        return {
            "name": self.name,
            "url": self.url,
            "serial": self.serial,
            "mac": self.mac,
            "address": self.address,
            "image": image.file if image else "",
            "image_url": self.image_url,
            "version": image.version if image else "",
            "sha256": image.sha256 if image else "",
        }

    def quoted(self) -> dict[str, object]:
        """The same as words of a POSIX shell, and which of them are known."""
        words: dict[str, object] = {key: quote(value) for key, value in self.values.items()}
        return words | {"known": [key for key, value in self.values.items() if value]}


def file_server(boot: Boot) -> Options:
    """Option 150 with the address of the server, or 66 with its name."""
    try:
        return {TFTP_ADDRESS: IPv4Address(boot.host)}
    except ValueError:
        return {BOOT_SERVER: boot.host}


@dataclass(frozen=True, slots=True)
class SerialIn:
    """Where DHCP requests have the serial number: at the end of an option, behind `before`."""

    option: int
    before: bytes
    whole: bool = False  # the option is `before` and the serial number, and no more


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstBoot:
    """How a network OS starts without a configuration."""

    files: Callable[[Boot], list[File]]  # beside the configuration
    options: Callable[[Boot], Options]
    serial: SerialIn | None = None
    vendor: tuple[int, str] | None = None  # option of its requests, and how its value begins; None: not documented
    onie: bool = False  # ONIE installs it
    extensions: bool = False  # it loads packages beside the image
    places: Mapping[str, str] = field(default_factory=dict)  # file → where it is on the switch
    circuit_id: str = ""  # of its DHCP relay agent, with {switch}, {port}, {alias}; "": none by default, or not documented


# https://opencomputeproject.github.io/onie/design-spec/discovery.html; udhcpc_args in rootconf/default/lib/onie/functions
# and request of option 114 in rootconf/default/bin/discover of opencomputeproject/onie@ad15a796.
ONIE_VENDOR = (60, "onie_vendor")
ONIE_SERIAL = SerialIn(61, b"\0", whole=True)
ONIE_URL = 114  # "default-url"
