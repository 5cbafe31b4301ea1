"""How configs store secrets, and what stands in place of one."""

from __future__ import annotations

import re

from fabric.model.facts import CLEAR, ENCRYPTED, HASH, REVERSIBLE

# The number or word before a secret → its form. Type 3 (3DES) and 7 have keys that are public, 6 and 8a the key of a device.
KINDS = {
    "0": CLEAR,
    "3": REVERSIBLE,
    "4": HASH,
    "5": HASH,
    "6": ENCRYPTED,
    "7": REVERSIBLE,
    "8": HASH,
    "8a": ENCRYPTED,
    "9": HASH,
    "10": HASH,
    "sha512": HASH,
}
CRYPT = re.compile(r"\$(?:\d\w*|y|gy|sha1|md5|argon2\w*|pbkdf2\S*)[$,]", re.I)  # as crypt(5) writes a hash
OF_TRAPS = "SNMP community of traps"
PLACEHOLDER = re.compile(
    r"\$\{.*|\{\{.*|<.*|%\w+%|\$[a-z_]\w*|[*x.]*|!!?|\W*(?:hidden|masked|omitted|redacted|removed|scrubbed)\W*", re.I | re.S
)


def placeholder(text: str) -> bool:
    """Whether a secret is a placeholder, `${NAME}`, `{{ name }}` or `<removed>`, or no login is possible with it."""
    return bool(PLACEHOLDER.fullmatch(text.strip("\"'")))


def form_of(text: str, kind: str = "") -> str:
    """How a secret is stored, by the number or word before it, else by its own beginning."""
    return KINDS.get(kind.lower()) or (HASH if CRYPT.match(text.strip("\"'")) else CLEAR)


def typed(words: list[str]) -> tuple[str, str]:
    """(kind, secret) of the words that end a line: `7 0822455D0A16`, `0822455D0A16`."""
    return (words[-2] if len(words) > 1 and words[-2].lower() in KINDS else "", words[-1]) if words else ("", "")


def community(writes: bool) -> str:
    """Words for an SNMP community; its text is a password."""
    return f"SNMP community ({'read-write' if writes else 'read-only'})"
