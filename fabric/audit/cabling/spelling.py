"""One spelling for every port name: `Et1/1`, `Eth1/1` and `Ethernet1/1` are the same port, `eth0` and `Ethernet0` are not."""

from __future__ import annotations

import re
from functools import lru_cache

_SHORT = (
    (re.compile(r"^(?:eth|et|e)(?=[0-9]+/)"), "ethernet"),  # NX-OS and EOS shorten so
    (re.compile(r"^et(?=[0-9]+$)"), "ethernet"),  # EOS, an SFP cage
)
_UNIT = re.compile(r"^((?:et|xe|ge)-[0-9]+/[0-9]+/[0-9]+(?::[0-9]+)?)\.[0-9]+$")  # Junos: a logical unit of the port
_SHORT_SUBINTERFACE = re.compile(r"Eth(?=[0-9]+$)")  # SONiC shortens those alone: `Eth0.102` is of `Ethernet0`
_MANAGEMENT = re.compile(
    r"(?:eth|mgmt|em|me|fxp|re0:mgmt-|idrac|ilo|bmc|ipmi|usb|docker|lo|vme)[0-9]*(?:[.-].*)?"
    r"|(?:ma|management)[0-9]+(?:/[0-9]+)*"
)
_NO_NAME = re.compile(r"(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}|(?:[0-9a-f]{4}[.-]){2}[0-9a-f]{4}|[0-9]+")


@lru_cache(maxsize=65_536)
def canonical(name: str) -> str:
    """The name as it is compared."""
    text = name.strip().strip('"').lower().replace(" ", "")
    for pattern, whole in _SHORT:
        text = pattern.sub(whole, text)
    return _UNIT.sub(r"\1", text)


def port_of(name: str) -> str:
    """The port of a subinterface, `swp1` of `swp1.102`; "" for a name that is none."""
    parts = name.strip().split(".")
    while len(parts) > 1 and parts[-1].isascii() and parts[-1].isdigit():
        parts.pop()
    port = ".".join(parts)
    return _SHORT_SUBINTERFACE.sub("Ethernet", port) if port != name.strip() and not is_nameless(name) else ""


def is_management(name: str) -> bool:
    """A management port, for which no plan of a fabric has cables."""
    return _MANAGEMENT.fullmatch(canonical(name)) is not None


def is_nameless(name: str) -> bool:
    """A MAC address, or a number with a meaning only on the device itself."""
    return not name or _NO_NAME.fullmatch(canonical(name)) is not None
