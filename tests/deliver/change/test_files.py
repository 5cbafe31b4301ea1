"""Files of a change: the commands make the new config of the old one, the inverse makes the old one again, in every wave."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from fabric import pipeline
from fabric.audit.diff.configs import FileChange, changes_of_files
from fabric.deliver.change import edits as module
from fabric.deliver.change.files import all_lines
from fabric.deliver.change.records import ChangeRequest
from fabric.nos.change import Procedure, procedure
from fabric.nos.dialect import COMMANDS, UNIFIED
from fabric.nos.target import target_names
from fabric.solver.estimate.request import EstimateRequest
from tests.cli.diff_sites import EVPN, RED, RED_BLUE, SWITCH, fabric, site
from tests.deliver.change.judging import unknown, wrong
from tests.deliver.change.pairs import SYSTEMS

CALL = EstimateRequest(sizes=(1 << 20,), routing="", queue_pairs=0)

Recorded = list[tuple[str, dict[str, str], dict[str, str], tuple[FileChange, ...]]]


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> Recorded:
    """(network OS, files before, files after, changes) of every call, both directions of every edit."""
    calls: Recorded = []
    original = changes_of_files

    def record(nos: str, before: dict[str, str], after: dict[str, str]) -> tuple[FileChange, ...]:
        found = original(nos, before, after)
        calls.append((nos, before, after, found))
        return found

    monkeypatch.setattr(module, "changes_of_files", record)
    return calls


def judge(calls: Recorded) -> int:
    """Number of changed files that were tried."""
    count = 0
    for nos, before, after, changes in calls:
        for change in changes:
            old, new = before.get(change.path, ""), after.get(change.path, "")
            found = "" if unknown(nos, old, new) else wrong(nos, change, old, new)
            assert not found, (nos, change.path, found, change.lines)
            count += 1
    return count


def plan_change(old: str, new: str, folder: Path) -> tuple[Any, Any]:
    for side, text in (("old", old), ("new", new)):
        (folder / f"{side}.yaml").write_text(text, encoding="utf-8")
    paths = str(folder / "old.yaml"), str(folder / "new.yaml")
    return pipeline.redesign(*paths, ChangeRequest(floor=0.0), CALL, files=True, jobs=1)


def wide(nos: str, spines: int, more: str = "") -> str:
    """Three leaves with four uplinks to so many spines."""
    return (
        f"  backend: {{nos: {nos}, servers: {{model: quad, count: 3, nics: compute}}, "
        f"topology: {{switch: {SWITCH.get(nos, '64x400g')}, rails: 1, unit: {{servers: 1}}, "
        f"leaf: {{uplinks: {{count: 4}}}}, spine: {{count: {spines}}}{', ' * bool(more)}{more}}}}}\n"
    )


@pytest.mark.parametrize("nos", SYSTEMS)
def test_both_directions_in_every_wave(nos: str, recorded: Recorded, tmp_path: Path) -> None:
    """Growth with cables that move, from four spines to eight and back; tenants."""
    pairs = [
        (site(fabric(nos, 2)), site(fabric(nos, 3))),
        (site(fabric(nos, 2, EVPN, RED)), site(fabric(nos, 2, EVPN, RED_BLUE))),
        (site(wide(nos, 2)), site(wide(nos, 4))),
    ]
    for old, new in (*pairs, *((new, old) for old, new in pairs)):
        plan_change(old, new, tmp_path)
    assert judge(recorded) > 20


# --- how they are typed ---------------------------------------------------------------------------------------


def test_every_network_os_has_a_procedure() -> None:
    assert {nos for nos in target_names() if procedure(nos) is not None} >= set(SYSTEMS)


@pytest.mark.parametrize("nos", SYSTEMS)
def test_what_is_typed_contains_the_change_and_its_inverse(nos: str, recorded: Recorded, tmp_path: Path) -> None:
    _, files = plan_change(site(fabric(nos, 2)), site(fabric(nos, 3)), tmp_path)
    how = procedure(nos)
    assert how is not None
    ending = "sh" if how.shell else "txt"
    spine = next(path for path in sorted(files) if path.endswith(f"backend-spine001/2-apply.{ending}"))
    folder = spine.rpartition("/")[0]
    applied, undone = files[spine].splitlines(), files[f"{folder}/undo.{ending}"].splitlines()
    assert f"{folder}/3-confirm.{ending}" in files
    forward, inverse = _of_spine(recorded)
    assert _holds(applied, _native(how, forward))
    assert _holds(undone, _native(how, inverse))
    assert files["README.md"].startswith("# dc1: ")


def _of_spine(calls: Recorded) -> tuple[tuple[FileChange, ...], tuple[FileChange, ...]]:
    for (_, before, after, forward), (_, *_, inverse) in zip(calls[::2], calls[1::2], strict=True):
        if any("backend-spine001" in text for text in (*before.values(), *after.values())) and "backend-leaf003" in str(
            forward
        ):
            return forward, inverse
    raise AssertionError("no change of the spine")


def _native(how: Procedure, changes: Sequence[FileChange]) -> list[str]:
    return [line for change in changes if change.form is not UNIFIED for line in change.lines]


def _holds(lines: Sequence[str], part: Sequence[str]) -> bool:
    """Whether the lines of a change are typed in their order."""
    rest = iter(lines)
    return bool(part) and all(line in rest for line in part)


def test_an_unsafe_form_is_a_comment() -> None:
    """A file that only changes its comments is a patch that no network OS loads."""
    how = procedure("eos")
    assert how is not None
    change = FileChange("startup-config", UNIFIED, ("@@ -1 +1 @@", "-! a", "+! b"))
    lines = all_lines(how, [change], {"name": "n"})
    assert all(line.startswith("! startup-config, not loaded by these lines: ") for line in lines)


def test_documents_that_must_not_be_loaded_together() -> None:
    how = procedure("cumulus")
    assert how is not None
    patch, apply = "# file {} of 2: nv config patch", ", nv config apply"
    between = ("- unset:", "    a: null", patch.format(2) + apply, "- set:")
    for first, middle in ((patch.format(1), []), (patch.format(1) + apply, ["nv config apply -y"])):
        found = all_lines(how, [FileChange("startup.yaml", COMMANDS, (first, *between))], {"name": "n"})
        commands = [line for line in found if line.startswith("nv ")]
        assert commands == ["nv config patch n.yaml", *middle, "nv config patch n.yaml"]


@pytest.mark.parametrize("nos", ["eos"])
def test_a_session_that_was_committed_is_not_entered_again(nos: str) -> None:
    """Neither by a second change of the same name nor by a second undo."""
    how = procedure(nos)
    assert how is not None
    for lines in (how.apply, how.undo, how.tried):
        entered = next(at for at, line in enumerate(lines) if line.startswith("configure session"))
        assert lines[entered - 1] == f"no {lines[entered]}"
    assert how.session.harmless
