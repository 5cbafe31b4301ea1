"""A fabric between two waves: where its cables are, and of which design the config of every switch is.

Switches are configured one wave after the other, so a link between two of them works where both have it in their config. The
plan of the moment has these links, and each switch is judged by the view that its own config was made from.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from fabric.audit.verify.reported_state import PeerKey, peer_key
from fabric.audit.verify.sessions import sessions_of
from fabric.configs import Job, Renderer
from fabric.configs.targets import mtu_limit
from fabric.configs.view_of import Views
from fabric.deliver.change.edits import files_of
from fabric.deliver.change.files import CHANGED, LINKS_OUT, Names
from fabric.deliver.change.records import CONFIGURE, DRAIN, INSTALL, RECABLE, REMOVE, REPLACE, UNDRAIN, Change, Wave
from fabric.deliver.change.redesign import Draft, Redesign, Sides, is_replaced, with_fabric
from fabric.deliver.change.transition import Transition
from fabric.design.cable_moves import End, ends_of
from fabric.model.plan import CLOSED, SWITCH_ROLES, FabricPlan, Plan, SwitchView

Link = tuple[End, End]


@dataclass(frozen=True, eq=False, kw_only=True)
class Moment:
    """The network of one fabric.

    Attributes:
        plan: with the cables that are laid.
        configs: switch → renderer of the files that it has.
        drained: switches that traffic is led away from.
    """

    plan: Plan
    fabric: str
    configs: Mapping[str, Renderer]
    drained: frozenset[str] = frozenset()
    _files: dict[tuple[int, str], dict[str, str]] = field(default_factory=dict)

    @cached_property
    def switches(self) -> tuple[str, ...]:
        """Names, in the order of the plan."""
        return tuple(device.name for device in self.plan.fabrics[self.fabric].switches if device.name in self.configs)

    def files(self, device: str) -> dict[str, str]:
        """The files that a switch has, by their own name."""
        key = (id(self.configs[device]), device)
        if key not in self._files:
            self._files[key] = files_of(self.configs[device], device)
        return dict(self._files[key])

    def job(self, device: str) -> Job:
        """For the renderer of a switch."""
        return Job(self.fabric, self.configs[device].plan.fabrics[self.fabric].by_name[device])

    @cached_property
    def expected(self) -> tuple[Plan, tuple[SwitchView, ...]]:
        """What the state of the fabric is judged by: a plan of this fabric alone, and the view of every switch."""
        views: dict[int, Views] = {}
        found: list[SwitchView] = []
        for name in self.switches:
            renderer = self.configs[name]
            fabric = renderer.plan.fabrics[self.fabric]
            if id(renderer) not in views:
                views[id(renderer)] = Views(renderer.plan, self._mutual(fabric), mtu_limit(fabric))
            found.append(views[id(renderer)].of(fabric.by_name[name]))
        fabric = self._mutual(self.plan.fabrics[self.fabric])
        return replace(self.plan, fabrics={self.fabric: fabric}), tuple(found)

    @cached_property
    def one_sided(self) -> Mapping[str, frozenset[PeerKey]]:
        """Switch → sessions of its config that the other end does not have, or no longer has."""
        views: dict[int, Views] = {}
        found: dict[str, frozenset[PeerKey]] = {}
        for name, mutual in zip(self.switches, self.expected[1], strict=True):
            renderer = self.configs[name]
            fabric = renderer.plan.fabrics[self.fabric]
            if id(renderer) not in views:
                views[id(renderer)] = Views(renderer.plan, fabric, mtu_limit(fabric))
            found[name] = _keys(views[id(renderer)].of(fabric.by_name[name])) - _keys(mutual)
        return found

    def _mutual(self, fabric: FabricPlan) -> FabricPlan:
        """A plan with the links, and the EVPN sessions, that both ends are configured for."""
        links = list(zip(ends_of(fabric), ends_of(fabric, "b"), strict=True))
        rows = [at for at, link in enumerate(links) if all(self._has(end[0], fabric, link) for end in link)]
        peers = {
            at: tuple(far for far in its if self._speaks(fabric, at, far) and self._speaks(fabric, far, at))
            for at, its in fabric.tenancy.peers.items()
        }
        if len(rows) < len(links):
            fabric = Transition(fabric, fabric, ()).joined(np.array(rows, np.int64), np.empty(0, np.int64))
        return replace(fabric, tenancy=replace(fabric.tenancy, peers=peers))

    @cached_property
    def _links(self) -> dict[int, frozenset[Link]]:
        """Renderer → the links that it makes configs for; a port that is shut, as its server has no tenant, is none."""
        plans = {id(renderer): renderer.plan.fabrics[self.fabric] for renderer in self.configs.values()}
        return {key: frozenset(_open_links(fabric)) for key, fabric in plans.items()}

    def _has(self, device: str, fabric: FabricPlan, link: Link) -> bool:
        """Whether the config of a device has a link; servers and switches without a network OS have no config here."""
        if device in self.configs:
            return link in self._links[id(self.configs[device])]
        found = fabric.by_name.get(device)
        return found is None or found.role not in SWITCH_ROLES or not found.nos

    def _speaks(self, fabric: FabricPlan, near: int, far: int) -> bool:
        """Whether the config of a switch has an EVPN session with another one."""
        first, second = fabric.devices[near].name, fabric.devices[far].name
        if first not in self.configs:
            return False
        own = self.configs[first].plan.fabrics[self.fabric]
        return second in {own.devices[at].name for at in own.tenancy.peers.get(own.by_name[first].index, ())}


def _open_links(fabric: FabricPlan) -> Iterator[Link]:
    owners = fabric.tenancy.owner.tolist()
    for owner, *link in zip(owners, ends_of(fabric), ends_of(fabric, "b"), strict=True):
        if owner != CLOSED:
            yield link[0], link[1]


def _keys(view: SwitchView) -> frozenset[PeerKey]:
    """Names of the sessions of a switch in what it reports."""
    return frozenset(peer_key(end.vrf, name) for end in sessions_of(view) for name in (end.peer, end.interface) if name)


@dataclass(frozen=True, eq=False, kw_only=True)
class Part:
    """One change of configs in a wave, typed under a timer, judged and confirmed: from one moment to the next.

    Attributes:
        names: of its files.
        title: what its steps begin with; "" for the change that is the purpose of the wave.
    """

    names: Names
    before: Moment
    after: Moment
    title: str = ""


@dataclass(frozen=True, eq=False, kw_only=True)
class Stage:
    """A wave, and the network before and after it.

    Attributes:
        while_out: its links are in no config, and their cables have not moved yet; None where whole switches are drained.
    """

    wave: Wave
    before: Moment
    after: Moment
    while_out: Moment | None = None

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """The changes of configs, in their order; work by hand comes before the last one."""
        middle = self.while_out
        if middle is None:
            return (Part(names=CHANGED, before=self.before, after=self.after),)
        return (
            Part(names=LINKS_OUT, before=self.before, after=middle, title="links out"),
            Part(names=CHANGED, before=middle, after=self.after),
        )

    @cached_property
    def devices(self) -> tuple[str, ...]:
        """The switches of the wave that have a config, sorted."""
        have = {*self.before.switches, *self.after.switches}
        return tuple(sorted(task.device for task in self.wave.tasks if task.device in have))


# --- an operation on one design ---------------------------------------------------------------------------------


def of_operation(change: Change, renderer: Renderer) -> Iterator[Stage]:
    """The stages of an operation: configs and cables stay as they are."""
    plan = renderer.plan
    drained: dict[str, frozenset[str]] = {}
    for wave in change.waves:
        tasks = [task.device for task in wave.tasks if task.action == UNDRAIN]
        drained[wave.fabric] = drained.get(wave.fabric, frozenset()) | frozenset(tasks)
    for wave in change.waves:
        configs = {device.name: renderer for device in plan.fabrics[wave.fabric].switches if device.nos}
        before = Moment(plan=plan, fabric=wave.fabric, configs=configs, drained=drained[wave.fabric])
        for task in wave.tasks:
            if task.action == DRAIN:
                drained[wave.fabric] |= {task.device}
            elif task.action == UNDRAIN:
                drained[wave.fabric] -= {task.device}
        yield Stage(wave=wave, before=before, after=replace(before, drained=drained[wave.fabric]))


# --- from one design to another ---------------------------------------------------------------------------------


def of_redesign(sides: Sides, found: Redesign) -> Iterator[Stage]:
    """The stages of a change from one design to another, in the order of its waves."""
    for draft in found.drafts:
        waves = [wave for wave in found.change.waves if wave.fabric == draft.way.new.name]
        edited = {(edit.wave, edit.device) for edit in found.edits}
        yield from _of_fabric(draft, waves, edited, sides, (found.old, found.new))


def _of_fabric(
    draft: Draft, waves: Sequence[Wave], edited: set[tuple[int, str]], sides: Sides, renderers: tuple[Renderer, Renderer]
) -> Iterator[Stage]:
    old, new = renderers
    way, moved = draft.way, 0
    configs = {device.name: old for device in way.old.switches if device.nos}
    moment = Moment(plan=with_fabric(sides.old, way.old), fabric=way.old.name, configs=configs)
    for wave in waves:
        moved += _action(wave) == RECABLE
        for task in wave.tasks:
            name = task.device
            if (wave.number, name) in edited:
                configs = {**configs, name: draft.after[moved if _action(wave) == RECABLE else 0]}
            elif task.action == REMOVE:
                configs = {key: renderer for key, renderer in configs.items() if key != name}
            elif name in way.new.by_name and way.new.by_name[name].nos and _is_new(task.action, name, way):
                configs = {**configs, name: new}
        done = draft.cuts[moved - 1][1] if moved else 0
        after = Moment(plan=with_fabric(sides.new, way.at(done)), fabric=way.new.name, configs=configs)
        yield Stage(wave=wave, before=moment, after=after, while_out=_while_out(wave, moment, draft, moved, edited, sides))
        moment = after


def _while_out(
    wave: Wave, before: Moment, draft: Draft, moved: int, edited: Collection[tuple[int, str]], sides: Sides
) -> Moment | None:
    """While the links of a wave are out of service; None where whole switches are."""
    if _action(wave) != RECABLE or moved not in draft.while_out:
        return None
    mine = {name for number, name in edited if number == wave.number}
    configs = {**before.configs, **dict.fromkeys(sorted(mine), draft.while_out[moved])}
    plan = with_fabric(sides.new, draft.way.at(*draft.cuts[moved - 1]))
    return Moment(plan=plan, fabric=before.fabric, configs=configs)


def _action(wave: Wave) -> str:
    """What the wave is for; a wave of moves also configures switches at the other ends, one of new cables may have none."""
    actions = {task.action for task in wave.tasks}
    if wave.moves:
        return INSTALL if actions <= {INSTALL} else RECABLE
    return next(iter(actions), CONFIGURE)


def _is_new(action: str, name: str, way: Transition) -> bool:
    """Whether a switch comes with the config of the new design."""
    old = way.old.by_name.get(name)
    return action in (INSTALL, REPLACE) or (action == RECABLE and (old is None or is_replaced(old, way.new.by_name[name])))
