"""One random design planned, generated, and judged by the checks, with its plan and without.

A valid design must not contradict itself. These are contradictions, and each is a fault of the config, of its reader or of
the check, never of the design:

* with the plan: a finding of the checks of files and servers that is an error or a warning;
* without the plan, from the files alone: the same;
* a file that no reader recognises, a file that cannot be read, a statement that is not understood, a file that is not what
  the plan makes, a line taken for a manual edit (FAB290 to FAB299), whatever their severity;
* a device that is lost or gained when the folder of configs is read without the plan;
* an exception that is no diagnostic.

These are not: a design that the planner refuses with a diagnostic, warnings and notes on the design itself, notes on files.
An error of a check of the design is counted by itself: the design is unsound, and `fabric check` says so in the intent. Files
of an unsound design show the same fault (`ECHOES`), and without the plan nobody knows what the intent wants (`STATED`).
"""

from __future__ import annotations

import traceback
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from fabric import pipeline
from fabric.checks import files as file_checks
from fabric.checks import hosts
from fabric.checks.files.services import HostNames
from fabric.checks.finding import ERROR, WARNING, Finding
from fabric.checks.run import Scope
from fabric.diagnostics import InputError
from tests.system.random_designs.drawing import Design

READING = range(290, 300)  # FAB290 to FAB299
ECHOES = {"FAB272": "FAB218"}  # finding in the files alone → error of the design that it shows: PFC at one end of a link
STATED = {"FAB276": ("pfc_watchdog", False), "FAB288": ("vrf", False)}  # → key of the intent that asks for just that


@dataclass(frozen=True)
class Outcome:
    """What came of a design."""

    switches: int = 0
    refused: tuple[str, ...] = ()  # diagnostics of the planner
    unsound: tuple[str, ...] = ()  # errors of the checks of the design
    contradictions: tuple[str, ...] = ()
    crash: str = ""

    @property
    def planned(self) -> bool:
        return not (self.refused or self.crash)


def run(design: Design, folder: Path) -> Outcome:
    """Writes the intent into a folder, generates it there and checks what was written."""
    path = folder / f"{design.name}.yaml"
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in design.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    path.write_text(design.text, encoding="utf-8")
    try:
        return _judged(path, folder / "generated")
    except InputError as error:
        return Outcome(refused=tuple(f"{one.code} {one.message}" for one in error.diagnostics))
    except Exception:  # every one is a finding of this trial
        return Outcome(crash=traceback.format_exc())


def _judged(path: Path, output: Path) -> Outcome:
    generation = pipeline.generate(pipeline.load(path, output), jobs=1)
    generation.write()
    names = {job.device.name for job in generation.todo}
    folder = generation.intent.folder
    findings = pipeline.check(Scope((path,), output=output, jobs=1)).verdict.findings
    wrong = list(_contradictions("plan", findings))
    if names:
        wrong += _contradictions("alone", pipeline.check(Scope(configs=folder, jobs=1)).verdict.findings)
        wrong += _lost(names, folder)
    unsound = [line for line in map(_line, findings) if line.startswith("error") and not _of_files(line)]
    excused = {code for code, cause in ECHOES.items() if any(cause in line for line in unsound)}
    excused |= {code for code, (key, value) in STATED.items() if _states(generation.intent.source.data, key, value)}
    wrong = [line for line in wrong if line.startswith("plan") or not any(f" {code} " in line for code in excused)]
    return Outcome(len(names), unsound=tuple(unsound), contradictions=tuple(wrong))


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


FILE_CODES = frozenset(check.id for check in file_checks.checks()) | frozenset(hosts.IDS) | {HostNames.id}


def _contradictions(how: str, findings: Iterable[Finding]) -> Iterable[str]:
    for finding in findings:
        reading = int(finding.id[3:]) in READING
        if not finding.silenced and (reading or (finding.id in FILE_CODES and finding.severity in (ERROR, WARNING))):
            yield f"{how}: {_line(finding)}"


def _lost(names: set[str], folder: Path) -> Iterable[str]:
    """Devices that a reader of the bare folder does not see, or sees and nobody planned."""
    from fabric.readback.folder import scan

    read = {device.name for device in scan(folder).devices}
    for name in sorted(names ^ read):
        yield f"alone: device {name} is {'lost' if name in names else 'not planned'}"
