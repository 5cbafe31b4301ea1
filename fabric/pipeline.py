"""The product in one page: an intent becomes a plan, the plan becomes files.

    load ──▶ Intent ──plan──▶ Plan ─┬─render──▶ files of each switch and server ──generate──▶ generated/<site>/
                                    │                    └──read back──▶ facts ──check──▶ findings with their lines
                                    ├─check──▶ findings in the intent
                                    ├─estimate──▶ bandwidth, ECMP load, time of collectives
                                    ├─diff──▶ what another intent changes: design, capacity, configs
                                    └─lab──▶ real routing daemons on the generated files, tried and broken

Every step takes and gives typed values, so a program can use one without the others. `lock` is what a former run
handed out: names, AS numbers, addresses and ports that must not change.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fabric.checks.run import Outcome, Scope
    from fabric.configs import Renderer
    from fabric.diff.compare import Diff, Wanted
    from fabric.generate import Generation, Progress
    from fabric.intent.site import Site
    from fabric.intent.source import Source
    from fabric.lab.lab import Lab
    from fabric.plan.plan import FabricPlan, Plan
    from fabric.planner.lock import Lock
    from fabric.solver.estimate.ask import Asked
    from fabric.solver.estimate.estimate import Estimate


@dataclass(frozen=True)
class Intent:
    """An intent file that was read, and the folder that its site's files lie in."""

    path: Path
    site: Site
    source: Source
    folder: Path

    @property
    def shown(self) -> Path:
        """The folder as a person at this prompt would name it."""
        path = os.path.relpath(self.folder)
        return self.folder if path.startswith("..") else Path(path)


def load(path: Path, output: Path | None = None) -> Intent:
    """Reads and checks an intent. Raises InputError with every mistake."""
    from fabric.intent.load import load as read
    from fabric.output.paths import site_folder

    site, source = read(path, str(path))
    return Intent(path, site, source, site_folder(path, site.site, output))


def summarize(intent: Intent) -> dict[str, Any]:
    """Counts, ports, ratios and limits of every fabric; needs no wiring, so a million GPUs take no longer than ten."""
    from fabric.configs import targets
    from fabric.planner import lock, pools
    from fabric.planner.site import check_services, size_site
    from fabric.planner.summary import summary

    known = lock.read(intent.folder / lock.FILE, intent.shown / lock.FILE)
    sized = size_site(intent.site, intent.source, known)
    targets.choose({name: spec for name, (spec, _) in sized.items()})
    check_services(sized, known)
    pools.check(intent.site, intent.source)
    return {
        "site": intent.site.site,
        "fabrics": {name: summary(spec, sizing) for name, (spec, sizing) in sized.items()},
    }


def plan(intent: Intent, known: Lock | None = None) -> Plan:
    """Sizes, wires and numbers every fabric, on the numbers that `known` or the site's lock file holds. Raises InputError."""
    from fabric.configs import targets
    from fabric.planner import lock
    from fabric.planner.site import plan_site
    from fabric.planner.spec import resolve

    known = lock.read(intent.folder / lock.FILE, intent.shown / lock.FILE) if known is None else known
    nos = targets.choose(resolve(intent.site, intent.source))
    made = plan_site(intent.site, intent.source, known, nos)
    targets.refuse_stated(made)
    return made


def render(made: Plan, intent: Intent) -> Renderer:
    """What makes the files of every switch of a plan, the site's own lines put in. Raises InputError."""
    from fabric.configs import Renderer

    return Renderer(made, intent.path.absolute().parent)


def host_files(made: Plan, wanted: Callable[[str], bool]) -> Iterator[tuple[str, bytes]]:
    """The other end of the cables: addresses, RoCE settings and NCCL environment of the wanted servers."""
    from fabric.hosts import host_files as files

    yield from files(made, wanted)


def generate(intent: Intent, limit: str = "", jobs: int = 0, progress: Progress | None = None) -> Generation:
    """A site planned and ready: `.check()` and `.diff()` look, `.write()` writes what changed, all or nothing."""
    from fabric.generate import Generation, silent

    return Generation(intent, limit, jobs, progress or silent)


def check(scope: Scope, fail_on: str = "error", progress: Progress | None = None) -> Outcome:
    """Design and files of intents, or any folder of configs, put to every check. Raises InputError, OSError."""
    from fabric.checks.run import run
    from fabric.generate import silent

    return run(scope, fail_on, progress or silent)


def estimate(fabric: FabricPlan, asked: Asked, placement: str = "packed") -> tuple[Estimate, Estimate | None]:
    """Times of a collective on one fabric of a plan, and what they were before the failures asked for. Raises InputError."""
    from fabric.solver.estimate import ask

    return ask.estimate(fabric, asked, placement)


def diff(old: str, new: str, wanted: Wanted) -> Diff:
    """What changes from one intent to another, each a file or `git:REV`: design, capacity, configs. Raises InputError."""
    from fabric.diff.compare import compare

    return compare(old, new, wanted)


def lab(intent: Intent) -> Lab:
    """The plan as network namespaces with FRR in each: `.up()`, `.status()`, `.test()`, `.down()`. All need root."""
    from fabric.lab.lab import Lab

    return Lab(intent)


def site_files(made: Plan) -> Iterator[tuple[str, bytes]]:
    """The files of the plan itself: the lock, the counts, every link; sessions beyond the underlay where there are any."""
    from fabric.export.sessions import sessions_csv
    from fabric.export.tables import links_csv, plan_json
    from fabric.planner import lock

    yield lock.FILE, lock.text(made.lock).encode()
    yield "plan.json", plan_json(made).encode()
    yield "links.csv", links_csv(made).encode()
    if text := sessions_csv(made):
        yield "sessions.csv", text.encode()
