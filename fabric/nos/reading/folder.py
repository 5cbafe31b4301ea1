"""The devices of a folder of configs, however it is laid out: a folder a device, or all files side by side."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path, PurePath
from stat import S_ISREG

from fabric.base.reading import UnreadableError, guarded
from fabric.model.facts import Facts
from fabric.nos.reading.readers import HEAD_BYTES, NO_CONFIG, SCRIPTS, Kind, is_script, named, read_device, readers, recognize
from fabric.nos.reading.states import earlier, leave_out_copies, separate

MOST_BYTES = 32_000_000  # no config of a switch is as large
ENDINGS = frozenset({"", ".cfg", ".conf", ".config", ".json", ".set", ".txt", ".yaml", ".yml"})  # of configs
COPIES = frozenset({".bak", ".backup", ".old", ".org", ".orig", ".prev", ".sav", ".save"})  # of a file beside it
FORMS = frozenset({".set"})  # what ends the stem of a file whose config another file has in another form
USUAL = frozenset({"config", "running-config", "show_running-config", "startup", "startup-config"})  # stems of files


@dataclass
class Device:
    """Files that make one device."""

    name: str
    nos: str
    files: dict[str, str] = field(default_factory=dict)  # path → text
    site: str = ""  # folder of the site that it belongs to: sites have nothing to do with each other
    filed: str = ""  # the device that its path names, where that is not `name`

    @property
    def facts(self) -> Facts:
        """What its files say."""
        found = read_device(self.name, self.nos, self.files)
        found.filed = self.filed
        return found


@dataclass(kw_only=True)
class Folder:
    """What a folder holds. Paths are as a person at this prompt would name them."""

    root: str = ""
    devices: list[Device] = field(default_factory=list)
    unrecognized: dict[str, Kind] = field(default_factory=dict)  # path → why
    passed: list[str] = field(default_factory=list)  # no configs by their names: pages, tables, pictures
    apart: list[str] = field(default_factory=list)  # folders, and patterns of files, that are each a network of its own
    unreadable: dict[str, UnreadableError] = field(default_factory=dict)  # device → what its reader fails on

    def sites(self) -> Iterator[list[Facts]]:
        """Every device read, those of each site by themselves; one that cannot be read goes to `unreadable`."""
        for site in dict.fromkeys(device.site for device in self.devices):
            yield [facts for own in self.devices if own.site == site and (facts := self._facts(own)) is not None]

    def _facts(self, device: Device) -> Facts | None:
        try:
            return device.facts
        except UnreadableError as error:
            self.unreadable[device.name] = error
            return None

    def by_name(self) -> dict[str, Device]:
        """Host name → its device; of several, the one whose path has that name, else the first."""
        found: dict[str, Device] = {}
        for own in sorted(self.devices, key=lambda own: bool(own.filed)):
            found.setdefault(own.name, own)
        return found

    def misnamed(self) -> dict[str, Device]:
        """A name that only a path has → the device there, which has the host name of another."""
        names = {own.name for own in self.devices}
        return {own.filed: own for own in reversed(self.devices) if own.filed and own.filed not in names}


def scan(root: Path) -> Folder:
    """Looks at every file below a folder, or at a single file. Raises OSError when there is none."""
    folder = Folder(root=str(root))
    texts: dict[tuple[str, str], dict[str, tuple[str, str]]] = {}  # (site, folder) → path → (kind, text)
    whole: dict[str, Path] = {}  # text with a host name → the first file with it
    lost = list[OSError]()
    every = list(_files(root, lost.append))
    old = earlier(path for _, path in every)
    for site, path in every:
        if path in old or _is_earlier(path) or (path.suffix.lower() in NO_CONFIG and not _is_script(path)):
            folder.passed.append(str(path))
            continue
        if path.is_symlink() and path != root and not _within(path, root):
            folder.unrecognized[str(path)] = Kind("", "a symlink that leads out of the folder", config=True)
            continue
        try:
            status = path.stat()
            if not S_ISREG(status.st_mode) or status.st_size > MOST_BYTES:  # a pipe would keep us waiting
                too_large = S_ISREG(status.st_mode)
                folder.unrecognized[str(path)] = Kind("", "too large for a config" if too_large else "no regular file")
                continue
            text = _read_text(path)
        except UnicodeDecodeError:
            kind = recognize(str(path), path.read_text(encoding="latin-1"))
            folder.unrecognized[str(path)] = Kind("", "not UTF-8 text", config=bool(kind.nos) or kind.config)
            continue
        except OSError as error:
            folder.unrecognized[str(path)] = _lost(error)
            continue
        kind = _kind(str(path), text)
        if kind.nos and _is_copy(path, text, whole):
            folder.passed.append(str(path))
        elif kind.nos:
            texts.setdefault((site, str(_home(path, root))), {})[str(path)] = kind.nos, text
        else:
            folder.unrecognized[str(path)] = kind
    folder.unrecognized |= {str(error.filename): _lost(error) for error in lost}
    repeated = _repeated(texts.values())
    for (site, _), files in sorted(texts.items()):
        for device in _devices(files, folder, repeated):
            device.site = site
            folder.devices.append(device)
    separate(folder)
    leave_out_copies(folder)
    return folder


CLOSED = re.compile(r"^Connection to \S+ closed\.[ \t]*$", re.M)


def _read_text(path: Path) -> str:
    """The text of a file. What a terminal shows beside a config is blank: prompts of the device, the end of a session."""
    with path.open(encoding="utf-8-sig", newline="") as stream:  # some editors begin a file with a byte order mark
        text = stream.read()
    if "\r" in text:
        text = re.sub(r"\r*\n|\r", "\n", text)  # terminals end lines with two of them, which is one line all the same
    name = _configured_name(text)
    if name and re.search(rf"^{re.escape(name)}(?:\([\w-]+\))?[#>]", text, re.M):
        text = re.sub(rf"^{re.escape(name)}(?:\([\w-]+\))?[#>].*$", "", text, flags=re.M)
    return CLOSED.sub("", text) if "Connection to " in text else text


def _is_script(path: Path) -> bool:
    """Whether a file whose name is no config's has commands in it all the same."""
    if path.suffix.lower() not in SCRIPTS or path.is_symlink() or not path.is_file():
        return False
    try:
        with path.open(encoding="utf-8-sig") as stream:
            return is_script(stream.read(HEAD_BYTES))
    except (OSError, UnicodeDecodeError):
        return False


