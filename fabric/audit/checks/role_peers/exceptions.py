"""Differences by design: the table `exceptions.yaml`, and the conditions that its entries are made of.

An entry applies where all its conditions hold, which are properties of a Case; `not` before one reverses it. What a
difference by design would break is reported by another check: a name that is used but not defined, a route without next hop.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from ipaddress import ip_address
from itertools import islice
from pathlib import Path

from fabric.audit.checks.role_peers.forms import Device, Family, Plans, Property, Subnets, addresses, is_chosen, rows_of
from fabric.audit.checks.role_peers.outliers import ABSENT, DEVICE, OBJECT, Outlier
from fabric.audit.checks.role_peers.outline import (
    MAX_OTHER_TASKS,
    MAX_SECTION,
    MIN_PEERS,
    MIN_SIMILAR_OBJECTS,
    Outline,
    Row,
    is_of_device,
    names_in_place,
    names_of_kind,
    section_of,
)
from fabric.audit.checks.role_peers.roles import Outlines
from fabric.audit.checks.role_peers.shapes import ADDRESS, AT_PORT, DIGITS, DOTTED as MAC, IGP, STATED, VALUE
from fabric.audit.checks.statements import syntax_of
from fabric.base.formats import yaml
from fabric.model.facts import Facts, Interface
from fabric.nos.reading.values import is_address
from fabric.nos.statements.conditions import GIVEN
from fabric.nos.statements.names import Name
from fabric.nos.statements.syntax import Syntax
from fabric.nos.target import cage

TABLE = Path(__file__).with_name("exceptions.yaml")
UNUSED = re.compile(r"(?i)\b(?:spare|reserved|un-?used|unassigned|free|not used)\b")  # in the description of a port
WEAKER = re.compile(r"(?i)\bno(?:t)? (?:\S{1,60} ){0,8}?(?:password|authentication|secret|encryption)|no-?password")
USE = re.compile(r"(?i)address|channel|vrf|vlan|description|bond|bridge|neighbor|profile|encapsulation|speed|family")
# AS numbers
PRIVATE = re.compile(r".*(?<!\d)(?:6451[2-9]|645[2-9]\d|64[6-9]\d\d|65[0-4]\d\d|655[0-2]\d|6553[0-4]|42\d{8})(?!\d).*")
FAMILY = re.compile(r"(?<=family ).*?\b(ipv4|ipv6|evpn)\b")  # address families, as facts name them
LENGTH = re.compile(r"(?<=\0)/\d+")  # of a prefix
VALUES = re.compile(rf"(?:[{VALUE}{STATED}{AT_PORT}]\S* ){{2,}}")  # a list, as the ports of a tenant


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerException:
    """An entry of `exceptions.yaml`.

    Attributes:
        name: of the exception.
        reason: why the difference is by design.
        when: conditions, (name of a property of Case, expected value).
        counted: the difference shows, with others, that a device is no peer; else it is none.
        nos: network OS of the pair of configs.
        usual: config of the peers; `{n}` is the number of the device.
        own: config of the device that differs by design.
    """

    name: str
    reason: str
    when: tuple[tuple[str, bool], ...]
    counted: bool
    nos: str
    usual: str
    own: str

    def holds(self, case: Case) -> bool:
        """Whether all conditions hold, in their order."""
        return all(getattr(case, condition) is expected for condition, expected in self.when)


@cache
def exceptions() -> tuple[PeerException, ...]:
    """The entries of the table. Raises ValueError for an unknown condition."""
    found = []
    for row in yaml.read(TABLE):
        when = tuple((text.removeprefix("not "), not text.startswith("not ")) for text in row.pop("when"))
        if unknown := [name for name, _ in when if not hasattr(Case, name)]:
            raise ValueError(f"{TABLE}: {row['name']}: unknown conditions {unknown}")
        found.append(PeerException(**row, when=when))
    return tuple(found)


class Peers:
    """Devices of a role, with what was read of them. Positions are those of `facts`."""

    def __init__(
        self, facts: Sequence[Facts], outlines: Outlines, made: Plans, filed: Sequence[Device], subnets: Subnets
    ) -> None:
        self.facts, self.made, self.filed, self.subnets = facts, made, filed, subnets
        self.syntax: Syntax = syntax_of(facts[0].nos)
        self.outline = cache(lambda at: outlines.of(facts[at]))
        self.rows: Callable[[int], dict[tuple[Family, str, Property], Row]] = cache(
            lambda at: rows_of(self.outline(at), made)
        )
        self.tasks = cache(self._tasks)

    def is_excepted(self, outlier: Outlier, *, counted: bool) -> bool:
        """Whether every statement that a difference is about is by design. What is in a section follows from its head."""
        wanted = outlier.missing if outlier.rule == OBJECT else outlier.missing[:1]
        entries = [entry for entry in exceptions() if entry.counted is counted]
        return all(any(entry.holds(case) for entry in entries) for case in (Case(self, outlier, what) for what in wanted))

    @cached_property
    def kinds(self) -> list[frozenset[Family]]:
        """What each device is for: its kinds of objects, and its lists and policies by name."""
        return [frozenset(device.objects) | _named_objects(device) for device in self.filed]

    def _tasks(self, among: frozenset[int]) -> dict[int, frozenset[Family]]:
        """Position of each of some devices → kinds that it alone has, or alone has not, of them."""
        users = Counter(kind for at in among for kind in self.kinds[at])
        alone = {kind for kind, count in users.items() if count == 1}
        common = {kind for kind, count in users.items() if count == len(among) - 1}
        return {at: frozenset((alone & self.kinds[at]) | (common - self.kinds[at])) for at in among}


def _named_objects(device: Device) -> set[Family]:
    """Objects with a chosen name."""
    return {
        Family(family.text, (*family.values, name))
        for family, members in device.objects.items()
        if family.text and not family.is_port
        for name in members
        if is_chosen(name)
    }


class Case:
    """A difference as the conditions of the exceptions see it: one missing statement of it, and the configs of both sides."""

    def __init__(self, peers: Peers, outlier: Outlier, wanted: Property) -> None:
        self.peers, self.outlier, self.wanted = peers, outlier, wanted
        self.device, self.facts = peers.filed[outlier.device], peers.facts[outlier.device]

    # --- the difference itself -----------------------------------------------------------------------------------

    @property
    def is_of_device(self) -> bool:
        """Rule 1."""
        return self.outlier.rule == DEVICE

    @property
    def is_absent_object(self) -> bool:
        """Rule 2."""
        return self.outlier.rule == ABSENT

    @property
    def is_object(self) -> bool:
        """Rule 3."""
        return self.outlier.rule == OBJECT

    @property
    def is_port(self) -> bool:
        """Whether the object is a port."""
        return self.outlier.family.is_port

    @property
    def is_about_port(self) -> bool:
        """Whether the object is a port, or something of a port, such as its queue."""
        return self.is_port or AT_PORT in self.outlier.family.text

    @property
    def is_changed(self) -> bool:
        """Whether the device has another value or word; else the statement is missing."""
        return bool(self.outlier.extra)

    @property
    def has_chosen_name(self) -> bool:
        """Whether the object has a name that means one thing on every device."""
        return is_chosen(self.outlier.name)

    @property
    def has_few_witnesses(self) -> bool:
        """Whether no more devices or objects agree than in a pair."""
        return self.outlier.witnesses <= MIN_PEERS

    @cached_property
    def values(self) -> list[tuple[str, str]]:
        """(value of the others, own value) where both differ."""
        ((_, usual), *_), ((_, own), *_) = self.outlier.missing, self.outlier.extra
        return [(one, other) for one, other in zip(usual, own, strict=False) if one != other]

    @property
    def differs_in_identity(self) -> bool:
        """Whether addresses, with or without the length of their prefix, AS numbers, or MAC addresses of an object differ."""
        patterns = (ADDRESS, PRIVATE, *([MAC] if self.outlier.family.text else ()))
        same = LENGTH.sub("", self.wanted[0]) == LENGTH.sub("", self.outlier.extra[0][0])
        values = [value for pair in self.values for value in pair]
        return same and bool(values) and all(any(pattern.fullmatch(value) for pattern in patterns) for value in values)

    @property
    def differs_in_service(self) -> bool:
        """Whether the address of a service outside of the network differs, such as a time server, which all devices share."""
        is_inside = self.peers.subnets.has
        return self.wanted[0] == self.outlier.extra[0][0] and all(
            ADDRESS.fullmatch(usual) is not None and not is_inside(usual) and not is_inside(own) for usual, own in self.values
        )

    @property
    def names_lost_neighbor(self) -> bool:
        """Whether a statement has an address that several missing ones have, or an absent object of own name has one."""
        if self.is_absent_object:
            values = () if self.outlier.name else (*self.outlier.family.values, *self.wanted[1])
            return any(ADDRESS.fullmatch(value) for value in values)
        counts = Counter(value for _, kept in self.outlier.lacks for value in kept)
        return any(counts[value] > 1 for value in self.wanted[1] if ADDRESS.fullmatch(value))

    @property
    def is_family_without_sessions(self) -> bool:
        """Whether a statement is about an address family that the others use for sessions which the device does not have."""
        families = set(FAMILY.findall(self.wanted[0]))
        near = [one for facts in self.peers.facts for one in facts.neighbors()]
        used = {(one.vrf, one.peer) for one in near if not families.isdisjoint(of.value for of in one.families)}
        return bool(used) and used.isdisjoint((one.vrf, one.peer) for one in self.facts.neighbors())

    @property
    def is_repeated(self) -> bool:
        """Whether most other devices have several statements of this kind."""
        others = [device for device in self.peers.filed if device is not self.device]
        return 2 * sum(self.wanted in device.several for device in others) > len(others)

    @property
    def is_large(self) -> bool:
        """Whether more than MAX_SECTION statements are missing at once."""
        return len(self.outlier.missing) > MAX_SECTION

    # --- ports -----------------------------------------------------------------------------------------------------

    @property
    def is_off(self) -> bool:
        """Whether the statements that are missing switch something off."""
        return self._is_any(self.peers.syntax.off, *self.outlier.missing)

    @property
    def sets_state(self) -> bool:
        """Whether the statement switches something on or off."""
        return self._is_any(self.peers.syntax.state, self.wanted)

    @property
    def has_state(self) -> bool:
        """Whether a statement that is missing switches something on or off."""
        return self._is_any(self.peers.syntax.state, *self.outlier.missing)

    def _is_any(self, pattern: re.Pattern[str] | None, *found: Property) -> bool:
        return pattern is not None and any(pattern.search(text) for text, _ in found)

    @property
    def is_idle(self) -> bool:
        """Whether similar ports have no use: no address, VLAN, bond or description."""
        return not any(USE.search(text) for text, _ in self.outlier.usual)

    @property
    def sets_vrf(self) -> bool:
        """Whether the statement puts a port into a VRF."""
        return self._is_any(self.peers.syntax.port_vrf, self.wanted)

    @property
    def is_broken_out(self) -> bool:
        """Whether a port is split, as `swp1` beside `swp1s0`: only the ports of the breakout are in use or idle."""
        name, nos = self.outlier.name, self.facts.nos
        return any(cage(nos, port) == name != port for members in self.device.objects.values() for port in members)

    @property
    def has_other_ports(self) -> bool:
        """Whether a device lacks several ports, has others of the cage, or one that no peer has: another split or model."""
        names = [device.objects.get(self.outlier.family, {}).keys() for device in self.peers.filed]
        users, own = Counter(name for members in names for name in members), names[self.outlier.device]
        slot = cage(self.facts.nos, self.outlier.name)
        return (
            any(users[name] == 1 for name in own)
            or sum(users[name] == len(names) - 1 and name not in own for name in users) > 1
            or any(cage(self.facts.nos, port) == slot for ports in self.device.objects.values() for port in ports)
        )

    @cached_property
    def port(self) -> Interface | None:
        """The interface that the object is."""
        return self.facts.interfaces.get(self.outlier.name)

    @property
    def is_unused_unlike_peers(self) -> bool:
        """Whether a port is free by its description, and the witnesses are not, or it lacks a speed: that of a breakout."""
        is_whole = self.port is not None and "speed" in self.wanted[0] and _is_unused(self.facts, self.port)
        return is_whole or self._is_alone_in(_is_unused)

    @property
    def is_access_unlike_peers(self) -> bool:
        """Whether a port is in one network, untagged, and the witnesses are in several."""
        return self._is_alone_in(lambda _, port: port.access is not None and not port.trunk)

    @property
    def is_trunk_unlike_peers(self) -> bool:
        """Whether a port has subinterfaces, and the witnesses have none."""
        return self._is_alone_in(lambda facts, port: any(name.startswith(f"{port.name}.") for name in facts.interfaces))

    @property
    def is_link_unlike_peers(self) -> bool:
        """Whether a port has a subnet with another device in the files, and the witnesses are ports to servers."""
        return self._is_alone_in(lambda _, port: self.peers.subnets.is_link(port))

    def _is_alone_in(self, is_so: Callable[[Facts, Interface], bool]) -> bool:
        """Whether a port has a use that fewer than MIN_SIMILAR_OBJECTS witnesses have."""
        if self.port is None or not is_so(self.facts, self.port):
            return False
        family, outlier = self.outlier.family, self.outlier
        body = self.device.objects.get(family, {}).get(outlier.name, frozenset[Property]())
        usual = body.difference(outlier.extra, outlier.emptied).union(outlier.missing)
        same = (
            name
            for facts, device in zip(self.peers.facts, self.peers.filed, strict=True)
            for name, other in device.objects.get(family, {}).items()
            if other == usual and (port := facts.interfaces.get(name)) is not None and is_so(facts, port)
        )
        return len(list(islice(same, MIN_SIMILAR_OBJECTS))) < MIN_SIMILAR_OBJECTS

    @property
    def has_description(self) -> bool:
        """Whether the port has a description."""
        return self.port is not None and bool(self.port.description)

    @property
    def is_tagged_only(self) -> bool:
        """Whether the subinterfaces of a port have addresses."""
        return any(port.addresses for name, port in self.facts.interfaces.items() if name.startswith(f"{self.outlier.name}."))

    # --- other tasks -------------------------------------------------------------------------------------------------

    @property
    def has_other_tasks(self) -> bool:
        """Whether a device alone has, or lacks, other kinds of objects or named lists than the devices with the same object.

        An edit by hand makes one difference, a device with another task many: two peers prove nothing against a border
        leaf, nor two border leaves against the third leaf. A VRF or a list with a chosen name is compared with those of
        that name: of three leaves with a tenant, the one without external connection is no peer of the others, however
        many leaves without that tenant there are. One kind of ports is enough.
        """
        outlier = self.outlier
        if self.is_port and self.is_object and not self.has_few_witnesses:
            return False  # ports are witnesses for ports
        among = frozenset(range(len(self.peers.filed)))
        if self.is_object and self.has_chosen_name and not self.is_port:
            among = frozenset(at for at in among if outlier.name in self.peers.filed[at].objects.get(outlier.family, {}))
        other = [kind for kind in self.peers.tasks(among)[outlier.device] if not self._is_part(kind)]
        tasks = sum(MAX_OTHER_TASKS + 1 if kind.is_port else 1 for kind in other)
        return tasks > (0 if self.has_few_witnesses else MAX_OTHER_TASKS)

    def _is_part(self, kind: Family) -> bool:
        """Whether objects are missing, or there, because of the difference: what is in a section, what a word became."""
        if self.is_object and kind.values and kind.values[-1] != self.outlier.name:
            return False
        texts = [text for text, _ in (*self.outlier.missing, *self.outlier.extra)]
        return any(kind.text.startswith(text) or text.startswith(kind.text) for text in texts)

    # --- the configs around it -------------------------------------------------------------------------------------

    @cached_property
    def own(self) -> Outline:
        """The statements of the device."""
        return self.peers.outline(self.outlier.device)

    @cached_property
    def witness(self) -> tuple[Row, Facts, Outline]:
        """The missing statement as the first witness has it, the witness and its statements."""
        return next(self._witnesses(self.wanted))

    def _witnesses(self, *wanted: Property) -> Iterator[tuple[Row, Facts, Outline]]:
        """The first witness of each of some statements."""
        here, count = self.outlier.device, len(self.peers.facts)
        for what in wanted:
            yield next(
                (row, self.peers.facts[at], self.peers.outline(at))
                for at in (*range(here + 1, count), *range(here + 1))
                for (family, name, found), row in self.peers.rows(at).items()
                if found == what and family == self.outlier.family and not (at == here and name == self.outlier.name)
            )

    @cached_property
    def like(self) -> Row:
        """The missing statement as the first witness has it."""
        return self.witness[0]

    @property
    def weakens_security(self) -> bool:
        """Whether a missing statement makes a device less secure: the checks of services report it on those that have it."""
        for row, facts, _ in self._witnesses(*self.outlier.missing):
            services, place = facts.services, (row.place.file, row.place.line)
            insecure = (*services.plain_text, *services.open_logins, *services.weak_logins)
            if any((fact.file, fact.line) == place for fact in insecure) or WEAKER.search(row.path[-1]):
                return True
        return False

    @property
    def is_named_here(self) -> bool:
        """Whether anything on the device refers to the object."""
        known = self.device.objects.get(self.outlier.family, {})
        return self.outlier.name in known or any(name.text == self.outlier.name for name, _ in self.own.names)

    @property
    def sets_address(self) -> bool:
        """Whether the statement has an address."""
        return any(ADDRESS.fullmatch(value) for value in self.like.form.values)

    @cached_property
    def profiles(self) -> list[Name]:
        """What the statement refers to, such as a QoS profile, without interfaces."""
        _, facts, _ = self.witness
        return [name for name in self.like.statement.meaning.names if name.used and name.text not in facts.interfaces]

    @property
    def varies_by_port(self) -> bool:
        """Whether ports refer to different objects of this kind in one place, as to QoS profiles by speed."""
        outlines = self.own, self.witness[2]
        return any(
            len(set().union(*(names_in_place(name, self.like, one) for one in outlines))) > 1 for name in self.profiles
        )

    @property
    def has_default(self) -> bool:
        """Whether a device states an object for all ports that have none of their own."""
        return any(is_of_device(place) for name in self.profiles for place, _ in names_of_kind(name, self.like, self.own))

    @property
    def counts_ports(self) -> bool:
        """Whether devices differ in a number of their own ports alone: `device-count 4` where there is one bond less."""
        if len(self.values) != 1 or self.wanted[0] != self.outlier.extra[0][0] or not all(map(str.isdigit, self.values[0])):
            return False
        own, usual = (Counter(DIGITS.sub("", name) for name in facts.interfaces) for facts in (self.facts, self.witness[1]))
        more = int(self.values[0][1]) - int(self.values[0][0])
        return any(own[kind] - usual[kind] == more for kind in own.keys() | usual.keys())

    @property
    def has_other_list(self) -> bool:
        """Whether a device has the statement with a list of another length."""
        wanted = VALUES.sub("* ", self.like.form.text)
        return wanted != self.like.form.text and any(VALUES.sub("* ", row.form.text) == wanted for row in self.own.all_rows)

    @property
    def lacks_section(self) -> bool:
        """Whether a device has nothing of a large section."""
        head = section_of(self.like)
        inside = [row for row in self.witness[2].all_rows if section_of(row) == head]
        return len(inside) > MAX_SECTION and not any(section_of(row) == head for row in self.own.all_rows)

    @cached_property
    def stated_addresses(self) -> list[str]:
        """Addresses of the statement without the length of a prefix."""
        words = self.peers.syntax.joined(self.like.path).split()
        found = [match[1] for word in words if (match := ADDRESS.fullmatch(word)) and match[2] is None]
        return [address for address in found if is_address(address)]

    @property
    def has_own_address(self) -> bool:
        """Whether an address of the statement is the device's own."""
        mine = {address.ip for address in addresses(self.facts)}
        return any(ip_address(address) in mine for address in self.stated_addresses)

    @property
    def is_out_of_reach(self) -> bool:
        """Whether an address of the statement is in a subnet of the witness that the device has no port in."""
        mine, theirs = list(addresses(self.facts)), list(addresses(self.witness[1]))
        hosts = [ip_address(address) for address in self.stated_addresses]
        return any(
            any(host in one.network and host != one.ip for one in theirs) and not any(host in one.network for one in mine)
            for host in hosts
        )

    @property
    def serves_nothing(self) -> bool:
        """Whether the statement is needed by others that the device does not have (`needs` of `statements.yaml`)."""
        serves = {
            (clue.rule, clue.shared)
            for clue in self.like.statement.meaning.clues
            if not clue.used and clue.rule != IGP and clue.shared != GIVEN
        }
        return bool(serves) and not any(clue.used and (clue.rule, clue.shared) in serves for clue, _ in self.own.clues)

    @property
    def defines_unknown_name(self) -> bool:
        """Whether the statement defines a name that the device neither defines nor uses."""
        known = {(name.kind, name.text) for name, _ in self.own.names}
        names = self.like.statement.meaning.names
        return any(not name.used and (name.kind, name.text) not in known for name in names)


def _is_unused(_: Facts, port: Interface) -> bool:
    return port.description is not None and UNUSED.search(port.description.value) is not None
