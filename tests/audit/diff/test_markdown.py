"""A comment on a pull request: short enough to be taken, and never broken by what it shows."""

from __future__ import annotations

import pytest

from fabric.audit.checks.reports import report
from fabric.audit.diff.compare import Capacity, Diff
from fabric.audit.diff.configs import DeviceChange, FileChange
from fabric.audit.diff.design import Change, Design
from fabric.audit.diff.formats import diff_report
from fabric.audit.diff.recabling import Recabling
from fabric.base.formats.blocks import MAX_COMMENT_CHARACTERS
from fabric.nos.dialect import COMMANDS

CUT = Design((Change("site|name", "a*b", "<c>"), Change("banner", "", "@octocat")), (), Recabling())


def made(devices: int, lines: tuple[str, ...]) -> Diff:
    files = [(FileChange("x", COMMANDS, (*lines, f"mtu {at}")),) for at in range(devices)]
    changes = [
        DeviceChange(device=f"leaf{at}", was="", fabric="f", role="leaf", nos="eos", state="changed", files=file)
        for at, file in enumerate(files)
    ]
    return Diff(old="old.yaml", new="new.yaml", site="dc1", design=CUT, capacity=Capacity(()), devices=tuple(changes))


def markdown(diff: Diff) -> str:
    return report("markdown", diff_report(diff))


@pytest.mark.parametrize(("devices", "lines"), [(40, 200), (400, 20), (1, 50_000), (3_000, 1)])
def test_no_comment_is_too_long(devices: int, lines: int) -> None:
    found = markdown(made(devices, ("interface Ethernet1/1",) * lines))
    assert len(found) <= MAX_COMMENT_CHARACTERS
    assert found.count("<details>") == found.count("</details>")
    assert found.count("```") == 2 * found.count("<details>")


def test_the_rest_is_stated() -> None:
    found = markdown(made(400, ("interface Ethernet1/1",) * 20))
    shown = found.count("<details>")
    rest = f"{400 - shown} more parts do not fit into a comment: `fabric diff old.yaml new.yaml` shows them."
    assert found.endswith(f"{rest}\n")
    assert "and 49,456 more lines" in markdown(made(1, ("interface Ethernet1/1",) * 50_000))


def test_signs_of_markdown_are_words() -> None:
    assert r"| site\|name | a\*b | \<c\> |" in markdown(made(0, ()))


def test_no_one_is_called() -> None:
    found = markdown(made(0, ()))
    assert "@octocat" not in found
    assert "@&#8288;octocat" in found


def test_a_fence_of_a_config_ends_no_block() -> None:
    assert "\n````\n```\nmtu 0\n````\n" in markdown(made(1, ("```",)))


def test_a_terminal_gets_the_first_lines_of_each() -> None:
    found = report("text", diff_report(made(40, ("interface Ethernet1/1",) * 99)))
    assert found.count("    and 60 more lines") == 12
    assert found.endswith("and 28 more kinds of change; --limit GLOB shows changes of matching switches, --format json all\n")
