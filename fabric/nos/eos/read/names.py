"""Names of interfaces in an EOS config."""

from __future__ import annotations

import re

STEM = re.compile(r"([A-Za-z-]{2,}) ?(?=\d)")
STEMS = ("Ethernet", "Loopback", "Management", "Port-Channel", "Vlan", "Vxlan")  # of interfaces; short ones mean the first


def port_name(text: str) -> str:
    """The name that EOS gives an interface, however a person wrote it: `vxlan 1`, `lo0`, `Et1/1`, `Po10-12`."""
    match = STEM.match(text)
    stem = next((name for name in STEMS if name.lower().startswith(match[1].lower())), "") if match else ""
    return f"{stem}{text[match.end() :]}" if match and stem else text
