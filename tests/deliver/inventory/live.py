"""Real NetBox and Nautobot servers for tests and by hand.

python -m tests.deliver.inventory.live install netbox|nautobot          # once: environment, database, migrations
python -m tests.deliver.inventory.live serve netbox|nautobot            # a server until Ctrl-C; prints what to export
python -m tests.deliver.inventory.live push netbox|nautobot [INTENT…]   # a fresh server: each intent twice, or a site that
grows
"""

from __future__ import annotations

import signal
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from fabric import pipeline
from fabric.base.text import aligned
from fabric.deliver.inventory.push import DEFAULT, SYSTEMS, Push, PushRequest
from fabric.model.plan import Plan
from tests.deliver.inventory.servers import SERVERS, TOKEN, install, running
from tests.deliver.inventory.sites import plan_of

PRUNE = PushRequest(prune=True)


@dataclass(frozen=True)
class Row:
    """A push: objects created, updated, unchanged and deleted."""

    title: str
    counts: tuple[int, ...]
    seconds: float


def pushed(name: str, url: str, title: str, plan: Plan, request: PushRequest = DEFAULT) -> Row:
    """One push with the real client."""
    begun = time.monotonic()
    tallies = Push(plan, SYSTEMS[name]).run(url, TOKEN, request).tallies.values()
    counts = [(tally.created, tally.updated, tally.unchanged, tally.deleted) for tally in tallies]
    return Row(title, tuple(map(sum, zip(*counts, strict=True))), time.monotonic() - begun)


def grows(name: str, url: str, folder: Path) -> Iterator[Row]:
    """A site of 4 servers becomes one of 8 and shrinks again; each state is pushed twice."""
    small, large = plan_of(folder, 4), plan_of(folder, 8)
    yield pushed(name, url, "4 servers", small)
    yield pushed(name, url, "4 servers again", small)
    yield pushed(name, url, "8 servers", large)
    yield pushed(name, url, "8 servers again", large)
    yield pushed(name, url, "4 servers after 8", small)
    yield pushed(name, url, "4 servers with --prune", small, PRUNE)
    yield pushed(name, url, "4 servers again with --prune", small, PRUNE)


def _intents(name: str, url: str, files: Iterable[str]) -> Iterator[Row]:
    for file in files:
        plan = pipeline.plan(pipeline.load(Path(file)))
        yield pushed(name, url, file, plan)
        yield pushed(name, url, f"{file} again", plan)


def main(words: list[str]) -> None:
    """Does what the arguments say."""
    assert set(words[1:2]) & SERVERS.keys(), __doc__
    action, name, *files = words
    if action == "install":
        install(name)
        return
    with running(name) as url, tempfile.TemporaryDirectory() as folder:
        if action == "push":
            rows = _intents(name, url, files) if files else grows(name, url, Path(folder))
            cells = [[row.title, *map(str, row.counts), f"{row.seconds:.0f} s"] for row in rows]
            head = ["", "created", "updated", "unchanged", "deleted", "time"]
            print("\n".join(aligned(cells, "<>10>9>11>9>7", head=head)))
            return
        print(f"export {SYSTEMS[name].url}={url} {SYSTEMS[name].token}={TOKEN}", flush=True)
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            signal.pause()
        except KeyboardInterrupt:
            return


if __name__ == "__main__":
    main(sys.argv[1:])
