"""SIGKILL at every step of a run: the folder is the old one or the new one, never a mixture."""

from pathlib import Path

import pytest

from fabric.base.output import check, recover, unfinished
from fabric.base.output.journal import Step
from tests.base.output.helpers import Files, count_steps, generate, killed_at, snapshot, whole

SAME = {f"leaf{n:03}/config": b"same %d\n" % n for n in range(140)}
OLD: Files = SAME | {
    **{f"spine{n}/config": b"old %d\n" % n for n in range(7)},
    **{f"gone{n}/deep/config": b"gone\n" for n in range(5)},
    "turns": b"a file becomes a folder\n",
    "folder/a/b": b"a folder becomes a file\n",
}
NEW: Files = SAME | {
    **{f"spine{n}/config": b"new %d\n" % n for n in range(7)},
    **{f"added{n}/config": b"added\n" for n in range(5)},
    "turns/into/folder": b"a file becomes a folder\n",
    "folder": b"a folder becomes a file\n",
}


class Run:
    def __init__(self, site: Path, files: Files) -> None:
        self.site, self.files = site, files

    def __call__(self, step: Step) -> None:
        generate(self.site, self.files, step=step)


@pytest.mark.slow
def test_a_run_killed_at_any_step_is_finished_or_rolled_back(site: Path) -> None:
    generate(site, OLD)
    steps = count_steps(Run(site, NEW))
    record = steps.index("commit")
    assert snapshot(site) == whole(NEW)
    assert {"stage a file", "remove a file", "remove a folder", "place a file"} < set(steps)

    outcomes = set()
    for number in range(len(steps)):
        generate(site, OLD)
        assert snapshot(site) == whole(OLD)

        assert killed_at(number, Run(site, NEW)), steps[number]
        begun = unfinished(site)
        outcome = recover(site)

        # The manifest is part of both states.
        state = NEW if number > record else OLD
        assert snapshot(site) == whole(state), (number, steps[number])
        assert (outcome is not None) == begun
        assert check(site, state.items()).clean
        assert not (site / ".journal").exists()
        assert recover(site) is None
        outcomes.add(outcome)
    assert outcomes >= {"finished", "rolled back"}


def test_the_next_run_recovers_by_itself(site: Path) -> None:
    generate(site, OLD)
    steps = count_steps(Run(site, NEW))
    for number in (5, steps.index("place a file") + 3):
        generate(site, OLD)
        assert killed_at(number, Run(site, NEW))
        changes = generate(site, NEW)
        assert changes.recovered == ("rolled back" if number == 5 else "finished")
        assert snapshot(site) == whole(NEW)


@pytest.mark.parametrize("after", ["stage a file", "remove a file", "place a file"])
def test_a_recovery_killed_at_any_step_is_recovered(site: Path, after: str) -> None:
    old = {"a/x": b"1", "b": b"1", "c/d/e": b"1", "same": b"1"}
    new = {"a/x": b"2", "b/y": b"2", "c/d": b"2", "same": b"1", "n/e/w": b"2"}
    generate(site, old)
    first = count_steps(Run(site, new)).index(after) + 1
    number, killed = 0, True
    while killed:
        generate(site, old)
        assert killed_at(first, Run(site, new))
        killed = killed_at(number, lambda step: recover(site, step))
        recover(site)
        assert snapshot(site) == whole(old if after == "stage a file" else new)
        assert recover(site) is None
        number += 1
    assert number > 3
