"""What is wrong with the change of a file, by the models of the switches: commands, patches and steps are applied to it."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from fabric.audit.diff import remedy
from fabric.audit.diff.configs import FileChange
from fabric.audit.diff.order import indented
from fabric.nos.dialect import COMMANDS, UNIFIED
from fabric.nos.sonic.statements import tables
from tests.audit.diff.apply import left, patched, typed
from tests.audit.diff.candidate import trial
from tests.audit.diff.candidate.device import RefusedError, loaded
from tests.audit.diff.pairs import TRIALS
from tests.nos.sonic.updater.process import RealUpdater
from tests.nos.sonic.updater.switch import Switch


@dataclass
class Updater:
    """SONiC's own updater, which takes the patches too, and what it took."""

    process: RealUpdater
    counts: Counter[str] = field(default_factory=Counter)


def wrong(nos: str, change: FileChange, old: str, new: str, real: Updater | None = None) -> str:
    """What is wrong with a change, "" for nothing."""
    if change.form is UNIFIED:
        return _patch(change.lines, old, new)
    if nos in TRIALS:
        return TRIALS[nos](old, new, list(change.lines))
    if change.form is not COMMANDS:
        return _steps(change, tables(old), tables(new), real)
    if nos in trial.MODELS:
        return "; ".join(trial.wrong(trial.load(nos), old, new, change.lines)[:4])
    rules = remedy.dialect(nos).rules
    assert rules is not None
    wanted = indented(new)
    try:
        made = left(typed(old, change.lines, rules), wanted, indented(old), rules)
    except AssertionError as refused:
        return str(refused)
    return "; ".join(sorted(trial.differences(made, wanted))[:4])


def unknown(nos: str, *texts: str) -> str:
    """The first line of the configs that the model of the switch does not know, "" for none."""
    try:
        for text in texts if nos in trial.MODELS else ():
            loaded(trial.load(nos), text)
    except RefusedError as refused:
        return str(refused)
    return ""


def _steps(change: FileChange, old: Any, new: Any, real: Updater | None) -> str:
    """Steps of a change of config_db.json: what they do to the database, and to a switch with its daemons."""
    if patched(old, change.json_patch) != new:
        return "another database by the patch alone"
    steps = [json.loads(json.dumps(asdict(step))) for step in change.steps]
    switch = Switch(old)
    try:
        if real:
            real.process.run(switch, steps, real.counts)
        else:
            switch.run(steps)
    except AssertionError as refused:
        return f"{type(refused).__name__}: {refused}"
    if switch.config != new:
        return "another database"
    return "" if switch.state == switch.config else "in the database only"


def _patch(lines: Sequence[str], old: str, new: str) -> str:
    """What `patch` says, where it is installed."""
    if not old or not new or not shutil.which("patch"):
        return ""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "patched.txt")
        file.write_text(old, encoding="utf-8")
        text = "\n".join(lines) + "\n"
        done = subprocess.run(["patch", str(file)], input=text, text=True, capture_output=True, check=False)
        return done.stdout or "patch" if done.returncode or file.read_text(encoding="utf-8") != new else ""
