"""What changes in the config of every switch: both plans are rendered in memory, what differs becomes commands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from fabric.audit.diff import files
from fabric.audit.diff.files import FileChange
from fabric.base.processes import Progress, in_chunks
from fabric.configs import Job, Renderer


@dataclass(frozen=True, kw_only=True)
class DeviceChange:
    """One switch whose config is another."""

    device: str
    was: str  # its old name
    fabric: str
    role: str
    nos: str
    state: str  # "changed" | "added" | "removed" | "replaced": by another model or network OS, so the whole config is new
    files: tuple[FileChange, ...] = ()


Pair = tuple[Job | None, Job | None]


def changes(
    old: Renderer | None,
    new: Renderer | None,
    names: Mapping[str, str],
    selected: Callable[[str], bool],
    jobs: int,
    progress: Progress,
) -> list[DeviceChange]:
    """Every wanted switch that changes, in the order of the new plan. `names` are new ones by old.

    A side without a renderer has no switches.
    """
    was = old.jobs(lambda name: selected(names.get(name, name))) if old else []
    before = {names.get(job.device.name, job.device.name): job for job in was}
    after = {job.device.name: job for job in new.jobs(selected)} if new else {}
    pairs: list[Pair] = [(before.get(name), job) for name, job in after.items()]
    pairs += [(job, None) for name, job in before.items() if name not in after]
    device_changes: list[DeviceChange] = []
    with progress("configs", len(pairs)) as advance:
        for chunk in in_chunks(lambda pair: _change(old, new, *pair), pairs, jobs):
            device_changes += (change for change in chunk if change)
            advance(len(chunk))
    return device_changes


def _change(before: Renderer | None, after: Renderer | None, old: Job | None, new: Job | None) -> DeviceChange | None:
    job = new or old
    assert job is not None
    device, was = job.device, old.device if old else job.device
    state = "added" if old is None else "removed" if new is None else ""
    if not state and (was.nos, was.model) != (device.nos, device.model):
        state = "replaced"
    if state:
        return DeviceChange(
            device=device.name, was=was.name, fabric=job.fabric, role=device.role, nos=device.nos, state=state
        )
    assert old is not None
    assert before is not None
    assert after is not None
    was_there, now = _files(before, old), _files(after, job)
    if was_there == now:
        return None
    file_changes = files.changes(device.nos, was_there, now)
    role = device.role
    return DeviceChange(
        device=device.name, was=was.name, fabric=job.fabric, role=role, nos=device.nos, state="changed", files=file_changes
    )


def _files(renderer: Renderer, job: Job) -> dict[str, str]:
    """Text by the file's own name."""
    return {path.split("/", 2)[2]: data.decode() for path, data in renderer.files(job)}
