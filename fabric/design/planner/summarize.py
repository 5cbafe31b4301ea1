"""The counts of a site, from its sizing alone."""

from __future__ import annotations

from typing import Any

from fabric.configs import targets
from fabric.design.intent.intent import Intent
from fabric.design.planner import pools
from fabric.design.planner.resolve import resolve
from fabric.design.planner.site import check_services, size_site
from fabric.model.plan import lock_file as lock
from fabric.model.plan.summary import summary


def summarize(intent: Intent) -> dict[str, Any]:
    """What `fabric plan --json` prints. Raises InputError."""
    site_lock = lock.read(intent.folder / lock.FILE, intent.shown / lock.FILE)
    site = resolve(intent.site, intent.source)
    sized = size_site(site, site_lock)
    targets.choose({name: spec for name, (spec, _) in sized.items()})
    check_services(sized, site_lock)
    pools.check(site)
    return {
        "site": intent.site.site,
        "fabrics": {name: summary(spec, sizing) for name, (spec, sizing) in sized.items()},
    }
