"""The running config of every planned switch compared with the plan, and the commands back to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any, TypeVar

from fabric.audit.checks import ERROR, Finding, missing_files, site as switch_checks, statement_differences, syntax_of
from fabric.audit.checks.base import REGENERATE
from fabric.audit.diff import configs, remedy
from fabric.audit.diff.configs import FileChange, set_lines
from fabric.base.processes import Progress, in_chunks, silent
from fabric.base.reading import UnreadableError, guarded
from fabric.configs import Job, Renderer
from fabric.nos.dialect import COMMANDS, Config, Patch, SetLines
from fabric.nos.reading import Device, Folder, is_read, read_device
from fabric.nos.reading.sections import StatementPath
from fabric.nos.statements.compare import CHANGED, EXTRA, MISSING, REORDERED, Difference
from fabric.nos.statements.syntax import Statements, Syntax

R = TypeVar("R")

# --- commands back to the plan --------------------------------------------------------------------------------

MARGIN = " " * 3


def commands_back(
    nos: str, planned: Mapping[str, str], running: Mapping[str, str], differences: Sequence[Difference]
) -> tuple[FileChange, ...]:
    """The change of each file from the running statements to the planned ones.

    Args:
        nos: network OS.
        planned: path → text that the plan renders.
        running: path → text of the device.
        differences: of `statement_differences` for the same files.
    """
    syntax, forms = syntax_of(nos), remedy.dialect(nos).forms
    changes = []
    for part in sorted({difference.path[0] for difference in differences}):
        of_part = [difference for difference in differences if difference.path[0] == part]
        texts = [_text(syntax, part, side) for side in (planned, running)]
        form = forms.get(part)
        if form is COMMANDS:
            before = _before(syntax.read({part: texts[0]}), syntax.read({part: texts[1]}), of_part)
            changes.append(configs.change(nos, part, before, _as_text(_raw(syntax.read({part: texts[0]}).values()))))
        elif isinstance(form, SetLines):
            changes.append(_set_lines(nos, part, form, texts, of_part))
        elif isinstance(form, Patch):
            changes.append(_document(nos, part, form, texts, of_part))
        else:
            changes.append(configs.change(nos, part, _without_secrets(syntax, part, texts), texts[0]))
    return tuple(change for change in changes if change.lines)


def _without_secrets(syntax: Syntax, part: str, texts: Sequence[str]) -> str:
    """The running text with the planned line for each that differs in a secret alone, and `*` for other secrets."""
    planned, lines = syntax.read({part: texts[0]}), texts[1].split("\n")
    for path, place in syntax.read({part: texts[1]}).items():
        if "*" in path[-1] and "*" not in place.raw[-1]:
            lines[place.line - 1] = planned[path].raw[-1] if path in planned else path[-1]
    return "\n".join(lines)


def _text(syntax: Syntax, part: str, texts: Mapping[str, str]) -> str:
    return next((text for file, text in texts.items() if syntax.part(file, text) == part), "")


# --- commands -----------------------------------------------------------------------------------------------


def _running_paths(differences: Iterable[Difference]) -> set[StatementPath]:
    """Paths in the running config of what the plan does not have."""
    return {
        difference.got if difference.kind == CHANGED else difference.path
        for difference in differences
        if difference.kind in (EXTRA, CHANGED)
    }


def _before(planned: Statements, running: Statements, differences: Iterable[Difference]) -> str:
    """The planned text with the differences in it: without what is missing, with what is extra."""
    lost = {one.path for one in differences if one.kind in (MISSING, CHANGED)}
    found = _running_paths(differences)
    kept = {path: place for path, place in planned.items() if not _within(path, lost)}
    more = {path: place for path, place in running.items() if _within(path, found)}
    return _as_text(dict.fromkeys([*_lines(kept, planned), *_lines(more, running)]))


def _lines(part: Statements, whole: Statements) -> Iterator[StatementPath]:
    """The lines of a part of a config; of a line with several statements, `vlan 100-102`, only those of the part."""
    of_part, of_whole = (Counter(place.raw for place in side.values()) for side in (part, whole))
    for path, place in part.items():
        yield place.raw if of_part[place.raw] == of_whole[place.raw] else path[1:]


def _within(path: StatementPath, roots: set[StatementPath]) -> bool:
    return any(path[:end] in roots for end in range(2, len(path) + 1))


def _raw(places: Iterable[Any]) -> dict[StatementPath, None]:
    return dict.fromkeys(place.raw for place in places)


def _as_text(raws: Iterable[StatementPath]) -> str:
    """Statements as indented text. A repeated section is read as one section."""
    lines: list[str] = []
    open_section: StatementPath = ()
    for raw in raws:
        shared = next((at for at, pair in enumerate(zip(open_section, raw, strict=False)) if pair[0] != pair[1]), None)
        start = min(len(open_section), len(raw) - 1) if shared is None else shared
        lines += [MARGIN * depth + words for depth, words in enumerate(raw) if depth >= start]
        open_section = raw
    return "".join(f"{line}\n" for line in lines)


# --- set lines ----------------------------------------------------------------------------------------------


def _set_lines(nos: str, part: str, form: SetLines, texts: Sequence[str], differences: Sequence[Difference]) -> FileChange:
    """The lines between the planned config with the differences in it, as the device spells it, and without them."""
    syntax = syntax_of(nos)
    planned, running = (syntax.read({part: text}) for text in texts)
    plan, device = (_config(form, text) for text in texts)
    lost = {difference.path for difference in differences if difference.kind in (MISSING, CHANGED)}
    changed = _running_paths(differences)
    marks = {_words((part, *path)) for path in (*plan.inactive, *device.inactive)}
    marked = {path for path in (*planned, *running) if " ".join(path) != _words(path) in marks}
    raws = {path: running.get(path, place).raw for path, place in planned.items() if path not in marked}
    raw_lines = [*dict.fromkeys(part for path in raws for part in _left(path, lost, running))]
    _as_running(raw_lines, (difference.path[:-1] for difference in differences if difference.kind == REORDERED), running)
    before = [
        *(raws.get(path) or running[path].raw for path in raw_lines),
        *(place.raw for path, place in running.items() if _within(path, changed) and path not in marked | raws.keys()),
        *_below(device),
    ]
    after = Config((*raws.values(), *_below(plan)), plan.inactive)
    lines = set_lines(Config(tuple(before), device.inactive), after, form.hierarchy())
    return FileChange(part, form, tuple(lines))


def _config(form: SetLines, text: str) -> Config:
    """What a text has without effect; nothing is known of a damaged one."""
    try:
        return form.config(text)
    except ValueError:
        return Config(())


def _below(config: Config) -> Iterator[StatementPath]:
    """The statements without effect."""
    return (path for path in config.statements if any(path[: len(root)] == root for root in config.inactive))


def _left(path: StatementPath, lost: set[StatementPath], running: Statements) -> list[StatementPath]:
    """A planned statement that the device has; of one that is missing the sections that are empty there."""
    if not _within(path, lost):
        return [path]
    return [path[:end] for end in range(2, len(path)) if path[:end] in running]


def _words(path: StatementPath) -> str:
    return " ".join(" ".join(path).split())


def _as_running(paths: list[StatementPath], sections: Iterable[StatementPath], running: Statements) -> None:
    """Puts the statements of sections into the order of the running config."""
    positions = {path: at for at, path in enumerate(running)}
    for section in sections:
        places = [at for at, path in enumerate(paths) if path[: len(section)] == section]
        ordered = sorted((paths[at] for at in places), key=lambda path: positions.get(path, len(positions)))
        for at, path in zip(places, ordered, strict=True):
            paths[at] = path


# --- documents ----------------------------------------------------------------------------------------------


def _document(nos: str, part: str, form: Patch, texts: Sequence[str], differences: Iterable[Difference]) -> FileChange:
    """The patch of a document in the form of its network OS."""
    try:
        planned, running = form.tree(texts[0]), form.tree(texts[1])
    except ValueError:  # the running file is damaged: it is replaced whole
        return configs.change(nos, part, texts[1], texts[0])
    paths = [path for difference in differences for path in (difference.path, difference.got) if path]
    sides = [syntax_of(nos).read({part: text}) for text in texts]
    raws = [side[path].raw for side in sides for path in paths if path in side]  # with the value of a secret
    touched = {_keys(path) for path in [*raws, *(path[1:] for path in paths)]}
    before = _touched(planned, running, (), touched)
    return configs.of_trees(part, form, before, planned)


def _keys(path: StatementPath) -> StatementPath:
    """Keys of a statement: `mtu = 9100` is at `mtu`."""
    return (*path[:-1], path[-1].partition(" = ")[0])


def _touched(planned: Any, running: Any, at: StatementPath, touched: set[StatementPath]) -> Any:
    """The planned document with the running values of what differs."""
    if not (isinstance(planned, Mapping) and isinstance(running, Mapping)):
        return running
    document: dict[str, Any] = {}
    for key in (*planned, *(key for key in running if key not in planned)):
        path = (*at, str(key))
        inside = any(other[: len(path)] == path or path[: len(other)] == other for other in touched)
        if not inside:
            document |= {key: planned[key]} if key in planned else {}
        elif key in planned and key in running:
            document[key] = _touched(planned[key], running[key], path, touched)
        elif key in running:
            document[key] = running[key]
    return document


# --- switches -------------------------------------------------------------------------------------------------

IN_SYNC = "in sync"
DRIFTED = "drifted"
NO_CONFIG = "no config"
UNKNOWN = "unknown"
STATES = (DRIFTED, NO_CONFIG, UNKNOWN, IN_SYNC)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceDrift:
    """One planned switch.

    Attributes:
        device: its planned name.
        fabric: name of its fabric.
        role: `leaf`, `spine`, …
        nos: its planned network OS.
        state: one of STATES.
        files: running files that were compared.
        findings: what differs, worst first; warnings are text without effect on traffic.
        reason: why it was not compared, of `no config` and `unknown`.
        commands: changes of its files that restore the plan.
    """

    device: str
    fabric: str
    role: str
    nos: str
    state: str
    files: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    reason: str = ""
    commands: tuple[FileChange, ...] = ()

    @property
    def errors(self) -> int:
        """Number of differences with effect."""
        return sum(finding.severity == ERROR for finding in self.findings)


@dataclass(frozen=True, slots=True)
class SiteDrift:
    """The switches of a site in planned order, and what else is in the folder."""

    site: str
    folder: str
    devices: tuple[DeviceDrift, ...]
    unplanned: tuple[str, ...] = ()  # names of devices that the plan does not have
    unread: tuple[tuple[str, str], ...] = ()  # files without a known format: (path, reason)

    def count(self, state: str) -> int:
        """Number of switches in a state."""
        return sum(device.state == state for device in self.devices)


def of_switches(renderer: Renderer, compare: Callable[[Job], R], label: str, jobs: int, progress: Progress) -> list[R]:
    """What comes of every planned switch, in planned order; `label` stands before the progress bar."""
    todo, results = renderer.jobs(lambda name: True), list[R]()
    with progress(label, len(todo)) as advance:
        for chunk in in_chunks(compare, todo, jobs):
            results += chunk
            advance(len(chunk))
    return results


def site_drift(renderer: Renderer, folder: Folder, jobs: int = 0, progress: Progress = silent) -> SiteDrift:
    """Every planned switch against its running config in a folder.

    Args:
        renderer: a planned site.
        folder: running configs, as `scan` found them.
        jobs: processes; 0 for one per core.
        progress: progress bar.
    """
    work = _Work(renderer, {device.name: device for device in reversed(folder.devices)}, _failed(folder))
    drifts = of_switches(renderer, work.drift, f"{renderer.plan.site}: switches", jobs, progress)
    planned = {drift.device for drift in drifts}
    used = {path for drift in drifts for path in drift.files}
    unplanned = tuple(sorted({device.name for device in folder.devices} - planned))
    unread = tuple(sorted((path, kind.reason) for path, kind in folder.unrecognized.items() if path not in used))
    return SiteDrift(renderer.plan.site, folder.root, tuple(drifts), unplanned, unread)


def device_drift(renderer: Renderer, job: Job, folder: Folder) -> DeviceDrift:
    """One planned switch against its running config in a folder."""
    devices = {device.name: device for device in reversed(folder.devices)}
    return _Work(renderer, devices, _failed(folder)).drift(job)


def _failed(folder: Folder) -> Mapping[str, tuple[str, str]]:
    """Stem or folder of a file that cannot be read → (path, reason): an empty file of a switch that did not answer."""
    failed: dict[str, tuple[str, str]] = {}
    for path, kind in folder.unrecognized.items():
        name = PurePath(path)
        for key in (name.parent.name, name.stem, name.name):
            failed[key] = (path, kind.reason)
    return failed


@dataclass(frozen=True)
class _Work:
    renderer: Renderer
    running: Mapping[str, Device]
    failed: Mapping[str, tuple[str, str]]

    def drift(self, job: Job) -> DeviceDrift:
        """One switch. What cannot be read of it is its state, so that the others are compared."""
        try:
            return self._drift(job)
        except UnreadableError as error:
            place = f"{error.file}:{error.line}" if error.line else error.file
            return self._made(job, UNKNOWN, files=tuple(self.running[job.device.name].files), reason=f"{place}: {error}")

    def _drift(self, job: Job) -> DeviceDrift:
        name, nos = job.device.name, job.device.nos
        planned = {path: data.decode() for path, data in self.renderer.files(job)}
        running = self.running.get(name)
        if running is None and (failure := self.failed.get(name)):
            return self._made(job, UNKNOWN, files=failure[:1], reason=failure[1])
        if running is None:
            return self._made(job, NO_CONFIG, reason="no config with this host name in the folder")
        files = tuple(running.files)
        if running.nos != nos:
            return self._made(job, UNKNOWN, files=files, reason=f"network OS: expected {nos}, got {running.nos}")
        differences = statement_differences(nos, planned, running.files)
        absent = missing_files(nos, planned, running.files)
        reason = f"not compared: no {', '.join(absent)} in the folder" if absent else ""
        if not differences:
            return self._made(job, UNKNOWN if absent else IN_SYNC, files=files, reason=reason)
        findings = self._findings(job, planned, running, all(difference.label for difference in differences))
        errors = any(finding.severity == ERROR for finding in findings)
        state = DRIFTED if errors else UNKNOWN if absent else IN_SYNC
        with guarded(files[0]):
            commands = commands_back(nos, planned, running.files, differences)
        return self._made(job, state, files=files, findings=findings, reason=reason, commands=commands)

    def _findings(self, job: Job, planned: Mapping[str, str], running: Device, labels_only: bool) -> tuple[Finding, ...]:
        """Findings of the checks of files, those of facts first.

        Where only text for people differs, the statements are as planned, overrides included, whatever the plan says of
        their facts.
        """
        view = self.renderer.views[job.fabric].of(job.device)
        if labels_only or not is_read(job.device.nos):
            from fabric.audit.checks.files.reading import Rest, Statements
            from fabric.model.facts import Facts

            return tuple(
                Statements().run(Rest(view, Facts(name=job.device.name, nos=job.device.nos), running.files, planned, ()))
            )
        facts = read_device(job.device.name, job.device.nos, running.files)
        facts.name = job.device.name
        found = switch_checks.judge(view, facts, running.files, planned)
        return tuple(sorted(map(_of_running, found), key=lambda finding: finding.order))

    def _made(self, job: Job, state: str, **more: object) -> DeviceDrift:
        device = job.device
        return DeviceDrift(device=device.name, fabric=job.fabric, role=device.role, nos=device.nos, state=state, **more)  # type: ignore[arg-type]


def _of_running(finding: Finding) -> Finding:
    """A file of a switch is not generated again: the plan comes back by commands."""
    return replace(finding, hint=finding.hint.replace(REGENERATE, "`fabric drift --commands` prints what restores the plan"))
