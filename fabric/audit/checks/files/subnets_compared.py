"""Files of subnet managers against each other, without a plan: engines, roots, names, partitions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from fabric.audit.checks.files.subnet_folder import ManagerFiles
from fabric.audit.checks.files.subnets import FILE_KEYS, ManagerSettings, NamesAndCables, PartitionKeys, Roots
from fabric.audit.checks.finding import WARNING, Finding
from fabric.base.text import listed, plural
from fabric.configs.infiniband.read_files import StatedPartition, guid_list, names, switches
from fabric.model.plan.subnets import DEFAULT_PKEY
from fabric.model.settings.infiniband import ENGINES

OTHER_ENGINES = ("file", "sssp", "torus-2QoS", "none", "ar_updn", "ar_ftree", "ar_dor", "ar_torus", "auto", "dfp", "dfp2")
RANKED = ("ftree", "updn", "dnup", "ar_updn", "ar_ftree")  # engines that rank switches from the roots


def findings(managers: Sequence[ManagerFiles]) -> Iterator[Finding]:
    """What files of subnet managers say against each other."""
    for its in managers:
        yield from _settings(its)
        yield from _roots(its)
        yield from _names(its)
        yield from _keys(its)
        yield from _members(its)
    yield from _prefixes(managers)


def _settings(its: ManagerFiles) -> Iterator[Finding]:
    if "opensm.conf" not in its.texts:
        return
    path = its.paths["opensm.conf"]
    engines, line = its.settings.get("routing_engine", ("", 0))
    asked = [word.strip() for word in engines.split(",") if word.strip() not in ("", "(null)")]
    for engine in asked:
        if engine not in (*ENGINES, *OTHER_ENGINES):
            text = f"routing_engine: expected {', '.join(ENGINES)}, got {engine}: the next one routes, in the end minhop"
            yield ManagerSettings.in_file("", path, line, text, _ENGINE)
    ranked = next((engine for engine in asked if engine in RANKED), "")
    if ranked and its.settings.get("root_guid_file", ("(null)", 0))[0] == "(null)":
        text = f"routing_engine {ranked}: expected root_guid_file, got none: the manager ranks switches by itself"
        yield ManagerSettings.in_file("", path, line, text, _LISTS, WARNING)
    for key, name in FILE_KEYS.items():
        value, line = its.settings.get(key, ("(null)", 0))
        if value != "(null)" and name not in its.texts:
            text = f"{key}: {value} is not in the folder, so it was not compared"
            yield ManagerSettings.in_file("", path, line, text, "collect this file as well", WARNING)
        elif value != "(null)" and PurePath(value).name != PurePath(its.paths[name]).name:
            text = f"{key}: expected {PurePath(its.paths[name]).name}, which is in the folder, got {value}"
            yield ManagerSettings.in_file("", path, line, text, "name the file that is used", WARNING)


_ENGINE = "correct the name: the manager logs an unknown engine, and its exit code is 0"
_LISTS = "name the list of the switches of the top tier"
_KNOWN = "correct the GUID, or add the node to the name map"


def _roots(its: ManagerFiles) -> Iterator[Finding]:
    """Roots are known switches, those of the top tier as the cables have it."""
    name = "root-guids.conf"
    roots = guid_list(its.texts.get(name, ""))
    if not roots or not its.names:
        return
    path, top = its.paths[name], _top(its)
    adapters = {node.guid for node in its.discovery.nodes.values() if node.switch is False} if its.discovery else set()
    for guid, line in roots.items():
        if guid not in its.names:
            yield Roots.in_file("", path, line, f"expected the GUID of a known switch, got {guid:#018x}", _KNOWN)
        elif guid in adapters or (top and its.names[guid] not in top):
            text = f"expected a switch of the top tier, got {its.names[guid]}"
            yield Roots.in_file("", path, line, text, _LISTS)
    if missing := sorted(top - {its.names.get(guid, "") for guid in roots}):
        yield Roots.in_file("", path, 0, f"expected {plural(len(missing), 'more root')}: {listed(missing, 3)}", _LISTS)


def _top(its: ManagerFiles) -> set[str]:
    """Names of the switches that are farthest from servers; none of a single tier."""
    inside, near = _wired(its)
    most = max(near.values(), default=0)
    rank = {name: 0 for name, count in near.items() if 4 * count > most}  # not a spine with one attachment
    front = list(rank)
    while front:
        front = list(dict.fromkeys(far for name in front for far in inside.get(name, ()) if far not in rank))
        rank |= dict.fromkeys(front, max(rank.values()) + 1)
    highest = max(rank.values(), default=0)
    return {name for name, tier in rank.items() if tier == highest} if highest else set()


def _wired(its: ManagerFiles) -> tuple[dict[str, set[str]], Counter[str]]:
    """Switch → neighboring switches, and → cables of adapters: of the discovery, else of the topology file."""
    inside: dict[str, set[str]] = {}
    near: Counter[str] = Counter()
    known = switches(its.texts.get("fabric.topo", ""))
    pairs = [(one.switch, one.far.rpartition(" ")[0], one.far.rpartition(" ")[0] in known) for one in its.cables]
    if its.discovery:
        nodes = its.discovery.nodes
        ends = [(nodes[here[0]], nodes[far[0]]) for here, far in its.discovery.peers.items()]
        pairs = [(its.names[a.guid], its.names[b.guid], b.switch is True) for a, b in ends if a.switch]
    for switch, far, is_switch in pairs:
        if is_switch:
            inside.setdefault(switch, set()).add(far)
            inside.setdefault(far, set()).add(switch)
        else:
            near[switch] += 1
    return inside, near


def _names(its: ManagerFiles) -> Iterator[Finding]:
    """A GUID has one name, a name one GUID, and switches of the topology file have one."""
    name = "node-names.map"
    rows = names(its.texts.get(name, ""))
    first: dict[int | str, int | str] = {}
    for guid, node, line in rows:
        if (other := first.setdefault(guid, node)) != node:
            text = f"{guid:#018x}: expected one name, got {other} and {node}"
            yield NamesAndCables.in_file("", its.paths[name], line, text, _KNOWN)
        if (other := first.setdefault(node, guid)) != guid:
            text = f"{node}: expected one GUID, got {other:#018x} and {guid:#018x}"
            yield NamesAndCables.in_file("", its.paths[name], line, text, _KNOWN)
    unnamed = dict.fromkeys(one.switch for one in its.cables if one.switch not in first) if rows else {}
    for switch in unnamed:
        line = next(one.line for one in its.cables if one.switch == switch)
        text = f"expected a switch of {PurePath(its.paths[name]).name}, got {switch}"
        yield NamesAndCables.in_file("", its.paths["fabric.topo"], line, text, _KNOWN, WARNING)


def _keys(its: ManagerFiles) -> Iterator[Finding]:
    """P_Keys are unique, and the default partition does not join what the others keep apart."""
    keys: dict[int, StatedPartition] = {}
    named: dict[str, StatedPartition] = {}
    tenants = any(entry.pkey != DEFAULT_PKEY for entry in its.partitions)
    for entry in its.partitions:
        path = its.paths["partitions.conf"]
        first = keys.setdefault(entry.pkey, entry)
        if first.name != entry.name:
            text = f"'{first.name}' and '{entry.name}' have one P_Key, {entry.pkey:#06x}: their ports reach each other"
            yield PartitionKeys.in_file("", path, entry.line, text, _APART)
        first = named.setdefault(entry.name, entry)
        if first.pkey != entry.pkey:
            text = f"partition '{entry.name}': expected one P_Key, got {first.pkey:#06x} and {entry.pkey:#06x}"
            yield PartitionKeys.in_file("", path, entry.line, text, _APART)
        for member in entry.members if entry.pkey == DEFAULT_PKEY and tenants else ():
            if member.kind == "full" and member.who not in ("ALL_SWITCHES", "SELF"):
                who = its.name(member.guid) if member.guid else member.who
                text = f"default partition: expected {who} as limited member, got full: it reaches every partition"
                yield PartitionKeys.in_file("", path, member.line, text, _APART)


_APART = "give each tenant a partition with a P_Key of its own, and its ports alone"


def _members(its: ManagerFiles) -> Iterator[Finding]:
    """Members are known ports, and no port joins two partitions unless it serves both."""
    path = its.paths.get("partitions.conf", "")
    full: dict[str, dict[int, int]] = {}
    for entry in its.partitions:
        for member in entry.members if entry.pkey != DEFAULT_PKEY else ():
            if not member.guid:
                text = f"partition '{entry.name}': expected GUIDs of ports, got {member.who}: ports of others are members"
                severity = "" if member.who == "ALL" else WARNING
                yield PartitionKeys.in_file("", path, member.line, text, _APART, severity)
            elif its.names and member.guid not in its.ports:
                text = f"partition '{entry.name}': expected the GUID of a known port, got {member.guid:#018x}"
                yield PartitionKeys.in_file("", path, member.line, text, _KNOWN)
            elif member.kind in ("full", "both"):
                full.setdefault(entry.name, {}).setdefault(member.guid, member.line)
    for at, (name, ports) in enumerate(full.items()):
        for other, its_own in list(full.items())[at + 1 :]:
            joins = ports.keys() & its_own.keys()
            serve_both = [one.keys() for one in full.values() if one.keys() <= joins]  # a partition with all of its ports
            if wrong := joins.difference(*serve_both):
                first = min(wrong, key=its_own.__getitem__)
                more = f" and {plural(len(wrong) - 1, 'more port')}" if len(wrong) > 1 else ""
                text = f"expected a full member of '{name}' or of '{other}', got {its.name(first)}{more} in both"
                yield PartitionKeys.in_file("", path, its_own[first], text, _APART)


def _prefixes(managers: Sequence[ManagerFiles]) -> Iterator[Finding]:
    """Subnets of one prefix look alike to hosts in both; two managers of one subnet have the same roots."""
    seen: dict[str, ManagerFiles] = {}
    for its in managers:
        prefix, line = its.settings.get("subnet_prefix", ("", 0))
        first = seen.setdefault(prefix.lower(), its) if prefix else its
        if first is not its and first.names.keys().isdisjoint(its.names):
            text = f"subnet_prefix: expected one for each subnet, got {prefix} as in {first.paths['opensm.conf']}"
            yield ManagerSettings.in_file("", its.paths["opensm.conf"], line, text, "state another prefix", WARNING)
