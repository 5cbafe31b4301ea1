"""One random design planned, generated, and judged by the checks, with its plan and without.

A valid design must not contradict itself. These are contradictions, and each is a fault of the config, of its reader or of
the check, never of the design:

* with the plan: a finding of the checks of files and servers that is an error or a warning;
* without the plan, from the files alone: the same;
* a file that no reader recognizes, a file that cannot be read, a statement that is not understood, a file that is not what
  the plan makes, a line taken for a manual edit (FAB290 to FAB299), whatever their severity;
* a device that is lost or gained when the folder of configs is read without the plan;
* an exception that is no diagnostic;
* in growth with the lock: what moves and is not announced, and the same findings at the largest size;
* a database that SONiC's own models refuse, where they are installed.

These are not: a design that the planner refuses with a diagnostic, warnings and notes on the design itself, notes on files.
An error of a check of the design is counted by itself: the design is unsound, and `fabric check` says so in the intent. Files
of an unsound design show the same fault (`ECHOES`), and without the plan the values of the intent are unknown (`STATED`).
"""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

from fabric import pipeline
from fabric.audit.checks import ERROR, WARNING, Finding, Scope, ids
from fabric.audit.checks.run import check_folder
from fabric.base.diagnostics import InputError
from fabric.design.intent.intent import Intent
from fabric.model.facts import Facts
from fabric.nos.reading import Device as Found, Folder, read_device, scan
from tests.audit.checks.sites import site_of
from tests.system.random_designs.drawing import Design
from tests.system.random_designs.growing import Grown, grow

READING = range(290, 300)  # FAB290 to FAB299
# Finding in the files alone → that of the design, which it shows: PFC at one end of a link, an import in one direction, a
# gateway outside the management network.
ECHOES = {"FAB272": "FAB218", "FAB2523": "FAB407", "FAB2516": "FAB238"}
STATED = {"FAB276": ("pfc_watchdog", False), "FAB288": ("vrf", False)}  # → key of the intent that asks for just that

Models = Callable[[dict[str, Any]], str]


@dataclass(frozen=True)
class Outcome:
    """What came of a design."""

    switches: int = 0
    refused: tuple[str, ...] = ()  # diagnostics of the planner
    unsound: tuple[str, ...] = ()  # errors of the checks of the design
    contradictions: tuple[str, ...] = ()
    crash: str = ""
    grown: Grown = field(default_factory=Grown)
    databases: int = 0  # of SONiC switches, valid under its models

    @property
    def planned(self) -> bool:
        return not (self.refused or self.crash)


def run(design: Design, folder: Path, *, written: bool = True) -> Outcome:
    """Plans, generates and checks a design. `written`: through files in the folder, as a user does it, else in memory,
    where each config is rendered and read once.
    """
    path = folder / f"{design.name}.yaml"
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in design.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    path.write_text(design.text, encoding="utf-8")
    try:
        intent = pipeline.load(path, folder / "generated")
        return _on_disk(intent) if written else _in_memory(intent)
    except InputError as error:
        return Outcome(refused=tuple(f"{one.code} {one.message}" for one in error.diagnostics))
    except Exception:  # every one is a finding of this trial
        return Outcome(crash=traceback.format_exc())


def run_growing(design: Design, folder: Path, models: Models | None = None, *, written: bool = True) -> Outcome:
    """As `run`, and then size by size with the lock.

    Args:
        models: says what is wrong in a database of SONiC, "" for nothing.
        written: checked through files; the largest size too is generated and checked.
    """
    outcome = run(design, folder, written=written)
    if not outcome.planned:
        return outcome
    try:
        if not written:
            pipeline.generate(pipeline.load(folder / f"{design.name}.yaml", folder / "generated"), jobs=1).write()
        refused = list(_refused(models, folder)) if models else []
        grown, last = grow(design, folder), Outcome()
        if written and grown.last:
            last = _on_disk(pipeline.load(folder / grown.last, folder / "generated"))
            refused += _refused(models, folder) if models else []
    except Exception:
        return replace(outcome, crash=traceback.format_exc())
    found = [*outcome.contradictions, *(f"grown {line}" for line in last.contradictions)]
    found += [f"growth: unannounced {line}" for line in grown.unannounced]
    found += [f"yang: error refused {line}" for line in refused if line]
    return replace(outcome, contradictions=tuple(found), grown=grown, databases=len(refused))


