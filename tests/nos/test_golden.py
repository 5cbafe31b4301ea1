"""What each target writes, as files a person can read."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fabric.configs.render import render
from fabric.nos.eos.target import TARGET as EOS
from fabric.nos.frr.target import TARGET as FRR
from fabric.nos.sonic.target import TARGET as SONIC
from fabric.nos.target import Target
from tests.goldens import golden_folder
from tests.nos.views import STYLES, view

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
    files = {file.path: file.text for file in render(view(name, replace(STYLES[style], nos=target.name)), target)}
    golden_folder(f"render/{target.name}-{style}-{name}", files)
    for text in files.values():
        assert text.endswith("\n")
        assert not text.endswith("\n\n\n")
