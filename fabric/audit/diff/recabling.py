"""Links that are laid, moved and pulled: which fabric and kind each is of, and which switches are drained for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fabric.design import moves
from fabric.design.cable_moves import Cable
from fabric.design.moves import Step
from fabric.model.plan import SWITCH_ROLES, FabricPlan, Plan

LAY, MOVE, PULL = "lay", "move", "pull"


@dataclass(frozen=True, slots=True)
class Job:
    """One link: what is done to it, and where."""

    act: str  # LAY | MOVE | PULL
    fabric: str
    kind: str  # "leaf-spine"
    cable: Cable


@dataclass(frozen=True, slots=True)
class Drain:
    """Switches that are drained together, and how many links move meanwhile."""

    switches: tuple[str, ...]
    links: int


@dataclass(frozen=True)
class Recabling:
    """All of it, in the order in which it is done."""

    jobs: tuple[Job, ...] = ()
    drains: tuple[Drain, ...] = ()
    steps: tuple[Step, ...] = ()

    @property
    def by_kind(self) -> Mapping[tuple[str, str], int]:
        """(act, kind) → number of links."""
        return dict(sorted(Counter((job.act, job.kind) for job in self.jobs).items()))

    @property
    def by_fabric(self) -> Mapping[tuple[str, str, str], int]:
        """(fabric, kind, act) → number of links."""
        return dict(sorted(Counter((job.fabric, job.kind, job.act) for job in self.jobs).items()))

    def of(self, *acts: str) -> tuple[Job, ...]:
        """Jobs of some kinds of act."""
        return tuple(job for job in self.jobs if job.act in acts)

    @property
    def touched(self) -> int:
        """Links in service that are moved or pulled."""
        return len(self.of(MOVE, PULL))

    @property
    def drained(self) -> tuple[str, ...]:
        """Every switch that is drained, once, in the order of the drains."""
        return tuple(dict.fromkeys(name for drain in self.drains for name in drain.switches))


def recabling(old: Plan, new: Plan) -> Recabling:
    """What it takes to make the new plan of the old; both know a device by the same name."""
    steps = tuple(moves.difference(old, new).steps)
    places = {**_places(old.fabrics.values()), **_places(new.fabrics.values())}
    jobs = tuple(_job(cable, places) for step in steps for cable in step.cables)
    drains = tuple(Drain(tuple(step.drain.split(", ")), len(step.cables)) for step in steps if step.drain)
    return Recabling(jobs, drains, steps)


def _places(fabrics: Iterable[FabricPlan]) -> dict[str, tuple[str, str]]:
    """Device → (role, fabric); a server is in several fabrics, a switch in one."""
    return {device.name: (device.role, fabric.name) for fabric in fabrics for device in fabric.devices}


def _job(cable: Cable, places: Mapping[str, tuple[str, str]]) -> Job:
    act = LAY if cable.old is None else PULL if cable.new is None else MOVE
    upper = cable.new or cable.old
    assert upper is not None
    (low, _), (high, fabric) = places[cable.lower[0]], places[upper[0]]
    if high not in SWITCH_ROLES:  # an attached device hangs below a leaf
        fabric = places[cable.lower[0]][1]
    return Job(act, fabric, f"{low}-{high}", cable)
