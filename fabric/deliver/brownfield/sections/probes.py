"""Where each network OS states a key of the intent: learned from what its templates print for two values of the key.

A small design is rendered twice, with values that occur nowhere else. A statement that has the first value in one rendering
and the second in the other is a place of the key; on a running switch the value at that place is the key's. A key with few
values, such as `gnmi`, is known by the statements that come and go with each of them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any, TypeAlias

from fabric.base.diagnostics import InputError
from fabric.configs import targets
from fabric.configs.generate import Renderer
from fabric.deliver.brownfield.draft.judge import planned
from fabric.deliver.brownfield.survey.devices import lines_of
from fabric.hardware import catalog
from fabric.model.plan import LEAF, Plan
from fabric.model.plan.lock import Lock
from fabric.nos.target import target

Key: TypeAlias = tuple[str, ...]  # "management", "timezone"; of a fabric "underlay", "hold_s"
Document: TypeAlias = dict[str, Any]

FABRIC, TENANT, NETWORK, VLAN = "f1", "te7x", "ne7y", 177
OF_SITE = ("management", "releases")  # sections that stand at the top of an intent
VALUES: Mapping[Key, tuple[Any, Any]] = {  # two values that occur nowhere else in a config, and in no part of each other
    ("management", "timezone"): ("Europe/Oslo", "Asia/Tokyo"),
    ("management", "banner"): ("Qxj first notice", "Zwk other words"),
    ("management", "gateway"): ("172.16.7.77", "172.16.9.88"),
    ("management", "snmp_user"): ("qxjreader", "zwkwatcher"),
    ("management", "allow"): (["10.91.0.0/16", "2001:db8:91::/48"], ["172.29.7.0/24", "2001:db8:297::/64"]),
    ("management", "ntp"): ("198.18.91.1", "198.19.72.2"),
    ("management", "syslog"): ("198.18.93.3", "198.19.74.4"),
    ("management", "dns"): ("198.18.95.5", "198.19.76.6"),
    ("management", "secrets", "admin"): ("QXJ_ADMIN", "ZWK_LOGIN"),
    ("management", "secrets", "snmp_auth"): ("QXJ_AUTH", "ZWK_PROOF"),
    ("management", "secrets", "snmp_priv"): ("QXJ_PRIV", "ZWK_CIPHER"),
    ("underlay", "bfd", "interval_ms"): (457, 763),
    ("underlay", "bfd", "multiplier"): (37, 49),
    ("underlay", "keepalive_s"): (41, 57),
    ("underlay", "hold_s"): (131, 173),
    ("underlay", "max_prefix"): (834571, 629387),
    ("underlay", "load_balancing", "seed"): (739, 583),
    ("qos", "lossless_memory_percent"): (67, 73),
}
ALLOW: Key = ("management", "allow")
LOGINS: Mapping[str, Mapping[Key, tuple[Any, Any]]] = {
    method: {
        ("management", "aaa", method, "servers"): ("198.18.97.7", "198.19.78.8"),
        ("management", "aaa", method, "secret"): ("QXJ_SHARED", "ZWK_COMMON"),
        ("management", "aaa", method, "port"): (4957, 3163),
        ("management", "aaa", method, "timeout_s"): (53, 41),
        **({("management", "aaa", "ldap", "base_dn"): ("dc=qxj,dc=example", "dc=zwk,dc=test")} if method == "ldap" else {}),
        **({("management", "aaa", "ldap", "bind_dn"): ("cn=qxjuser,dc=a", "cn=zwkname,dc=b")} if method == "ldap" else {}),
    }
    for method in ("tacacs", "radius", "ldap")
}
WANTED = ("l3vni", "l2vni", "external", "lossless", "watchdog", "dynamic_balancing", "hash_seed")  # of the switch
LISTS = frozenset({"allow", "ntp", "syslog", "dns", "servers"})
MODE: Key = ("underlay", "load_balancing", "mode")
CHOICES: Mapping[Key, tuple[Any, ...]] = {  # the default first
    ("management", "vrf"): (True, False),
    ("management", "gnmi"): (False, True),
    ("underlay", "bfd", "enabled"): (True, False),
    MODE: ("auto", "flow", "dynamic"),
    ("qos", "pfc_watchdog"): (True, False),
    ("qos", "buffer_model"): ("auto", "static", "dynamic"),
}
ENOUGH = 0.5  # of the signs of a value: some are there in designs of one kind alone
HERE, ANY = "\0", "\1"  # in place of a value, and of one of another key
STEM = re.compile(
    r"[A-Za-z_-]{3,}(?=\S*\d)"
)  # begin of a word of the templates: names of the design are shorter before a digit
FAMILY = re.compile(r"ip|ipv4|ipv6|inet|inet6")
QUOTED = re.compile(f"[\"']{HERE}[\"']")
SEPARATED = re.compile(r"([\s\[\]{}\"',/|=;:]+)")
_NUMBER = re.compile(r"\d")
_FAMILY = re.compile(r"ipv?[46]|inet6")  # digits that are no number


# --- Plans of documents ---------------------------------------------------------------------------------------


def plan_of(document: Document, lock: Lock | None = None) -> Plan:
    """The plan of an intent that is no file. Raises InputError."""
    plan = planned(document, lock or Lock())
    targets.refuse_stated(plan)
    return plan


def put(document: Document, key: Key, value: Any, fabric: str = FABRIC) -> None:
    """States a key of the intent, of a fabric unless it is one of the site."""
    inner = document if key[0] in OF_SITE else document["fabrics"][fabric]
    for part in key[:-1]:
        inner = inner.setdefault(part, {})
    inner[key[-1]] = value


def rendered(plan: Plan, names: Iterable[str]) -> dict[str, dict[str, str]]:
    """The files of some switches, by path below the folder of each. Raises InputError."""
    wanted, renderer = frozenset(names), Renderer(plan, Path())
    return {
        job.device.name: {path.rpartition("/")[2]: data.decode() for path, data in renderer.files(job)}
        for job in renderer.jobs(wanted.__contains__)
    }


# --- The design that is rendered ------------------------------------------------------------------------------


def small_design(nos: str, release: str = "", first: str = "") -> Document:
    """A border leaf with a tenant, a gateway, logins and a lossless class, where switches of the network OS can do these."""
    system = target(nos)
    wanted = [what for what in WANTED if getattr(system.capabilities, what)]
    able = {
        name: sum(system.can(model, what) * (10 if what == first else 1) for what in wanted)
        for name in catalog.switch_names()
        if (model := catalog.switch(name)) is not None and nos in model.nos and system.refusal(model, name) is None
    }
    switch = max(able, key=lambda name: able[name], default="16x400g")
    model = catalog.switch(switch)
    assert model is not None
    can = {what: system.can(model, what) for what in wanted}
    tenant: Document = {"name": TENANT}
    if can.get("l2vni"):
        tenant["networks"] = [{"name": NETWORK, "vlan": VLAN, "gateway": "198.18.64.0/24"}]
    node = {"gpus": 8, "nics": {"compute": {"count": 1, "speed_gbps": min(model.speeds)}}}
    topology: Document = {"kind": "rack", "switch": switch}
    fabric: Document = {"nos": nos, "servers": {"model": "n0", "count": 4, "unit": {"servers": 2}}, "topology": topology}
    fabric |= {"releases": {nos: release}} if release else {}
    fabric["qos"] = {"enabled": bool(can.get("lossless")), "pfc_watchdog": bool(can.get("watchdog"))}
    if can.get("l3vni"):
        fabric |= {"overlay": {"kind": "evpn-vxlan"}, "tenants": [tenant]}
    if can.get("external"):
        topology["attachments"] = [{"name": "w1", "links": 1, "external": {"asn": 64_999}}]
    management = {"snmp_user": "r3ad"} if system.capabilities.snmp else {}
    return {
        "version": 1,
        "site": "s1",
        "management": management,
        "catalog": {"servers": {"n0": node}},
        "fabrics": {FABRIC: fabric},
    }


# --- What is learned ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Place:
    """A statement with the value of a key as the group `value`, times `unit` in the statement."""

    pattern: re.Pattern[str]
    unit: int = 1


@dataclass(frozen=True)
class Learned:
    """What was learned of one network OS.

    Attributes:
        places: key → where it is.
        signs: key → value → patterns of statements that only it has, and of those that only it lacks.
        names: the name of a network, with its VLAN as the group `vlan`.
    """

    places: Mapping[Key, Sequence[Place]]
    signs: Mapping[Key, Mapping[Any, tuple[Sequence[re.Pattern[str]], Sequence[re.Pattern[str]]]]] = field(
        default_factory=dict
    )
    names: Sequence[Place] = ()

    def values(self, key: Key, lines: Iterable[str]) -> list[tuple[str, int]]:
        """(text, unit) at the places of a key, in the order of the statements, each once."""
        found = (
            (unquoted(match["value"]), place.unit)
            for line in lines
            for place in self.places.get(key, ())
            if (match := place.pattern.fullmatch(line)) is not None
        )
        return list(dict.fromkeys(found))

    def choice(self, key: Key, lines: Collection[str]) -> Any:
        """The value of a key with few values: that whose signs the statements bear, None for the default or no key."""
        best, most = None, ENOUGH
        for value, (there, absent) in self.signs.get(key, {}).items():
            seen = [any(pattern.fullmatch(line) for line in lines) for pattern in there]
            if there and not any(seen) and not absent:
                continue
            left = [not any(pattern.fullmatch(line) for line in lines) for pattern in absent]
            share = (sum(seen) + sum(left)) / (len(seen) + len(left))
            if share > most or (best is None and share == most):
                best, most = value, share
        return best


@cache
def learned(nos: str, release: str = "") -> Learned:
    """What the templates of a network OS tell. Learned once in a run."""
    probe = _Probe(nos, release)
    signs = {key: probe.signs(key, values) for key, values in CHOICES.items()}
    if not signs[MODE] and target(nos).capabilities.dynamic_balancing:
        signs[MODE] = _Probe(nos, release, "dynamic_balancing").signs(MODE, CHOICES[MODE])
    names = [
        Place(_pattern(line.replace(f"{TENANT}-{NETWORK}", HERE), vlan=True))
        for line in probe.base
        if f"{TENANT}-{NETWORK}" in line and str(VLAN) in line
    ]
    places = probe.in_either_vrf(VALUES)
    for addressing in ("unnumbered", "ipv6"):  # filters of IPv6 may be there only where the fabric has it
        put(probe.document, ("underlay", "addressing"), addressing)
        if addressing == "ipv6":
            probe.document["fabrics"][FABRIC] |= {"overlay": {}, "tenants": []}
        more = probe.places({ALLOW: VALUES[ALLOW]})
        places[ALLOW] = list(dict.fromkeys((*places[ALLOW], *more[ALLOW])))
    return Learned(places, signs, names)


@cache
def learned_logins(nos: str, release: str, method: str) -> Learned:
    """The same of the logins by one method."""
    probe, more = _Probe(nos, release), ("management", "aaa", "accounting")
    probe.document["management"]["aaa"] = {method: {"servers": ["192.0.2.9"]}}
    if method == "ldap":
        probe.document["management"]["aaa"][method] |= {"base_dn": "dc=n1", "bind_dn": "cn=n2"}
    signs = probe.signs(more, (None, method)) if method != "ldap" else {}
    return Learned(probe.in_either_vrf(LOGINS[method]), {more: signs})


class _Probe:
    """Renders the small design of a network OS; `first` is what its switches must be able to do above all."""

    def __init__(self, nos: str, release: str, first: str = "") -> None:
        self.nos, self.document = nos, small_design(nos, release, first)
        self.refused: set[Key] = set()
        fabric = self.document["fabrics"][FABRIC]
        poorer: tuple[Document, ...] = ({"tenants": [{"name": TENANT}]}, {"tenants": [], "overlay": {}})
        for without in poorer:  # what an older release cannot do
            if not self.base and "tenants" in fabric:
                fabric |= without
                del self.base

    @cached_property
    def base(self) -> Collection[str]:
        return self.lines({}) or ()

    def lines(self, changes: Mapping[Key, Any]) -> Collection[str] | None:
        """The statements of the leaf with some keys changed; None for a design that is refused."""
        document = deepcopy(self.document)
        for key, value in changes.items():
            put(document, key, value)
        try:
            plan = plan_of(document)
            leaf = next(device.name for device in plan.fabrics[FABRIC].switches if device.role == LEAF)
            return lines_of(self.nos, rendered(plan, [leaf])[leaf])
        except InputError:
            return None

    def places(self, values: Mapping[Key, tuple[Any, Any]]) -> dict[Key, list[Place]]:
        """Where each key is, found in two renderings with all of them; keys that a network OS refuses are left out."""
        values = {key: pair for key, pair in values.items() if key not in self.refused}
        if not self._plans(values):
            able: dict[Key, tuple[Any, Any]] = {}
            for key, pair in sorted(values.items(), key=_last):
                if self._plans({**able, key: pair}):
                    able[key] = pair
            self.refused |= set(values) - set(able)
            values = able
        first, second = (self._both(values, at) or () for at in (0, 1))
        pairs = {key: _elements(pair) for key, pair in values.items()}
        others = re.compile("|".join(_whole(str(value)) for elements in pairs.values() for value, _ in elements))
        return {key: [] for key in self.refused} | {
            key: list(dict.fromkeys(place for pair in elements for place in _places(first, second, pair, others)))
            for key, elements in pairs.items()
        }

    def in_either_vrf(self, values: Mapping[Key, tuple[Any, Any]]) -> dict[Key, list[Place]]:
        """The places with management in its own VRF and without."""
        first = self.places(values)
        put(self.document, ("management", "vrf"), False)
        second = self.places({key: pair for key, pair in values.items() if key[0] == "management"})
        del self.document["management"]["vrf"]
        return {key: list(dict.fromkeys((*first.get(key, ()), *second.get(key, ())))) for key in values}

    def _plans(self, values: Mapping[Key, tuple[Any, Any]]) -> bool:
        """Whether a design with the first values is accepted."""
        document = deepcopy(self.document)
        for key, pair in values.items():
            put(document, key, [one[0] for one in _elements(pair)] if key[-1] in LISTS else pair[0])
        try:
            Renderer(plan_of(document), Path())
        except InputError:
            return False
        return True

    def _both(self, values: Mapping[Key, tuple[Any, Any]], at: int) -> Collection[str] | None:
        return self.lines(
            {key: [one[at] for one in _elements(pair)] if key[-1] in LISTS else pair[at] for key, pair in values.items()}
        )

    def signs(self, key: Key, values: Sequence[Any]) -> dict[Any, tuple[list[re.Pattern[str]], list[re.Pattern[str]]]]:
        """Of every value but the first, the default: patterns of the statements that come and go with it."""
        usual, signs = self.lines({key: values[0]}), {}
        for value in values[1:]:
            other = self.lines({key: value}) if usual is not None else None
            if usual is None or other is None or usual == other:
                continue
            before, after = ({_pattern(line) for line in lines} for lines in (usual, other))
            come, gone = after - before, before - after
            if come or gone:
                signs[value] = (sorted(come, key=str), sorted(gone, key=str))
        return signs


def _last(item: tuple[Key, Any]) -> bool:
    """`keepalive_s` comes after `hold_s`, of which it is a third at most."""
    return item[0][-1] == "keepalive_s"


def _elements(pair: tuple[Any, Any]) -> list[tuple[Any, Any]]:
    return list(zip(*pair, strict=True)) if isinstance(pair[0], list) else [pair]


def _whole(text: str) -> str:
    """A pattern of a text that is no part of a longer word."""
    return rf"(?<![\w.]){re.escape(text)}(?![\w.])"


def _places(
    first: Collection[str], second: Collection[str], pair: tuple[Any, Any], others: re.Pattern[str]
) -> Iterator[Place]:
    """The statements of both renderings that differ in this value; `others` are values of any key in the first of them."""
    number = isinstance(pair[0], int)
    both = set(first).intersection(second)
    for unit in (1, 1000) if number else (1,):
        texts = [str(value * unit if number else value) for value in pair]
        word = re.compile(_whole(texts[0]))
        lines = (others.sub(ANY, word.sub(HERE, line, count=1)) for line in first if line not in both)
        for pattern in sorted({_pattern(line, number=number) for line in lines if HERE in line}, key=str):
            matches = (pattern.fullmatch(line) for line in second)
            if any(match is not None and unquoted(match["value"]) == texts[1] for match in matches):
                yield Place(pattern, unit)


def unquoted(text: str) -> str:
    """A text without the quotes around it, and what stands for such quotes in it."""
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        quote = text[0]
        return text[1:-1].replace(f"\\{quote}", quote).replace(quote * 2, quote).replace("\\\\", "\\")
    return text


def _pattern(line: str, *, number: bool = False, vlan: bool = False) -> re.Pattern[str]:
    """A statement of any switch: words with digits, which are its names and numbers, are any word."""
    value = r"(?P<value>\d+)" if number else "(?P<value>.+)"
    line = QUOTED.sub(HERE, line) if not number else line
    words = []
    for word in SEPARATED.split(line):
        if HERE in word:
            words.append(value.join(map(_word, word.split(HERE))))
        elif vlan and str(VLAN) in word:
            words.append(re.escape(word).replace(str(VLAN), r"(?P<vlan>\d+)"))
            vlan = False
        else:
            words.append(_word(word))
    return re.compile("".join(words), re.DOTALL)


def _word(word: str) -> str:
    if ANY in word:
        return ".+?".join(map(_word, word.split(ANY)))
    if FAMILY.fullmatch(word):
        return f"(?:{FAMILY.pattern})"
    if stem := STEM.match(word):
        return re.escape(stem[0]) + r"\S+?"
    return r"\S+?" if _NUMBER.search(_FAMILY.sub("", word)) else re.escape(word)
