"""Files of subnet managers against the plan: partitions, roots, settings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePath
from typing import TypeVar

from fabric.audit.checks.base import Check
from fabric.audit.checks.finding import ERROR, WARNING, Finding
from fabric.base.text import listed, plural
from fabric.configs.infiniband.files import Managed
from fabric.configs.infiniband.read_files import Member, StatedPartition, cables, guid_list, names, partitions, settings
from fabric.model.plan.subnets import DEFAULT_PKEY, Partition, shares

_HINT = "run `fabric generate` to restore the file"
FILE_KEYS = {  # setting → the file that it names, as `fabric generate` calls it
    "root_guid_file": "root-guids.conf",
    "cn_guid_file": "compute-guids.conf",
    "io_guid_file": "storage-guids.conf",
    "partition_config_file": "partitions.conf",
    "node_name_map_name": "node-names.map",
}


@dataclass(frozen=True)
class SubnetFiles:
    """The files of one subnet manager: as they lie in the folder, and as the plan has them."""

    managed: Managed
    shown: str  # the folder, as it is shown
    texts: Mapping[str, str]  # name → text
    planned: Mapping[str, str]
    paths: Mapping[str, str] = field(default_factory=dict)  # name → where it lies, of a folder that was named

    def path(self, name: str) -> str:
        return self.paths.get(name) or f"{self.shown}/{name}"

    @property
    def not_collected(self) -> list[str]:
        """Files of the plan that a folder that was named does not have."""
        return [name for name in self.planned if self.paths and name in JUDGED and name not in self.paths]

    def same(self, key: str, expected: str, got: str) -> bool:
        """Whether a setting is as planned; in a folder that was named, files may be called and lie otherwise."""
        if not self.paths or key not in FILE_KEYS:
            return expected == got
        return PurePath(got).name == PurePath(self.path(FILE_KEYS[key])).name

    @cached_property
    def names(self) -> dict[int, int]:
        """GUID of a port or node → place in the subnet."""
        its = self.managed.guids
        found = {guid.node: at for at in range(len(its.of)) for guid in its.nodes(at)}
        return found | {guid.port: at for at in range(len(its.of)) for guid in its.nodes(at)}

    def name(self, guid: int) -> str:
        at = self.names.get(guid)
        return self.managed.subnet.nodes[at].name if at is not None else f"{guid:#018x}"

    @cached_property
    def partitions(self) -> list[StatedPartition]:
        return partitions(self.texts.get("partitions.conf", ""))


class SubnetCheck(Check[SubnetFiles]):
    """Judges the files of one subnet manager."""

    subject, needs = "files", "files"


class PartitionKeys(SubnetCheck):
    """Compares the partitions of a subnet manager with the tenants of the plan: keys, service levels, kinds of members.

    Ports talk to each other if they have a P_Key in common and one of them is a full member. A wrong key, or a port that is
    listed with another tenant, joins two tenants; the subnet manager reports neither.
    """

    id = "FAB2565"
    title = "Partitions have the planned keys and members, and keep tenants apart"
    severity = ERROR
    example = "`blue=0x8001` beside `red=0x8001` in partitions.conf"
    remediation = _HINT

    def check(self, files: SubnetFiles) -> Iterator[Finding]:
        if not files.managed.partitions:
            return
        planned = {partition.name: partition for partition in files.managed.partitions}
        stated: dict[str, StatedPartition] = {}
        for entry in files.partitions:
            stated.setdefault(entry.name, entry)
            if entry.name not in planned and entry.pkey != DEFAULT_PKEY:
                yield self._at(files, entry.line, f"partition '{entry.name}': no tenant of the plan has this name")
        yield from self._default(files)
        for name, partition in planned.items():
            if name not in stated:
                yield self._at(files, 0, f"tenant '{name}': expected a partition with P_Key {_key(partition.pkey)}, got none")
            else:
                yield from self._of_tenant(files, partition, stated[name])
        yield from self._joined(files)

    def _default(self, files: SubnetFiles) -> Iterator[Finding]:
        """With tenants only the manager and switches are full members of the partition that all ports are in."""
        for entry in files.partitions:
            for member in entry.members if entry.pkey == DEFAULT_PKEY else ():
                if member.kind != "limited" and member.who not in ("ALL_SWITCHES", "SELF"):
                    who = files.name(member.guid) if member.guid else member.who
                    text = f"default partition: expected {who} as limited member, got {member.kind}: it reaches every tenant"
                    yield self._at(files, member.line, text)

    def _of_tenant(self, files: SubnetFiles, partition: Partition, entry: StatedPartition) -> Iterator[Finding]:
        name = partition.name
        if entry.pkey != partition.pkey:
            expected = f"expected P_Key {_key(partition.pkey)}, got {_key(entry.pkey)}"
            yield self._at(files, entry.line, f"tenant '{name}': {expected}")
        if (level := entry.flags.get("sl", "0")) != str(partition.service_level):
            text = f"tenant '{name}': expected service level {partition.service_level}, got {level}"
            yield self._at(files, entry.line, text)
        guids = files.managed.guids.of
        wanted = {guids[at].port: "full" for at in partition.full} | {guids[at].port: "limited" for at in partition.limited}
        listed_guids = {member.guid for member in entry.members}
        for member in entry.members:
            text = _wrong(files, member, wanted)
            if text:
                yield self._at(files, member.line, f"tenant '{name}': {text}")
        if missing := [guid for guid in wanted if guid not in listed_guids]:
            ports = listed([files.name(guid) for guid in missing], 3)
            yield self._at(files, entry.line, f"tenant '{name}': expected {plural(len(missing), 'more member')}: {ports}")

    def _joined(self, files: SubnetFiles) -> Iterator[Finding]:
        """Tenants of one key: their ports reach each other."""
        fabric = files.managed.subnet.fabric
        places = {tenant.name: at for at, tenant in enumerate(fabric.spec.tenants)}
        seen: dict[int, StatedPartition] = {}
        for entry in files.partitions:
            first = seen.setdefault(entry.pkey, entry)
            if first.name == entry.name or entry.name not in places or first.name not in places:
                continue
            if not shares(fabric, places[first.name], places[entry.name]):
                names = f"tenants '{first.name}' and '{entry.name}'"
                text = f"{names} have one P_Key, {_key(entry.pkey)}: their ports reach each other"
                yield self._at(files, entry.line, text)

    def _at(self, files: SubnetFiles, line: int, text: str) -> Finding:
        return self.in_file("", files.path("partitions.conf"), line, f"subnet '{files.managed.subnet.name}': {text}")


def _wrong(files: SubnetFiles, member: Member, wanted: Mapping[int, str]) -> str:
    """What is wrong about a member of a tenant's partition, "" for nothing."""
    if not member.guid:
        return f"expected GUIDs of ports, got {member.who}: ports of other tenants are members"
    if member.guid not in files.names:
        return f"expected a port of the plan, got {member.guid:#018x}"
    who = files.name(member.guid)
    if member.guid not in wanted:
        at = files.names[member.guid]
        tenant = files.managed.subnet.nodes[at].tenant
        names = [tenant.name for tenant in files.managed.subnet.fabric.spec.tenants]
        owner = f"of tenant '{names[tenant]}'" if tenant >= 0 else "without a tenant"
        return f"expected no port {owner}, got {who} as {member.kind} member"
    if member.kind != wanted[member.guid]:
        return f"expected {who} as {wanted[member.guid]} member, got {member.kind}"
    return ""