def _refused(models: Models, folder: Path) -> Iterator[str]:
    """Of every SONiC switch what its models refuse, "" for nothing."""
    for path in sorted((folder / "generated").rglob("config_db.json")):
        why = models(json.loads(path.read_text(encoding="utf-8")))
        yield f"{path.parent.name}: {why[:500]}" if why else ""


def _on_disk(intent: Intent) -> Outcome:
    """`fabric generate`, `fabric check` with the plan, and `fabric check --configs` of what was written."""
    generation = pipeline.generate(intent, jobs=1)
    generation.write()
    names = {job.device.name for job in generation.todo}
    findings = pipeline.check(Scope(files=(intent.path,), output=intent.folder.parent, jobs=1)).verdict.findings
    if not names:  # InfiniBand alone
        return _outcome(intent, names, findings, ())
    folder = scan(intent.folder)
    found = check_folder(folder).findings
    read = {device.name for device in folder.devices}
    lost = [f"alone: device {name} is {'lost' if name in names else 'not planned'}" for name in sorted(names ^ read)]
    return _outcome(intent, names, findings, found, lost)


def _in_memory(intent: Intent) -> Outcome:
    """The same checks on the same texts, without the folder that they would be found in."""
    site, read = site_of(intent, jobs=1), dict[str, Facts]()

    def read_once(name: str, nos: str, files: Mapping[str, str]) -> Facts:
        if name not in read:
            read[name] = read_device(name, nos, files)
        return read[name]

    with patch("fabric.audit.checks.site.read_device", read_once), patch("fabric.nos.reading.folder.read_device", read_once):
        checked = site.silenced(site.check())
        devices = [Found(job.device.name, job.device.nos, {}) for job in site.todo]
        alone = check_folder(Folder(root="configs", devices=devices))
    return _outcome(intent, set(read), checked.findings, alone.findings)


def _outcome(
    intent: Intent, names: set[str], findings: Iterable[Finding], alone: Iterable[Finding], lost: Iterable[str] = ()
) -> Outcome:
    unsound = [line for line in map(_line, findings) if line.startswith("error") and not _of_files(line)]
    excused = {code for code, cause in ECHOES.items() if any(finding.id == cause for finding in findings)}
    excused |= {code for code, (key, value) in STATED.items() if _states(intent.source.data, key, value)}
    wrong = list(_contradictions("plan", findings))
    wrong += [line for line in _contradictions("alone", alone) if not any(f" {code} " in line for code in excused)]
    return Outcome(len(names), unsound=tuple(unsound), contradictions=(*wrong, *lost))


def _states(part: object, key: str, value: object) -> bool:
    """Whether an intent states a key anywhere with this value."""
    if isinstance(part, list | tuple):
        return any(_states(item, key, value) for item in part)
    if not isinstance(part, dict):
        return False
    return any((name == key and item is value) or _states(item, key, value) for name, item in part.items())


def _line(finding: Finding) -> str:
    return f"{finding.severity} {finding.id} {finding.device}:{finding.line} {finding.message}"


def _of_files(line: str) -> bool:
    return line.split()[1] in FILE_CODES


FILE_CODES = ids("files", "servers")


def _contradictions(how: str, findings: Iterable[Finding]) -> Iterable[str]:
    for finding in findings:
        reading = int(finding.id[3:]) in READING
        if not finding.silenced and (reading or (finding.id in FILE_CODES and finding.severity in (ERROR, WARNING))):
            yield f"{how}: {_line(finding)}"
