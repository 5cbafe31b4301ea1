"""What each target writes, as files a person can read. UPDATE_GOLDEN=1 rewrites them; read the diff."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from fabric.nos.eos.target import TARGET as EOS
from fabric.nos.frr.target import TARGET as FRR
from fabric.nos.sonic.target import TARGET as SONIC
from fabric.nos.target import Target
from fabric.render import render
from tests import ROOT
from tests.nos.views import STYLES, view

GOLDEN = ROOT / "tests" / "golden" / "render"
CASES = [
    (target, style, name)
    for target in (SONIC, EOS, FRR)
    for style, name in (
        ("ipv4", "leaf1"),
        ("ipv4", "spine1"),
        ("unnumbered", "leaf1"),
        ("ipv6", "leaf1"),
        ("ipv6-unnumbered", "spine1"),
    )
]


@pytest.mark.parametrize(
    ("target", "style", "name"), CASES, ids=[f"{target.name}-{style}-{name}" for target, style, name in CASES]
)
def test_files_are_as_recorded(target: Target, style: str, name: str) -> None:
    folder = GOLDEN / f"{target.name}-{style}-{name}"
    files = {file.path: file.text for file in render(view(name, replace(STYLES[style], nos=target.name)), target)}
    if os.environ.get("UPDATE_GOLDEN"):
        folder.mkdir(parents=True, exist_ok=True)
        for path, text in files.items():
            (folder / path).write_text(text, encoding="utf-8")
    assert sorted(files) == sorted(path.name for path in folder.iterdir())
    for path, text in files.items():
        assert text == (folder / path).read_text(encoding="utf-8"), path
        assert text.endswith("\n")
        assert not text.endswith("\n\n\n")
