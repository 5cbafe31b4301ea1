"""Staging one file: compare it with the disk, and put what is new or changed into the journal."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fabric.base.output import files
from fabric.base.output.errors import OutputError, explained
from fabric.base.output.journal import Step, no_step, staged_file
from fabric.base.output.paths import JOURNAL, check_path

State = Literal["unchanged", "changed", "new"]


@dataclass(frozen=True)
class Staged:
    """One generated file as a worker hands it to the transaction: small, and without the content."""

    path: str
    sha256: str
    size: int
    state: State


def stage(site_dir: Path, relative_path: str, data: bytes, owned_sha: str | None, step: Step = no_step) -> Staged:
    """Stage `data` for `relative_path`. For use in worker processes while a transaction is open.

    `owned_sha` is the path's entry in the manifest. A path which is taken by something not ours is
    "new" as well: the transaction looks at all of those and refuses them together.

    OutputError: a bad path, no open transaction, a file that cannot be read or written.
    """
    check_path(relative_path)
    return stage_any(site_dir, relative_path, data, owned_sha is not None, step)


def stage_any(site: Path, path: str, data: bytes, owned: bool, step: Step = no_step) -> Staged:
    """`stage` for any path, the manifest's own included."""
    sha = files.sha256(data)
    comparison = files.look(site, path, data)
    if comparison == "same":
        return Staged(path, sha, len(data), "unchanged")
    if not os.path.isdir(f"{site}/{JOURNAL}/new"):
        raise OutputError(f"cannot stage {path}: no run is open for {site}")
    with explained(f"stage {path}"):
        _write(staged_file(site, path, sha), data, step)
    return Staged(path, sha, len(data), "changed" if comparison == "different" and owned else "new")


def _write(file: str, data: bytes, step: Step) -> None:
    """No process reads it before all files of the run are staged, and its name holds its hash, so it needs no second name."""
    step("stage a file")
    # 0644 less the umask: generated files are never executable, whatever they replace.
    with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o644), "wb") as opened:
        opened.write(data)
