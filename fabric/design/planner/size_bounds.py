"""How large a site may be to be wired in memory: beyond it, only its counts are made."""

from __future__ import annotations

from collections.abc import Mapping

from fabric.base.diagnostics import Report
from fabric.model.plan import FabricSpec, Sizing
from fabric.model.plan.summary import links

MAX_DEVICES, MAX_LINKS = 500_000, 4_000_000  # some 10 s and 1 GB


def check(sized: Mapping[str, tuple[FabricSpec, Sizing]], report: Report) -> None:
    """Refuses a site that is too large, at the fabric with the most of what there is too much of."""
    devices = {name: _devices(sizing) for name, (_, sizing) in sized.items()}
    cabled = {name: sum(links(spec, sizing).values()) for name, (spec, sizing) in sized.items()}
    for noun, count, most in (("devices", devices, MAX_DEVICES), ("links", cabled, MAX_LINKS)):
        total = sum(count.values())
        if total > most:
            spec = sized[max(count, key=lambda name: count[name])][0]
            report.error(
                "FAB141",
                spec.at("servers"),
                f"the site is too large for a wired plan: expected at most {most:,} {noun}, got {total:,}",
                "`fabric plan FILE --json` sizes a site of any size; split the site for a wired plan",
            )


def _devices(sizing: Sizing) -> int:
    return sizing.servers + sizing.leaves + sizing.spine_count + sizing.core_count
