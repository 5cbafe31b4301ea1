"""A change carried out on a lab that is up, under a probe of flows: with what each wave lost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

from fabric.base.diagnostics import MissingError
from fabric.base.text import plural
from fabric.configs import Renderer
from fabric.deliver.change.apply import run
from fabric.deliver.change.apply.folder import Work
from fabric.deliver.change.apply.records import CARRIED_OUT, EARLIER, OPEN, Options, Outcome, Tell, WaveResult
from fabric.deliver.change.records import REBOOT, REMOVE, REPLACE, UPGRADE, Wave
from fabric.lab import up_down
from fabric.lab.blueprint import Blueprint, Names
from fabric.lab.drawing import SERVERS, draw
from fabric.lab.machine.host import require
from fabric.lab.machine.namespaces import LabError
from fabric.lab.network import LabNetwork
from fabric.lab.probe import Lost, Probe, flows_of
from fabric.lab.run_tests import settle

EVERY_S = 1.0  # between two looks at a lab, which answers at once
MAX_SHOWN = 5


def drawn(renderer: Renderer) -> Blueprint:
    """A design as the lab of its site has been built: as many servers, and the same switches."""
    recorded = up_down.read(Names(renderer.plan.site))
    choices = recorded.choices if recorded else up_down.Choices(servers=SERVERS)
    if choices.as_nos or choices.scale_down:
        raise LabError(f"the lab of site '{renderer.plan.site}' was built as another design: run `fabric lab up` without it")
    return draw(renderer, choices.limit, choices.servers, fresh=True)


@dataclass(frozen=True, slots=True)
class Carried:
    """What came of a change, and what flows lost in each of its waves."""

    outcome: Outcome
    lost: Mapping[int, Lost]


def carry_out(work: Work, network: LabNetwork, options: Options, tell: Tell) -> Carried:
    """Wave after wave, as on switches; servers that a wave cuts off do not count in what it loses."""
    options = replace(options, every_s=min(options.every_s, EVERY_S))
    results: dict[int, WaveResult] = {}
    lost: dict[int, Lost] = {}
    with network, _probe(network) as probe:
        for stage in work.stages[: options.only or None]:
            number = stage.wave.number
            outcome = run.carry_out(work, network, replace(options, only=number), tell)
            for result in outcome.waves:
                kept = results.get(result.number)
                if kept is None or (kept.state == OPEN and result.state != EARLIER):
                    results[result.number] = result
            if probe is not None:
                lost[number] = probe.lost(_cut_off(stage.wave))
                tell(shown(number, len(probe.flows), lost[number]))
            if results[number].state not in (CARRIED_OUT, EARLIER):
                break
    return Carried(replace(outcome, waves=tuple(results[number] for number in sorted(results))), lost)


def _cut_off(wave: Wave) -> set[str]:
    """Servers without a port in a wave, and switches of it that start again."""
    return {*wave.left.cut_off, *(task.device for task in wave.tasks if task.action in (REBOOT, UPGRADE, REPLACE, REMOVE))}


@contextmanager
def _probe(network: LabNetwork) -> Iterator[Probe | None]:
    """None where no two servers of different leaves are in both designs. A lab that has just come up is given its time."""
    if not network.in_place.is_under_way:
        settle(network.in_place.live)
    if not flows_of(network.in_place):
        yield None
        return
    with Probe(network.in_place) as probe:
        yield probe


def opened(old: Blueprint, new: Blueprint, minute_s: float = 60.0) -> LabNetwork:
    """The lab of a site, which an old design was brought up with, or which is on its way to the new one."""
    names, path = Names(old.site), old.plan.settings.home.path
    kernel = require(overlay=any(view.overlay for lab in (old, new) for view in lab.views.values()))
    recorded = up_down.read(names)
    if recorded is None:
        raise MissingError(f"no lab of site '{names.site}' is up: run `fabric lab up {path}`")
    if not names.laid.exists() and not (recorded.ready and recorded.digest == up_down.digest(old)):
        raise LabError(f"the lab of site '{names.site}' is not that of the old design: run `fabric lab up {path}`")
    return LabNetwork(old, new, kernel, minute_s)


def shown(wave: int, flows: int, lost: Lost) -> str:
    """`wave 2: probe: 32 flows, 0 of 21,600 packets lost`."""
    text = f"wave {wave}: probe: {plural(flows - lost.not_counted, 'flow')}, {lost.packets:,} of {lost.sent:,} packets lost"
    if lost.not_counted:
        text += f"; {plural(lost.not_counted, 'flow')} of servers that the wave cuts off not counted"
    rows = sorted(lost.by_flow.items(), key=lambda item: -item[1][0])[:MAX_SHOWN]
    return "\n".join([text, *(f"    {name}: {packets:,}, longest gap {gap * 1000:.0f} ms" for name, (packets, gap) in rows)])
