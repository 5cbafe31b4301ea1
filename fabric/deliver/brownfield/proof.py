"""Proof of an import: every statement of the running configs compared with the plan of the intent, by device and by topic."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib.resources import files as package_files

from fabric.audit.checks import message, missing_files, statement_differences, syntax_of
from fabric.audit.drift.devices import of_switches
from fabric.base.formats import yaml
from fabric.base.processes import Progress, silent
from fabric.base.reading import UnreadableError
from fabric.base.schemas.models import Count
from fabric.configs import Job, Renderer
from fabric.nos.reading import Device, Folder, is_read, read_device
from fabric.nos.reading.sections import StatementPath
from fabric.nos.statements.compare import CHANGED, EXTRA, MISSING, Difference
from fabric.nos.statements.syntax import Known

EQUAL = "equal"  # … or without effect where it differs
LABEL = "label"  # text for people, without effect on traffic
DIFFERENT = "different"
UNPLANNED = "unplanned"  # on the switch alone
UNREAD = "not understood"  # on the switch alone, and no reader knows it
LACKING = "missing"  # planned, and not on the switch
STATES = (EQUAL, LABEL, DIFFERENT, UNPLANNED, UNREAD, LACKING)
LEFT = (DIFFERENT, UNPLANNED, UNREAD, LACKING)  # what keeps a switch from being in sync
OTHER = "other"
NO_LINES: frozenset[tuple[str, int]] = frozenset()
TEXT = re.compile(r"\b(?:description|remark|alias)\b.*", re.I | re.S)
Counts = Mapping[str, Mapping[str, int]]  # topic → state → statements


@dataclass(frozen=True, slots=True, kw_only=True)
class Residual:
    """A statement, or a section with all that is in it, that the plan has otherwise.

    Attributes:
        state: one of LEFT.
        message: what differs; the statements of the plan alone are quoted.
        statements: how many it stands for.
    """

    device: str
    state: str
    topic: str
    message: str
    statements: int
    difference: Difference = field(repr=False)

    @property
    def place(self) -> str:
        """`configs/leaf1.cfg:12`."""
        place = self.difference.place
        return f"{place.file}:{place.line}" if place.line else place.file


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceProof:
    """A planned switch.

    Attributes:
        files: that were compared.
        counts: topic → state → statements; those on the switch add up to all of its config.
        residuals: in the order of the files.
        reason: why it was not compared, or which of its files were not; "" for a whole config.
        secrets: (file, line) of statements with a literal secret, where something differs.
    """

    device: str
    fabric: str
    role: str
    nos: str
    files: tuple[str, ...] = ()
    counts: Counts = field(default_factory=dict)
    residuals: tuple[Residual, ...] = ()
    reason: str = ""
    secrets: frozenset[tuple[str, int]] = field(default=frozenset(), repr=False)

    def count(self, *states: str) -> int:
        """Statements in some of the states."""
        return sum(of_topic.get(state, 0) for of_topic in self.counts.values() for state in states)

    @property
    def in_sync(self) -> bool:
        """Whether it was compared and no difference has an effect."""
        return bool(self.files) and not self.residuals


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """The switches of a site in planned order.

    Attributes:
        unplanned: names of devices in the folder that the plan does not have.
    """

    devices: tuple[DeviceProof, ...]
    unplanned: tuple[str, ...] = ()

    def count(self, *states: str, topic: str = "") -> int:
        """Statements in some of the states, of one topic or of all."""
        if not topic:
            return sum(device.count(*states) for device in self.devices)
        return sum(device.counts.get(topic, {}).get(state, 0) for device in self.devices for state in states)

    @property
    def topics(self) -> list[str]:
        """Topics with a statement, in the order of the data."""
        seen = {topic for device in self.devices for topic in device.counts}
        return [topic for topic in (*_topics(), OTHER) if topic in seen]

    @property
    def in_sync(self) -> bool:
        """Whether every switch of the plan is as planned."""
        return all(device.in_sync for device in self.devices)


def prove(renderer: Renderer, folder: Folder, jobs: int = 0, progress: Progress = silent) -> Proof:
    """Compares every planned switch with its running config.

    Args:
        renderer: the planned site.
        folder: running configs, as `scan` found them.
        jobs: processes; 0 for one per core.
        progress: progress bar.
    """
    running = folder.by_name() | {device.name: device for device in reversed(folder.devices)}
    proofs = of_switches(renderer, _Work(renderer, running).prove, "statements of switches", jobs, progress)
    planned = {proof.device for proof in proofs}
    return Proof(devices=tuple(proofs), unplanned=tuple(sorted(running.keys() - planned)))


# --- one switch -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Work:
    renderer: Renderer
    running: Mapping[str, Device]

    def prove(self, job: Job) -> DeviceProof:
        """One switch. What cannot be read of it is a reason, so that the others are compared."""
        name, nos = job.device.name, job.device.nos
        running = self.running.get(name)
        if running is None:
            return _made(job, reason="no config with this host name in the folder")
        if running.nos != nos:
            return _made(job, reason=f"network OS: expected {nos}, got {running.nos}")
        planned = {path: data.decode() for path, data in self.renderer.files(job)}
        try:
            return self._compared(job, planned, running)
        except UnreadableError as error:
            return _made(job, reason=f"{error.file}:{error.line}: {error}" if error.line else f"{error.file}: {error}")

    def _compared(self, job: Job, planned: Mapping[str, str], running: Device) -> DeviceProof:
        nos = job.device.nos
        syntax = syntax_of(nos)
        differences = statement_differences(nos, planned, running.files)
        counts: dict[str, Counter[str]] = {}
        residuals = []
        states = dict.fromkeys(syntax.read(running.files, _known(nos)), EQUAL)
        unread, secrets = _lines(running) if differences else (NO_LINES, NO_LINES)
        for difference in differences:
            state = _state(difference, unread)
            text = syntax.joined(difference.path)
            if difference.kind != MISSING:
                states |= dict.fromkeys(_paths(difference, states), state)
            else:
                counts.setdefault(topic_of(text), Counter())[state] += 1 + difference.below
            if not difference.label:
                residuals.append(
                    Residual(
                        device=job.device.name,
                        state=state,
                        topic=topic_of(text),
                        message=message(syntax, difference),
                        statements=1 + difference.below,
                        difference=difference,
                    )
                )
        topics = _topics_of(nos)
        for path, state in states.items():
            topic = topics.get(path)
            if topic is None:
                topic = topics[path] = topic_of(syntax.joined(path))
            counts.setdefault(topic, Counter())[state] += 1
        absent = missing_files(nos, planned, running.files)
        reason = f"not compared: no {', '.join(absent)} in the folder" if absent else ""
        return _made(
            job, files=tuple(running.files), counts=counts, residuals=tuple(residuals), reason=reason, secrets=secrets
        )


MAX_KNOWN = 300_000  # statements that are kept for the next switch: most have the same ones
_KNOWN: dict[
    str, tuple[Known[StatementPath], dict[StatementPath, str]]
] = {}  # network OS → paths of raw statements, topics of paths


def _known(nos: str) -> Known[StatementPath]:
    """Raw statements whose paths are known, of this process."""
    known, topics = _KNOWN.setdefault(nos, ({}, {}))
    if len(topics) > MAX_KNOWN:
        known.clear()
        topics.clear()
    return known


def _topics_of(nos: str) -> dict[StatementPath, str]:
    return _KNOWN[nos][1]


def _made(job: Job, **more: object) -> DeviceProof:
    device = job.device
    return DeviceProof(device=device.name, fabric=job.fabric, role=device.role, nos=device.nos, **more)  # type: ignore[arg-type]


def _state(difference: Difference, unread: frozenset[tuple[str, int]]) -> str:
    if difference.label:
        return LABEL
    if difference.kind == EXTRA:
        return UNREAD if (difference.place.file, difference.place.line) in unread else UNPLANNED
    return LACKING if difference.kind == MISSING else DIFFERENT


def _lines(running: Device) -> tuple[frozenset[tuple[str, int]], frozenset[tuple[str, int]]]:
    """Lines with statements that no reader knows, and lines with secrets."""
    if not is_read(running.nos):
        return NO_LINES, NO_LINES
    facts = read_device(running.name, running.nos, running.files)
    secret = (*facts.services.secrets, *facts.services.plain_text)
    return frozenset((fact.file, fact.line) for fact in facts.unread), frozenset((fact.file, fact.line) for fact in secret)


def _paths(difference: Difference, running: Iterable[tuple[str, ...]]) -> Sequence[tuple[str, ...]]:
    """The running statements that a difference is about."""
    root = difference.got if difference.kind == CHANGED else difference.path
    if not difference.below or difference.kind != EXTRA:
        return [root]
    return [path for path in running if path[: len(root)] == root]


# --- topics ---------------------------------------------------------------------------------------------------


@cache
def _topics() -> Mapping[str, re.Pattern[str]]:
    rows = yaml.read(package_files(__package__).joinpath("topics.yaml"))
    return {topic: re.compile(pattern) for topic, pattern in rows.items()}


ONE_DIGIT = str.maketrans("123456789", "0" * 9)  # statements that differ in numbers have one topic


def topic_of(text: str) -> str:
    """The topic of a statement with its sections."""
    return _topic(text.translate(ONE_DIGIT))


@lru_cache(maxsize=100_000)
def _topic(text: str) -> str:
    words = TEXT.sub("", text).lower()
    return next((topic for topic, pattern in _topics().items() if pattern.search(words)), OTHER)


# --- coverage: the plan of the language alone, and with a site's own lines ---------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicCoverage:
    """Statements of one topic, or of all.

    Attributes:
        total: on the switches.
        language: equal to the plan of the intent without overrides, labels and what has no effect among them.
        overrides: equal only with the overrides.
        different, unplanned, unread: on the switches and not as planned.
        missing: planned, and not on the switches.
        removed: planned without the overrides, which take it away.
    """

    topic: str
    total: Count
    language: Count
    overrides: Count
    different: Count
    unplanned: Count
    unread: Count
    missing: Count
    removed: Count

    @property
    def share(self) -> float:
        """Of the statements on the switches that the plan explains."""
        return (self.language + self.overrides) / self.total if self.total else 1.0


def coverage(before: Proof, after: Proof) -> tuple[TopicCoverage, ...]:
    """A row per topic, and one of all ("") behind them.

    Args:
        before: of the plan without overrides.
        after: with them; the same proof where there are none.
    """
    return tuple(_row(before, after, topic) for topic in (*after.topics, ""))


def _row(before: Proof, after: Proof, topic: str) -> TopicCoverage:
    def of(*states: str) -> int:
        return after.count(*states, topic=topic)

    explained = of(EQUAL, LABEL)
    language = min(before.count(EQUAL, LABEL, topic=topic), explained)
    return TopicCoverage(
        topic=topic,
        total=explained + of(DIFFERENT, UNPLANNED, UNREAD),
        language=language,
        overrides=explained - language,
        different=of(DIFFERENT),
        unplanned=of(UNPLANNED),
        unread=of(UNREAD),
        missing=of(LACKING),
        removed=max(0, before.count(LACKING, topic=topic) - of(LACKING)),
    )
