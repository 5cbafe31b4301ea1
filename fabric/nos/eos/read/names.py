"""Names in an EOS config: what is defined, and what is referred to and defined nowhere."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from fabric.facts import Located
from fabric.nos.reading import Section

DEFINED: Mapping[str, tuple[str, ...]] = {
    "route-map": ("route-map",),
    "prefix-list": ("ip prefix-list", "ipv6 prefix-list"),
    "access-list": ("ip access-list", "ipv6 access-list"),
    "community-list": ("ip community-list", "ip large-community-list"),
    "extcommunity-list": ("ip extcommunity-list",),
    "as-path list": ("ip as-path access-list",),
    "peer-filter": ("peer-filter",),
    "policy-map": ("policy-map",),
    "qos profile": ("qos profile",),
    "vrf": ("vrf instance", "vrf definition"),
}
KINDS = frozenset(("standard", "expanded", "regexp", "type", "quality-of-service", "qos", "pbr", "copp", "control-plane"))
MATCHES: Mapping[str, str] = {
    "community": "community-list",
    "large-community": "community-list",
    "extcommunity": "extcommunity-list",
    "as-path": "as-path list",
}
STEM = re.compile(r"([A-Za-z-]{2,}) ?(?=\d)")
STEMS = ("Ethernet", "Loopback", "Management", "Port-Channel", "Vlan", "Vxlan")  # of interfaces; short ones mean the first
MODES = frozenset(("exact-match", "or-results", "length", "community-list"))
BUILT_IN = frozenset(("default", "copp-system-policy"))


def undefined(config: Section, file: str) -> Iterator[Located[str]]:
    """Names that are used and nowhere defined."""
    defined = {kind: {name for head in heads for name in _names(config, head)} for kind, heads in DEFINED.items()}
    for part in config.walk():
        for kind, name in _references(part.line.split()):
            if name not in defined[kind] and name not in BUILT_IN:
                yield Located(f"{kind} {name}", part.number, file)
    for head, sections in (("interface", ("vrf", "vrf forwarding")), ("router bgp", ("vrf",))):
        for _, section in config.each(head):
            for own in sections:
                for name, part in section.each(own):
                    if name and " " not in name and name not in defined["vrf"] | BUILT_IN:
                        yield Located(f"vrf {name}", part.number, file)


def _names(config: Section, head: str) -> Iterator[str]:
    for text, _ in config.each(head):
        yield from [word for word in text.split() if word not in KINDS][:1]


def _references(words: list[str]) -> Iterator[tuple[str, str]]:
    """(kind, name) of what a line refers to by name."""
    head, rest = words[0], words[1:]
    if head == "match" and len(rest) > 1:
        if rest[0] in MATCHES:
            yield from ((MATCHES[rest[0]], name) for name in rest[1:] if name not in MODES and not name.isdecimal())
        yield from _after("prefix-list", "prefix-list", rest)
    elif head in ("neighbor", "redistribute", "network", "aggregate-address"):
        yield from _after("route-map", "route-map", rest)
        yield from _after("prefix-list", "prefix-list", rest)
    elif head == "bgp" and rest[:2] == ["listen", "range"]:
        yield from _after("peer-filter", "peer-filter", rest)
    elif head in ("ip", "ipv6") and rest[:1] == ["access-group"]:
        yield from _after("access-list", "access-group", rest)
    elif head == "service-profile" and rest:
        yield "qos profile", rest[0]
    elif head == "service-policy":
        yield from _after("policy-map", "input", rest)
        yield from _after("policy-map", "output", rest)


def _after(kind: str, word: str, words: list[str]) -> Iterator[tuple[str, str]]:
    if word in words[:-1]:
        yield kind, words[words.index(word) + 1]


def port_name(text: str) -> str:
    """The name that EOS gives an interface, however a person wrote it: `vxlan 1`, `lo0`, `Et1/1`, `Po10-12`."""
    match = STEM.match(text)
    stem = next((name for name in STEMS if name.lower().startswith(match[1].lower())), "") if match else ""
    return f"{stem}{text[match.end() :]}" if match and stem else text
