"""Names that an NX-OS config uses and never defines, and the secrets that it spells out.

Both follow from single lines in any place, so two tables of patterns are all there is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from fabric.facts import Located
from fabric.nos.reading import Section, placeholder

# What a line at the margin defines: its name is the first group.
DEFINED = (
    (re.compile(r"route-map (\S+)"), "route-map"),
    (re.compile(r"ip(?:v6)? prefix-list (\S+)"), "prefix-list"),
    (re.compile(r"(?:ip|ipv6|mac)(?: port)? access-list (?!session)(\S+)"), "access-list"),
    (re.compile(r"ip (?:large-)?community-list (?:standard |expanded )?(\S+)"), "community-list"),
    (re.compile(r"ip extcommunity-list (?:standard |expanded )?(\S+)"), "extcommunity-list"),
    (re.compile(r"ip as-path access-list (\S+)"), "as-path access-list"),
    (re.compile(r"class-map (?:type \S+ )?(?:match-any |match-all )?(\S+)"), "class-map"),
    (re.compile(r"policy-map (?:type \S+ )?(\S+)"), "policy-map"),
    (re.compile(r"vrf context (\S+)"), "vrf"),
    (re.compile(r"key chain (\S+)"), "key chain"),
    (re.compile(r"port-profile (?:type \S+ )?(\S+)"), "port-profile"),
    (re.compile(r"object-group (?:ip address|ipv6 address|ip port) (\S+)"), "object-group"),
)
TEMPLATE = re.compile(r"template (peer|peer-session|peer-policy) (\S+)")

# What a line refers to; the group may hold several names.
USED = (
    (re.compile(r"(?:.* )?route-map (\S+)"), "route-map"),
    (re.compile(r"(?:.* )?(?:advertise|attribute|inject|exist|non-exist|suppress|unsuppress)-map (\S+)"), "route-map"),
    (re.compile(r"prefix-list (\S+) (?:in|out)"), "prefix-list"),
    (re.compile(r"match ip(?:v6)? (?:address|next-hop|route-source) prefix-list (.+)"), "prefix-list"),
    (re.compile(r"match ip(?:v6)? address (?!prefix-list)(\S+)$"), "access-list"),
    (re.compile(r"match community (.+?)(?: exact-match)?$"), "community-list"),
    (re.compile(r"match extcommunity (.+?)(?: exact-match)?$"), "extcommunity-list"),
    (re.compile(r"match as-path (?!length)(.+)"), "as-path access-list"),
    (re.compile(r"filter-list (\S+) (?:in|out)"), "as-path access-list"),
    (re.compile(r"set comm-list (\S+) delete"), "community-list"),
    (re.compile(r"(?:ip|ipv6|mac) (?:port )?access-group (\S+)"), "access-list"),
    (re.compile(r"ipv6 (?:port )?traffic-filter (\S+)"), "access-list"),
    (re.compile(r"match access-group name (\S+)"), "access-list"),
    (re.compile(r"(?:ip |ipv6 )?access-class (\S+)"), "access-list"),
    (re.compile(r"snmp-server user .* use-ipv[46]acl (\S+)"), "access-list"),
    (re.compile(r"ntp access-group (?:peer|serve|serve-only|query-only) (\S+)"), "access-list"),
    (re.compile(r"service-policy (?:type \S+ )?(?:input |output )?(\S+)"), "policy-map"),
    (re.compile(r"class (?:type \S+ )?(\S+)"), "class-map"),
    (re.compile(r"(?:.* )?use-vrf (\S+)"), "vrf"),
    (re.compile(r"vrf (?:member )?(?!member|context)(\S+)$"), "vrf"),
    (re.compile(r"(?:peer-keepalive|ip route|ipv6 route) .*\bvrf (\S+)"), "vrf"),
    (re.compile(r"(?:.* )?key-chain (\S+)"), "key chain"),
    (re.compile(r"inherit port-profile (\S+)"), "port-profile"),
    (re.compile(r"(?:.* )?(?:addrgroup|portgroup) (\S+)"), "object-group"),
)
INHERITED = re.compile(r"inherit (peer|peer-session|peer-policy) (\S+)")
WORTH = re.compile(
    r"route-map|-map |prefix-list|match |filter-list|comm-list|access-|traffic-filter|service-policy|class |vrf"
    r"|key-chain|inherit |group |ipv[46]acl"
)
TEXT = ("description ", "name ", "remark ", "banner ", "alias ")
BUILT_IN = {  # what the switch has of itself
    "class-map": re.compile(r"class-default|c-(?:in|out|nq|4q|8q).*|c-\d.*|copp-.*|class-(?:fcoe|ip-multicast|all-flood)"),
    "policy-map": re.compile(r"default-.*|copp-.*|fcoe-.*"),
    "vrf": re.compile(r"default|management|all"),
    "access-list": re.compile(r"copp-.*"),
}

# The last group is the secret; {0} is the first one, {above} the name in the head of the section.
SECRETS = (
    (re.compile(r"username (\S+) .*?\bpassword (?:\d )?(\S+)"), "password of user {0}"),
    (re.compile(r"neighbor (\S+) .*?\bpassword (?:\d )?(\S+)"), "BGP password of {0}"),
    (re.compile(r"password (?:\d )?(\S+)"), "BGP password of {above}"),
    (re.compile(r"snmp-server user (\S+) .*?\bauth (?:md5|sha(?:-\d+)?) (\S+)"), "SNMP auth key of user {0}"),
    (re.compile(r"snmp-server user (\S+) .*?\bpriv (?:aes-128 |des )?(\S+)"), "SNMP priv key of user {0}"),
    (re.compile(r"snmp-server community (\S+)"), "SNMP community"),
    (re.compile(r"(tacacs|radius)-server .*?\bkey (?:\d )?(\S+)"), "key of {0}-server"),
    (re.compile(r"key-(?:octet-)?string (?:\d )?(\S+)"), "key of key chain"),
    (re.compile(r"ntp authentication-key (\d+) md5 (\S+)"), "NTP key {0}"),
    (re.compile(r"ip ospf (?:authentication-key|message-digest-key \d+ md5) (?:\d )?(\S+)"), "OSPF key of {above}"),
    (re.compile(r"authentication (?:text|md5 key-string) (?:\d )?(\S+)"), "authentication key of group {above}"),
    (re.compile(r"enable secret (?:\d )?(\S+)"), "enable password"),
)
SECRET = re.compile(r"password |community |key|auth|secret ")


def collect(config: Section, file: str, undefined: list[Located[str]], secrets: list[Located[str]]) -> None:
    """Adds the first use of every name that is nowhere defined, and what each secret is, never itself."""
    defined = set(_defined(config))
    found: dict[tuple[str, str], int] = {}
    for part, above in _lines(config):
        for key in _used(part.line, above is config):
            if key not in defined:
                found.setdefault(key, part.number)
        for what in _secrets(part.line):
            name = " ".join(above.line.split()[1:2])
            secrets.append(Located(what.replace("{above}", name), part.number, file))
    undefined += [Located(f"{kind} {name}", line, file) for (kind, name), line in found.items()]


def _defined(config: Section) -> Iterator[tuple[str, str]]:
    for part in config.parts:
        for pattern, kind in DEFINED:
            if match := pattern.match(part.line):
                yield kind, match[1]
        if part.line.startswith("router bgp"):
            for own in part.parts:
                if match := TEMPLATE.match(own.line):
                    yield f"template {match[1]}", match[2]


@lru_cache(maxsize=16384)
def _used(line: str, margin: bool) -> tuple[tuple[str, str], ...]:
    """(kind, name) of everything that a line refers to and the switch does not have of itself."""
    if not WORTH.search(line) or line.startswith(TEXT) or (margin and any(pattern.match(line) for pattern, _ in DEFINED)):
        return ()
    found = [(kind, name) for pattern, kind in USED if (match := pattern.match(line)) for name in match[1].split()]
    if match := INHERITED.match(line):
        found.append((f"template {match[1]}", match[2]))
    return tuple((kind, name) for kind, name in found if kind not in BUILT_IN or not BUILT_IN[kind].fullmatch(name))


@lru_cache(maxsize=16384)
def _secrets(line: str) -> tuple[str, ...]:
    if not SECRET.search(line) or line.startswith(TEXT):
        return ()
    found = ((pattern.match(line), what) for pattern, what in SECRETS)
    return tuple(what.replace("{0}", match[1]) for match, what in found if match and not _hidden(match[match.lastindex or 0]))


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
