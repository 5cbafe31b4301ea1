"""A site folder as a dict of path to bytes, and ways to write it."""

import hashlib
import os
import signal
from collections.abc import Callable, Mapping
from pathlib import Path

from fabric.base.output import Changes, Keep, Store
from fabric.base.output.journal import Step, no_step
from fabric.base.output.store import keep_nothing

Files = Mapping[str, bytes]


def generate(site: Path, files: Files, keep: Keep = keep_nothing, step: Step = no_step) -> Changes:
    with Store(site, step).transaction(keep) as run:
        for path, data in files.items():
            run.write(path, data)
        return run.commit()


def snapshot(site: Path) -> dict[str, bytes]:
    """Every file below `site`; an empty folder shows up as a path with a closing slash."""
    found: dict[str, bytes] = {}
    for folder, folders, files in os.walk(site):
        here = Path(folder)
        if not folders and not files and here != site:
            found[f"{here.relative_to(site).as_posix()}/"] = b""
        for name in files:
            found[(here / name).relative_to(site).as_posix()] = (here / name).read_bytes()
    return found


def listed(files: Files) -> bytes:
    """The manifest of `files`, worked out apart from the code under test."""
    lines = [f"{hashlib.sha256(data).hexdigest()}  {path}\n" for path, data in files.items()]
    return "".join(sorted(lines, key=lambda line: line[66:].rstrip("\n").encode())).encode()


def whole(files: Files) -> dict[str, bytes]:
    """What the folder must hold after generating `files` and nothing else."""
    return {**files, "manifest.txt": listed(files)}


def count_steps(run: Callable[[Step], object]) -> list[str]:
    steps: list[str] = []
    run(steps.append)
    return steps


def killed_at(number: int, run: Callable[[Step], object]) -> bool:
    """Run in a child process which kills itself with SIGKILL at step `number`. False if it got to its end."""
    child = os.fork()
    if child == 0:
        left = number

        def step(_: str) -> None:
            nonlocal left
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            left -= 1

        try:
            run(step)
            os._exit(0)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return True
    assert os.WEXITSTATUS(status) == 0
    return False
