"""What the files of a run are: tables of times, texts that say something of the run, and files that say nothing.

A file is read for what it is. One with rows of nccl-tests, or a table in YAML or JSON, is a table, and a mistake in it
is one. Any other text is evidence: a log, the output of a command, a job script. NCCL's variables of a text without
rows hold for every run that does not state its own, those beside rows for these rows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from fabric.base.diagnostics import Diagnostic, InputError, Place
from fabric.base.reading import whole_lines
from fabric.solver import read_text
from fabric.solver.doctor import outputs
from fabric.solver.doctor.causes import causes
from fabric.solver.doctor.evidence import Evidence
from fabric.solver.measured import json_output, stated, tables as measured, text as raw
from fabric.solver.measured.platform import MeasuredPlatform
from fabric.solver.measured.run import forced
from fabric.solver.measured.tables import Table
from fabric.solver.measured.variables import variables

WHAT = "output of nccl-tests"
LOG = "NCCL INFO"
_KEYS = re.compile(r"^[ \t]{0,4}[\"']?(?:rows|collective|not_scored)[\"']?[ \t]*:", re.MULTILINE)  # of a table in YAML
HINT = "the doctor knows nccl-tests, NCCL_DEBUG=INFO, job scripts with NCCL's variables, and the commands of docs/doctor.md"


@dataclass
class Gathered:
    """The files of a run."""

    tables: list[Table] = field(default_factory=list)
    text: str = ""  # of all files
    known: bool = False  # some text says something of the run beside its times
    mistakes: list[Diagnostic] = field(default_factory=list)  # of files that are not there, and of tables
    unused: list[Diagnostic] = field(default_factory=list)  # files in which nothing is known, as warnings


def gather(paths: Sequence[Path], platform: MeasuredPlatform, given: Sequence[stated.Measured] = ()) -> Gathered:
    """Every file for what it is, and single numbers as tables. Variables of texts without rows are those of all runs."""
    found, texts, shared = Gathered(stated.tables(given, platform)), list[str](), dict[str, str]()
    for path in paths:
        try:
            text = whole_lines(read_text(path, WHAT))
        except InputError as error:
            found.mistakes += error.diagnostics
            continue
        texts.append(text)
        known = says_something(text)
        found.known |= known
        if not is_table(text):
            shared |= variables(text)
            found.unused += [] if known else [_unused(path)]
            continue
        try:
            found.tables += measured.read(path, str(path), platform)
        except InputError as error:
            found.mistakes += error.diagnostics
    found.text = "\n".join(texts)
    found.tables = [with_variables(table, shared, found.text) for table in found.tables]
    return found


def is_table(text: str) -> bool:
    """Whether a text has rows of times, or keys of a document that has some."""
    return raw.is_raw(text) or json_output.is_json(text) or _KEYS.search(text) is not None


def says_something(text: str) -> bool:
    """Whether a text says something of a run beside its times."""
    if LOG in text or outputs.known(text) or variables(text):
        return True
    evidence = Evidence(text)
    return any(evidence.points_to(cause) or any(sign.pattern.search(text) for sign in cause.excludes) for cause in causes())


def with_variables(table: Table, shared: Mapping[str, str], text: str) -> Table:
    """A table with the variables of its run. A limit of channels is a cause (`few_channels`), not a setting of a
    healthy run."""
    ran = forced(shared, table.platform, table.collective)
    if {"MAX_CTAS", "MAX_NCHANNELS"} & set(variables(text)):
        ran = replace(ran, max_ctas=None)
    return replace(table, platform=ran)


def _unused(path: Path) -> Diagnostic:
    message = "no table of times and no line that is known: the file was not used"
    return Diagnostic("FAB172", Place(str(path)), message, HINT, "warning")
