"""What changes in the files of each switch in each wave, in both directions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from fabric.audit.diff import remedy
from fabric.audit.diff.configs import FileChange, change, changes_of_files
from fabric.base.processes import Progress, in_chunks
from fabric.configs import Job, Renderer
from fabric.model.plan import FabricPlan, Plan
from fabric.nos.dialect import RELOAD, Patch

SERVICES = ("ntp", "dns", "syslog", "timezone", "banner")  # keys of `management` that no traffic depends on


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """The files of one switch, from one state of the design to the next.

    Attributes:
        wave: number of the wave that it belongs to.
        changes: what leads there, and `inverse` what leads back; none where no files are asked for.
        reloads: every service of the switch starts again.
        serves: only SERVICES change.
        drain: what takes links out of service before, where these are drained and not the switch.
    """

    device: str
    nos: str
    was: str = ""  # its old name
    wave: int = 0
    changes: tuple[FileChange, ...] = ()
    inverse: tuple[FileChange, ...] = ()
    reloads: bool = False
    serves: bool = False
    drain: Edit | None = None


@dataclass(frozen=True, slots=True)
class Pair:
    """A switch in two states of the design."""

    device: str
    was: str  # its name in the first
    before: Renderer
    after: Renderer
    served: Renderer | None = None  # of the first, with SERVICES of the second; None where they are the same


def served(plan: Plan, new: FabricPlan) -> Plan | None:
    """A plan before a change with SERVICES after it; None where they are the same in this fabric."""
    fabric = plan.fabrics[new.name]
    before, after = (its.spec.management.model_dump(include=set(SERVICES)) for its in (fabric, new))
    if before == after:
        return None
    wanted = {name: getattr(new.spec.management, name) for name in SERVICES}
    spec = replace(fabric.spec, management=fabric.spec.management.model_copy(update=wanted))
    return replace(plan, fabrics={**plan.fabrics, new.name: replace(fabric, spec=spec)})


def edits(pairs: Sequence[Pair], files: bool, jobs: int, progress: Progress) -> list[Edit]:
    """The edits of all switches, those without a difference left out; `files`: with the changes of their files."""
    found: list[Edit] = []
    with progress("configs", len(pairs)) as advance:
        for chunk in in_chunks(partial(_edit, files), pairs, jobs):
            found += (edit for edit in chunk if edit)
            advance(len(chunk))
    return found


def _edit(files: bool, pair: Pair) -> Edit | None:
    _, old = _files(pair.before, pair.was)
    nos, new = _files(pair.after, pair.device)
    if old == new:
        return None
    serves = pair.served is not None and _files(pair.served, pair.was)[1] == new
    if not files:
        stepped = [path for path in old if path in new and old[path] != new[path] and _has_steps(nos, path)]
        reloads = any(_reloads((change(nos, path, old[path], new[path]),)) for path in stepped)
        return Edit(device=pair.device, was=pair.was, nos=nos, reloads=reloads, serves=serves)
    changes = changes_of_files(nos, old, new)
    inverse = changes_of_files(nos, new, old)
    reloads = _reloads(changes) or _reloads(inverse)
    found = Edit(device=pair.device, was=pair.was, nos=nos, reloads=reloads, serves=serves)
    return replace(found, changes=changes, inverse=inverse)


def _has_steps(nos: str, path: str) -> bool:
    form = remedy.dialect(nos).forms.get(path)
    return isinstance(form, Patch) and form.steps is not None


def _reloads(changes: Sequence[FileChange]) -> bool:
    return any(step.kind == RELOAD for its in changes for step in its.steps)


def files_of(renderer: Renderer, name: str) -> dict[str, str]:
    """Files of a switch by their own name."""
    return _files(renderer, name)[1]


def _files(renderer: Renderer, name: str) -> tuple[str, dict[str, str]]:
    """Network OS of a switch, and its files by their own name."""
    job = next(_jobs(renderer, name), None)
    if job is None:
        return "", {}
    return job.device.nos, {path.split("/", 2)[2]: data.decode() for path, data in renderer.files(job)}


def _jobs(renderer: Renderer, name: str) -> Iterator[Job]:
    for fabric_name, fabric in renderer.plan.fabrics.items():
        device = fabric.by_name.get(name)
        if device is not None and device.nos:
            yield Job(fabric_name, device)
