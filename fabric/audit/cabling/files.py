"""Reads the collected files: the device of each, and the data of all of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fabric.audit.cabling.outputs import CODE, WHAT, Output, outputs
from fabric.audit.cabling.planned import Hosts
from fabric.audit.cabling.subnet_files import SOURCE, parts
from fabric.base.diagnostics import Diagnostic, InputError, Place, Report, nearest, show
from fabric.base.reading import UnreadableError, guarded, text_of
from fabric.configs.infiniband.discovered import Discovered, knows, read as discovered
from fabric.model.plan.subnets import Subnet
from fabric.nos.lldp import LldpPart, LldpPort, Neighbor

UNKNOWN_NAME = "FAB163"  # of a device, as the caller states it
_WORDS = re.compile(r"[A-Za-z0-9]+")


@dataclass
class DeviceData:
    """Data of one device from all its files."""

    neighbors: list[Neighbor] = field(default_factory=list)
    ports: dict[str, LldpPort] = field(default_factory=dict)
    listens: bool = False


@dataclass
class Collected:
    """Data of the planned devices. `unknown` has warnings about files of other devices, errors about those not read."""

    devices: dict[int, DeviceData] = field(default_factory=dict)  # by device
    chassis: dict[str, str] = field(default_factory=dict)  # chassis id → system name
    unknown: tuple[Diagnostic, ...] = ()
    files: int = 0


def read(
    paths: Sequence[Path], stated: Mapping[Path, str], hosts: Hosts, form: str = "", subnets: Sequence[Subnet] = ()
) -> Collected:
    """Every file, a folder's own and those below included. Raises InputError where none of them can be read.

    Args:
        stated: which device a file is of, where the caller states it.
        hosts: the names of the plan.
        subnets: of the plan, where one file reports all switches.
    """
    collected, report = Collected(), Report()
    unknown, unread = list[Diagnostic](), list[Diagnostic]()
    whose = {path.resolve(): device for path, device in stated.items()}
    for path in {path.resolve(): path for path in every_file([*paths, *stated], report)}.values():
        collected.files += 1
        try:
            with guarded(str(path)):
                text = text_of(path, WHAT)
                if subnets and form in ("", SOURCE) and (form or knows(text)):
                    _take_subnet(collected, discovered(text, str(path)), subnets, hosts, path)
                    continue
                parsed, prompt = outputs(text, str(path), form)
            for output in parsed:
                device = device_of(path, output.under, _hosts(parsed), prompt, whose.get(path.resolve(), ""), hosts)
                take(collected, output.part, device)
        except UnknownDeviceError as error:
            unknown.append(error.diagnostic)
        except InputError as error:
            unread.extend(error.diagnostics)
        except UnreadableError as error:
            unread.append(Diagnostic(CODE, Place(str(path), error.line), str(error), f"expected {WHAT}"))
    report.errors += [one for one in unread if not collected.devices or one.code == UNKNOWN_NAME]
    if unknown and not collected.devices:
        message = f"no file matches a device of this plan; the first {unknown[0].message}"
        report.error(CODE, unknown[0].place, message, unknown[0].hint)
    report.raise_errors()
    collected.unknown = (*unknown, *unread)
    return collected


def _take_subnet(collected: Collected, found: Discovered, subnets: Sequence[Subnet], hosts: Hosts, path: Path) -> None:
    """The switches of one discovery. Raises UnknownDeviceError where none of them is in the plan."""
    taken = False
    for device, part in parts(found, subnets):
        taken = True
        at = hosts.exact(device)
        assert at is not None
        take(collected, part, at)
    if not taken:
        message = f"ignored: none of its {len(found.nodes)} nodes is in the plan, by name or place"
        hint = f"descriptions such as {subnets[0].nodes[0].name}: `ibnetdiscover --node-name-map node-names.map`"
        raise UnknownDeviceError(Diagnostic(CODE, Place(str(path)), message, hint, "warning"))


def every_file(paths: Iterable[Path], report: Report, what: str = WHAT) -> Iterator[Path]:
    """The files of folders, and those named. A folder without files is an error; `what` is expected in it."""
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        inside = sorted(file for file in path.rglob("*") if file.is_file() and not file.name.startswith("."))
        if not inside:
            report.error(CODE, Place(str(path)), f"expected {what}, got a folder without files")
        yield from inside


class UnknownDeviceError(Exception):
    """A file of a device that is not in the plan."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        self.diagnostic = diagnostic