def _key(pkey: int) -> str:
    return f"{pkey:#06x}"


class Roots(SubnetCheck):
    """Compares the list of roots with the switches of the top tier, and the lists of compute and storage ports with the plan.

    Up/down and fat-tree routing rank switches from the roots. With a root missing, or a leaf in the list, paths turn where
    they should not, and links are loaded unevenly. The subnet manager then ranks by itself, or with another engine, and its
    exit code is 0.
    """

    id = "FAB2566"
    title = "Roots are the switches of the top tier, and lists of ports are complete"
    severity = ERROR
    example = "root-guids.conf without the GUID of one spine"
    remediation = _HINT

    def check(self, files: SubnetFiles) -> Iterator[Finding]:
        for name, what in (("root-guids.conf", "root"), ("compute-guids.conf", "port"), ("storage-guids.conf", "port")):
            wanted, got = guid_list(files.planned.get(name, "")), guid_list(files.texts.get(name, ""))
            if missing := [guid for guid in wanted if guid not in got]:
                names = listed([files.name(guid) for guid in missing], 3)
                yield self._at(files, name, 0, f"expected {plural(len(missing), f'more {what}')}: {names}")
            for guid, line in got.items():
                if guid not in wanted:
                    where = "a switch of the top tier" if what == "root" else "a port that the plan has in this list"
                    yield self._at(files, name, line, f"expected {where}, got {files.name(guid)}")

    def _at(self, files: SubnetFiles, name: str, line: int, text: str) -> Finding:
        return self.in_file("", files.path(name), line, f"subnet '{files.managed.subnet.name}': {text}")


