"""The secrets that an NVUE tree spells out, by their paths."""

from __future__ import annotations

from collections.abc import Iterator

from fabric.model.facts import ENCRYPTED, Located, Secret
from fabric.nos.cumulus.read.tree import found
from fabric.nos.reading import Branch, form_of, placeholder

# The value, or each key, is the secret; {n} is the n-th star of the path.
SECRETS = {
    "system/aaa/user/*/hashed-password": "password of user {0}",
    "system/aaa/user/*/password": "password of user {0}",
    "system/aaa/tacacs/server/*/secret": "key of tacacs server {0}",
    "system/aaa/radius/server/*/secret": "key of radius server {0}",
    "system/aaa/ldap/secret": "key of ldap server",
    "vrf/*/router/bgp/neighbor|peer|peer-group/*/password": "BGP password of {1}",
    "system|service/snmp-server/readonly-community|readonly-community-v6": "SNMP community",
    "system|service/snmp-server/trap-destination/*/community-password": "SNMP community",
    "system|service/snmp-server/username/*/auth-sha|auth-md5": "SNMP auth key of user {0}",
    "system|service/snmp-server/username/*/auth-sha|auth-md5/*/encrypt-aes|encrypt-des": "SNMP priv key of user {0}",
    "interface/*/router/ospf/authentication/md5-key": "OSPF key of {0}",
}
LOGINS = "password of user "
OBFUSCATED = "$nvsec$"


def secrets(tree: Branch, file: str) -> Iterator[Located[Secret]]:
    """What each secret is, never itself."""
    for path, what in SECRETS.items():
        for stars, branch in found(tree, path):
            for text, part in branch.parts.items():
                if not placeholder(text):
                    form = ENCRYPTED if text.startswith(OBFUSCATED) else form_of(text)
                    yield Located(Secret(what.format(*stars), form, what.startswith(LOGINS)), part.line, file)
