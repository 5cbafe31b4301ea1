"""How a BGP session is authenticated, so that both ends can be compared."""

from __future__ import annotations

from hashlib import sha256

from fabric.model.facts import Authentication
from fabric.nos.reading import placeholder


def password(text: str, *, encrypted: bool = False) -> Authentication:
    """MD5 authentication with a password; only one in clear text is compared with that of the other end."""
    comparable = not encrypted and not placeholder(text)
    return Authentication("MD5", sha256(text.strip("\"'").encode()).hexdigest() if comparable else "")
