"""One wave carried out: looked at, tried, drained, typed, verified, confirmed; or taken back, and the network as before.

Every step is in the journal before it begins and after it ends. What was begun and has no end is asked from the switch: its
running config is that before the wave, that after it, or neither.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

from fabric.base.text import plural
from fabric.deliver.change.apply import journal as log
from fabric.deliver.change.apply.connection import ByHandError, UnreachableError
from fabric.deliver.change.apply.journal import DONE, START
from fabric.deliver.change.apply.judging import Compared, Counters, Finding, Reported, carrying, compared, reported, verified
from fabric.deliver.change.apply.moments import Moment, Part
from fabric.deliver.change.apply.records import (
    AFTER,
    BEFORE,
    BY_HAND,
    CARRIED_OUT,
    CARRYING,
    HALF,
    NOT_CONFIRMED,
    REFUSED,
    REFUSED_DRY,
    STOPPED,
    STUCK,
    TAKEN_BACK,
    TRIED as TRIED_OUT,
    UNREACHABLE,
    Remark,
    Shown,
    WaveResult,
)
from fabric.deliver.change.apply.steps import Steps, Stop, Trouble
from fabric.deliver.change.files import APPLY, DRAINED, REBOOTED, UNDRAINED, UPGRADED
from fabric.deliver.change.records import DRAIN, INSTALL, REBOOT, REMOVE, REPLACE, UPGRADE

LOOK, TRY, LEAD_AWAY, HANDS, TYPE, JUDGE, CONFIRMED, LEAD_BACK, SETTLE, BACK = (
    *("before", "dry run", "drain", "by hand", "apply", "after", "confirm", "undrain", "settled", "back"),
)
BY_PERSONS = frozenset((INSTALL, REMOVE, REPLACE))
TYPED = {REBOOT: REBOOTED, UPGRADE: UPGRADED}
LATER = "it is asked again when the links of the wave are out of service"
IS_AFTER, IS_BEFORE, IS_NEITHER = "after", "before", "neither"


@dataclass(kw_only=True)
class WaveRun(Steps):
    """One wave.

    Attributes:
        earlier: counters of the switches at the last look, which the next counts from.
    """

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
            self._look()
            self._try(self.stage.parts[0], undo=False)
            self._lead_away()
            for part in self.stage.parts:
                self._change(part)
            self._lead_back()
            self._settle()
        except Stop as stop:
            return self._stopped(stop)
        self.note(log.WAVE, DONE)
        return self._result(CARRIED_OUT)

    def rehearse(self) -> WaveResult:
        """Only what the switches say: nothing has an effect."""
        try:
            self._look()
            self._try(self.stage.parts[0], undo=False)
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
        self.end(LOOK, found, BEFORE, undo=False)

    def _try(self, part: Part, *, undo: bool) -> None:
        """What each network OS would take of a part of the change; later parts cannot be tried before the first is typed."""
        is_first, mine = part is self.stage.parts[0], self.devices_of(part)

        def one(device: str) -> str:
            lines = self.lines(device, part.names.tried)
            answer = self.typed(device, lines, REFUSED_DRY) if lines else "" if device in mine else LATER
            if is_first:
                self.shown.append(Shown(device=device, typed=self._all_typed(device), answer=answer))
            return answer

        devices = [name for name in self.stage.devices if self._all_typed(name)] if is_first else mine
        todo = [name for name in devices if not self.stands.event(named(part, TYPE), name)]
        self.each(named(part, TRY), todo, one, undo=undo)
        if is_first:
            self.shown.sort(key=lambda shown: shown.device)
            for shown in self.shown:
                self.tell(f"{shown.device}: dry run: {plural(len(shown.typed), 'line')} to type, none refused")

    def _all_typed(self, device: str) -> tuple[str, ...]:
        """What all parts type at a switch."""
        parts = [part for part in self.stage.parts if device in self.devices_of(part)]
        return tuple(self.work.shown(line) for part in parts for line in self.lines(device, self._file(part, device)))

    # --- drain ----------------------------------------------------------------------------------------------------

    @cached_property
    def drained(self) -> frozenset[str]:
        """Switches of the wave that are drained in it."""
        whole = [task.device for task in self.tasks if task.drained or task.action == DRAIN]
        return frozenset(name for name in whole if self.lines(name, DRAINED))

    def _lead_away(self) -> None:
        devices = [name for name in self.stage.devices if name in self.drained]
        if devices and not self.stands.is_done(LEAD_AWAY):
            self.each(LEAD_AWAY, devices, self._drain, undo=True)
            self.wait(LEAD_AWAY, lambda: self._carrying(devices), CARRYING, undo=True)

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
        if not (wave.moves or any(task.action in BY_PERSONS for task in self.tasks)) or self.stands.is_done(HANDS):
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

    def _change(self, part: Part) -> None:
        """One part, with the work by hand before the last: tried, typed, judged, confirmed; nothing where that is done."""
        devices = self.devices_of(part)
        confirmed = [name for name in devices if self.lines(name, part.names.confirm)]
        if part is self.stage.parts[-1]:
            self._hands()
        if self.stands.is_done(named(part, JUDGE)) and all(self.is_confirmed(part, name) for name in confirmed):
            return
        if part is not self.stage.parts[0]:
            self._try(part, undo=True)
        self.each(named(part, TYPE), devices, partial(self._apply, part), undo=True, again=self.resumed)
        if devices or self.stage.wave.moves or any(task.action in BY_PERSONS for task in self.tasks):
            self.wait(named(part, JUDGE), lambda: self.is_as_planned(self._now(part.after)), AFTER, undo=self._undoes)
        self.each(named(part, CONFIRMED), confirmed, partial(self._confirm, part), undo=True)

    def is_confirmed(self, part: Part, device: str) -> bool:
        return self.stands.is_done(named(part, CONFIRMED), device)

    def _confirm(self, part: Part, device: str) -> str:
        return self.typed(device, self.lines(device, part.names.confirm), NOT_CONFIRMED)

    def _apply(self, part: Part, device: str) -> str:
        """Types the change, unless the switch has it already."""
        if self._restarts(device):
            return "" if self.stands.is_done(named(part, TYPE), device) else self._restart(part, device)
        if self.is_confirmed(part, device):
            return "confirmed"
        if self.was_begun(named(part, TYPE), device):
            where, found = self.asked(device, part)
            if where == IS_AFTER:
                return "asked: it has the change"
            if where == IS_NEITHER:
                raise Trouble(HALF, f"it has a part of the change: {_words(found.findings)}")
            self.abort(device, part)
        return self.typed(device, self.lines(device, part.names.apply), REFUSED)

    def _restart(self, part: Part, device: str) -> str:
        """Types a reboot, and waits until the switch is down: it answers for a while."""
        answer = self.answer(device, self.lines(device, self._file(part, device)))
        if answer.refused:
            raise Trouble(REFUSED, answer.refused)
        if not answer.dropped:
            self.until_or_trouble(lambda: [] if self._is_down(device) else [Finding(device, "it has not restarted")], REFUSED)
        return self.work.shown(answer.text)

    def _is_down(self, device: str) -> bool:
        try:
            self.network.connect(device).close()
        except UnreachableError:
            return True
        return False

    def _lead_back(self) -> None:
        devices = [name for name in self.stage.devices if self.lines(name, UNDRAINED)]
        self.each(LEAD_BACK, devices, lambda name: self.typed(name, self.lines(name, UNDRAINED), REFUSED), undo=False)

    def _settle(self) -> None:
        """Traffic is back, and what was confirmed is still there."""
        if self.stage.wave.tasks or self.stage.wave.moves:
            self.wait(SETTLE, lambda: self.is_as_planned(self.stage.after), AFTER, undo=self._undoes)

    # --- switches -------------------------------------------------------------------------------------------------

    def devices_of(self, part: Part) -> list[str]:
        """Switches that a part of the wave types something at."""
        last = part is self.stage.parts[-1]
        return [
            name for name in self.stage.devices if self.lines(name, part.names.confirm) or (last and self._restarts(name))
        ]

    def _restarts(self, device: str) -> bool:
        action = self.task(device).action
        return action in TYPED and bool(self.lines(device, TYPED[action]))

    def asked(self, device: str, part: Part) -> tuple[str, Compared]:
        """Where a switch stands in a part by its running config, and how that differs from the one before the part."""
        running = self.running(device)
        before, after = (compared(self._now(moment), device, running) for moment in (part.before, part.after))
        if before.is_same and not (after.is_same and after.labels < before.labels):
            return IS_BEFORE, before
        return IS_AFTER if after.is_same else IS_NEITHER, before

    def abort(self, device: str, part: Part) -> None:
        """Ends the time of a change that is not confirmed; what it would type is not typed later."""
        if lines := self.lines(device, part.names.abort):
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

    # --- tasks ----------------------------------------------------------------------------------------------------

    def _file(self, part: Part, device: str) -> str:
        """Name of the file that changes a switch."""
        return TYPED.get(self.task(device).action, part.names.apply)

    @cached_property
    def _absent(self) -> frozenset[str]:
        """Switches that make room for others: they may be broken already."""
        return frozenset(task.device for task in self.tasks if task.action in (REPLACE, INSTALL))

    @property
    def _undoes(self) -> bool:
        """Whether something of the wave can be taken back: what was typed, not what comes or goes."""
        return any(self.lines(name, file) for name in self.stage.devices for file in (APPLY, DRAINED, UNDRAINED))


def named(part: Part, step: str) -> str:
    """A step of a part, as the journal has it."""
    return f"{part.title}: {step}" if part.title else step


def _words(findings: Sequence[Finding]) -> str:
    return "; ".join(finding.text for finding in findings[:3])
