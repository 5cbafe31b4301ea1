"""Several states of one network in one folder: `before` and `after`, the labs of a course, `leaf1-initial.cfg` and `-final`.

Each state is a network of its own: no device is in one twice, and devices of two states have nothing to do with each other.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from fabric.base.grouping import grouped

if TYPE_CHECKING:
    from fabric.nos.reading.folder import Device, Folder

# A date in the name of a file, with its time.
STAMP = re.compile(r"(?<!\d)(?:19|20)\d\d(-?)[01]\d\1[0-3]\d(?:[-_.T]?[0-2]\d[-:]?[0-5]\d(?:[-:]?[0-5]\d)?)?(?!\d)")
LEAST = 2  # devices that two states have in common, or states beside which a further folder is one


def separate(found: Folder) -> None:
    """Gives the devices of each state a site of their own."""
    folders = _folders([device for device in found.devices if not device.site])
    for device in found.devices:
        around = [fork for fork in folders if _place(device).is_relative_to(fork)]
        device.site = device.site or max(around, key=len, default="")
    labels = {id(device): site for device, site in _by_file_names(found.devices)}
    for device in found.devices:
        device.site = labels.get(id(device), device.site)
    found.apart = sorted({*folders, *labels.values()})


def earlier(paths: Iterable[Path]) -> set[Path]:
    """Files of which a later state lies beside them or in the folder around: `leaf1_2024-05-01.cfg`, `_2024-05-02.cfg`."""
    dated = [(path, STAMP.search(path.name)) for path in paths]
    stamps = {path: re.sub(r"\D", "", found[0]) for path, found in dated if found}
    series = {path: (path.parent, STAMP.sub("", path.name)) for path in stamps}
    latest: dict[tuple[Path, str], str] = {}
    for path, key in series.items():
        latest[key] = max(stamps[path], latest.get(key, ""))
    later = {key: max(latest[key], latest.get((key[0].parent, key[1]), "")) for key in latest}
    return {path for path, key in series.items() if stamps[path] < later[key]}


def leave_out_copies(found: Folder) -> None:
    """Leaves out a folder whose devices are, word for word, those that lie beside it, as in `ansible/files`."""
    texts: dict[str, set[tuple[str, ...]]] = {}
    for own in found.devices:
        texts.setdefault(own.site, set()).add((own.name, *sorted(own.files.values())))
    copies = [site for site in found.apart if texts.get(site) == texts.get("")]
    found.passed += [path for own in found.devices if own.site in copies for path in own.files]
    found.devices = [own for own in found.devices if own.site not in copies]
    found.apart = [site for site in found.apart if site not in copies]


def _place(device: Device) -> PurePath:
    return PurePath(next(iter(device.files))).parent


def _folders(devices: Sequence[Device]) -> list[str]:
    """Folders with the same devices as another, and those beside several of them, as the last lab of a course."""
    places = grouped((device.name.lower(), _place(device)) for device in devices)
    pairs = {name: list(combinations(dict.fromkeys(own), 2)) for name, own in places.items()}
    shared = Counter(fork for own in pairs.values() for fork in {fork for pair in own for fork in _all_forks(*pair)})
    alike = {fork for own in pairs.values() for pair in own if _same_place(*pair) for fork in _forks(*pair)}
    inside = {fork: sum(any(own.is_relative_to(fork) for own in all_) for all_ in places.values()) for fork in shared}
    enough = [fork for fork, names in shared.items() if names >= LEAST or fork in alike]
    states = {fork for fork in enough if shared[fork] * 2 >= inside[fork]}
    return sorted(map(str, states | _beside(states, devices)))


def _beside(states: set[PurePath], devices: Sequence[Device]) -> set[PurePath]:
    """Folders that lie beside two or more states and are not those of one device each."""
    places = [place for own in devices if (place := _place(own)).name not in (own.name, own.filed)]
    above = {folder for folder, number in Counter(state.parent for state in states).items() if number >= LEAST}
    found = {
        PurePath(*place.parts[: len(folder.parts) + 1])
        for place in places
        for folder in above
        if place != folder and place.is_relative_to(folder)
    }
    return found - states


def _by_file_names(devices: Sequence[Device]) -> Iterator[tuple[Device, str]]:
    """(device, its state) where the files of one folder have a host name and what tells the state: `leaf1-final.cfg`."""
    for (_, folder), own in grouped(((device.site, _place(device)), device) for device in devices).items():
        labels = {id(device): _label(device) for device in own if len(device.files) == 1}
        names = grouped((device.name.lower(), labels.get(id(device), "")) for device in own)
        several = [set(same) for same in names.values() if len(same) > 1 and len(set(same) - {""}) == len(same)]
        usual = {label for label, users in Counter(label for same in several for label in same).items() if users >= LEAST}
        if len(usual) < 2 or len(several) * 2 < len(names):
            continue
        for device in own:
            if labels.get(id(device)) in usual:
                yield device, str(folder / labels[id(device)])


def _label(device: Device) -> str:
    """`*-final` of `leaf1-final.cfg`; "" where the name of the file does not have the host name."""
    stem = PurePath(next(iter(device.files))).stem
    text, found = re.subn(rf"(?<![^\W_]){re.escape(device.name)}(?![^\W_])", "*", stem, count=1, flags=re.I)
    return text if found else ""


def _same_place(one: PurePath, other: PurePath) -> bool:
    """Whether two folders of a device stand at one place below different ones: `before/leaf1` and `after/leaf1`."""
    below = [place.relative_to(fork).parts for fork, place in zip(_forks(one, other), (one, other), strict=False)]
    return len(below) == 2 and below[0] == below[1] != ()


def _all_forks(one: PurePath, other: PurePath) -> Iterator[PurePath]:
    yield from _forks(one, other)
    yield from _inner(one, other)


def _forks(one: PurePath, other: PurePath) -> Iterator[PurePath]:
    """The two folders below the last that two paths share; nothing where one lies in the other."""
    at = next((at for at, (mine, theirs) in enumerate(zip(one.parts, other.parts, strict=False)) if mine != theirs), None)
    if at is not None:
        yield PurePath(*one.parts[: at + 1])
        yield PurePath(*other.parts[: at + 1])


def _inner(one: PurePath, other: PurePath) -> Iterator[PurePath]:
    """The folder in one of two paths that the other one is in, as `2021` beside the present configs."""
    outer, inner = sorted((one, other), key=lambda path: len(path.parts))
    if inner != outer and inner.is_relative_to(outer):
        yield PurePath(*inner.parts[: len(outer.parts) + 1])