class ManagerSettings(SubnetCheck):
    """Compares the keys of a subnet manager's configuration with the plan.

    A misspelled routing engine is no error for the subnet manager: it routes with `minhop`. Two subnets with one prefix look
    alike to hosts that are in both.
    """

    id = "FAB2567"
    title = "The subnet manager has the planned settings"
    severity = ERROR
    else_severity = "warning for a key that the plan does not set"
    example = "`routing_engine ftre,updn`"
    remediation = _HINT

    def check(self, files: SubnetFiles) -> Iterator[Finding]:
        name = "opensm.conf"
        wanted, got = settings(files.planned.get(name, "")), settings(files.texts.get(name, ""))
        prefix = f"subnet '{files.managed.subnet.name}'"
        for key, (value, _) in wanted.items():
            if key not in got:
                yield self.in_file("", files.path(name), 0, f"{prefix}: {key}: expected {value}, got none")
            elif not files.same(key, value, got[key][0]):
                found, line = got[key]
                yield self.in_file("", files.path(name), line, f"{prefix}: {key}: expected {value}, got {found}")
        for key, (value, line) in got.items():
            if key not in wanted:
                text = f"{prefix}: {key}: expected no such key, got {value}"
                yield self.in_file("", files.path(name), line, text, severity=WARNING)


class NamesAndCables(SubnetCheck):
    """Compares the name map and the topology file of a subnet with the plan, line by line.

    Diagnostic programs print the names of the map, and UFM-class tools compare the fabric with the topology file. Where one
    is wrong, a technician is sent to another port, or a wrong cable passes as right.
    """

    id = "FAB2568"
    title = "The name map and the topology file have the planned names and cables"
    severity = ERROR
    example = "the names of two leaves are exchanged in node-names.map"
    remediation = _HINT

    def check(self, files: SubnetFiles) -> Iterator[Finding]:
        wanted = {guid: name for guid, name, _ in names(files.planned.get("node-names.map", ""))}
        got = {guid: (name, line) for guid, name, line in names(files.texts.get("node-names.map", ""))}
        yield from self._differences(files, "node-names.map", wanted, got, lambda guid: f"{guid:#018x}")
        planned, stated = (cables(text.get("fabric.topo", "")) for text in (files.planned, files.texts))
        wanted_cables = {(one.switch, one.port): f"{one.far} at {one.speed}G" for one in planned}
        got_cables = {(one.switch, one.port): (f"{one.far} at {one.speed}G", one.line) for one in stated}
        yield from self._differences(files, "fabric.topo", wanted_cables, got_cables, lambda end: f"{end[0]} P{end[1]}")

    def _differences(
        self,
        files: SubnetFiles,
        name: str,
        wanted: Mapping[K, str],
        got: Mapping[K, tuple[str, int]],
        shown: Callable[[K], str],
    ) -> Iterator[Finding]:
        for key, (value, line) in got.items():
            if value != wanted.get(key):
                expected = wanted.get(key) or "no such entry"
                yield self._at(files, name, line, f"{shown(key)}: expected {expected}, got {value}")
        if missing := [key for key in wanted if key not in got]:
            text = f"expected {plural(len(missing), 'more entry', 'more entries')}: {listed([*map(shown, missing)], 3)}"
            yield self._at(files, name, 0, text)

    def _at(self, files: SubnetFiles, name: str, line: int, text: str) -> Finding:
        return self.in_file("", files.path(name), line, f"subnet '{files.managed.subnet.name}': {text}")


K = TypeVar("K")
JUDGED = (
    "opensm.conf",
    "partitions.conf",
    "root-guids.conf",
    "compute-guids.conf",
    "storage-guids.conf",
    "node-names.map",
    "fabric.topo",
)
