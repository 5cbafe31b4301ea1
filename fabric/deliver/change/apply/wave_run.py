"""One wave carried out: looked at, tried, drained, typed, verified, confirmed; or taken back, and the network as before.

Every step is in the journal before it begins and after it ends. What was begun and has no end is asked from the switch: its
running config is that before the wave, that after it, or neither.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeVar

from fabric.base.text import plural
from fabric.deliver.change.apply import journal as log
from fabric.deliver.change.apply.connection import Answer, ByHandError, Network, UnreachableError
from fabric.deliver.change.apply.folder import Work
from fabric.deliver.change.apply.journal import DONE, FAILED, START, Journal, Standing
from fabric.deliver.change.apply.judging import Compared, Counters, Finding, Reported, carrying, compared, reported, verified
from fabric.deliver.change.apply.moments import Moment, Stage
from fabric.deliver.change.apply.records import (
    AFTER,
    BEFORE,
    BY_HAND,
    CARRIED_OUT,
    CARRYING,
    HALF,
    LOST,
    NOT_CONFIRMED,
    REFUSED,
    REFUSED_DRY,
    STOPPED,
    STUCK,
    TAKEN_BACK,
    TRIED as TRIED_OUT,
    UNREACHABLE,
    Options,
    Remark,
    Shown,
    Tell,
    WaveResult,
)
from fabric.deliver.change.files import ABORT, APPLY, CONFIRM, DRAINED, REBOOTED, TRIED, UNDRAINED, UPGRADED
from fabric.deliver.change.records import INSTALL, REBOOT, REMOVE, REPLACE, UPGRADE, Task

R = TypeVar("R")
LOOK, TRY, LEAD_AWAY, HANDS, TYPE, JUDGE, CONFIRMED, LEAD_BACK, SETTLE, BACK = (
    *("before", "dry run", "drain", "by hand", "apply", "after", "confirm", "undrain", "settled", "back"),
)
BY_PERSONS = frozenset((INSTALL, REMOVE, REPLACE))
TYPED = {REBOOT: REBOOTED, UPGRADE: UPGRADED}
IS_AFTER, IS_BEFORE, IS_NEITHER = "after", "before", "neither"


class Trouble(Exception):
    """What a switch did not do; the code says what kind of trouble it is."""

    def __init__(self, code: str, text: str, hint: str = "") -> None:
        super().__init__(text)
        self.code, self.hint = code, hint


class Stop(Exception):
    """The wave does not go on."""

    def __init__(self, remarks: Sequence[Remark], *, undo: bool, by_hand: str = "") -> None:
        super().__init__()
        self.remarks, self.undo, self.by_hand = tuple(remarks), undo, by_hand


@dataclass(kw_only=True)
class WaveRun:
    """One wave.

    Attributes:
        resumed: an earlier run began it.
        earlier: counters of the switches at the last look, which the next counts from.
    """

    work: Work
    stage: Stage
    network: Network
    journal: Journal
    options: Options
    tell: Tell
    stands: Standing
    resumed: bool = False
    earlier: Counters | None = None
    shown: list[Shown] = field(default_factory=list)
    _moments: dict[Moment, Moment] = field(default_factory=dict)

    # --- the wave ---------------------------------------------------------------------------------------------------

    def carry_out(self) -> WaveResult:
        """All steps; those that an earlier run has done are left out."""
        if not self.resumed:
            self.note(log.WAVE, START)
        try:
            if self.stands.event(BACK):
                raise Stop([self.remark(HALF, "", "an earlier run ended while it took the wave back")], undo=True)
            for step in (
                *(self._look, self._try, self._lead_away, self._hands, self._type, self._judge),
                *(self._confirm, self._lead_back, self._settle),
            ):
                step()
        except Stop as stop:
            return self._stopped(stop)
        self.note(log.WAVE, DONE)
        return self._result(CARRIED_OUT)

    def rehearse(self) -> WaveResult:
        """Only what the switches say: nothing has an effect."""
        try:
            self._look()
            self._try()
        except Stop as stop:
            return self._result(STOPPED, stop.remarks)
        return self._result(TRIED_OUT)

    def _stopped(self, stop: Stop) -> WaveResult:
        for remark in stop.remarks:
            self.tell(str(remark))
        if stop.by_hand:
            self.note(log.WAVE, log.STOPPED, text=stop.by_hand)
            return self._result(BY_HAND, stop.remarks, stop.by_hand)
        if not stop.undo:
            self.note(log.WAVE, log.STOPPED)
            return self._result(STOPPED, stop.remarks)
        from fabric.deliver.change.apply.going_back import GoingBack

        try:
            remarks = GoingBack(self).carry_out()
        except Stop as again:
            self.note(log.WAVE, log.STUCK, text=again.by_hand)
            return self._result(BY_HAND, (*stop.remarks, *again.remarks), again.by_hand)
        self.note(log.WAVE, log.STUCK if remarks else log.BACK)
        return self._result(STUCK if remarks else TAKEN_BACK, (*stop.remarks, *remarks))

    def _result(self, state: str, remarks: Sequence[Remark] = (), by_hand: str = "") -> WaveResult:
        wave = self.stage.wave
        return WaveResult(
            number=wave.number,
            fabric=wave.fabric,
            title=wave.title,
            state=state,
            remarks=tuple(remarks),
            shown=tuple(self.shown),
            by_hand=by_hand,
        )

    # --- before anything is typed -------------------------------------------------------------------------------------

    def _look(self) -> None:
        """The network is as planned, and the switches of the wave have the files that they should have."""
        if self.stands.is_done(LOOK):
            return
        self.note(LOOK, START)
        before, absent = self.stage.before, self._absent
        found = self._verified(before)
        if found and absent:  # what is replaced may be broken already
            self.earlier = None
            found = self._verified(before, absent)
        found += self._drifted(before, [name for name in self._changed(before) if name not in absent])
        self._end(LOOK, found, BEFORE, undo=False)

    def _try(self) -> None:
        """What each network OS would take of the change."""

        def one(device: str) -> str:
            lines = self.lines(device, TRIED)
            answer = self.typed(device, lines, REFUSED_DRY) if lines else ""
            typed = tuple(map(self.work.shown, self.lines(device, self._file(device))))
            self.shown.append(Shown(device=device, typed=typed, answer=answer))
            return answer

        devices = [name for name in self.stage.devices if self.lines(name, self._file(name))]
        self.each(TRY, [name for name in devices if not self.stands.event(TYPE, name)], one, undo=False)
        self.shown.sort(key=lambda shown: shown.device)
        for shown in self.shown:
            self.tell(f"{shown.device}: dry run: {plural(len(shown.typed), 'line')} to type, none refused")

    # --- drain ----------------------------------------------------------------------------------------------------

    @cached_property
    def drained(self) -> frozenset[str]:
        """Switches of the wave that are drained in it."""
        return frozenset(task.device for task in self._tasks if self.lines(task.device, DRAINED))

    def _lead_away(self) -> None:
        devices = [name for name in self.stage.devices if name in self.drained]
        if devices and not self.stands.is_done(LEAD_AWAY):
            self.each(LEAD_AWAY, devices, self._drain, undo=True)
            self._wait(LEAD_AWAY, lambda: self._carrying(devices), CARRYING, undo=True)

    def _drain(self, device: str) -> str:
        try:
            return self.typed(device, self.lines(device, DRAINED), REFUSED)
        except Trouble as trouble:
            if trouble.code == UNREACHABLE and device in self._absent:
                return "it does not answer, and is replaced"
            raise

    def _carrying(self, devices: Sequence[str]) -> list[Finding]:
        moment = self._now(self.stage.before)
        state = self._state(moment, self._absent)
        if isinstance(state, Finding):
            return [state]
        return carrying(moment, state, devices) or self._verified(moment, self._absent, state)

    # --- hands ----------------------------------------------------------------------------------------------------

    def _hands(self) -> None:
        """Cables, and switches that come or go. What a person was asked to do is done when the change is resumed."""
        wave = self.stage.wave
        if not (wave.moves or any(task.action in BY_PERSONS for task in self._tasks)) or self.stands.is_done(HANDS):
            return
        if self.stands.event(HANDS) == log.STOPPED:
            self.note(HANDS, DONE, text="resumed")
            return
        self.note(HANDS, START)
        try:
            self.network.by_hand(wave)
        except ByHandError as error:
            self.note(HANDS, log.STOPPED)
            raise Stop((), undo=False, by_hand=str(error)) from error
        self.note(HANDS, DONE)

    # --- the change -----------------------------------------------------------------------------------------------

    def _type(self) -> None:
        devices = [name for name in self.stage.devices if self.lines(name, self._file(name))]
        self.each(TYPE, devices, self._apply, undo=True, again=self.resumed)

    def _apply(self, device: str) -> str:
        """Types the change, unless the switch has it already."""
        if self._task(device).action in TYPED:
            return "" if self.stands.is_done(TYPE, device) else self._restart(device)
        if self.stands.is_done(CONFIRMED, device):
            return "confirmed"
        if self.was_begun(TYPE, device):
            where, found = self.asked(device)
            if where == IS_AFTER:
                return "asked: it has the change"
            if where == IS_NEITHER:
                raise Trouble(HALF, f"it has a part of the change: {_words(found.findings)}")
            self.abort(device)
        return self.typed(device, self.lines(device, APPLY), REFUSED)

    def _restart(self, device: str) -> str:
        """Types a reboot, and waits until the switch is down: it answers for a while."""
        answer = self._answer(device, self.lines(device, self._file(device)))
        if answer.refused:
            raise Trouble(REFUSED, answer.refused)
        if not answer.dropped:
            self._until(lambda: [] if self._is_down(device) else [Finding(device, "it has not restarted")], REFUSED)
        return self.work.shown(answer.text)

    def _is_down(self, device: str) -> bool:
        try:
            self.network.connect(device).close()
        except UnreachableError:
            return True
        return False

    def _judge(self) -> None:
        """The network is as planned after the wave, but for traffic that is led away."""
        typed = any(self.lines(name, self._file(name)) for name in self.stage.devices)
        if typed or self.stage.wave.moves or any(task.action in BY_PERSONS for task in self._tasks):
            self._wait(JUDGE, lambda: self.is_as_planned(self._now(self.stage.after)), AFTER, undo=self._undoes)

    def _confirm(self) -> None:
        devices = [name for name in self.stage.devices if self.lines(name, CONFIRM)]
        self.each(CONFIRMED, devices, lambda name: self.typed(name, self.lines(name, CONFIRM), NOT_CONFIRMED), undo=True)

    def _lead_back(self) -> None:
        devices = [name for name in self.stage.devices if self.lines(name, UNDRAINED)]
        self.each(LEAD_BACK, devices, lambda name: self.typed(name, self.lines(name, UNDRAINED), REFUSED), undo=False)

    def _settle(self) -> None:
        """Traffic is back, and what was confirmed is still there."""
        if self.stage.wave.tasks or self.stage.wave.moves:
            self._wait(SETTLE, lambda: self.is_as_planned(self.stage.after), AFTER, undo=self._undoes)

    # --- switches -------------------------------------------------------------------------------------------------

    def lines(self, device: str, name: str) -> list[str]:
        """A file of a switch in this wave; none where there is none."""
        return self.work.lines(self.stage.wave.number, device, self._task(device).nos, name)

    def typed(self, device: str, lines: Sequence[str], code: str) -> str:
        """Types lines; what the switch says. Raises Trouble where it does not take all of them."""
        answer = self._answer(device, lines)
        if answer.refused:
            raise Trouble(code, f"refused after {plural(answer.typed, 'line')}: {self.work.shown(answer.refused)}")
        if answer.dropped:
            answered = self.work.shown(answer.text.strip().splitlines()[-1]) if answer.text.strip() else ""
            words = f"the session ended after {answer.typed} of {plural(len(lines), 'line')}"
            raise Trouble(LOST, words + (f": {answered}" if answered else ""))
        return self.work.shown(answer.text)

    def _answer(self, device: str, lines: Sequence[str]) -> Answer:
        try:
            connection = self.network.connect(device)
        except UnreachableError as error:
            raise Trouble(UNREACHABLE, str(error)) from error
        try:
            return connection.type(lines)
        except UnreachableError as error:
            return Answer(text=str(error), typed=0, dropped=True)
        finally:
            connection.close()

    def running(self, device: str) -> Mapping[str, str]:
        """The running config. Raises Trouble."""
        try:
            connection = self.network.connect(device)
            try:
                return connection.running()
            finally:
                connection.close()
        except UnreachableError as error:
            raise Trouble(UNREACHABLE, str(error)) from error

    def asked(self, device: str) -> tuple[str, Compared]:
        """Where a switch stands by its running config, and how that differs from the one before the wave."""
        running = self.running(device)
        before, after = (compared(self._now(moment), device, running) for moment in (self.stage.before, self.stage.after))
        if before.is_same and not (after.is_same and after.labels < before.labels):
            return IS_BEFORE, before
        return IS_AFTER if after.is_same else IS_NEITHER, before

    def abort(self, device: str) -> None:
        """Ends the time of a change that is not confirmed; what it would type is not typed later."""
        if lines := self.lines(device, ABORT):
            self.typed(device, lines, REFUSED)

    # --- the network ----------------------------------------------------------------------------------------------

    def _now(self, moment: Moment) -> Moment:
        """A moment while the switches of the wave are drained."""
        if moment not in self._moments:
            self._moments[moment] = replace(moment, drained=moment.drained | self.drained)
        return self._moments[moment]

    def _changed(self, moment: Moment) -> list[str]:
        """Switches of the wave that have a config in a moment."""
        return [name for name in self.stage.devices if name in moment.switches]

    def is_as_planned(self, moment: Moment) -> list[Finding]:
        return self._drifted(moment, self._changed(moment)) or self._verified(moment)

    def _state(self, moment: Moment, absent: frozenset[str] = frozenset()) -> Reported | Finding:
        try:
            texts = self.network.state([name for name in moment.switches if name not in absent])
        except UnreachableError as error:
            return Finding("", str(error))
        return reported(moment, texts)

    def _verified(
        self, moment: Moment, absent: frozenset[str] = frozenset(), state: Reported | Finding | None = None
    ) -> list[Finding]:
        """The state of all switches against a moment; the next look counts from this one."""
        if self.earlier is None:  # counters of a switch begin long before
            first = self._state(moment, absent)
            if isinstance(first, Finding):
                return [first]
            self.earlier = first.counters
        now = self._state(moment, absent) if state is None else state
        if isinstance(now, Finding):
            return [now]
        found, self.earlier = verified(moment, now, self.earlier, absent), now.counters
        return found

    def _drifted(self, moment: Moment, devices: Iterable[str]) -> list[Finding]:
        def one(device: str) -> tuple[Finding, ...]:
            try:
                return compared(moment, device, self.running(device)).findings
            except Trouble as trouble:
                return (Finding(device, str(trouble)),)

        names = list(devices)
        return [found for its in self.at_once(one, names) for found in its]

    # --- steps ----------------------------------------------------------------------------------------------------

    def at_once(self, run: Callable[[str], R], devices: Sequence[str]) -> list[R]:
        """Of several switches at the same time, in their order."""
        if len(devices) < 2:
            return [run(name) for name in devices]
        with ThreadPoolExecutor(min(self.options.workers, len(devices))) as pool:
            return list(pool.map(run, devices))

    def each(self, step: str, devices: Sequence[str], run: Callable[[str], str], *, undo: bool, again: bool = False) -> None:
        """A step of several switches. All of them end it, whatever becomes of one."""

        def one(device: str) -> Remark | None:
            begun = self.stands.event(step, device)
            if begun != DONE:
                self.note(step, START, device)
            try:
                text = run(device)
            except Trouble as trouble:
                self.note(step, FAILED, device, str(trouble))
                return self.remark(trouble.code, device, str(trouble), trouble.hint)
            self.note(step, DONE, device, text)
            return None

        todo = [name for name in devices if again or not self.stands.is_done(step, name)]
        remarks = [remark for remark in self.at_once(one, todo) if remark is not None]
        if remarks:
            raise Stop(remarks, undo=undo)

    def _wait(self, step: str, look: Callable[[], list[Finding]], code: str, *, undo: bool) -> None:
        """Looks at the network until nothing is found, or the time is up."""
        self.note(step, START)
        self._end(step, self.until(look, self.options.limit_s), code, undo=undo)

    def _until(self, look: Callable[[], list[Finding]], code: str) -> None:
        if found := self.until(look, self.options.limit_s):
            raise Trouble(code, found[0].text)

    def until(self, look: Callable[[], list[Finding]], limit_s: float) -> list[Finding]:
        """What is still found when the time is up."""
        end = time.monotonic() + limit_s
        while found := look():
            if time.monotonic() >= end:
                break
            time.sleep(min(self.options.every_s, max(0.0, end - time.monotonic())))
        return found

    def _end(self, step: str, found: Sequence[Finding], code: str, *, undo: bool) -> None:
        self.note(step, FAILED if found else DONE, text="; ".join(f"{one.device}: {one.text}" for one in found[:5]))
        if found:
            raise Stop([self.remark(code, one.device, one.text) for one in dict.fromkeys(found)], undo=undo)

    def remark(self, code: str, device: str, text: str, hint: str = "") -> Remark:
        wave = self.stage.wave.number
        return Remark(id=code, wave=wave, device=device, message=self.work.shown(text) or "it did not answer", hint=hint)

    def note(self, step: str, event: str, device: str = "", text: str = "") -> None:
        number = self.stage.wave.number
        self.journal.write(number, step, event, device, self.work.shown(text))
        self.stands.events[step, device] = event
        if event == START:
            self.tell(f"wave {number}: {device + ': ' if device else ''}{step}")

    # --- tasks ----------------------------------------------------------------------------------------------------

    @property
    def _tasks(self) -> tuple[Task, ...]:
        return self.stage.wave.tasks

    def _task(self, device: str) -> Task:
        return next(task for task in self._tasks if task.device == device)

    def _file(self, device: str) -> str:
        """Name of the file that changes a switch."""
        return TYPED.get(self._task(device).action, APPLY)

    def is_begun(self, step: str, device: str) -> bool:
        """Whether a step has begun, in this run or an earlier one that this one goes on with."""
        return self.stands.event(step, device) != ""

    def was_begun(self, step: str, device: str) -> bool:
        """Whether an earlier run has ever begun a step: then the switch is asked."""
        number = self.stage.wave.number
        return any((entry.wave, entry.step, entry.device) == (number, step, device) for entry in self.journal.earlier)

    @cached_property
    def _absent(self) -> frozenset[str]:
        """Switches that make room for others: they may be broken already."""
        return frozenset(task.device for task in self._tasks if task.action in (REPLACE, INSTALL))

    @property
    def _undoes(self) -> bool:
        """Whether something of the wave can be taken back: what was typed, not what comes or goes."""
        return any(self.lines(name, file) for name in self.stage.devices for file in (APPLY, DRAINED, UNDRAINED))


def _words(findings: Sequence[Finding]) -> str:
    return "; ".join(finding.text for finding in findings[:3])
