"""A change carried out: wave after wave, up to the first that fails."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fabric.base.diagnostics import Diagnostic, InputError, Place
from fabric.deliver.change.apply import journal as log
from fabric.deliver.change.apply.connection import Network
from fabric.deliver.change.apply.folder import Work
from fabric.deliver.change.apply.journal import Journal, Standing, locked
from fabric.deliver.change.apply.moments import Stage
from fabric.deliver.change.apply.records import (
    CARRIED_OUT,
    EARLIER,
    OPEN,
    Options,
    Outcome,
    Tell,
    WaveResult,
)
from fabric.deliver.change.apply.wave_run import WaveRun

NOT_ENDED, NO_WAVE = "FAB554", "FAB102"


def carry_out(work: Work, network: Network, options: Options, tell: Tell) -> Outcome:
    """Carries out the waves that are not carried out yet.

    Args:
        work: the change.
        network: its switches.
        options: which waves, and how.
        tell: is called with each step.

    Raises:
        InputError: an earlier run has not ended its wave, the journal is of another change, or another process is at it.
    """
    if options.only > len(work.stages):
        message = f"expected a wave from 1 to {len(work.stages)}, got {options.only}"
        raise InputError([Diagnostic(NO_WAVE, Place("--wave"), message)])
    with locked(work.folder):
        journal = Journal(work.folder, work.change, kept=not options.dry_run)
        _refuse_open(work.stages, journal, options, work.folder)
        results: list[WaveResult] = []
        for stage in work.stages:
            standing = journal.standing(stage.wave.number)
            if standing.is_done(log.WAVE):
                results.append(_unchanged(stage, EARLIER))
            elif _ends(results, options) or 0 < options.only < stage.wave.number:
                results.append(_unchanged(stage, OPEN))
            else:
                results.append(_wave(work, stage, network, journal, options, tell))
    return Outcome(site=work.site, title=work.title, folder=str(work.folder), waves=tuple(results))


def _ends(results: Sequence[WaveResult], options: Options) -> bool:
    """Whether no further wave begins."""
    return bool(results) and results[-1].state not in (CARRIED_OUT, EARLIER)


def _wave(work: Work, stage: Stage, network: Network, journal: Journal, options: Options, tell: Tell) -> WaveResult:
    standing = journal.standing(stage.wave.number)
    state = standing.event(log.WAVE)
    fresh = state in ("", log.BACK)
    run = WaveRun(
        work=work,
        stage=stage,
        network=network,
        journal=journal,
        options=options,
        tell=tell,
        stands=Standing() if fresh else standing,
        resumed=not fresh,
    )
    tell(f"wave {stage.wave.number} of {len(work.stages)}: {stage.wave.title}")
    return run.rehearse() if options.dry_run else run.carry_out()


def _refuse_open(stages: Sequence[Stage], journal: Journal, options: Options, folder: Path) -> None:
    """A run that was stopped in a wave is gone on with by name, not by chance."""
    for stage in stages:
        event = journal.standing(stage.wave.number).event(log.WAVE)
        if event not in ("", log.DONE) and not options.resume:
            words = {log.BACK: "was taken back", log.STOPPED: "was stopped", log.STUCK: "could not be taken back"}
            message = f"wave {stage.wave.number} {words.get(event, 'was interrupted')}, and is not carried out"
            hint = f"`fabric change apply {folder} --resume` goes on; {journal.path.name} says what was typed where"
            raise InputError([Diagnostic(NOT_ENDED, Place(str(folder)), message, hint)])


def _unchanged(stage: Stage, state: str) -> WaveResult:
    wave = stage.wave
    return WaveResult(number=wave.number, fabric=wave.fabric, title=wave.title, state=state)
