"""What changes in the files of each switch in each wave, in both directions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fabric.audit.diff.configs import FileChange, changes_of_files
from fabric.base.processes import Progress, in_chunks
from fabric.configs import Job, Renderer
from fabric.nos.dialect import RELOAD


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """The files of one switch, from one state of the design to the next.

    Attributes:
        wave: number of the wave that it belongs to.
        changes: what leads there, and `inverse` what leads back.
        texts: the whole files, before and after.
    """

    device: str
    wave: int
    nos: str
    changes: tuple[FileChange, ...]
    inverse: tuple[FileChange, ...]
    texts: tuple[tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]]

    @property
    def reloads(self) -> bool:
        """Whether every service of the switch starts again."""
        return any(step.kind == RELOAD for change in self.changes for step in change.steps)


@dataclass(frozen=True, slots=True)
class Way:
    """A switch and the states that its files go through, the first as they are."""

    device: str
    was: str  # its name in the first state
    waves: tuple[int, ...]  # that lead to the states after the first
    renderers: tuple[Renderer, ...]  # of all states


def edits(ways: Sequence[Way], jobs: int, progress: Progress) -> list[Edit]:
    """The edits of all switches, those without a difference left out."""
    found: list[Edit] = []
    with progress("configs", len(ways)) as advance:
        for chunk in in_chunks(_of_way, ways, jobs):
            found += (edit for edits_of_one in chunk for edit in edits_of_one)
            advance(len(chunk))
    return found


def _of_way(way: Way) -> list[Edit]:
    return list(_edits(way))


def _edits(way: Way) -> Iterator[Edit]:
    nos, before = "", dict[str, str]()
    for at, renderer in enumerate(way.renderers):
        job = _job(renderer, way.device if at else way.was)
        files = _files(renderer, job) if job else {}
        nos = job.device.nos if job else nos
        if at and files != before:
            yield Edit(
                device=way.device,
                wave=way.waves[at - 1],
                nos=nos,
                changes=changes_of_files(nos, before, files),
                inverse=changes_of_files(nos, files, before),
                texts=(tuple(sorted(before.items())), tuple(sorted(files.items()))),
            )
        before = files


def _job(renderer: Renderer, name: str) -> Job | None:
    return next(iter(renderer.jobs(name.__eq__)), None)


def _files(renderer: Renderer, job: Job) -> dict[str, str]:
    return {path.split("/", 2)[2]: data.decode() for path, data in renderer.files(job)}
