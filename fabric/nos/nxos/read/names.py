"""The secrets that an NX-OS config spells out: a table of patterns of single lines in any place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from fabric.model.facts import LOCALIZED, Located, Secret
from fabric.nos.reading import Section, form_of, placeholder

TEXT = ("description ", "name ", "remark ", "banner ", "alias ")

# The last group is the secret; {0} is the first one, {above} the name in the head of the section. `kind` is its type.
SECRETS = (
    (re.compile(r"username (\S+) .*?\bpassword (?:(?P<kind>\d) )?(\S+)"), "password of user {0}"),
    (re.compile(r"neighbor (\S+) .*?\bpassword (?:(?P<kind>\d) )?(\S+)"), "BGP password of {0}"),
    (re.compile(r"password (?:(?P<kind>\d) )?(\S+)"), "BGP password of {above}"),
    (re.compile(r"snmp-server user (\S+) .*?\bauth (?:md5|sha(?:-\d+)?) (\S+)"), "SNMP auth key of user {0}"),
    (re.compile(r"snmp-server user (\S+) .*?\bpriv (?:aes-128 |des )?(\S+)"), "SNMP priv key of user {0}"),
    (re.compile(r"snmp-server community (\S+)"), "SNMP community"),
    (re.compile(r"(tacacs|radius)-server .*?\bkey (?:(?P<kind>\d) )?(\S+)"), "key of {0}-server"),
    (re.compile(r"key-(?:octet-)?string (?:(?P<kind>\d) )?(\S+)"), "key of key chain"),
    (re.compile(r"ntp authentication-key (\d+) md5 (\S+)"), "NTP key {0}"),
    (re.compile(r"ip ospf (?:authentication-key|message-digest-key \d+ md5) (?:(?P<kind>\d) )?(\S+)"), "OSPF key of {above}"),
    (re.compile(r"authentication (?:text|md5 key-string) (?:(?P<kind>\d) )?(\S+)"), "authentication key of group {above}"),
    (re.compile(r"enable secret (?:(?P<kind>\d) )?(\S+)"), "enable password"),
)
LOGINS = ("password of user ", "enable password")
DIGEST = re.compile(r"(?:0x)?[0-9A-Fa-f]{32,}")  # MD5 has 32 digits; a terminal may have wrapped the line behind them
LOCAL = ("localizedkey", "localizedV2key")  # how a line with keys of SNMPv3 ends
SECRET = re.compile(r"password |community |key|auth|secret ")


def secrets(config: Section, file: str) -> Iterator[Located[Secret]]:
    """What each secret is, never itself."""
    for part, above in _lines(config):
        for one in _secrets(part.line):
            name = " ".join(above.line.split()[1:2])
            yield Located(replace(one, what=one.what.replace("{above}", name)), part.number, file)


@lru_cache(maxsize=16384)
def _secrets(line: str) -> tuple[Secret, ...]:
    if not SECRET.search(line) or line.startswith(TEXT):
        return ()
    found = ((pattern.match(line), what) for pattern, what in SECRETS)
    return tuple(_secret(match, what) for match, what in found if match and not _hidden(match[match.lastindex or 0]))


def _secret(match: re.Match[str], what: str) -> Secret:
    kind = match.groupdict().get("kind") or ""
    text = match[match.lastindex or 0]
    localized = what.startswith("SNMP ") and (match.string.endswith(LOCAL) or DIGEST.fullmatch(text))
    form = LOCALIZED if localized else form_of(text, kind)
    return Secret(what.replace("{0}", match[1] or ""), form, what.startswith(LOGINS))


def _hidden(text: str) -> bool:
    """No secret: a placeholder, or a keyword of that name."""
    return placeholder(text) or text in ("strength-check", "prompt", "secure-mode")


def _lines(config: Section) -> Iterator[tuple[Section, Section]]:
    """Every line, and the line above it."""
    waiting = [(part, config) for part in reversed(config.parts)]
    while waiting:
        part, above = waiting.pop()
        yield part, above
        if part.parts:
            waiting += [(own, part) for own in reversed(part.parts)]