def _kind(path: str, text: str) -> Kind:
    """The kind of a file; one that the patterns fail on may well be a config."""
    try:
        with guarded(path):
            return recognize(path, text)
    except UnreadableError as error:
        return Kind("", str(error), config=True)


def _lost(error: OSError) -> Kind:
    """What the operating system refuses to open: it may well be a config."""
    return Kind("", (error.strerror or str(error)).lower(), config=True)


def _is_earlier(path: Path) -> bool:
    """Whether a file is an earlier state of another, `frr.conf.old` or `frr.old` beside `frr.conf`, or another form of it."""
    if path.suffix.lower() not in COPIES:
        form = path.with_suffix("")  # `leaf1.set` of `leaf1.set.conf`, the same config as `leaf1.conf` in another form
        return form.suffix.lower() in FORMS and form.with_suffix(path.suffix).exists()
    return path.with_suffix("").exists() or any(path.with_suffix(ending).exists() for ending in ENDINGS if ending)


def _is_copy(path: Path, text: str, whole: dict[str, Path]) -> bool:
    """Whether the config of a device stands a second time: below the folder of the first, as tools leave it in `tmp`, or
    beside it under the same name in other letters."""
    first = whole.setdefault(text, path) if _configured_name(text) else path
    if path.parent == first.parent:
        return path != first and path.name.lower() == first.name.lower()
    return path.is_relative_to(first.parent)


def _within(path: Path, root: Path) -> bool:
    """Whether a link leads to something below the folder: what lies elsewhere must not come out in a report."""
    try:
        return path.resolve().is_relative_to(root.resolve())
    except (OSError, RuntimeError):  # in a circle, which opening it finds too
        return True


def _files(root: Path, lost: Callable[[OSError], None]) -> Iterator[tuple[str, Path]]:
    """Every file in order, with the site it is of; a generated site has its configs in one folder, the rest is no config.
    Folders that cannot be opened go to `lost`."""
    if root.is_file():
        yield "", root
        return
    if not root.is_dir():
        raise FileNotFoundError(2, "no such file or folder", str(root))
    site = ""
    for folder, folders, names in os.walk(root, onerror=lost):
        if site and not Path(folder).is_relative_to(site):
            site = ""
        if "manifest.txt" in names and "configs" in folders:
            site, folders[:], names = folder, ["configs"], []
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if not name.startswith((".", "#")) and not name.endswith("~"):  # hidden, or an editor's copy of a file
                yield site, Path(folder) / name


def _home(path: PurePath, root: PurePath | None = None) -> PurePath:
    """The folder of a file's device: `leaf1` of `leaf1/etc/network/interfaces`, copied from the disk of a switch."""
    home = path.parent
    while _usual([str(path)]) and home.name in _disk_folders() and home != root:
        home = home.parent
    return home


@cache
def _disk_folders() -> frozenset[str]:
    """Folders of a switch's disk, of all network OSes."""
    return frozenset().union(*(reader.disk_folders for reader in readers().values()))


