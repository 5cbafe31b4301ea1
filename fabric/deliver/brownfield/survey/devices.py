"""What the files of one device say of it: hardware and release, addresses, AS number, and its ports."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache, cached_property

from fabric.audit.checks import is_loopback
from fabric.audit.checks.ends import is_management, tunnel_addresses, without_prefix_length
from fabric.audit.checks.network import words_of
from fabric.base.grouping import grouped
from fabric.deliver.brownfield.survey.ports import panel, port_names, speeds
from fabric.deliver.brownfield.survey.records import Inference
from fabric.hardware import catalog
from fabric.model.facts import MANAGEMENT, Facts, Interface, Located
from fabric.model.plan import PortRef
from fabric.nos.target import installed, target

TO = re.compile(r"^(?:to|facing|link|from)[-_.]+", re.I)


@dataclass(kw_only=True)
class Found:
    """A device that was read.

    Attributes:
        ports: names of its ports, in order.
        gbps: of ports whose speed is known.
        refs: of ports whose place on the front panel is known.
        stated: the hardware as the file calls it, also where the catalog does not have it.
        border: it has a session with a device outside.
    """

    facts: Facts
    ports: list[str]
    gbps: dict[str, int]
    refs: dict[str, PortRef] = field(default_factory=dict)
    model: str = ""
    stated: str = ""
    release: str = ""
    asn: int = 0
    loopback: str = ""
    loopback6: str = ""
    vtep: str = ""
    management: str = ""
    border: bool = False
    inferences: list[Inference] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.facts.name

    @cached_property
    def members(self) -> dict[str, list[str]]:
        """Bond → its ports, in order."""
        bonds = ((own.bond.value, port) for port in self.ports if (own := self.facts.interfaces.get(port)) and own.bond)
        return grouped(bonds)

    @cached_property
    def _words(self) -> dict[str, list[str]]:
        texts = {port: self.description(port) for port in self.ports}
        return {port: [*(words := words_of(text)), *_without_to(words)] for port, text in texts.items() if text}

    def words(self, port: str) -> list[str]:
        """The words of a port's description, else of its bond's."""
        return self._words.get(port, [])

    def description(self, port: str) -> str:
        """That of a port, else of the bond that it alone is a member of."""
        own = self.facts.interfaces.get(port)
        if own is None or own.description is not None:
            return own.description.value if own and own.description else ""
        bond = self.facts.interfaces.get(own.bond.value) if own.bond else None
        return bond.description.value if bond and bond.description else ""

    @property
    def is_host(self) -> bool:
        """Whether it neither routes nor bridges: a server whose network configuration lies beside those of switches."""
        interfaces = self.facts.interfaces.values()
        bridged = any(own.access or own.trunk for own in interfaces)
        return not (self.facts.bgp or self.loopback or self.loopback6 or self.vtep or bridged or self.facts.vnis)

    def infer(self, what: str, value: str, source: str, place: str = "") -> None:
        self.inferences.append(Inference(subject=self.name, what=what, value=value, source=source, place=place))

    def place_ports(self) -> None:
        """Finds the place of every port, once all speeds are known."""
        if not self.model and (model := self._generic()):
            self.model = model
            self.infer("model", model, "ports of its config")
        self.refs = panel(self.facts, self.model, self.ports, self.gbps)

    def _generic(self) -> str:
        """The generic model with its ports, of a network OS that runs on any hardware."""
        record = installed(self.facts.nos)
        if record is None or record.short_title or self.stated:
            return ""
        refs = panel(self.facts, "", self.ports, self.gbps).values()
        cages = {ref.cage: ref.split * ref.speed_gbps for ref in refs}
        listed = bool(cages) and set(cages) == set(range(1, len(cages) + 1))
        return f"{len(cages)}x{max(cages.values())}g" if listed and max(cages.values()) else ""


def found(facts: Facts, models: Mapping[str, str]) -> Found:
    """What is known of a device before its neighbors are.

    Args:
        models: name of a device or a pattern of names → model in the catalog.
    """
    names = port_names(facts)
    device = Found(facts=facts, ports=names, gbps=speeds(facts, names))
    _hardware(device, models)
    process = facts.bgp.get("") or next(iter(facts.bgp.values()), None)
    device.asn = process.asn.value if process and process.asn else _local_as(facts)
    loopbacks = _loopbacks(facts)
    tunnels = tunnel_addresses(facts)
    router_id = process.router_id.value if process and process.router_id else ""
    hosts = [own for own in loopbacks if ":" not in own]
    device.loopback = router_id or next((own for own in hosts if own not in tunnels), next(iter(hosts), ""))
    device.loopback6 = next((own for own in loopbacks if ":" in own and own not in tunnels), "")
    device.vtep = min(tunnels - {device.loopback}, default=min(tunnels, default=""), key=lambda own: _order(loopbacks, own))
    device.management = next((own.addresses[0].value for own in _managed(facts) if own.addresses), "")
    return device


def _local_as(facts: Facts) -> int:
    """The AS number of most sessions with other ones, where the process has none."""
    sessions = [(peer.local_as.value, peer.remote_as) for peer in facts.neighbors() if peer.local_as and not peer.vrf]
    outside = [own for own, remote in sessions if remote is None or remote.value != own]
    counts = Counter(outside or [own for own, _ in sessions])
    return max(counts, key=lambda own: (counts[own], -own), default=0)


def _without_to(words: Sequence[str]) -> list[str]:
    """`TO-R01` and `to.leaf1` → `R01`, `leaf1`."""
    return [rest for word in words if (rest := TO.sub("", word)) != word]


def _order(addresses: list[str], own: str) -> tuple[int, str]:
    return (addresses.index(own) if own in addresses else len(addresses)), own


def _loopbacks(facts: Facts) -> list[str]:
    """Addresses of loopbacks in the default table, in the order of the file."""
    return [
        without_prefix_length(fact.value)
        for name, own in facts.interfaces.items()
        if is_loopback(name) and not own.vrf
        for fact in own.addresses
        if not fact.value.startswith(("127.", "::1/", "fe80:"))
    ]


def _managed(facts: Facts) -> list[Interface]:
    """Management ports, one in the management VRF first."""
    ports = [own for name, own in facts.interfaces.items() if is_management(name)]
    return sorted(ports, key=lambda own: own.vrf is None or own.vrf.value != MANAGEMENT)


# --- Hardware and release -------------------------------------------------------------------------------------


def _hardware(device: Found, models: Mapping[str, str]) -> None:
    facts = device.facts
    stated = _stated(facts)
    if release := stated.get("release"):
        device.release, is_known = _known_release(facts.nos, release.value)
        source = "its config" if is_known else f"the oldest that is known, as its config has {release.value}"
        device.infer("release", device.release, source, f"{release.file}:{release.line}")
    elif text := _spelled_as(facts):
        device.release = text.value
        device.infer("release", f"{text.value} (assumed)", "the words of its config", f"{text.file}:{text.line}")
    named = models.get(facts.name) or next((own for name, own in models.items() if fnmatchcase(facts.name, name)), "")
    if named:
        device.model = device.stated = named
        device.infer("model", named, "--model")
        return
    model = stated.get("model") or stated.get("board")
    if model is None:
        return
    device.stated = model.value
    known = _entries()
    words = [stated[key].value for key in ("model", "board") if key in stated]
    candidates = next((own for word in words if (own := known.get(word.lower()))), ())
    if candidates:
        device.model = _fitting(device, candidates)
        device.infer("model", device.model, "its config", f"{model.file}:{model.line}")


def _spelled_as(facts: Facts) -> Located[str] | None:
    """A release whose words a config without one has."""
    record = installed(facts.nos)
    for pattern, release in record.reader.spellings if record is not None and record.reader is not None else ():
        for path, text in facts.texts.items():
            if match := _compiled(pattern).search(text):
                return Located(release, text.count("\n", 0, match.start()) + 1, path)
    return None


def _known_release(nos: str, text: str) -> tuple[str, bool]:
    """The release of an intent that writes the files of one; the oldest, and False, where none does."""
    record = installed(nos)
    if record is None or not record.releases:
        return text, True
    number = [int(part) for part in re.findall(r"\d+", text)]
    known = {name: [int(part) for part in re.findall(r"\d+", name)] for name in record.releases}
    same = next((name for name in record.releases if number[: len(known[name])] == known[name]), "")
    if same or record.release_refusal(text) is None:
        return same or text, True
    return min(record.releases, key=lambda name: known[name]), False


def _fitting(device: Found, candidates: tuple[str, ...]) -> str:
    """Of several models with one word the one whose port map has the most of its ports."""
    if len(candidates) == 1:
        return candidates[0]
    fits = {name: len(panel(device.facts, name, device.ports, device.gbps)) for name in candidates}
    return max(candidates, key=lambda name: fits[name])


def _stated(facts: Facts) -> dict[str, Located[str]]:
    """What the files say of the device in the lines that the reader of the network OS has for it: group → text."""
    record = installed(facts.nos)
    result: dict[str, Located[str]] = {}
    for pattern in record.reader.hardware if record is not None and record.reader is not None else ():
        for path, text in facts.texts.items():
            match = _compiled(pattern).search(text)
            for key, value in match.groupdict().items() if match else ():
                if value and match is not None:
                    line = text.count("\n", 0, match.start()) + 1
                    result.setdefault(key, Located(value, line, path))
    return result


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.M)


@cache
def _entries() -> Mapping[str, tuple[str, ...]]:
    """Word for the hardware in a config, in small letters → models of the catalog: its name, or SKU and platform of SONiC."""
    words: dict[str, list[str]] = {}
    for name in catalog.switch_names():
        model = catalog.switch(name)
        board = (model.sonic if model else None) or catalog.sonic_platform(name)
        own = [name, *(board.hwsku.values() if board else ()), *([board.platform] if board else ())]
        for word in dict.fromkeys(own):
            words.setdefault(word.lower(), []).append(name)
    return {word: tuple(names) for word, names in words.items()}


# --- statements ---------------------------------------------------------------------------------------------


def lines_of(nos: str, files: Mapping[str, str]) -> dict[str, str]:
    """The statements of a switch in their order, each with its file → `FILE:LINE`; {} where its network OS has no syntax.

    A statement with a secret is there a second time with the placeholder that stands for it, never with a literal secret.
    """
    syntax = target(nos).syntax
    if syntax is None:
        return {}
    lines: dict[str, str] = {}
    read = syntax.get()
    for path, place in read.read(files).items():
        where = f"{place.file}:{place.line}"
        lines[f"{path[0]}: {read.joined(path)}"] = where
        raw = " ".join(place.raw)
        if "${" in raw:
            lines[f"{path[0]}: {raw}"] = where
    return lines
