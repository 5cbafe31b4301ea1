"""Changes carried out on a network in memory, with every kind of failure at any step."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from fabric import pipeline
from fabric.base.diagnostics import InputError
from fabric.deliver.change.apply.going_back import turned
from fabric.deliver.change.apply.journal import NAME, Journal, locked
from fabric.deliver.change.apply.records import (
    BY_HAND,
    CARRIED_OUT,
    EARLIER,
    OPEN,
    STOPPED,
    STUCK,
    TAKEN_BACK,
    TRIED,
    Outcome,
)
from fabric.deliver.change.files import ABORT, APPLY, CONFIRM, LINKS_OUT, REBOOTED, TRIED as DRY, UNDO, UNDRAINED
from fabric.deliver.change.records import Asked, ChangeRequest
from tests.cli.diff_sites import EVPN, RED, RED_BLUE, SITES, fabric, site
from tests.deliver.change.apply.bench import QUICK, WHOLE, Bench, KilledError, by_person, lay, no_fault, opened, written
from tests.deliver.change.test_files import wide

PANELS = "patch_panels: {leaf-spine: {ports: 48}}"
CHANGES = {
    "mtu": (site(fabric("eos")), site(fabric("eos", 2, "underlay: {mtu: 9000}"))),
    "tenant": (site(fabric("eos", 2, EVPN, RED)), site(fabric("eos", 2, EVPN, RED_BLUE))),
    "wider": (site(wide("eos", 2)), site(wide("eos", 4))),
    "narrower": (site(wide("eos", 4)), site(wide("eos", 2))),
    "growth": SITES["spines-eos"],
    "smaller": (site(fabric("eos", 3)), site(fabric("eos", 2))),
    "jumpers": (site(wide("eos", 2, PANELS)), site(wide("eos", 4, PANELS))),
    "jumpers back": (site(wide("eos", 4, PANELS)), site(wide("eos", 2, PANELS))),
    "addresses": (site(fabric("eos")), site(fabric("eos")) + "pools: {loopback: 10.9.0.0/24, p2p: 10.8.0.0/16}\n"),
}
RESUMED = replace(QUICK, resume=True)
CASES, ALL_CASES = 4, 36  # of each kind of failure


@pytest.fixture(params=CHANGES)
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return written(tmp_path, *CHANGES[request.param])


def run(bench: Bench, resume: bool = False, **options: object) -> Outcome:
    return pipeline.change_apply(bench.work, bench, replace(RESUMED if resume else QUICK, **options))


def operation(folder: Path, action: str, *names: str, nos: str = "eos", planes: int = 0) -> Path:
    file = folder / "intent.yaml"
    file.write_text(site(wide(nos, 4)), encoding="utf-8")
    intent = pipeline.load(file)
    plan = pipeline.plan(intent)
    request = ChangeRequest(floor=0.0, planes_active=planes)
    from tests.deliver.change.apply.bench import CALL

    change = pipeline.change(plan, action, names, request, CALL)
    asked = Asked(old=str(file), action=action, names=names, request=request)
    return lay(folder / "work", pipeline.change_files(change, (), pipeline.render(plan, intent), asked))


def at_wave(bench: Bench, number: int) -> list[str]:
    """Switches that do not have the files that they have when so many waves are done."""
    stages = bench.work.stages
    moment = stages[number].before if number < len(stages) else stages[-1].after
    wrong = [name for name in moment.switches if bench.devices[name].files != moment.files(name)]
    wrong += [name for name in moment.switches if bench.devices[name].drained != (name in moment.drained)]
    return wrong + [name for name, device in bench.devices.items() if device.pending is not None]


# --- all right --------------------------------------------------------------------------------------------------------


def test_every_wave_is_carried_out(folder: Path) -> None:
    with opened(folder) as work:
        bench = Bench(work)
        outcome = run(bench)
        assert [wave.state for wave in outcome.waves] == [CARRIED_OUT] * len(work.stages)
        assert at_wave(bench, len(work.stages)) == []
        assert not any(name in (UNDO, ABORT) for _, name in bench.typed)
        again = run(Bench(work))
        assert [wave.state for wave in again.waves] == [EARLIER] * len(work.stages)


def test_a_dry_run_types_what_has_no_effect(folder: Path) -> None:
    with opened(folder) as work:
        bench = Bench(work)
        outcome = run(bench, dry_run=True)
        assert outcome.waves[0].state == TRIED
        assert {name for _, name in bench.typed} <= {DRY, LINKS_OUT.tried}
        assert at_wave(bench, 0) == []
        assert not (folder / NAME).exists()
        shown = {one.device: one for one in outcome.waves[0].shown}
        assert all(one.typed and one.answer for one in shown.values())


def test_one_wave_at_a_time(tmp_path: Path) -> None:
    with opened(written(tmp_path, *CHANGES["growth"])) as work:
        bench = Bench(work)
        assert [wave.state for wave in run(bench, only=1).waves] == [CARRIED_OUT, OPEN]
        assert at_wave(bench, 1) == []
        assert [wave.state for wave in run(bench).waves] == [EARLIER, CARRIED_OUT]
        with pytest.raises(InputError, match="expected a wave from 1 to 2, got 3"):
            run(bench, only=3)


@pytest.mark.parametrize("action", ["drain", "undrain", "reboot", "replace"])
def test_operations(action: str, tmp_path: Path) -> None:
    with opened(operation(tmp_path, action, "backend-spine001", "backend-spine003")) as work:
        bench = Bench(work)
        outcome = run(bench)
        assert [wave.state for wave in outcome.waves] == [CARRIED_OUT] * len(work.stages), outcome
        names = [name for device, name in bench.typed if device == "backend-spine001"]
        expected = {
            "drain": [WHOLE],
            "undrain": [UNDRAINED],
            "reboot": [WHOLE, REBOOTED, UNDRAINED],
            "replace": [WHOLE, UNDRAINED],
        }
        assert names == expected[action]
        assert at_wave(bench, len(work.stages)) == []


# --- a failure at each step -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("step", "kind", "code"),
    [
        (APPLY, "refused", "FAB562"),
        (APPLY, "lost", "FAB563"),
        (APPLY, "half", "FAB563"),
        (CONFIRM, "refused", "FAB567"),
        (CONFIRM, "late", "FAB567"),
        (WHOLE, "refused", "FAB562"),
    ],
)
def test_what_fails_is_taken_back(step: str, kind: str, code: str, tmp_path: Path) -> None:
    with opened(written(tmp_path, *CHANGES["addresses"])) as work:
        failed: list[str] = []

        def fault(device: str, name: str) -> str:
            if name == step and not failed and device == "backend-leaf002":
                failed.append(device)
                return kind
            return ""

        bench = Bench(work, fault)
        outcome = run(bench)
        wave = outcome.waves[0]
        assert failed
        assert (wave.state, [remark.id for remark in wave.remarks]) == (TAKEN_BACK, [code]), wave
        assert wave.remarks[0].device == "backend-leaf002"
        assert at_wave(bench, 0) == []
        with pytest.raises(InputError, match="wave 1 was taken back, and is not carried out"):
            run(bench)
        assert [wave.state for wave in run(bench, resume=True).waves] == [CARRIED_OUT]
        assert at_wave(bench, 1) == []


def test_a_refused_dry_run_types_nothing(tmp_path: Path) -> None:
    with opened(written(tmp_path, *CHANGES["mtu"])) as work:
        bench = Bench(work, lambda device, name: "refused" if name == DRY and device == "backend-leaf001" else "")
        wave = run(bench).waves[0]
        assert (wave.state, [remark.id for remark in wave.remarks]) == (STOPPED, ["FAB561"])
        assert {name for _, name in bench.typed} == {DRY}


def test_a_network_that_is_not_as_planned_is_not_touched(tmp_path: Path) -> None:
    with opened(written(tmp_path, *CHANGES["mtu"])) as work:
        bench = Bench(work, broken={"backend-spine001"})
        wave = run(bench).waves[0]
        assert wave.state == STOPPED
        assert {remark.id for remark in wave.remarks} == {"FAB560"}
        assert any("backend-spine001" in remark.device for remark in wave.remarks)
        assert bench.typed == []


def test_an_operator_has_changed_a_switch(tmp_path: Path) -> None:
    with opened(written(tmp_path, *CHANGES["mtu"])) as work:
        bench = Bench(work)
        files = bench.devices["backend-leaf001"].files
        files["startup-config"] = files["startup-config"].replace("maximum-paths", "no maximum-paths", 1)
        wave = run(bench).waves[0]
        assert (wave.state, bench.typed) == (STOPPED, [])
        assert {remark.device for remark in wave.remarks} == {"backend-leaf001"}


def test_sessions_that_do_not_come_back(tmp_path: Path) -> None:
    """The switches take the change, and the network is worse for it."""
    with opened(written(tmp_path, *CHANGES["mtu"])) as work:
        bench = Bench(work)

        def fault(device: str, name: str) -> str:
            if name == APPLY:
                bench.broken.add("backend-spine002")
            if name in (ABORT, UNDO):
                bench.broken.clear()
            return ""

        bench.fault = fault
        wave = run(bench).waves[0]
        assert (wave.state, {remark.id for remark in wave.remarks}) == (TAKEN_BACK, {"FAB565"})
        assert at_wave(bench, 0) == []


def test_a_switch_that_dies_is_explained(tmp_path: Path) -> None:
    with opened(written(tmp_path, *CHANGES["addresses"])) as work:
        bench = Bench(work, lambda device, name: "dead" if name == APPLY and device == "backend-leaf001" else "")
        wave = run(bench).waves[0]
        assert wave.state == STUCK
        last = [remark for remark in wave.remarks if remark.id == "FAB568"]
        assert [remark.device for remark in last] == ["backend-leaf001"]
        assert "does not answer" in last[0].message
        assert "takes back by itself" in last[0].hint
        others = [name for name in at_wave(bench, 0) if name != "backend-leaf001"]
        assert others == []
        bench.fault = no_fault
        bench.devices["backend-leaf001"].up = True
        assert run(bench, resume=True).waves[0].state == TAKEN_BACK
        assert at_wave(bench, 0) == []
        assert run(bench, resume=True).waves[0].state == CARRIED_OUT


# --- hands ------------------------------------------------------------------------------------------------------------


def test_work_by_hand_waits_for_resume(tmp_path: Path) -> None:
    with opened(written(tmp_path, *CHANGES["growth"])) as work:
        bench = Bench(work, hands=by_person)
        outcome = run(bench)
        assert [wave.state for wave in outcome.waves] == [BY_HAND, OPEN]
        assert outcome.waves[0].by_hand == "6 cables of wave 1"
        assert outcome.waits
        assert not outcome.failed
        bench.hands = lambda wave: None
        bench.by_hand(work.stages[0].wave)  # a person does it
        bench.hands = by_person
        assert [wave.state for wave in run(bench, resume=True).waves] == [CARRIED_OUT, BY_HAND]
        assert [device.drained for name, device in sorted(bench.devices.items()) if "spine00" in name][:2] == [True, True]
        bench.hands = lambda wave: None
        bench.by_hand(work.stages[1].wave)
        assert [wave.state for wave in run(bench, resume=True).waves] == [EARLIER, CARRIED_OUT]
        assert at_wave(bench, 2) == []


def test_cables_go_back_too(tmp_path: Path) -> None:
    moved: list[str] = []
    with opened(written(tmp_path, *CHANGES["growth"])) as work:
        bench = Bench(work, hands=lambda wave: moved.append(wave.title))
        bench.fault = lambda device, name: "refused" if name == APPLY and device == "backend-spine001" else ""
        outcome = run(bench)
        assert [wave.state for wave in outcome.waves] == [CARRIED_OUT, TAKEN_BACK]
        assert moved[-1] == f"take back: {moved[-2]}"
        assert at_wave(bench, 1) == []


@pytest.mark.parametrize(
    ("step", "kind", "code"),
    [
        (LINKS_OUT.tried, "refused", "FAB561"),
        (LINKS_OUT.apply, "refused", "FAB562"),
        (LINKS_OUT.apply, "lost", "FAB563"),
        (LINKS_OUT.apply, "half", "FAB563"),
        (LINKS_OUT.confirm, "late", "FAB567"),
        (DRY, "refused", "FAB561"),
        (APPLY, "refused", "FAB562"),
        (APPLY, "half", "FAB563"),
        (CONFIRM, "late", "FAB567"),
    ],
)
def test_jumpers_go_back_in_inverse_order(step: str, kind: str, code: str, tmp_path: Path) -> None:
    """The new links, the jumpers, the links that were out; a person moves the jumpers, and `--resume` goes on each time."""
    with opened(written(tmp_path, *CHANGES["jumpers"])) as work:
        struck: list[str] = []

        def fault(device: str, name: str) -> str:
            if (device, name) == ("backend-leaf002", step) and not struck:
                struck.append(name)
                return kind
            return ""

        moved: list[str] = []
        bench = Bench(work, fault, hands=lambda wave: moved.append(wave.title))
        first = run(bench, only=1)
        assert [wave.state for wave in first.waves] == [CARRIED_OUT, OPEN]
        moved.clear()
        bench.hands, by_hand = by_person, bench.hands
        outcome = run(bench)
        if outcome.waves[1].state == BY_HAND and not struck:  # the jumpers are moved, then the fault
            assert at_part(bench, 1, 0) == []
            bench.hands = by_hand
            bench.by_hand(work.stages[1].wave)
            bench.hands = by_person
            outcome = run(bench, resume=True)
            assert (outcome.waves[1].state, struck) == (BY_HAND, [step])
            assert at_part(bench, 1, 0) == []
            bench.hands = by_hand
            bench.by_hand(turned(work.stages[1].wave))
            bench.hands = by_person
            outcome = run(bench, resume=True)
            assert moved[-1] == f"take back: {moved[-2]}"
        else:
            assert [remark.id for remark in outcome.waves[1].remarks] == [code]
        assert outcome.waves[1].state == (STOPPED if step == LINKS_OUT.tried else TAKEN_BACK), outcome
        assert at_wave(bench, 1) == []
        bench.hands = by_hand
        assert run(bench, resume=True).waves[1].state == CARRIED_OUT
        assert at_wave(bench, 2) == []


def at_part(bench: Bench, stage: int, part: int) -> list[str]:
    """Switches that do not have the files that they have after a part of a wave."""
    moment = bench.work.stages[stage].parts[part].after
    return [name for name in moment.switches if bench.devices[name].files != moment.files(name)]


# --- any failure anywhere ---------------------------------------------------------------------------------------------

STRUCK = {"half": (APPLY, LINKS_OUT.apply), "late": (CONFIRM, LINKS_OUT.confirm)}  # others: whatever is typed
KINDS = ("refused", "lost", "half", "late", "killed", "dead")


@pytest.mark.parametrize("kind", KINDS)
def test_any_failure_ends_after_whole_waves_or_is_explained(kind: str, whole: bool, tmp_path: Path) -> None:
    """After a failure at any step of any switch, `--resume` brings the change to its end."""
    number = 0
    changes = CHANGES if whole else {name: CHANGES[name] for name in ("mtu", "growth", "jumpers", "jumpers back")}
    for at, (name, sides) in enumerate(changes.items()):
        (tmp_path / name).mkdir()
        with opened(written(tmp_path / name, *sides)) as work:
            for seed in range((ALL_CASES if whole else CASES) // len(changes)):
                (work.folder / NAME).unlink(missing_ok=True)
                number += _one(Bench(work, draw=random.Random(f"{kind} {seed} {at}")), kind)
    assert number >= 0 if kind in ("half", "late") else number >= CASES // 2


def _one(bench: Bench, kind: str) -> bool:
    """One failure; whether it struck."""
    struck: list[str] = []
    count = bench.draw.randrange(1, 24)
    seen = [0]

    def fault(device: str, name: str) -> str:
        if name in ("connect", "running"):
            return ""
        seen[0] += 1
        if seen[0] == count and not struck and name in STRUCK.get(kind, (name,)):
            struck.append(device)
            return kind
        return ""

    bench.fault = fault
    for resume in (False, True, True, True, True):
        try:
            outcome = run(bench, resume)
        except KilledError:
            continue
        done = sum(wave.state in (CARRIED_OUT, EARLIER) for wave in outcome.waves)
        if done == len(outcome.waves):
            break
        state = outcome.waves[done].state
        named = {remark.device for remark in outcome.waves[done].remarks}
        assert named, outcome
        wrong = set(at_wave(bench, done))
        assert not wrong if state == TAKEN_BACK else wrong <= named or state == STOPPED, (state, wrong, named)
        bench.devices = {key: replace(value, up=True) for key, value in bench.devices.items()}
    assert at_wave(bench, len(bench.work.stages)) == [], (kind, struck)
    return bool(struck)


def test_what_a_killed_run_has_typed_is_asked(tmp_path: Path) -> None:
    """Whether the switch has the change or not: it is typed once."""
    for seed in range(6):
        (tmp_path / str(seed)).mkdir()
        with opened(written(tmp_path / str(seed), *CHANGES["mtu"])) as work:
            bench = Bench(work, draw=random.Random(seed))
            bench.fault = lambda device, name: "killed" if name == APPLY and device == "backend-spine001" else ""
            with pytest.raises(KilledError):
                run(bench)
            has = bench.devices["backend-spine001"].pending is not None
            bench.fault = no_fault
            bench.typed.clear()
            assert run(bench, resume=True).waves[0].state == CARRIED_OUT
            assert (("backend-spine001", APPLY) in bench.typed) is not has
            lines = [json.loads(line) for line in (work.folder / NAME).read_text(encoding="utf-8").splitlines()]
            asked = [line for line in lines if line.get("text") == "asked: it has the change"]
            assert ("backend-spine001" in [line["device"] for line in asked]) is has


# --- the folder and its journal ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda folder: (folder / "request.json").unlink(), r"expected the folder of a change, got no request.json in it"),
        (lambda folder: (folder / "request.json").write_text("{}"), r"old: field required"),
        (lambda folder: _append(next(folder.glob("wave-*/*/2-apply.txt"))), r"got other ones: 1 file \(wave-001/"),
        (lambda folder: next(folder.glob("wave-*/*/3-confirm.txt")).unlink(), r"got other ones: 1 file"),
        (lambda folder: (folder / "wave-001/x").mkdir() or (folder / "wave-001/x/2-apply.txt").write_text(""), "other ones"),
        (lambda folder: _append(folder.parent / "new.yaml", "# a comment\n"), ""),
        (lambda folder: _replace(folder.parent / "new.yaml", "9000", "9100"), r"got other ones: 8 files"),
    ],
)
def test_files_that_are_not_of_the_change(spoil: Callable[[Path], object], message: str, tmp_path: Path) -> None:
    folder = written(tmp_path, *CHANGES["mtu"])
    spoil(folder)
    if not message:
        with opened(folder) as work:
            assert work.stages
        return
    with pytest.raises(InputError, match=message) as caught, opened(folder):
        pass
    assert "fabric change" in str(caught.value)


def _append(file: Path, text: str = "! edited\n") -> None:
    file.write_text(file.read_text(encoding="utf-8") + text, encoding="utf-8")


def _replace(file: Path, old: str, new: str) -> None:
    file.write_text(file.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")


def test_secrets_come_from_the_environment(tmp_path: Path) -> None:
    folder = written(tmp_path, *CHANGES["mtu"])
    file = next(folder.glob("wave-*/*/2-apply.txt"))
    with opened(folder) as work:
        filled = work.filled(["password ${ADMIN_PASSWORD_HASH}"])
        assert filled == ["password secret-of-ADMIN_PASSWORD_HASH"] or filled == ["password ${ADMIN_PASSWORD_HASH}"]
    from fabric.deliver.change.apply.folder import Work, secrets_of

    texts = {"wave-001/x/2-apply.txt": "secret ${ADMIN_PASSWORD_HASH}\n"}
    with pytest.raises(InputError, match="got no ADMIN_PASSWORD_HASH"):
        secrets_of(texts, {})
    secrets = secrets_of(texts, {"ADMIN_PASSWORD_HASH": "hunter2"})
    made = Work(folder=folder, site="s", title="t", stages=(), texts=texts, secrets=secrets, change="c")
    assert made.filled(["secret ${ADMIN_PASSWORD_HASH}"]) == ["secret hunter2"]
    assert made.shown("% bad: secret hunter2") == "% bad: secret ${ADMIN_PASSWORD_HASH}"
    assert file.exists()


def test_names_of_images_are_filled_in(tmp_path: Path) -> None:
    folder = operation(tmp_path, "upgrade", "backend-spine001")
    with pytest.raises(InputError, match="expected the name of an image, got IMAGE"), opened(folder):
        pass
    for file in folder.glob("wave-*/*/*"):
        _replace(file, "IMAGE", "EOS64-4.34.1F.swi")
        _replace(file, "EARLIER", "EOS64-4.33.0F.swi")
    with opened(folder) as work:
        assert work.lines(1, "backend-spine001", "eos", "2-upgrade")[0] == "install source EOS64-4.34.1F.swi"


def test_switches_that_get_other_names(tmp_path: Path) -> None:
    with (
        pytest.raises(InputError, match="expected switches that keep their names"),
        opened(written(tmp_path, *SITES["names"])),
    ):
        pass


def test_two_at_once(tmp_path: Path) -> None:
    with opened(written(tmp_path, *CHANGES["mtu"])) as work:
        with locked(work.folder), pytest.raises(InputError, match="carried out by another process"):
            run(Bench(work))
        assert run(Bench(work)).waves[0].state == CARRIED_OUT


def test_journals(tmp_path: Path) -> None:
    journal = Journal(tmp_path, "a")
    journal.write(1, "wave", "start")
    journal.write(1, "apply", "start", "leaf1", "text\nof two lines")
    with (tmp_path / NAME).open("a", encoding="utf-8") as stream:
        stream.write('{"at": "cut o')
    again = Journal(tmp_path, "a")
    assert again.standing(1).event("apply", "leaf1") == "start"
    again.write(1, "apply", "done", "leaf1")
    lines = (tmp_path / NAME).read_text(encoding="utf-8").splitlines()
    assert len(lines) == 4
    assert all(json.loads(line) for line in lines)
    with pytest.raises(InputError, match="the journal is of another change"):
        Journal(tmp_path, "b")
    (tmp_path / NAME).write_text(lines[0] + "\nnonsense\n", encoding="utf-8")
    with pytest.raises(InputError, match="expected a line that"):
        Journal(tmp_path, "a")