def _repeated(folders: Iterable[dict[str, tuple[str, str]]]) -> frozenset[str]:
    """Names of files without a host name that several folders have: such a name tells no device from another."""
    names = [
        name
        for files in folders
        for name in {PurePath(path).name for path, (_, text) in files.items() if not _configured_name(text)}
    ]
    return frozenset(name for name, number in Counter(names).items() if number > 1)


def _parts_by_name(files: dict[str, tuple[str, str]], kinds: set[str], repeated: frozenset[str]) -> bool:
    """Whether files are the parts of one device, `leaf1/zebra.conf` and `leaf1/routing.conf`: one of them at most has BGP."""
    if not all(PurePath(path).name in repeated or _usual([path]) for path in files) or not _one_device(kinds):
        return False
    nos = next(nos for nos, reader in readers().items() if kinds <= reader.together)
    one_each = ({path: text} for path, (kind, text) in files.items() if kind != "companion")
    try:
        return sum(bool(read_device("", nos, one).bgp) for one in one_each) <= 1
    except UnreadableError:
        return False


def _devices(files: dict[str, tuple[str, str]], folder: Folder, repeated: frozenset[str]) -> Iterator[Device]:
    """A folder is one device when its files are the parts of one; otherwise every host name in it is one."""
    kinds = [kind for kind, _ in files.values() if kind != "companion"]
    alone = len(kinds) == len(set(kinds)) and len({_name(path, text) for path, (_, text) in files.items()}) == 1
    if len(kinds) == len(files) == 1 or (_one_device(set(kinds)) and (_usual(files) or alone)):
        yield _device(files, repeated)
        return
    if kinds and _parts_by_name(files, set(kinds), repeated):
        yield _device(files, repeated)
        return
    if not any(_usual([path]) for path, (kind, _) in files.items() if kind != "companion"):
        repeated = frozenset()  # `before` and `after`, with files of several devices each
    groups: dict[str, dict[str, tuple[str, str]]] = {}
    stems = {_stem(PurePath(path)): name for path, (_, text) in files.items() if (name := _configured_name(text))}
    for path, (kind, text) in files.items():
        if kind == "companion":
            folder.passed.append(path)
            continue
        name = _configured_name(text) or stems.get(_stem(PurePath(path))) or _stem(PurePath(path))
        groups.setdefault(name, {})[path] = kind, text
    for files_of_device in groups.values():
        parts = [kind for kind, _ in files_of_device.values()]
        if len(parts) == len(set(parts)) and set(parts) <= _parts():
            yield _device(files_of_device, repeated)
        else:
            for path, one in files_of_device.items():  # two devices of one name are reported, not merged
                yield _device({path: one}, repeated)


@cache
def _parts() -> frozenset[str]:
    """Kinds of file of which several make one device."""
    return frozenset[str]().union(*(reader.together for reader in readers().values()))


def _one_device(kinds: set[str]) -> bool:
    return bool(kinds) and any(kinds <= reader.together for reader in readers().values())


@cache
def _part_name() -> re.Pattern[str]:
    """`-frr` of `leaf1-frr.conf` beside `leaf1-interfaces`."""
    return re.compile(rf"[-_.](?:{'|'.join(reader.part for reader in readers().values() if reader.part)})$", re.I)


def _device(files: dict[str, tuple[str, str]], repeated: frozenset[str] = frozenset()) -> Device:
    kinds = {kind for kind, _ in files.values()}
    nos = next(nos for nos, reader in readers().items() if kinds & {nos, *reader.other_kinds})
    first = sorted(files.values(), key=lambda file: file[0] != nos)  # the first with a host name names the device
    configured = next((name for _, text in first if (name := _configured_name(text))), "")
    path = PurePath(next(iter(files)))
    of_folder = all(_usual([own]) or PurePath(own).name in repeated for own in files)
    named = _home(path).name if of_folder else _stem(path)
    name = configured or named
    texts = {path: text for path, (_, text) in files.items()}
    return Device(name, nos, texts, filed=named if named.lower() != name.lower() else "")


def _usual(paths: Iterable[str]) -> bool:
    """Whether files are called what they are called on every device, so that their names tell nothing."""
    usual = USUAL.union(*(reader.usual | reader.companions for reader in readers().values()))
    return all(
        (PurePath(path).stem.lower() in usual and PurePath(path).suffix.lower() in ENDINGS) or PurePath(path).name in usual
        for path in paths
    )


def _configured_name(text: str) -> str:
    match = named(text)
    return next(filter(None, match.groups()), "") if match else ""


def _name(path: str, text: str) -> str:
    """The host name that a file tells, else its own."""
    return _configured_name(text) or _stem(PurePath(path))


def _stem(path: PurePath) -> str:
    """`leaf1` of `leaf1-frr.conf` and of `interfaces.leaf1`."""
    if path.suffix.lower() not in ENDINGS and _usual([path.stem]):
        return path.suffix[1:]
    return _part_name().sub("", path.stem)
