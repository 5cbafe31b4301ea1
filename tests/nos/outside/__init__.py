"""Network OSes that are no part of the tree: installed for a test as a distribution of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

HERE = Path(__file__).parent
# Runs every list of words as `fabric` would, in one process: exit code, stdout, stderr and whether a traceback was seen.
DRIVER = """
import contextlib, io, json, os, sys
from fabric.cli import main
results = []
for words in json.load(sys.stdin):
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.TextIOWrapper(io.BytesIO(), "utf-8")
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(words)
            code = -1
        except SystemExit as stop:
            code = stop.code
    texts = []
    for stream in (out, err):
        stream.flush()
        texts.append(stream.buffer.getvalue().decode())
    results.append([code, *texts])
json.dump(results, sys.__stdout__)
"""


def install(folder: Path, name: str, points: Mapping[str, str], version: str = "0.1.0") -> None:
    """A distribution with entry points beside the packages that lie in a folder."""
    home = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    home.mkdir(parents=True)
    (home / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", encoding="utf-8")
    lines = [f"{key} = {value}" for key, value in points.items()]
    (home / "entry_points.txt").write_text("\n".join(["[fabricwright.targets]", *lines, ""]), encoding="utf-8")


def run(packages: Path, folder: Path, calls: Sequence[Sequence[str]]) -> list[tuple[int, str, str]]:
    """Exit code, stdout and stderr of each call of `fabric` in a folder, with the packages of another folder installed."""
    done = subprocess.run(
        [sys.executable, "-c", DRIVER],
        cwd=folder,
        input=json.dumps([list(map(str, words)) for words in calls]),
        env={**os.environ, "PYTHONPATH": str(packages), "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [(code, out, err) for code, out, err in json.loads(done.stdout)]
