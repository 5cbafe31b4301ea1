"""Statements of EOS: one startup-config or running-config."""

import re
from collections.abc import Iterator
from pathlib import Path

from fabric.nos.eos.texts import LAYOUT
from fabric.nos.reading.words import numbers
from fabric.nos.statements.forms import Path as Statement, indented
from fabric.nos.statements.syntax import Syntax

MAPPED = re.compile(r"vxlan vlan (?:add )?(\d*[,-][\d,-]*) vni ([\d,-]+)")


def _statements(text: str) -> Iterator[tuple[Statement, int]]:
    """`vxlan vlan 10,20 vni 10010,10020` is a statement for each VLAN."""
    for path, number in indented(text, LAYOUT):
        match = MAPPED.fullmatch(path[-1]) if path[-1].startswith("vxlan vlan ") else None
        vlans, vnis = (numbers(match[1]), numbers(match[2])) if match else ([], [])
        if match and len(vlans) == len(vnis):
            for vlan, vni in zip(vlans, vnis, strict=True):
                yield (*path[:-1], f"vxlan vlan {vlan} vni {vni}"), number
        else:
            yield path, number


SYNTAX = Syntax(
    parts={"startup-config": _statements},
    sectioned={"startup-config": LAYOUT},
    rules_file=Path(__file__).with_name("statements.yaml"),
)
