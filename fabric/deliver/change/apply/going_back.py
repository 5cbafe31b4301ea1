"""A wave taken back: every switch to the config before it, cables to where they were, and the network as before."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial

from fabric.deliver.change.apply import journal as log
from fabric.deliver.change.apply.connection import ByHandError
from fabric.deliver.change.apply.journal import DONE, FAILED, START
from fabric.deliver.change.apply.judging import Finding
from fabric.deliver.change.apply.moments import Part
from fabric.deliver.change.apply.records import HANDS as HAND_WORK, NOT_BACK, REFUSED, UNREACHABLE, Remark
from fabric.deliver.change.apply.steps import Stop, Trouble
from fabric.deliver.change.apply.wave_run import (
    BACK,
    HANDS,
    IS_AFTER,
    IS_BEFORE,
    LEAD_AWAY,
    LEAD_BACK,
    TYPE,
    WaveRun,
    named,
)
from fabric.deliver.change.files import UNDRAINED, inverse_lines
from fabric.deliver.change.records import INSTALL, REMOVE, UNDRAIN, Move, Wave
from fabric.nos.change import Drained, Procedure, drained, procedure

TRIES = 3
AGAIN, CABLES, TRAFFIC = "back: drain", "back: by hand", "back: undrain"
TURNED = {"lay": "pull", "pull": "lay", INSTALL: REMOVE, REMOVE: INSTALL}


@dataclass(frozen=True)
class GoingBack:
    """Takes one wave back; everything it does is in the journal as well."""

    run: WaveRun

    def carry_out(self) -> list[Remark]:
        """What could not be taken back, by switch. Raises Stop where a person has to move cables first.

        The parts of the wave go back from the last to the first, and cables before the part that they were moved after.
        """
        run = self.run
        run.note(BACK, START)
        self._drain_again()
        *earlier, last = run.stage.parts
        remarks = self._part(last, done=bool(earlier))
        self._cables()
        for part in reversed(earlier):
            remarks += self._part(part, held={remark.device for remark in remarks})
        held = {remark.device for remark in remarks}
        free = [name for name in run.stage.devices if name not in held and self._is_led_away(name)]
        remarks += self._each(TRAFFIC, free, lambda name: run.typed(name, self._lead(name).undo, REFUSED))
        if not remarks:
            found = run.until(self._differs, run.options.limit_s)
            remarks = [
                run.remark(NOT_BACK, one.device, f"not as before the wave: {one.text}") for one in dict.fromkeys(found)
            ]
        run.note(BACK, FAILED if remarks else DONE, text="; ".join(f"{one.device}: {one.message}" for one in remarks[:5]))
        return remarks

    def _part(self, part: Part, *, done: bool = False, held: Collection[str] = ()) -> list[Remark]:
        """Takes a part back at its switches.

        Args:
            done: those that an earlier run has taken back are left alone: a part before this one may be back as well.
            held: switches that are not asked.
        """
        run, step = self.run, named(part, BACK)
        typed = [name for name in run.devices_of(part) if run.lines(name, part.names.apply) and name not in held]
        begun = [name for name in typed if run.is_begun(named(part, TYPE), name)]
        todo = [name for name in begun if not (done and run.stands.is_done(step, name))]
        return self._each(step, todo, partial(self._back, part))

    def _differs(self) -> list[Finding]:
        """The network against the moment before the wave, all of its switches compared."""
        return self.run.is_as_planned(self.run.stage.before)

    # --- one switch -----------------------------------------------------------------------------------------------

    def _back(self, part: Part, device: str) -> str:
        """To the config before a part, from wherever the switch is."""
        run, end = self.run, time.monotonic() + self.run.options.back_s
        last = Trouble(NOT_BACK, "it was not asked")
        tries = 0
        while tries < TRIES:
            try:
                run.abort(device, part)
                where, found = run.asked(device, part)
                if where == IS_BEFORE:
                    return "asked: it has the config before the wave"
                if tries == TRIES - 1:
                    break
                lines = run.lines(device, part.names.undo)
                if where != IS_AFTER:
                    how = self._how(device)
                    number = run.stage.wave.number
                    lines = run.work.filled(inverse_lines(how, run.work.site, number, found.commands, part.names.mark))
                tries += 1
                last = Trouble(NOT_BACK, f"it has {'the change' if where == IS_AFTER else 'a part of the change'}")
                run.typed(device, lines, NOT_BACK)
            except Trouble as trouble:
                last = trouble
                if trouble.code != UNREACHABLE:
                    tries += 1
                if time.monotonic() >= end:
                    break
                time.sleep(run.options.every_s)
        raise Trouble(NOT_BACK, f"not taken back: {last}", self._hint(part, device))

    def _hint(self, part: Part, device: str) -> str:
        """What becomes of the switch, and what a person can do."""
        file = f"wave-{self.run.stage.wave.number:03}/{device}/undo"
        hint = f"look at it; `{file}` has the lines that take the change back, then `--resume`"
        if any("${minutes}" in line for line in self._how(device).apply):
            return f"what is not confirmed it takes back by itself; {hint}"
        return hint

    def _how(self, device: str) -> Procedure:
        how = procedure(self.run.task(device).nos)
        assert how is not None  # refused before
        return how

    # --- traffic --------------------------------------------------------------------------------------------------

    def _lead(self, device: str) -> Drained:
        return drained(self._how(device), self.run.stage.before.files(device))

    def _is_led_away(self, device: str) -> bool:
        """Whether the wave has led traffic away, so that it is led back."""
        return device in self.run.drained and self.run.is_begun(LEAD_AWAY, device)

    def _drain_again(self) -> None:
        """Traffic that the wave has led back to its switches already, or whose return is what it was for."""
        run = self.run
        devices = [name for name in run.stage.devices if run.lines(name, UNDRAINED) and run.is_begun(LEAD_BACK, name)]
        also = {name for name in devices if self.run.task(name).action == UNDRAIN or name in run.drained}
        self._each(AGAIN, sorted(also), lambda name: run.typed(name, self._lead(name).apply, REFUSED))

    # --- cables ---------------------------------------------------------------------------------------------------

    def _cables(self) -> None:
        """Cables that the wave has moved go back. Raises Stop where a person does it."""
        run = self.run
        wave = run.stage.wave
        if not wave.moves or not run.is_begun(HANDS, "") or run.stands.is_done(CABLES):
            return
        if run.stands.event(CABLES) == log.STOPPED:
            run.note(CABLES, DONE, text="resumed")
            return
        run.note(CABLES, START)
        try:
            run.network.by_hand(turned(wave))
        except ByHandError as error:
            run.note(CABLES, log.STOPPED)
            text = f"the cables of the wave go back to where they were: {error}"
            raise Stop([run.remark(HAND_WORK, "", "its cables have to be moved back")], undo=True, by_hand=text) from error
        run.note(CABLES, DONE)

    def _each(self, step: str, devices: Sequence[str], run: Callable[[str], str]) -> list[Remark]:
        """A step of several switches, whatever becomes of one."""
        try:
            self.run.each(step, devices, run, undo=True, again=True)
        except Stop as stop:
            return list(stop.remarks)
        return []


def turned(wave: Wave) -> Wave:
    """The work of a wave at cables and switches, backwards."""
    moves = tuple(
        Move(action=TURNED.get(move.action, move.action), lower=move.lower, old=move.new, new=move.old)
        for move in reversed(wave.moves)
    )
    tasks = tuple(replace(task, action=TURNED.get(task.action, task.action)) for task in wave.tasks)
    return replace(wave, title=f"take back: {wave.title}", moves=moves, tasks=tasks)
