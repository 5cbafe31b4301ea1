"""What runs beside forwarding in a Junos config, and the secrets that stand in it."""

from __future__ import annotations

from collections.abc import Mapping

from fabric.model.facts import CLEAR, ENCRYPTED, HASH, REVERSIBLE, Located, Secret, Services
from fabric.nos.junos.read.text import Config
from fabric.nos.junos.read.tree import Node, find
from fabric.nos.reading import ROOT_LOGIN, community, placeholder

PLAIN_TEXT: Mapping[str, str] = {
    "system services telnet": "telnet",
    "system services ftp": "ftp",
    "system services tftp-server": "tftp",
    "system services finger": "finger",
    "system services rlogin": "rlogin",
    "system services rsh": "rsh",
    "system services web-management http": "http",
    "system services xnm-clear-text": "XML over plain TCP",
    "system services extension-service request-response grpc clear-text": "gRPC without TLS",
}
WEAK_LOGINS: Mapping[str, str] = {"system services ssh root-login allow": ROOT_LOGIN}
SECRET_WORDS = frozenset((
    "ascii-text", "authentication-key", "authentication-password", "encrypted-password", "hexadecimal", "plain-text-password",
    "plain-text-password-value", "pre-shared-key", "privacy-key", "privacy-password", "secret", "simple-password",
))  # fmt: skip
PUBLIC_KEYS = frozenset(("ssh-dsa", "ssh-ecdsa", "ssh-ed25519", "ssh-rsa"))  # Junos marks their lines as secret data as well
SECRET_INSIDE = {"value": "authentication-key", "key": "md5"}  # a word that names secrets only below another
# Part of a path → what a secret below it is of; `*` is filled in.
OWNERS = (
    ("root-authentication", "password of root"),
    ("login user *", "password of user {}"),
    ("bgp group * neighbor *", "BGP password of {1}"),
    ("bgp group *", "BGP password of group {}"),
    ("protocols bgp", "BGP password"),
    ("usm local-engine user *", "SNMP key of user {}"),
    ("radius-server *", "RADIUS secret of {}"),
    ("tacplus-server *", "TACACS+ secret of {}"),
    ("ntp authentication-key *", "NTP key {}"),
    ("key-chain *", "key of key chain {}"),
    ("security certificates local *", "private key of certificate {}"),
    ("security macsec connectivity-association *", "MACsec key of {}"),
)
LOGINS = ("password of root", "password of user ")
STORED = {"$9$": REVERSIBLE, "$8$": ENCRYPTED}  # beginning of a shared secret → its form; $8$ needs the master password
STANDS_FOR = ("password", "secret")  # in place of a secret: Junos encodes what is typed


def read_services(services: Services, root: Node) -> None:
    """Everything but the secrets."""
    system = root.at("system")
    services.ntp = system.every("ntp", "server") + system.every("ntp", "peer")
    services.syslog = [parsed for parsed in system.every("syslog", "host") if parsed.value != "other-routing-engine"]
    services.dns = system.every("name-server")
    lldp = root.at("protocols", "lldp")
    off = lldp.flag("disable")
    if lldp:
        line, file = (off.line, off.file) if off else (next(iter(lldp.values())).line, next(iter(lldp.values())).file)
        services.lldp = Located(off is None, line, file)
    guards = [parsed for family in ("inet", "inet6") for parsed in _guards(root, family)]
    services.control_plane = Located(True, guards[0].line, guards[0].file) if guards else None
    services.plain_text = sorted([*_stated(root, PLAIN_TEXT), *_communities(root)], key=_by_line)
    services.weak_logins = _stated(root, WEAK_LOGINS)


def _stated(root: Node, table: Mapping[str, str]) -> list[Located[str]]:
    """What a table says of the statements that are there, by line."""
    found = [Located(what, node.line, node.file) for path, what in table.items() for _, node in find(root, path)]
    return sorted(found, key=_by_line)


def _communities(root: Node) -> list[Located[str]]:
    return [
        Located(community(writes="read-write" in node.at("authorization")), node.line, node.file)
        for _, node in find(root, "snmp community *")
    ]


def _by_line(parsed: Located[str]) -> tuple[str, int]:
    return parsed.file, parsed.line


def _guards(root: Node, family: str) -> list[Located[str]]:
    filters = root.at("interfaces", "lo0", "unit", "0", "family", family, "filter")
    return filters.every("input") + filters.every("input-list")


def is_secret(config: Config, path: tuple[str, ...], word: str, node: Node) -> bool:
    """Whether a word is a value below one that names secrets, or on a line that the device marked itself."""
    above = path[-1] if path else ""
    named = above in SECRET_WORDS or SECRET_INSIDE.get(above) in path
    marked = (node.file, node.line) in config.secret_lines and above not in PUBLIC_KEYS
    return not node and (named or marked) and not placeholder(word)


def secrets(config: Config) -> list[Located[Secret]]:
    """What every literal secret is, never the secret itself."""
    found: set[Located[Secret]] = set()
    _collect(config, config.root, (), found)
    return sorted(found, key=lambda parsed: (parsed.file, parsed.line, parsed.value.what))


def _collect(config: Config, node: Node, path: tuple[str, ...], found: set[Located[Secret]]) -> None:
    for word, child in node.items():
        if child:
            _collect(config, child, (*path, word), found)
        elif is_secret(config, path, word, child) and word.strip('"').lower() not in STANDS_FOR:
            what = _owner(path)
            found.add(Located(Secret(what, _form(path, word), what.startswith(LOGINS)), child.line, child.file))


def _form(path: tuple[str, ...], word: str) -> str:
    if path[-1:] == ("encrypted-password",):
        return HASH
    return STORED.get(word.strip('"')[:3], CLEAR)


def _owner(path: tuple[str, ...]) -> str:
    text = " ".join(path)
    for part, what in OWNERS:
        words = part.split()
        for at in range(len(path) - len(words) + 1):
            taken = path[at : at + len(words)]
            if all(word in ("*", own) for word, own in zip(words, taken, strict=True)):
                return what.format(*(own for word, own in zip(words, taken, strict=True) if word == "*"))
    return text