def device_of(path: Path, under: Sequence[str], reported: Sequence[str], prompt: str, stated: str, hosts: Hosts) -> int:
    """The device of an output: as the caller states, else from the content, else from the name of the file or its folder.

    Args:
        under: keys that the output was found under.
        reported: host names in the outputs of the file.
        prompt: host name of its prompts.
        stated: device that the caller states.

    Raises:
        UnknownDeviceError: a device that is not in the plan.
        InputError: no device, or several.
    """
    if stated:
        device = hosts.find(stated)
        if device is None:
            message = f"--device: '{stated}' is not a device of the plan"
            raise InputError([Diagnostic(UNKNOWN_NAME, Place(str(path)), message, nearest(stated, hosts.names))])
        return device
    candidates = [name for name in (*reversed(under), *reported, prompt) if name]
    for name in candidates:
        if (device := hosts.find(name)) is not None:
            return device
    named = by_name(path, hosts)
    if len(named) == 1:
        return named[0]
    if len(named) > 1:
        names = " and ".join(hosts.names[device] for device in named[:3])
        hint = "set the device with --device NAME=FILE"
        raise InputError([Diagnostic(CODE, Place(str(path)), f"the file name matches several devices: {names}", hint)])
    if others := [*reported, *([prompt] if prompt else [])]:
        message = f"ignored: belongs to {show(others[0])}, which is not in the plan"
        raise UnknownDeviceError(Diagnostic(CODE, Place(str(path)), message, nearest(others[0], hosts.names), "warning"))
    hint = f"name the file after the device, such as {hosts.names[0]}.json, or give --device NAME=FILE" if hosts.names else ""
    raise InputError(
        [Diagnostic(CODE, Place(str(path)), "neither the content nor the file name identifies the device", hint)]
    )


def _hosts(found: Sequence[Output]) -> list[str]:
    return [output.part.host for output in found if output.part.host]


def by_name(path: Path, hosts: Hosts) -> list[int]:
    """Devices that the file is called after, else its folder, else the folder above; of several the longest name."""
    if (device := hosts.find(path.stem)) is not None:
        return [device]
    for name in (path.stem, *(parent.name for parent in list(path.absolute().parents)[:2])):
        found = {device for part in _parts(name) if (device := hosts.exact(part)) is not None}
        longest = max((len(hosts.names[device]) for device in found), default=0)
        if found:
            return sorted(device for device in found if len(hosts.names[device]) == longest)
    return []


def _parts(name: str) -> Iterator[str]:
    """Every run of whole words in a name: `leaf001_lldp` gives `leaf001`, `lldp` and both."""
    words = list(_WORDS.finditer(name))[:24]
    for first, start in enumerate(words):
        for end in words[first:]:
            yield name[start.start() : end.end()]


def take(collected: Collected, part: LldpPart, device: int) -> None:
    """Adds the neighbors of one output of a device."""
    data = collected.devices.setdefault(device, DeviceData())
    data.listens |= part.listens
    data.neighbors.extend(neighbor for neighbor in part.neighbors if neighbor.port)
    for state in part.ports:
        earlier = data.ports.get(state.port, state)
        up = state.up if earlier.up is None else earlier.up
        speed, alias = earlier.speed_gbps or state.speed_gbps, earlier.alias or state.alias
        data.ports[state.port] = LldpPort(state.port, speed, up, alias, earlier.shut or state.shut)
    for neighbor in part.neighbors:
        if neighbor.chassis and neighbor.system:
            collected.chassis.setdefault(plain_id(neighbor.chassis), neighbor.system)
    if part.chassis and part.host:
        collected.chassis[plain_id(part.chassis)] = part.host


def plain_id(chassis: str) -> str:
    """A MAC address without separators, which differ by network OS; any other id in lower case."""
    digits = re.sub(r"[.:-]", "", chassis.lower())
    return digits if re.fullmatch("[0-9a-f]{12}", digits) else chassis.lower()
