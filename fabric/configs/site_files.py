"""The files of the plan itself, beside those of its devices."""

from __future__ import annotations

from collections.abc import Iterator

from fabric.configs.sessions import sessions_csv
from fabric.configs.tables import links_csv, plan_json
from fabric.model.plan import Plan, lock_file as lock

ATTRIBUTES = ".gitattributes"
GIT_ATTRIBUTES = """\
# Written by `fabric generate`. After `git merge` run it again: it settles the numbers of both branches and writes every file.
* text eol=lf -merge
lock.yaml merge=union
manifest.txt merge=union
"""


def site_files(made: Plan) -> Iterator[tuple[str, bytes]]:
    """How git merges the folder, the lock, the counts, every link; sessions beyond the underlay where there are any."""
    yield ATTRIBUTES, GIT_ATTRIBUTES.encode()
    yield lock.FILE, lock.text(made.lock).encode()
    yield "plan.json", plan_json(made).encode()
    yield "links.csv", links_csv(made).encode()
    if text := sessions_csv(made):
        yield "sessions.csv", text.encode()
