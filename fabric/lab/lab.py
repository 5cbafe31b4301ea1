"""The lab of one intent, as the verbs of the command use it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import cached_property, partial
from platform import release
from typing import Protocol

from fabric.base.diagnostics import Diagnostic, InputError, MissingError, Place, show
from fabric.base.processes import held_back
from fabric.configs import Renderer
from fabric.design.downscale import scaled
from fabric.design.intent.intent import Intent
from fabric.design.intent.rewrite import as_network_os
from fabric.lab import run_tests, up_down
from fabric.lab.blueprint import Blueprint, Names
from fabric.lab.drawing import draw
from fabric.lab.infiniband import simulator
from fabric.lab.live import Live
from fabric.lab.machine.host import Kernel, require, require_root
from fabric.lab.machine.namespaces import LabError
from fabric.lab.outcome import Outcome
from fabric.lab.up_down import Choices, State, Status, bring_up, digest, status, take_down
from fabric.model.plan import Plan
from fabric.model.plan.lock_file import Lock

Say = Callable[[str], None]
# `--as` does not ask for these: the lab has something in their place, or nothing.
EMULATED = ("multihoming", "snmp", "gnmi", "dhcp_relay", "dhcp_relay_across")


class Planner(Protocol):
    """Plans an intent, with the given numbers or those of its lock file."""

    def __call__(self, intent: Intent, known: Lock | None = None, *, emulated: Collection[str] = ()) -> Plan: ...


@dataclass(frozen=True, slots=True)
class Up:
    """What `up` did."""

    blueprint: Blueprint
    already: bool  # the very same lab was up
    refused: tuple[str, ...]  # lines of daemons about the files they loaded


ASKED_NOTHING = Choices()


class Lab:
    """An intent and its lab. Everything raises InputError for the intent, MissingError for the machine, LabError else."""

    def __init__(self, intent: Intent, plan: Planner, choices: Choices = ASKED_NOTHING, say: Say = lambda text: None) -> None:
        self.choices, self.say = choices, say
        self._drawn = partial(_drawn, intent, plan)
        self.names, self.path = Names(intent.name), intent.path

    @cached_property
    def blueprint(self) -> Blueprint:
        """The lab as it is to be built."""
        return self._drawn(self.choices)

    def up(self) -> Up:
        """Brings it up. The same lab is left alone; another one of the site, or remains of one, is taken down first."""
        kernel = _kernel(self.blueprint)
        with up_down.only_one(self.names):
            asked = State(str(self.path.absolute()), self.choices, digest(self.blueprint))
            recorded = up_down.read(self.names)
            if recorded is not None and recorded.intent != asked.intent and status(self.names).running:
                raise LabError(
                    f"a lab of site '{self.names.site}' is up for another intent, {recorded.intent}: "
                    f"run `fabric lab down {recorded.intent}` first"
                )
            if recorded == replace(asked, ready=True) and status(self.names).word == "up":
                return Up(self.blueprint, True, ())
            return Up(self.blueprint, False, bring_up(self.blueprint, kernel, asked, self.say))

    def test(self, only: Collection[str] = (), scenarios: bool = False, fabric: str = "") -> Outcome:
        """Proofs, and scenarios where asked for, on the lab that is up, built as `up` was asked to."""
        built = self._built()
        recorded = up_down.read(self.names)
        assert recorded is not None
        selected = [
            name for name in run_tests.NAMES if name in only or (not only and (scenarios or name in run_tests.PROOF_NAMES))
        ]
        fabrics = {view.fabric for view in built.views.values()}
        if fabric and fabric not in fabrics:
            message = f"unknown fabric {show(fabric)}: expected one of {', '.join(sorted(fabrics))}"
            raise InputError([Diagnostic("FAB511", Place("--fabric"), message)])
        with up_down.only_one(self.names):
            if not any(name not in run_tests.PROOF_NAMES for name in selected):
                return run_tests.run(built, _kernel(built), selected, fabric, self.say)
            up_down.write(
                self.names, replace(recorded, ready=False)
            )  # if this does not finish, the next `up` builds it again
            outcome = run_tests.run(built, _kernel(built), selected, fabric, self.say)
            up_down.write(self.names, replace(recorded, ready=not outcome.failed))
            return outcome

    def _built(self) -> Blueprint:
        """The lab that is up. Raises MissingError where there is none, LabError where its files have changed."""
        require_root()
        recorded = up_down.read(self.names)
        if recorded is None:
            raise MissingError(f"no lab of site '{self.names.site}' is up: run `fabric lab up {self.path}`")
        if not recorded.ready:
            raise MissingError(
                f"the lab of site '{self.names.site}' did not start completely: run `fabric lab up {self.path}`"
            )
        built = self._drawn(recorded.choices)
        if digest(built) != recorded.digest:
            raise LabError(
                f"intent or files have changed since the lab of site '{self.names.site}' started: "
                f"run `fabric lab up {self.path}`"
            )
        return built

    def collect(self, *, settle: bool = True) -> dict[str, str]:
        """State of every switch of the lab that is up, as `fabric verify` reads it: path → text.

        Args:
            settle: wait until sessions and routes are as planned, or no longer change.
        """
        from fabric.lab.collect import with_neighbors

        built = self._built()
        live = Live(built, _kernel(built))
        with up_down.only_one(self.names):
            if settle:
                self.say("waiting for sessions and routes")
                run_tests.settle(live)
            self.say("collecting the state of the switches")
            return with_neighbors(live)

    def running(self) -> dict[str, str]:
        """Running config of every switch of the lab that is up, as `fabric drift` reads it: path → text."""
        from fabric.lab.collect import running

        built = self._built()
        with up_down.only_one(self.names):
            return running(Live(built, _kernel(built)))

    def status(self) -> Status:
        """What is there."""
        return status(self.names)

    def down(self) -> int:
        """Takes it down, whole or half built; how many namespaces there were. A signal takes effect when all is gone."""
        require_root()
        with held_back(), up_down.only_one(self.names):
            return take_down(self.names)


def _kernel(blueprint: Blueprint) -> Kernel:
    """Of the machine. Raises MissingError for what the lab needs and the machine lacks."""
    if blueprint.subnets:
        simulator.require()
    if not blueprint.nodes:
        require_root()
        return Kernel(release(), frozenset())
    return require(overlay=any(view.overlay for view in blueprint.views.values()))


def _drawn(original: Intent, planner: Planner, choices: Choices) -> Blueprint:
    """The lab of the files as they lie there, or of a changed intent's as they would be made."""
    intent, notes = original, list[str]()
    emulated = EMULATED if choices.as_nos else ()
    plan = partial(planner, emulated=emulated)
    if choices.as_nos:
        intent, more = as_network_os(intent, choices.as_nos)
        notes += more
    if choices.scale_down:
        intent, more = scaled(intent, plan, *_size(choices.scale_down), emulated=emulated)
        notes += more
    fresh = intent is not original
    renderer = Renderer(plan(intent, Lock() if fresh else None), intent.path.absolute().parent)
    drawn = draw(renderer, choices.limit, choices.servers, fresh)
    return replace(drawn, notes=(*notes, *drawn.notes))


def _size(text: str) -> tuple[int, int]:
    """`2x4` → 2 spines, 4 leaves."""
    found = re.fullmatch(r"([1-9]\d{0,3})x([1-9]\d{0,4})", text)
    if not found:
        message = f"expected SPINESxLEAVES such as 2x4, got {show(text)}"
        raise InputError([Diagnostic("FAB512", Place("--scale-down"), message)])
    return int(found[1]), int(found[2])
