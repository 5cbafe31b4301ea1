"""What every step of a wave is made of: lines typed at switches, looks at the network, lines in the journal.

Every step is in the journal before it begins and after it ends.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

from fabric.base.text import plural
from fabric.deliver.change.apply.connection import Answer, Network, UnreachableError
from fabric.deliver.change.apply.folder import Work
from fabric.deliver.change.apply.journal import DONE, FAILED, START, Journal, Standing
from fabric.deliver.change.apply.judging import Finding
from fabric.deliver.change.apply.moments import Stage
from fabric.deliver.change.apply.records import LOST, UNREACHABLE, Options, Remark, Tell
from fabric.deliver.change.records import Task

R = TypeVar("R")


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
class Steps:
    """The steps of one wave, as far as an earlier run has left them.

    Attributes:
        stands: the last event of each step.
        resumed: an earlier run began the wave.
    """

    work: Work
    stage: Stage
    network: Network
    journal: Journal
    options: Options
    tell: Tell
    stands: Standing
    resumed: bool = False

    # --- switches -------------------------------------------------------------------------------------------------

    def lines(self, device: str, name: str) -> list[str]:
        """A file of a switch in this wave; none where there is none."""
        return self.work.lines(self.stage.wave.number, device, self.task(device).nos, name)

    def typed(self, device: str, lines: Sequence[str], code: str) -> str:
        """Types lines; what the switch says. Raises Trouble where it does not take all of them."""
        answer = self.answer(device, lines)
        if answer.refused:
            raise Trouble(code, f"refused after {plural(answer.typed, 'line')}: {self.work.shown(answer.refused)}")
        if answer.dropped:
            answered = self.work.shown(answer.text.strip().splitlines()[-1]) if answer.text.strip() else ""
            words = f"the session ended after {answer.typed} of {plural(len(lines), 'line')}"
            raise Trouble(LOST, words + (f": {answered}" if answered else ""))
        return self.work.shown(answer.text)

    def answer(self, device: str, lines: Sequence[str]) -> Answer:
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

    def wait(self, step: str, look: Callable[[], list[Finding]], code: str, *, undo: bool) -> None:
        """Looks at the network until nothing is found, or the time is up."""
        self.note(step, START)
        self.end(step, self.until(look, self.options.limit_s), code, undo=undo)

    def until_or_trouble(self, look: Callable[[], list[Finding]], code: str) -> None:
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

    def end(self, step: str, found: Sequence[Finding], code: str, *, undo: bool) -> None:
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

    # --- tasks --------------------------------------------------------------------------------------------------------

    @property
    def tasks(self) -> tuple[Task, ...]:
        return self.stage.wave.tasks

    def task(self, device: str) -> Task:
        return next(task for task in self.tasks if task.device == device)

    def is_begun(self, step: str, device: str) -> bool:
        """Whether a step has begun, in this run or an earlier one that this one goes on with."""
        return self.stands.event(step, device) != ""

    def was_begun(self, step: str, device: str) -> bool:
        """Whether an earlier run has ever begun a step: then the switch is asked."""
        number = self.stage.wave.number
        return any((entry.wave, entry.step, entry.device) == (number, step, device) for entry in self.journal.earlier)
