"""A site that is planned, ready to be checked."""

from __future__ import annotations

from fabric import pipeline
from fabric.audit.checks.site import Site
from fabric.design.intent.intent import Intent
from fabric.nos.reading import Folder


def site_of(intent: Intent, folder: Folder | None = None, jobs: int = 0) -> Site:
    return Site(pipeline.render(pipeline.plan(intent), intent), folder, jobs)
