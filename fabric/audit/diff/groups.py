"""Config changes folded: switches with the same change apart from names and addresses, and files of servers in service."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from fabric.audit.diff.configs import DeviceChange
from fabric.audit.diff.design import Names
from fabric.configs.hosts import host_files
from fabric.configs.hosts.files import SHARED
from fabric.model.plan import SERVER, Plan
from fabric.nos.target import port_pattern

# --- switches -------------------------------------------------------------------------------------------------

ADDRESS = r"(?:\d+\.){3}\d+(?:/\d+)?(?::\d+)?"
HEX = r"[0-9a-fA-F]{0,4}(?:[:.][0-9a-fA-F]{0,4}){2,}(?:/\d+)?"  # IPv6, MAC addresses, Ethernet segments
WORD = r"[A-Za-z0-9][\w-]*(?:\.[\w-]+)*"


@dataclass(frozen=True)
class Group:
    """Changes that read alike; the first stands for all."""

    changes: tuple[DeviceChange, ...]
    same: bool  # to the letter

    @property
    def first(self) -> DeviceChange:
        return self.changes[0]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(change.device for change in self.changes)


def groups(changes: Iterable[DeviceChange], names: frozenset[str]) -> list[Group]:
    """The changes in groups, in the order of their first. `names` are words that differ from switch to switch."""
    found: dict[object, list[DeviceChange]] = {}
    for change in changes:
        text = tuple((file.path, file.form.name, masked("\n".join(file.lines), names, change.nos)) for file in change.files)
        found.setdefault((change.nos, change.state, text), []).append(change)
    return [Group(tuple(part), all(change.files == part[0].files for change in part)) for part in found.values()]


def masked(text: str, names: frozenset[str] = frozenset(), nos: str = "") -> str:
    """The text with addresses, ports and some names taken out: what reads alike for several devices is equal then.

    `nos`: the network OS whose ports it has, "" for any.
    """

    def mask(match: re.Match[str]) -> str:
        return match[0] if match.lastgroup == "word" and match[0] not in names else f"<{match.lastgroup}>"

    return _token(nos).sub(mask, text)


@cache
def _token(nos: str) -> re.Pattern[str]:
    port = port_pattern(nos).pattern
    return re.compile(f"(?P<address>{ADDRESS})|(?P<hex>{HEX})|(?P<port>{port})|(?P<word>{WORD})")


# --- servers --------------------------------------------------------------------------------------------------

NETPLAN = "60-fabric.yaml"
INVENTORY = ".bmc.csv"  # a list of all servers, which none of them reads
ROUTE = re.compile(r'[-+].*\{to: "([^"]+)"')
_LABEL = re.compile(r"  # .*$", re.MULTILINE)


@dataclass(frozen=True)
class HostChange:
    """One change of one file that several servers share but for their own names and addresses; the first stands for all."""

    hosts: tuple[str, ...]  # servers, or the group or fabric whose file it is
    path: str
    lines: tuple[str, ...]  # of the first: what goes and what comes, without context
    same: bool  # to the letter
    of_servers: bool  # else a file that a group of servers or a fabric shares

    @property
    def routes(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Prefixes to which routes go, and come; of every route once."""
        found = [[match[1] for line in self.lines if line[0] == sign and (match := ROUTE.match(line))] for sign in "-+"]
        gone, new = (dict.fromkeys(prefixes) for prefixes in found)
        return tuple(gone), tuple(new)

    @property
    def only_routes(self) -> bool:
        return not self.others

    @property
    def others(self) -> int:
        """Lines that are no routes."""
        return sum(ROUTE.match(line) is None for line in self.lines)


def changes(
    old: Plan, new: Plan, names: Names, device_names: frozenset[str], selected: Callable[[str], bool]
) -> tuple[HostChange, ...]:
    """Files that are on both sides and differ by more than labels of cables. `device_names` mean no difference."""
    before, after = _files(old, names, selected), _files(new, {}, selected)
    folded: dict[tuple[str, str], list[tuple[str, tuple[str, ...]]]] = {}
    for path, text in after.items():
        was = before.get(path)
        if was is None or was == text or path.endswith(INVENTORY):
            continue
        if lines := tuple(_lines(was, text)):
            folded.setdefault((path.split("/")[-1], masked("\n".join(lines), device_names)), []).append((path, lines))
    return tuple(_change([path for path, _ in rows], [lines for _, lines in rows]) for rows in folded.values())


def _change(paths: list[str], lines: list[tuple[str, ...]]) -> HostChange:
    shared = paths[0].startswith(f"{SHARED}/")
    at = -1 if shared else -2
    hosts = tuple(path.split("/")[at] for path in paths)
    return HostChange(hosts, paths[0].split("/")[-1], lines[0], all(each == lines[0] for each in lines), not shared)


def _files(plan: Plan, names: Mapping[str, str], wanted: Callable[[str], bool]) -> dict[str, str]:
    """Text by path, under the new names of servers."""
    if not plan.settings.output.hosts:
        return {}
    found: dict[str, str] = {}
    for path, data in host_files(plan, lambda name: wanted(names.get(name, name))):
        parts = path.split("/")
        parts[1] = names.get(parts[1], parts[1])
        found["/".join(parts)] = data.decode()
    return found


def _lines(old: str, new: str) -> Iterator[str]:
    """Lines that go and come, without the labels of cables, which are no setting."""
    before, after = (_LABEL.sub("", text).splitlines() for text in (old, new))
    for line in difflib.unified_diff(before, after, n=0, lineterm=""):
        if not line.startswith(("---", "+++", "@@")) and not line[1:].lstrip().startswith("#"):
            yield line


def servers(plan: Plan) -> set[str]:
    """Names of all servers of a site."""
    return {device.name for fabric in plan.fabrics.values() for device in fabric.devices if device.role == SERVER}
